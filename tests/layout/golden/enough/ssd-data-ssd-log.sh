# data: nvme0n1 nvme1n1: the largest free ssd or nvme in mirrors of 2 of equal size that no role before took
# left alone: sda (hdd, 4G), sdb (hdd, 4G), sdc (hdd, 4G), sdd (hdd, 4G), sde (hdd, 4G), sdf (hdd, 4G), sdg (ssd, 1G), sdh (ssd, 1G), sdi (ssd, 2G), sdj (ssd, 2G): free, and no role of this pool wants them
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=on -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O logbias=latency -O sync=standard -O zmysql:template=ssd-data-ssd-log -O zmysql:layout=tank -O zmysql:state=creating tank mirror /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZMF5EA936E /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZM62B14F04
zfs create tank/mysql
zfs create -o recordsize=16K tank/mysql/data
zfs create -o recordsize=16K tank/mysql/undo
zfs create -o recordsize=128K -o logbias=throughput tank/mysql/tmp
chown mysql:mysql /tank/mysql/data /tank/mysql/undo /tank/mysql/tmp
chmod 0750 /tank/mysql/data /tank/mysql/undo /tank/mysql/tmp
zfs set zmysql:state=complete tank

# data: sdg sdh: the smallest free ssd or nvme in mirrors of 2 of equal size that no role before took
# left alone: sda (hdd, 4G), sdb (hdd, 4G), sdc (hdd, 4G), sdd (hdd, 4G), sde (hdd, 4G), sdf (hdd, 4G), sdi (ssd, 2G), sdj (ssd, 2G): free, and no role of this pool wants them
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=on -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O logbias=latency -O sync=standard -O zmysql:template=ssd-data-ssd-log -O zmysql:layout=tank -O zmysql:state=creating tank-log mirror /dev/disk/by-id/scsi-35001517f1f3e336e /dev/disk/by-id/scsi-35001517c7afb1dd9
zfs create tank-log/mysql
zfs create -o recordsize=128K tank-log/mysql/redo
zfs create -o recordsize=128K tank-log/mysql/binlog
zfs create -o recordsize=128K tank-log/mysql/relay
zfs create -o recordsize=128K tank-log/mysql/doublewrite
zfs create -o recordsize=16K tank-log/mysql/system
zfs create -o recordsize=128K -o quota=10G tank-log/mysql/logs
chown mysql:mysql /tank-log/mysql/redo /tank-log/mysql/binlog /tank-log/mysql/relay /tank-log/mysql/doublewrite /tank-log/mysql/system /tank-log/mysql/logs
chmod 0750 /tank-log/mysql/redo /tank-log/mysql/binlog /tank-log/mysql/relay /tank-log/mysql/doublewrite /tank-log/mysql/system /tank-log/mysql/logs
zfs set zmysql:state=complete tank-log
