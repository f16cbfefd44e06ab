#!/bin/sh
# Runs as mmdebstrap's customize hook: finishes the guest's root file system and makes the image of it.
# usage: customize.sh ROOTFS OUT, with two lists in the environment:
#   WANTED: lines of "package suite version-prefix fallback…", to install
#   SERVERS: lines of "name suite version-prefix package…", to unpack into /opt/NAME
# Prints "STEP text" where a person's progress display should move on, and "SUBSTITUTED wanted got" where a pin failed.
set -eu
root=$1 out=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

in_root() { chroot "$root" "$@"; }
# The highest version of the suite, not the pinned candidate: the pins keep these suites out of everything else.
version_in() { in_root apt-cache madison "$2" | awk -F' *[|] *' -v suite="$1" '$3 ~ " " suite "/" {print $2; exit}'; }
install_from() { suite=$1; shift; in_root apt-get install -q -y --no-install-recommends -t "$suite" "$@"; }

in_root apt-get update -q
printf '%s\n' "$WANTED" | while read -r package suite prefix fallback; do
    [ -n "$package" ] || continue
    echo "STEP installing $package from $suite"
    version=$(version_in "$suite" "$package")
    case $version in
    "$prefix"*) if [ -n "$version" ] && install_from "$suite" "$package" </dev/null; then continue; fi ;;
    esac
    echo "SUBSTITUTED $package=${version:-none} $fallback"
    # shellcheck disable=SC2086 # the fallback is a list of packages
    [ -z "$fallback" ] || in_root apt-get install -q -y --no-install-recommends $fallback </dev/null
done

# Gives an unpacked program a name in PATH, such as mariadbd-11.8. --basedir goes last, since --defaults-file must be first.
wrap() {
    wrapper=$root/usr/local/bin/${2#*/}-${1#*-}
    printf '#!/bin/sh\nexec /opt/%s/usr/%s "$@" --basedir=/opt/%s/usr\n' "$1" "$2" "$1" >"$wrapper"
    chmod 755 "$wrapper"
}
printf '%s\n' "$SERVERS" | while read -r name suite prefix packages; do
    [ -n "$name" ] || continue
    echo "STEP unpacking $name from $suite"
    version=$(version_in "$suite" "${packages%% *}")
    case $version in
    "$prefix"*) ;;
    *) echo "SUBSTITUTED $name=${version:-none}, which is left out" && continue ;;
    esac
    install -d "$root/tmp/debs" "$root/opt/$name"
    for package in $packages; do
        in_root env --chdir=/tmp/debs apt-get download -q "$package/$suite" </dev/null
    done
    for deb in "$root"/tmp/debs/*.deb; do
        in_root dpkg-deb -x "/tmp/debs/${deb##*/}" "/opt/$name"
        in_root dpkg-deb --show "/tmp/debs/${deb##*/}" | sed "s|^|/opt/$name/|" >>"$out/unpacked"
    done
    rm -rf "$root/tmp/debs" "$root/opt/$name/usr/share/man" "$root/opt/$name/usr/share/doc"
    # Only what the suite lacks is there.
    echo "/opt/$name/usr/lib/x86_64-linux-gnu" >>"$root/etc/ld.so.conf.d/servers.conf"
    wrap "$name" sbin/mariadbd
    wrap "$name" bin/mariadb-install-db
    ln -s "/opt/$name/usr/bin/mariadb" "$root/usr/local/bin/$name"
    if in_root ldconfig && in_root ldd "/opt/$name/usr/sbin/mariadbd" | grep 'not found'; then
        echo "E: $name lacks libraries: name them in the recipe" && exit 1
    fi
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
