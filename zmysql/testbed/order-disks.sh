#!/bin/sh
# Runs in the guest: prints the serials of its disks in the order of their names, SCSI first. With the argument "rebind" it
# names them anew before: the SCSI disks sda, sdb, … in the order of their ids, the NVMe disks nvme0n1, nvme1n1, … in that
# of their PCI slots. Linux probes disks in parallel, so that each boot may name them otherwise; binding one through sysfs
# waits for it.
set -eu
# Who holds a disk open holds its name. Emulated on a busy machine, udev takes longer than the two minutes of its own limit.
udevadm settle --timeout=900

bound() { find "$1" -name '[0-9]*:*' -printf '%f\n' 2>/dev/null; }
rebind() { # DRIVER DEVICE…: gives the names in the order of the devices
    driver=$1
    shift
    for device in "$@"; do echo "$device" >"$driver/unbind"; done
    for device in "$@"; do echo "$device" >"$driver/bind"; done
}

if [ "${1-}" = rebind ]; then
    scsi=/sys/bus/scsi/drivers/sd nvme=/sys/bus/pci/drivers/nvme
    # shellcheck disable=SC2046 # a list of ids such as 0:0:3:0
    rebind $scsi $(bound $scsi | sort -t: -n -k1,1 -k2,2 -k3,3 -k4,4)
    # shellcheck disable=SC2046 # a list of PCI addresses such as 0000:00:0a.0, whose digits are hexadecimal
    rebind $nvme $(bound $nvme | sort)
    udevadm settle --timeout=900
fi
# Shorter names first: sdz comes before sdaa.
lsblk --nodeps --noheadings --output NAME,SERIAL | awk '/^(sd|nvme)/ {print $1 ~ /^nvme/, length($1), $1, $2}' |
    sort -k1,1n -k2,2n -k3,3 | cut -d' ' -f4
