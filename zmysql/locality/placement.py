"""Which class of MySQL's files belongs on which device, by what was measured; Matsunobu's table of 2009 beside it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.locality.names import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Device(StrEnum):
    """What a class of files should lie on."""

    SSD = "ssd"
    HDD = "hdd"
    HDD_AND_LOG = "hdd + log device"
    ANY = "any"


class Access(StrEnum):
    """How a class of files is read and written."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Use:
    """What was done to a file in one direction: operations, bytes, and those of them that began away from the last."""

    kind: Kind
    written: bool
    operations: int
    random: int
    transferred_bytes: int


@dataclass(frozen=True, slots=True)
class Classic:
    """Matsunobu's classification (2009, MySQL 5.4, ext3): the access, and where he puts the files."""

    access: Access
    device: Device


@dataclass(frozen=True, slots=True)
class Placed:
    """A class of files: what was done to it, where it belongs and why, and what Matsunobu said, if he did.

    `random_share` is that of all its operations, `share` that of all transferred bytes; None without operations.
    """

    kind: Kind
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    random_share: float | None
    share: float
    device: Device
    reason: str
    classic: Classic | None

    @property
    def agrees(self) -> bool | None:
        """Whether the recommended device is Matsunobu's; None where either has no preference."""
        if self.classic is None or self.device is Device.ANY:
            return None
        return (self.device is Device.SSD) == (self.classic.device is Device.SSD)


# "Tables on SSD, Redo/Binlog/SYSTEM-tablespace on HDD", section 1.3. The doublewrite buffer lay in ibdata then.
CLASSIC: Mapping[Kind, Classic] = {
    Kind.TABLE: Classic(Access.RANDOM, Device.SSD),
    Kind.UNDO: Classic(Access.RANDOM, Device.HDD),
    Kind.SYSTEM: Classic(Access.SEQUENTIAL, Device.HDD),
    Kind.REDO: Classic(Access.SEQUENTIAL, Device.HDD),
    Kind.BINLOG: Classic(Access.SEQUENTIAL, Device.HDD),
    Kind.DOUBLEWRITE: Classic(Access.SEQUENTIAL, Device.HDD),
    Kind.SLOW: Classic(Access.SEQUENTIAL, Device.HDD),
}
# What a commit waits for: innodb_flush_log_at_trx_commit, sync_binlog, sync_relay_log.
_WAITED_FOR = frozenset({Kind.REDO, Kind.BINLOG, Kind.RELAY})
_SAME_AS_TABLE = frozenset({Kind.FULLTEXT, Kind.GENERAL, Kind.DICTIONARY})
# A class with less than this of the bytes costs no device of its own.
_SMALL_SHARE = 0.01
# An HDD moves about 1 MB in the time of a seek: with more random operations than this it does little else than seek.
_RANDOM_SHARE = 0.2


def place(uses: Iterable[Use]) -> tuple[Placed, ...]:
    """Give each class of files its device, most transferred bytes first.

    Full-text indexes, general tablespaces and the data dictionary are tables here.
    """
    grouped: dict[Kind, list[Use]] = defaultdict(list)
    for use in uses:
        grouped[Kind.TABLE if use.kind in _SAME_AS_TABLE else use.kind].append(use)
    all_bytes = sum(use.transferred_bytes for group in grouped.values() for use in group)
    placed = [_placed(kind, group, all_bytes) for kind, group in grouped.items()]
    return tuple(sorted(placed, key=lambda one: (-one.read_bytes - one.written_bytes, one.kind)))


def _placed(kind: Kind, group: list[Use], all_bytes: int) -> Placed:
    reads = sum(use.operations for use in group if not use.written)
    writes = sum(use.operations for use in group if use.written)
    read_bytes = sum(use.transferred_bytes for use in group if not use.written)
    written_bytes = sum(use.transferred_bytes for use in group if use.written)
    operations = reads + writes
    random_share = sum(use.random for use in group) / operations if operations else None
    share = (read_bytes + written_bytes) / all_bytes if all_bytes else 0.0
    device, reason = _advice(kind, random_share, share, reads)
    classic = CLASSIC.get(kind)
    return Placed(kind, reads, writes, read_bytes, written_bytes, random_share, share, device, reason, classic)


def _advice(kind: Kind, random_share: float | None, share: float, reads: int) -> tuple[Device, str]:
    """Give the device for a class, and why in a few words."""
    if kind in _WAITED_FOR:
        rarely = "" if reads == 0 else ", and are read in sequence too"
        return Device.HDD_AND_LOG, f"written one after the other{rarely}; commits wait, so a log device takes the syncs"
    if kind is Kind.DOUBLEWRITE:
        return Device.HDD, "sequential; ZFS needs none with recordsize = page size: innodb_doublewrite=OFF saves it"
    if random_share is None or share < _SMALL_SHARE:
        return Device.ANY, f"{100 * share:.1f} % of the bytes: not worth a device"
    if random_share >= _RANDOM_SHARE:
        return Device.SSD, f"{100 * random_share:.0f} % of the operations are random: an HDD would seek for each"
    return Device.HDD, f"{100 * (1 - random_share):.0f} % of the operations go on where the last one ended"
