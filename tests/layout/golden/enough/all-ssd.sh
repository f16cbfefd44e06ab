# data: nvme0n1 nvme1n1, sdi sdj, sdg sdh: all free ssd or nvme in mirrors of 2 of equal size
# left alone: sda (hdd, 4G), sdb (hdd, 4G), sdc (hdd, 4G), sdd (hdd, 4G), sde (hdd, 4G), sdf (hdd, 4G): free, and no role of this pool wants them
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=on -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O logbias=latency -O sync=standard -O zmysql:template=all-ssd -O zmysql:layout=tank -O zmysql:state=creating tank mirror /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZMF5EA936E /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZM62B14F04 mirror /dev/disk/by-id/scsi-350015179c939b576 /dev/disk/by-id/scsi-35001517bd130b9b0 mirror /dev/disk/by-id/scsi-35001517f1f3e336e /dev/disk/by-id/scsi-35001517c7afb1dd9
zfs create tank/mysql
zfs create -o recordsize=16K tank/mysql/data
zfs create -o recordsize=128K tank/mysql/redo
zfs create -o recordsize=128K tank/mysql/binlog
zfs create -o recordsize=128K tank/mysql/relay
zfs create -o recordsize=128K -o logbias=throughput tank/mysql/tmp
zfs create -o recordsize=128K -o quota=10G tank/mysql/logs
chown mysql:mysql /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/relay /tank/mysql/tmp /tank/mysql/logs
chmod 0750 /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/relay /tank/mysql/tmp /tank/mysql/logs
zfs set zmysql:state=complete tank
