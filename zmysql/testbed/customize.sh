#!/bin/sh
# Runs as mmdebstrap's customize hook: finishes the guest's root file system and makes the image of it.
# usage: customize.sh ROOTFS OUT, with WANTED in the environment: lines of "package suite version-prefix fallback…"
# Prints "STEP text" where a person's progress display should move on, and "SUBSTITUTED wanted got" where a pin failed.
set -eu
root=$1 out=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

in_root() { chroot "$root" "$@"; }
candidate() { in_root apt-cache policy "$1" | sed -n "s/^  Candidate: //p"; }
install_from() { suite=$1; shift; in_root apt-get install -q -y --no-install-recommends -t "$suite" "$@"; }

in_root apt-get update -q
printf '%s\n' "$WANTED" | while read -r package suite prefix fallback; do
    [ -n "$package" ] || continue
    echo "STEP installing $package from $suite"
    # The highest version of the suite, not the pinned candidate: the pins keep these suites out of everything else.
    version=$(in_root apt-cache madison "$package" | awk -F' *[|] *' -v suite="$suite" '$3 ~ " " suite "/" {print $2; exit}')
    case $version in
    "$prefix"*) if [ -n "$version" ] && install_from "$suite" "$package" </dev/null; then continue; fi ;;
    esac
    echo "SUBSTITUTED $package=${version:-none} $fallback"
    # shellcheck disable=SC2086 # the fallback is a list of packages
    [ -z "$fallback" ] || in_root apt-get install -q -y --no-install-recommends $fallback </dev/null
done

echo "STEP configuring the guest"
in_root useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin mysql 2>/dev/null || :
# What the package mysql-server would make; mysql-server-core is taken since the rest of it excludes sysbench's library.
install -d "$root/var/lib/mysql-files"
in_root chown mysql:mysql /var/lib/mysql-files
echo 'd /run/mysqld 0755 mysql mysql' >"$root/etc/tmpfiles.d/mysqld.conf"
# Made here, at the host's speed, since a virtual environment takes a minute inside an emulated machine.
in_root python3 -m venv --system-site-packages --without-pip /opt/zmysql
ln -sf /opt/zmysql/bin/zmysql "$root/usr/local/bin/zmysql"
install -d -m 700 "$root/root/.ssh"
install -m 600 "$out/key.pub" "$root/root/.ssh/authorized_keys"
echo zmysql-testbed >"$root/etc/hostname"
echo "127.0.0.1 localhost zmysql-testbed" >"$root/etc/hosts"
echo "/dev/vda / ext4 defaults,noatime 0 1" >"$root/etc/fstab"
echo zfs >"$root/etc/modules-load.d/zfs.conf"
printf '[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\nLinkLocalAddressing=no\n' >"$root/etc/systemd/network/10-testbed.network"
in_root systemctl -q enable systemd-networkd ssh
# Each of these costs seconds of an emulated boot, or stirs the disks while something is measured.
in_root systemctl -q mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
    e2scrub_reap.service fstrim.timer man-db.timer logrotate.timer getty@tty1.service serial-getty@ttyS0.service \
    systemd-networkd-wait-online.service systemd-udev-settle.service zfs-import-scan.service zfs-load-module.service
rm -rf "$root/usr/sbin/policy-rc.d" "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb

echo "STEP taking the kernel and nbdkit out of the image"
cp "$root"/boot/vmlinuz-* "$out/vmlinuz"
cp "$root"/boot/initrd.img-* "$out/initrd"
libraries=/usr/lib/x86_64-linux-gnu
set -- /usr/bin/nbdkit $libraries/nbdkit/plugins/nbdkit-file-plugin.so \
    $libraries/nbdkit/filters/nbdkit-spinning-filter.so $libraries/nbdkit/filters/nbdkit-delay-filter.so
mkdir -p "$out/nbdkit"
for file in "$@" $(in_root ldd "$@" | sed -n 's/.*[[:space:]]\(\/[^ ]*\) (0x.*/\1/p' | sort -u); do
    cp -L "$root$file" "$out/nbdkit/"
done
in_root dpkg-query --show >"$out/packages"

echo "STEP making the file system image"
# A bind mount shows the tree without the proc, sys and dev that mmdebstrap has mounted in it.
mkdir "$out/bare"
mount --bind "$root" "$out/bare"
trap 'umount "$out/bare" && rmdir "$out/bare"' EXIT
mke2fs -q -t ext4 -L zmysql -d "$out/bare" "$out/root.img" 6G
# Under user namespaces these files belong to a subordinate user; the one who builds must read them.
chmod 644 "$out/vmlinuz" "$out/initrd" "$out/packages" "$out/root.img"
