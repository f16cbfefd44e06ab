"""What the ZFS of a system and version lacks, in one table.

illumos has a ZFS of its own without versions; Linux and FreeBSD (from 13) have OpenZFS. This is asked before anything
is made: zfs(8) would say the same, but when half of the datasets are there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zmysql.host import Host

ILLUMOS = "illumos"

# `zfs version` came with 0.8; a ZFS that doesn't know it is older, or what FreeBSD had before 13, which is like it.
_BEFORE_VERSIONS = (0, 7)
_VERSION = re.compile(r"^zfs-(?:kmod-)?v?(\d+(?:\.\d+)+)", re.MULTILINE)

_128K, _1M = 128 << 10, 1 << 20


@dataclass(frozen=True, slots=True)
class Zfs:
    """The ZFS of a host: its system (linux, freebsd, illumos) and its version, None where that can't be told."""

    system: str
    version: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Lack:
    """What a ZFS doesn't know of a layout, and whether the layout is refused for it, or made without it."""

    reason: str
    refuse: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """A property with some of its values, or a command: since which OpenZFS it is there, and where that is said.

    `refuse` is for what changes where or how data is stored; what only tunes is left out. illumos has none of this.
    """

    name: str
    what: str
    since: tuple[int, ...]
    refuse: bool
    source: str
    has: Callable[[str], bool] = lambda _value: True


def _over(limit_bytes: int) -> Callable[[str], bool]:
    return lambda value: _bytes(value) > limit_bytes


def _bytes(value: str) -> int:
    try:
        return parse_size(value)
    except UsageError:  # `none`, or a word for the validation to complain of
        return 0


# Rows about one property go from the newest to the oldest. Sources: commits and pull requests (#) of openzfs/zfs, its
# man pages and release notes; for illumos zfs(8) and zpool(8) of illumos-gate as of September 2025.
_PROPERTIES = (
    _Row("compression", "zstd", (2, 0), True, "2.0.0, zfs(8)", lambda value: value.startswith("zstd")),
    # Without Direct I/O there is nothing to disable, and O_DIRECT means nothing anyhow.
    _Row("direct", "Direct I/O", (2, 3), False, "#10018, zfsprops(7)"),
    _Row(
        *("redundant_metadata", "redundant_metadata=some and =none", (2, 2), False, "#13680, zfs(8)"),
        has=lambda value: value in {"some", "none"},
    ),
    _Row("recordsize", "records over 1M without zfs_max_recordsize", (2, 2), True, "f2330bd15, zfs(8)", _over(_1M)),
    _Row(
        *("special_small_blocks", "special_small_blocks that is no power of two", (2, 4), True, "#17497, zfs(8)"),
        has=lambda value: _bytes(value).bit_count() > 1,
    ),
    # 2.3.9 takes up to 16M, as tried; zfsprops(7) of older versions says 1M.
    _Row("special_small_blocks", "special_small_blocks over 1M", (2, 3), True, "2.3.9, zfsprops(7)", _over(_1M)),
    _Row("special_small_blocks", "special_small_blocks over 128K", (2, 0), True, "624222ae3, zfs(8)", _over(_128K)),
    _Row("special_small_blocks", "special vdevs", (0, 8), True, "#5182, zpool(8)"),
    _Row("compatibility", "compatibility", (2, 1), False, "#11468, zpool(8)", lambda value: value == "off"),
    _Row("compatibility", "compatibility", (2, 1), True, "#11468, zpool(8)"),
    _Row("autotrim", "TRIM", (0, 8), False, "#8419, zpool(8)"),
    _Row("xattr", "xattr=sa and =dir", (0, 6), False, "82a37189a, zfs(8)", lambda value: value in {"sa", "dir"}),
    _Row("dnodesize", "dnodesize", (0, 7), False, "50c957f70, zfs(8)"),
)
# What illumos has all the same.
_ILLUMOS_HAS = {"special vdevs", "TRIM", "dnodesize"}

_COMMANDS = (
    _Row("zfs rewrite", "`zfs rewrite`", (2, 3, 4), True, "#17246 and #17656, zfs-rewrite(8)"),
    _Row("zpool status -j", "`zpool status -j`", (2, 3), True, "2.3.0, zpool-status(8)"),
)


def lacks(zfs: Zfs, name: str, value: str) -> Lack | None:
    """Tell why a property can't have a value there; None where it can, and where the version isn't known."""
    return _first_lack(zfs, (row for row in _PROPERTIES if row.name == name and row.has(value)))


def lacks_command(zfs: Zfs, command: str) -> Lack | None:
    """Tell why one of the younger commands (zfs rewrite, zpool status -j) isn't there; None where it is."""
    return _first_lack(zfs, (row for row in _COMMANDS if row.name == command))


def read_zfs(host: Host, system: str) -> Zfs:
    """Give the ZFS of a host whose system (linux, freebsd, illumos) is known."""
    if system == ILLUMOS:
        return Zfs(system, None)
    done = host.run(("zfs", "version"), check=False)
    return Zfs(system, parse_version(done.stdout) or (_BEFORE_VERSIONS if "unrecognized" in done.stderr else None))


def parse_version(text: str) -> tuple[int, ...] | None:
    """Give the version from `zfs version`: the older one, where the tools' and the kernel's differ. None for none."""
    versions = [tuple(int(part) for part in version.split(".")) for version in _VERSION.findall(text)]
    return min(versions, default=None)


def _first_lack(zfs: Zfs, rows: Iterable[_Row]) -> Lack | None:
    for row in rows:
        if zfs.system == ILLUMOS:
            if row.what not in _ILLUMOS_HAS:
                return Lack(f"illumos has no {row.what}", row.refuse)
        elif zfs.version is not None and zfs.version < row.since:
            came = f"{row.what} came with OpenZFS {_dotted(row.since)}"
            return Lack(f"{came}, and this is {_dotted(zfs.version)}", row.refuse)
    return None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
