#!/bin/sh
# capture.sh DIRECTORY - save what zmysql reads of this machine, as test data for its parsers
#
# Run it as root on the machine in question. Each file holds the unedited output of one command, the same command
# that zmysql runs; the file `about` says which OS, kernel and ZFS it was, and when.
#
# USAGE   sh capture.sh tests/machines/debian13-zfs2.3-blank
# FILES   about lsblk.json dev-disk zpool-status zpool-get zfs-get
# NOTES   Serial numbers are in it. On a real machine, replace them everywhere alike and say so in `about`.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: sh capture.sh DIRECTORY" >&2
    exit 2
fi
mkdir -p "$1"
cd "$1"
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

{
    date -u '+date: %Y-%m-%d'
    sed -n 's/^PRETTY_NAME="\(.*\)"/os: \1/p' /etc/os-release
    uname -srm | sed 's/^/kernel: /'
    lsblk --version
    zfs version 2>/dev/null | sed 's/^/zfs: /' || echo "zfs: none"
} >about

lsblk --json --bytes --output \
    NAME,PATH,TYPE,SIZE,ROTA,RM,RO,TRAN,VENDOR,MODEL,SERIAL,WWN,LOG-SEC,PHY-SEC,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINTS >lsblk.json
find /dev/disk -type l -printf '%p\t%l\n' 2>/dev/null | sort >dev-disk
if command -v zpool >/dev/null; then
    zpool status -LP >zpool-status 2>&1 || true
    for pool in $(zpool list -H -o name); do
        zpool get -Hp all "$pool"
    done >zpool-get
    zfs get -Hp -t filesystem,volume all >zfs-get
fi
