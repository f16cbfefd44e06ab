"""What the simulation knows of a machine: ZFS's tunables under their own names, with each platform's defaults.

Sources: zfs(4) and module/zfs/arc.c, dbuf.c, dmu_zfetch.c of OpenZFS's release tags; usr/src/uts/common/fs/zfs/arc.c of
illumos. Sizes of structures were measured on Linux, OpenZFS 2.3.9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from zmysql.errors import UsageError, did_you_mean
from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterable

CACHES = ("all", "metadata", "none")
_MEBIBYTE = 1 << 20
# Ranges of what isn't from 0 to a milliard: values beyond mean nothing, and may not fit the engine's numbers.
_COUNT = 10**9
_SIZE = 1 << 50
_BLOCK = 16 * _MEBIBYTE
_RANGES: dict[str, tuple[int, int]] = {
    "zfs_multilist_num_sublists": (1, 1024),
    "zfs_max_recordsize": (0, _SIZE),
    "dbuf_cache_shift": (0, 63),
    "dbuf_cache_lowater_pct": (0, 100),
    "zfetch_min_distance": (0, _SIZE),
    "zfetch_max_distance": (0, _SIZE),
    "zfetch_max_idistance": (0, _SIZE),
    "zfetch_max_reorder": (0, _SIZE),
    "zfetch_hole_shift": (0, 63),
    "l2arc_write_max": (1, _SIZE),
    "l2arc_write_boost": (0, _SIZE),
    "l2arc_rebuild_blocks_min_l2size": (0, _SIZE),
    "arc_meta": (0, 1),
    "arc_pd": (0, 1),
    "arc_pm": (0, 1),
    "arc_other_bytes": (0, _SIZE),
    "compressratio": (1, 10**6),
    "metadata_compressratio": (1, 10**6),
    "sector_bytes": (1, _BLOCK),
    "indirect_bytes": (256, _BLOCK),
    "blkptr_bytes": (1, 65536),
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """A machine and its data. The defaults are those of OpenZFS 2.2.7 to 2.4 on Linux.

    Names that begin with zfs_, zfetch_, dbuf_ or l2arc_ are those of zfs(4), in its units. `zfs_max_recordsize` is
    how far the ARC may exceed its target before it evicts (less for an ARC below 64 MiB, which no system has).
    `arc_mintime_ms` is how soon a second read of a block doesn't count. `arc_meta`, `arc_pd` and `arc_pm` are where the
    ARC's balance starts, from 0 to 1: the share of metadata, and of recent blocks among data and among metadata. They
    are meta, pd and pm of the kstat arcstats, through 2^32, and live as long as the module. `l2arc_prefetch_reads`:
    prefetch may read from the L2ARC. `arc_warm`: the machine was short of memory since it booted; until then the L2ARC
    is fed with `l2arc_write_boost`, and from the new ends of the ARC's lists.

    `compressratio` is that of the records, as zfs(8) gives it, `metadata_compressratio` that of indirect blocks.
    Compressed blocks take multiples of `sector_bytes`. An indirect block of `indirect_bytes` has pointers of
    `blkptr_bytes`. `arc_other_bytes` is what the ARC holds besides the traced files: dnodes, other datasets.
    `hdr_full_bytes`, `hdr_l2only_bytes`, `buf_bytes` and `dbuf_bytes` are the sizes of the structures for a block in
    the ARC, in the L2ARC only, and, in addition, with a dbuf.
    """

    zfs_arc_meta_balance: int = 500
    zfs_max_recordsize: int = 16 * _MEBIBYTE
    zfs_arc_min_prefetch_ms: int = 1000
    zfs_arc_evict_batch_limit: int = 10
    zfs_multilist_num_sublists: int = 4
    arc_mintime_ms: int = 62
    arc_meta: float = 0.25
    arc_pd: float = 0.5
    arc_pm: float = 0.5
    dbuf_cache_shift: int = 5
    dbuf_cache_lowater_pct: int = 10
    zfs_prefetch_disable: bool = False
    zfetch_max_streams: int = 8
    zfetch_min_sec_reap: int = 1
    zfetch_max_sec_reap: int = 2
    zfetch_min_distance: int = 4 * _MEBIBYTE
    zfetch_max_distance: int = 64 * _MEBIBYTE
    zfetch_max_idistance: int = 64 * _MEBIBYTE
    zfetch_max_reorder: int = 16 * _MEBIBYTE
    zfetch_hole_shift: int = 2
    l2arc_write_max: int = 32 * _MEBIBYTE
    l2arc_write_boost: int = 32 * _MEBIBYTE
    l2arc_headroom: int = 8
    l2arc_headroom_boost: int = 200
    l2arc_feed_secs: int = 1
    l2arc_feed_min_ms: int = 200
    l2arc_feed_again: bool = True
    l2arc_noprefetch: bool = True
    l2arc_mfuonly: int = 0
    l2arc_meta_percent: int = 33
    l2arc_prefetch_reads: bool = True
    l2arc_rebuild_enabled: bool = True
    l2arc_rebuild_blocks_min_l2size: int = 1 << 30
    arc_warm: bool = False
    arc_other_bytes: int = 0
    compressratio: float = 1.0
    metadata_compressratio: float = 2.5
    sector_bytes: int = 4096
    indirect_bytes: int = 131072
    blkptr_bytes: int = 128
    primarycache: str = "all"
    secondarycache: str = "all"
    hdr_full_bytes: int = 240
    hdr_l2only_bytes: int = 96
    buf_bytes: int = 32
    dbuf_bytes: int = 368

    @property
    def data_in_arc(self) -> bool:
        """Whether records stay in the ARC."""
        return self.primarycache == "all"

    @property
    def metadata_in_arc(self) -> bool:
        """Whether indirect blocks stay in the ARC."""
        return self.primarycache != "none"

    @property
    def data_in_l2arc(self) -> bool:
        """Whether records may go to the L2ARC: only what the ARC holds can."""
        return self.secondarycache == "all" and self.data_in_arc

    @property
    def metadata_in_l2arc(self) -> bool:
        """Whether indirect blocks may go to the L2ARC."""
        return self.secondarycache != "none" and self.metadata_in_arc


_OLD_FEED: dict[str, Any] = {
    "l2arc_write_max": 8 * _MEBIBYTE,
    "l2arc_write_boost": 8 * _MEBIBYTE,
    "l2arc_headroom": 2,
}
# What differs from the defaults above.
PLATFORMS: dict[str, dict[str, Any]] = {
    # illumos-gate; l2arc_noprefetch also keeps prefetch from reading there. Header sizes are computed, not measured.
    "illumos": {**_OLD_FEED, "l2arc_prefetch_reads": False, "hdr_l2only_bytes": 88, "hdr_full_bytes": 232},
    # OpenZFS to 2.2.6.
    "openzfs-2.2.6": _OLD_FEED,
    # OpenZFS 2.2.7 to 2.4: commit "L2ARC: relax locking/raise defaults" of 2024.
    "openzfs-2.4": {},
    # OpenZFS master, after 2.4.
    "openzfs-master": {"l2arc_write_max": 64 * _MEBIBYTE, "l2arc_write_boost": 0},
}


def platform_of(os: str | None, zfs: str | None) -> str:
    """Give the row of PLATFORMS for a system such as "OmniOS, SunOS 5.11" and a version of ZFS such as 2.3.9-1.

    Without a version the row of today's releases is taken.
    """
    if os and re.search(r"illumos|SunOS|OmniOS|SmartOS|OpenIndiana", os, re.IGNORECASE):
        return "illumos"
    if zfs and zfs.strip().lower() in {"master", "git"}:
        return "openzfs-master"
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", zfs or "")
    if found is None:
        return "openzfs-2.4"
    version = tuple(int(part or 0) for part in found.groups())
    if version < (2, 2, 7):
        return "openzfs-2.2.6"
    # 2.4.99 is how master calls itself before the next release.
    return "openzfs-2.4" if version < (2, 4, 99) else "openzfs-master"


def parameters_for(os: str | None, zfs: str | None) -> Parameters:
    """Give the defaults of a system, from what a trace's header says of it."""
    return with_values(Parameters(), PLATFORMS[platform_of(os, zfs)])


def with_values(parameters: Parameters, values: dict[str, Any]) -> Parameters:
    """Give the parameters with other values.

    Raises UsageError where a value can't be meant.
    """
    found = replace(parameters, **values)
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, str):
            if value not in CACHES:
                raise UsageError(f"{field.name}={value} can't be meant: it is one of {', '.join(CACHES)}")
            continue
        least, most = _RANGES.get(field.name, (0, _COUNT))
        if not least <= value <= most:
            raise UsageError(f"{field.name}={value} can't be meant: it must be from {least} to {most}")
    if found.blkptr_bytes > found.indirect_bytes // 2:
        raise UsageError(f"blkptr_bytes={found.blkptr_bytes} can't be meant: an indirect block must hold two pointers")
    return found


def with_settings(parameters: Parameters, settings: Iterable[str]) -> Parameters:
    """Take settings such as l2arc_write_max=32M.

    Raises UsageError for an unknown name or a value that is no number.
    """
    kinds = {field.name: type(getattr(parameters, field.name)) for field in fields(parameters)}
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r} has no value: write it as NAME=VALUE, such as l2arc_noprefetch=0")
        if name not in kinds:
            raise UsageError(f"--set {name}: there is no such parameter{did_you_mean(name, kinds)}")
        values[name] = _value(name, kinds[name], text)
    return with_values(parameters, values)


def _value(name: str, kind: type, text: str) -> object:
    if kind is str:
        return text
    if kind is bool:
        if text not in {"0", "1"}:
            raise UsageError(f"--set {name}={text}: it is on or off, so write 1 or 0")
        return text == "1"
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"--set {name}={text}: it is a ratio, such as 1.5") from None
    return parse_size(text)
