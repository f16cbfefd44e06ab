#!/bin/sh
# capture-reads.sh DISK DIRECTORY - a known workload, seen by the kernel's history of reads and by blktrace
#
# Run it as root on a Linux machine with OpenZFS, blktrace and a disk that may be lost. A program reads single records of
# a file; what it read, and what zfs-reads and blkparse say of it, is saved.
#
# USAGE   sh capture-reads.sh sda tests/machines/debian13-zfs2.3-reads
# FILES   blocks-read: the block numbers that the program read, in their order
#         zfs-reads-1 zfs-reads-2: /proc/spl/kstat/zfs/POOL/reads, after some of it and after all of it
#         blkparse, zfs-list (name, objset id, recordsize), inodes
# NOTES   It makes and leaves the pool t. The dbuf cache is nearly off, so that rereads get as far as the ARC.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: sh capture-reads.sh DISK DIRECTORY" >&2
    exit 2
fi
mkdir -p "$2"
zpool create -f -O recordsize=16k -O compression=off -O atime=off -O mountpoint=/t t "$1"
cd "$2"
parameters=/sys/module/zfs/parameters
zfs create t/data
dd if=/dev/urandom of=/t/data/table.ibd bs=1M count=8 status=none
dd if=/dev/urandom of=/t/data/small bs=5000 count=1 status=none
zpool export t
zpool import t
echo 100000 >$parameters/zfs_read_history
echo 1 >$parameters/zfs_read_history_hits
echo 1 >$parameters/dbuf_cache_max_bytes

read_blocks() { # SEED COUNT
    python3 - "$1" "$2" <<'PY'
import os, random, sys
random.seed(int(sys.argv[1]))
table = os.open("/t/data/table.ibd", os.O_RDONLY)
for _ in range(int(sys.argv[2])):
    block = random.randrange(64)
    os.pread(table, 16384, block * 16384)
    print(block)
os.pread(os.open("/t/data/small", os.O_RDONLY), 5000, 0)
PY
}

blktrace -d "/dev/$1" -o - >events &
tracer=$!
sleep 3
read_blocks 1 60 >blocks-read
sleep 1
cat /proc/spl/kstat/zfs/t/reads >zfs-reads-1
read_blocks 2 40 >>blocks-read
sleep 1
cat /proc/spl/kstat/zfs/t/reads >zfs-reads-2
sync
kill -INT "$tracer"
wait "$tracer" || true
blkparse -i - <events >./blkparse
rm events
zfs list -Hp -o name,objsetid,recordsize >zfs-list
stat -c '%i %n' /t/data/* >inodes
