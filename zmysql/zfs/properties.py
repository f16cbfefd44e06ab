"""The dataset and pool properties that a layout may set, and what each may be: zfsprops(7) and zpoolprops(7)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from zmysql.errors import UsageError, did_you_mean
from zmysql.units import format_size, parse_size

_ON_OFF = ("on", "off")
_MOST_BYTES = 1 << 62  # what 64 bits hold, with a margin


class PropertyType(ABC):
    """What a property may be. Values are as an admin writes them, such as 16K."""

    @abstractmethod
    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None."""

    @abstractmethod
    def normal(self, value: str) -> str:
        """Give the one way to write a right value: 16384 and 16k are both 16K."""

    @abstractmethod
    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zfs get -p` printed means this value; None is where it printed a hyphen."""


@dataclass(frozen=True, slots=True)
class Choice(PropertyType):
    """A property that is one of some words; `same` are words that mean one thing, to some version of ZFS at least."""

    words: tuple[str, ...]
    same: frozenset[str] = frozenset()

    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None."""
        return None if value in self.words else f"may be {', '.join(self.words)}{did_you_mean(value, self.words)}"

    def normal(self, value: str) -> str:
        """Give the value itself: words have one spelling."""
        return value

    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zfs get -p` printed means this value."""
        return read == value or {read, value} <= self.same


@dataclass(frozen=True, slots=True)
class Size(PropertyType):
    """A property that is a size in a range.

    `none` is the word for its absence, where it has one; `zfs get -p` prints 0 for it.
    """

    least_bytes: int
    most_bytes: int
    power_of_two: bool = True
    none: str | None = None

    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None."""
        size_bytes = self._bytes(value) or 0
        in_range = self.least_bytes <= size_bytes <= self.most_bytes
        if value == self.none or (in_range and (not self.power_of_two or size_bytes.bit_count() == 1)):
            return None
        kind = "a power of two" if self.power_of_two else "a size"
        absence = f"{self.none}, or " if self.none else ""
        return f"is {absence}{kind} from {format_size(self.least_bytes)} to {format_size(self.most_bytes)}"

    def normal(self, value: str) -> str:
        """Give the value with the biggest suffix that is exact."""
        size_bytes = self._bytes(value)
        if size_bytes is None or value == self.none:
            return value
        short = format_size(size_bytes)
        return short if self._bytes(short) == size_bytes else str(size_bytes)

    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zfs get -p` printed, which is in bytes, means this value."""
        if value == self.none:
            return read in {"0", self.none}
        return read is not None and self._bytes(read) == self._bytes(value)

    @staticmethod
    def _bytes(value: str) -> int | None:
        try:
            return parse_size(value)
        except UsageError:
            return None


@dataclass(frozen=True, slots=True)
class FeatureSets(PropertyType):
    """The pool property compatibility: off, legacy, or names of files under compatibility.d: zpool-features(7)."""

    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None. Which files there are, the host knows."""
        one = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"
        if re.fullmatch(rf"{one}(,{one}){{0,15}}", value):
            return None
        return "is off, legacy, or feature sets such as openzfs-2.1-linux, separated by commas"

    def normal(self, value: str) -> str:
        """Give the value itself."""
        return value

    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zpool get -p` printed means this value."""
        return read == value


_CACHED = Choice(("all", "metadata", "none"))
_AMOUNT = Size(1, _MOST_BYTES, power_of_two=False, none="none")

type_of_dataset_property: dict[str, PropertyType] = {
    "atime": Choice(_ON_OFF),
    "compression": Choice(
        (
            *("lz4", "zstd", *(f"zstd-{level}" for level in range(1, 20)), "zstd-fast"),
            *("gzip", *(f"gzip-{level}" for level in range(1, 10)), "zle", "lzjb", *_ON_OFF),
        ),
        same=frozenset(("gzip", "gzip-6")),
    ),
    # Since OpenZFS 2.3.
    "direct": Choice(("standard", "always", "disabled")),
    "dnodesize": Choice(("legacy", "auto", "1k", "2k", "4k", "8k", "16k")),
    "logbias": Choice(("latency", "throughput")),
    "primarycache": _CACHED,
    "quota": _AMOUNT,
    "recordsize": Size(512, 16 << 20),
    "redundant_metadata": Choice(("all", "most", "some", "none")),
    "refquota": _AMOUNT,
    "refreservation": _AMOUNT,
    "reservation": _AMOUNT,
    "secondarycache": _CACHED,
    # A dataset with its recordsize at or under this lies on the special vdevs wholly.
    "special_small_blocks": Size(512, 16 << 20, none="0"),
    "sync": Choice(("standard", "always", "disabled")),
    # OpenZFS 2.3 made `on` mean `sa` and prints `on` for both; before, `on` was `dir`.
    "xattr": Choice(("sa", "dir", *_ON_OFF), same=frozenset(("sa", "on"))),
}

type_of_pool_property: dict[str, PropertyType] = {
    "ashift": Choice(tuple(str(shift) for shift in range(9, 17))),
    "autotrim": Choice(_ON_OFF),
    "compatibility": FeatureSets(),
}
