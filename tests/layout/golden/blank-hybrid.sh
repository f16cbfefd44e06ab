# data: sda sdb, sdc sdd: all free hdd in mirrors of 2 of equal size
# log: sde sdf: the smallest free ssd or nvme in mirrors of 2 of equal size that no role before took
# cache: sdg: the largest free ssd or nvme that no role before took
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=on -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O secondarycache=all -O logbias=latency -O sync=standard -O zmysql:template=hybrid -O zmysql:state=creating tank mirror /dev/disk/by-id/scsi-35000c50000000100 /dev/disk/by-id/scsi-35000c50000000101 mirror /dev/disk/by-id/scsi-35000c50000000102 /dev/disk/by-id/scsi-35000c50000000103 log mirror /dev/disk/by-id/scsi-35002538000000104 /dev/disk/by-id/scsi-35002538000000105 cache /dev/disk/by-id/scsi-35002538000000106
zfs create tank/mysql
zfs create -o recordsize=16K tank/mysql/data
zfs create -o recordsize=128K -o secondarycache=none tank/mysql/redo
zfs create -o recordsize=128K -o secondarycache=none tank/mysql/binlog
zfs create -o recordsize=128K -o secondarycache=none -o logbias=throughput tank/mysql/tmp
chown mysql:mysql /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/tmp
chmod 0750 /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/tmp
zfs set zmysql:state=complete tank
