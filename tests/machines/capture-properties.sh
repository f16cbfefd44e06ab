#!/bin/sh
# capture-properties.sh POOL - what ZFS makes of each value of the properties that a layout may set
#
# Run it as root on a machine with a pool that may be lost. It reads lines of "zfs|zpool property value", sets each, and
# prints "kind property value read" with tabs between: `read` is what `get -Hp` gives then, or ! where ZFS refused.
#
# USAGE   sh capture-properties.sh POOL <values >tests/machines/MACHINE/properties
set -eu

if [ $# -ne 1 ]; then
    echo "usage: sh capture-properties.sh POOL <values" >&2
    exit 2
fi
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

while read -r kind property value; do
    if "$kind" set "$property=$value" "$1" 2>/dev/null; then
        read=$("$kind" get -Hp -o value "$property" "$1")
    else
        read=!
    fi
    printf '%s\t%s\t%s\t%s\n' "$kind" "$property" "$value" "$read"
done
