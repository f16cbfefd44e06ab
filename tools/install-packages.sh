#!/bin/sh
# Installs the named Debian packages that are missing: with apt-get as root or through sudo; otherwise says what to install.
# usage: install-packages.sh PACKAGE…
set -eu
missing=
for package in "$@"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if ! command -v apt-get >/dev/null; then
    [ -z "$missing" ] || echo "setup: no apt-get here; going on without checking for:$missing" >&2
    exit 0
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    as_root=none
fi
# A new machine has no package lists, and from them the testbed's image learns which mirror is used here.
if [ "$as_root" != none ] && [ -z "$(apt-get indextargets 'Created-By: Packages' | head -n 1)" ]; then
    echo "setup: reading the package lists"
    $as_root apt-get update -q >/dev/null 2>&1 || :
fi
[ -n "$missing" ] || exit 0
if [ "$as_root" = none ]; then
    echo "setup: please have root run: apt-get install$missing" >&2
    exit 1
fi
echo "setup: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Several runs at once wait for each other's lock; the lists may be stale or missing on a new machine.
# shellcheck disable=SC2086 # a list of packages
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 $missing
}
if ! install >"$log" 2>&1; then
    $as_root apt-get update -q >"$log" 2>&1 || :
    install >"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 1; }
fi
