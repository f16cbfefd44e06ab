"""The parameters of the ZFS module: how they are set on each system, now and for the next boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.check.source import SYSCTLS

if TYPE_CHECKING:
    from zmysql.zfs.commands import Argv


def where(system: str, name: str) -> str:
    """Say where a parameter is read."""
    return f"sysctl {SYSCTLS[name]}" if system == "freebsd" else f"/sys/module/zfs/parameters/{name}"


def set_parameter(system: str, name: str, value: int) -> tuple[tuple[Argv, ...], str | None]:
    """Give the commands that set a parameter, now and for the next boot, and what remains to do.

    Linux: modprobe.d(5), whose last line for a parameter holds. FreeBSD: sysctl.conf(5). illumos: system(5).
    """
    if system == "linux":
        now = _write(str(value), f"/sys/module/zfs/parameters/{name}")
        boot = _append(f"options zfs {name}={value}", "/etc/modprobe.d/zfs.conf")
        return (now, boot), "rebuild the initramfs if ZFS is loaded from it (Debian: update-initramfs -u)"
    if system == "freebsd":
        sysctl = f"{SYSCTLS[name]}={value}"
        return (("sysctl", sysctl), _append(sysctl, "/etc/sysctl.conf")), None
    line = f"set zfs:{name} = {value}"
    return (_append(line, "/etc/system.d/zfs"),), "reboot"


# What is written is plain words and numbers, which need no quotes.


def _write(text: str, path: str) -> Argv:
    return ("sh", "-c", f"echo {text} > {path}")


def _append(line: str, path: str) -> Argv:
    return ("sh", "-c", f"echo {line} >> {path}")
