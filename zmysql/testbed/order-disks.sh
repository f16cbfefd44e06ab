#!/bin/sh
# Runs in the guest: names the SCSI disks sda, sdb, … in the order of their ids, and prints their serials in that order.
# Linux probes SCSI disks in parallel, so that each boot may name them otherwise; binding one through sysfs waits for it.
set -eu
udevadm settle # who holds a disk open holds its name
cd /sys/bus/scsi/drivers/sd
disks=$(for disk in [0-9]*:*; do [ ! -e "$disk" ] || echo "$disk"; done | sort -t: -n -k1,1 -k2,2 -k3,3 -k4,4)
for disk in $disks; do echo "$disk" >unbind; done
for disk in $disks; do echo "$disk" >bind; done
udevadm settle
# Shorter names first: sdz comes before sdaa.
for name in $(lsblk --nodeps --noheadings --output NAME | grep '^sd' | awk '{print length($0), $0}' | sort -k1,1n -k2 | cut -d' ' -f2); do
    lsblk --nodeps --noheadings --output SERIAL "/dev/$name"
done
