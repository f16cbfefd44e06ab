# data: sda sdb, sdc sdd, sde sdf: all free hdd in mirrors of 2 of equal size
# cache: nvme0n1, nvme1n1: the largest free ssd or nvme that no role before took
# left alone: sdg (ssd, 1G), sdh (ssd, 1G), sdi (ssd, 2G), sdj (ssd, 2G): free, and no role of this pool wants them
# ashift 12: the biggest physical sector of these disks has 512 bytes
zpool create -o ashift=12 -o autotrim=on -O compression=lz4 -O atime=off -O xattr=sa -O redundant_metadata=most -O primarycache=all -O secondarycache=all -O logbias=latency -O sync=standard -O zmysql:template=hdd-l2arc -O zmysql:layout=tank -O zmysql:state=creating tank mirror /dev/disk/by-id/scsi-35000c5044ffab298 /dev/disk/by-id/scsi-35000c50cfa2433f5 mirror /dev/disk/by-id/scsi-35000c50ee11a27f5 /dev/disk/by-id/scsi-35000c50974d9f91e mirror /dev/disk/by-id/scsi-35000c5029a542b5b /dev/disk/by-id/scsi-35000c50a58127ff6 cache /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZMF5EA936E /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZM62B14F04
zfs create tank/mysql
zfs create -o recordsize=128K -o direct=disabled tank/mysql/data
zfs create -o recordsize=128K -o secondarycache=none tank/mysql/redo
zfs create -o recordsize=128K -o secondarycache=none tank/mysql/binlog
zfs create -o recordsize=128K -o secondarycache=none tank/mysql/relay
zfs create -o recordsize=16K tank/mysql/undo
zfs create -o recordsize=128K -o secondarycache=none -o logbias=throughput tank/mysql/tmp
zfs create -o recordsize=128K -o secondarycache=none -o quota=10G tank/mysql/logs
chown mysql:mysql /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/relay /tank/mysql/undo /tank/mysql/tmp /tank/mysql/logs
chmod 0750 /tank/mysql/data /tank/mysql/redo /tank/mysql/binlog /tank/mysql/relay /tank/mysql/undo /tank/mysql/tmp /tank/mysql/logs
zfs set zmysql:state=complete tank
