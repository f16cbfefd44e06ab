#!/bin/sh
# capture.sh DIRECTORY - save what zmysql reads of this machine, as test data for its parsers
#
# Run it as root on the machine in question: Linux, FreeBSD or illumos (in the global zone). Each file holds the unedited
# output of one command, the same command that zmysql runs; the file `about` says which OS, kernel and ZFS it was, and
# when. It changes nothing but DIRECTORY. The parsers for FreeBSD and illumos were written from what the public has:
# docs/platforms.md says which captures are wanted most.
#
# USAGE   sh capture.sh tests/machines/debian13-zfs2.3-blank
# FILES   about zpool-status zpool-get zfs-get
#         Linux:   lsblk.json dev-disk
#         FreeBSD: geom camcontrol mount fstyp-NODE zdb-NODE
#         illumos: diskinfo iostat swap dumpadm mount links prtconf prtvtoc-DISK fdisk-DISK fstyp-NODE zdb-NODE
# NOTES   Serial numbers are in it. On a real machine, replace them everywhere alike and say so in `about`.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: sh capture.sh DIRECTORY" >&2
    exit 2
fi
mkdir -p "$1"
cd "$1"
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/local/sbin"

capture_linux() {
    lsblk --version >>about
    lsblk --json --bytes --output \
        NAME,PATH,TYPE,SIZE,ROTA,RM,RO,TRAN,VENDOR,MODEL,SERIAL,WWN,LOG-SEC,PHY-SEC,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINTS >lsblk.json
    find /dev/disk -type l -printf '%p\t%l\n' 2>/dev/null | sort >dev-disk
}

capture_freebsd() {
    sysctl -n kern.geom.confxml >geom
    camcontrol devlist -v >./camcontrol
    mount >./mount
    geom part status -s | awk '{ print $1 }' >nodes
    sysctl -n kern.disks | tr ' ' '\n' >>nodes
    while read -r node; do
        fstyp -u "/dev/$node" >"fstyp-$node" 2>&1 </dev/null || true
        zdb -l "/dev/$node" >"zdb-$node" 2>&1 </dev/null || true
    done <nodes
    rm nodes
}

capture_illumos() {
    diskinfo -Hp >./diskinfo
    iostat -En >./iostat
    swap -l >./swap 2>/dev/null || true
    dumpadm >./dumpadm 2>/dev/null || true
    mount -v >./mount
    ls -l /dev/dsk >links
    prtconf | head -2 >./prtconf
    cut -f2 ./diskinfo | while read -r disk; do
        node=/dev/rdsk/$disk
        fdisk -W - "${node}p0" >"fdisk-$disk" 2>/dev/null </dev/null || true
        { prtvtoc "${node}s2" || prtvtoc "${node}s0" || prtvtoc "$node" || true; } >"prtvtoc-$disk" 2>/dev/null
        awk '/^ *[0-9]/ { print $1 }' "prtvtoc-$disk" | while read -r slice; do
            fstyp "${node}s$slice" >"fstyp-${disk}s$slice" 2>&1 </dev/null || true
            zdb -l "${node}s$slice" >"zdb-${disk}s$slice" 2>&1 </dev/null || true
        done
    done
}

{
    date -u '+date: %Y-%m-%d'
    sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/os: \1/p' /etc/os-release
    uname -srm | sed 's/^/kernel: /'
    uname -v | sed 's/^/build: /'
    { zfs version 2>/dev/null || echo "none, or without versions"; } | sed 's/^/zfs: /'
} >about
case $(uname -s) in
Linux) capture_linux ;;
FreeBSD) capture_freebsd ;;
SunOS) capture_illumos ;;
*)
    echo "capture.sh: $(uname -s) is none of Linux, FreeBSD and illumos" >&2
    exit 1
    ;;
esac
if command -v zpool >/dev/null; then
    zpool status -LP >zpool-status 2>&1 || true
    for pool in $(zpool list -H -o name); do
        zpool get -Hp all "$pool"
    done >zpool-get
    zfs get -Hp -t filesystem,volume all >zfs-get
fi
