# data: sda sdb, sdc sdd: all free hdd in mirrors of 2 of equal size
# left alone: sde (ssd, 1G), sdf (ssd, 1G), sdg (ssd, 2G): free, and no role wants them
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=off -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O logbias=latency -O sync=standard -O zmysql:template=all-hdd -O zmysql:state=creating tank mirror /dev/disk/by-id/scsi-35000c50000000100 /dev/disk/by-id/scsi-35000c50000000101 mirror /dev/disk/by-id/scsi-35000c50000000102 /dev/disk/by-id/scsi-35000c50000000103
zfs create tank/mysql
zfs create -o recordsize=16K tank/mysql/data
zfs create -o recordsize=128K tank/mysql/redo
zfs create -o recordsize=128K tank/mysql/binlog
zfs create -o recordsize=128K -o logbias=throughput tank/mysql/tmp
chown mysql:mysql /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/tmp
chmod 0750 /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/tmp
zfs set zmysql:state=complete tank
