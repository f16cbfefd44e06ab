"""The dataset and pool properties that a layout may set, and what each may be: zfsprops(7) and zpoolprops(7)."""

from __future__ import annotations

from dataclasses import dataclass

from zmysql.errors import UsageError
from zmysql.units import format_size, parse_size

_ON_OFF = ("on", "off")


@dataclass(frozen=True, slots=True)
class Choice:
    """A property that is one of some words; `same` are words that mean one thing to some version of ZFS."""

    words: tuple[str, ...]
    same: frozenset[str] = frozenset()

    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None."""
        return None if value in self.words else f"may be {', '.join(self.words)}"

    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zfs get -p` printed means this value."""
        return read == value or {read, value} <= self.same


@dataclass(frozen=True, slots=True)
class PowerOfTwo:
    """A property that is a size, and a power of two."""

    least_bytes: int
    most_bytes: int

    def problem(self, value: str) -> str | None:
        """Say what is wrong with a value, or give None."""
        try:
            size_bytes = parse_size(value)
        except UsageError:
            size_bytes = 0
        if self.least_bytes <= size_bytes <= self.most_bytes and size_bytes.bit_count() == 1:
            return None
        return f"is a power of two from {format_size(self.least_bytes)} to {format_size(self.most_bytes)}"

    def reads_as(self, value: str, read: str | None) -> bool:
        """Tell whether what `zfs get -p` printed, which is in bytes, means this value."""
        return read is not None and parse_size(read) == parse_size(value)


type_of_dataset_property: dict[str, Choice | PowerOfTwo] = {
    "atime": Choice(_ON_OFF),
    "compression": Choice(("lz4", "zstd", *(f"zstd-{level}" for level in range(1, 20)), "zle", "gzip", *_ON_OFF)),
    "logbias": Choice(("latency", "throughput")),
    "primarycache": Choice(("all", "metadata", "none")),
    "recordsize": PowerOfTwo(512, 16 << 20),
    "redundant_metadata": Choice(("all", "most", "some", "none")),
    "secondarycache": Choice(("all", "metadata", "none")),
    "sync": Choice(("standard", "always", "disabled")),
    # OpenZFS 2.3 made `on` mean `sa` and prints `on` for both; before, `on` was `dir`.
    "xattr": Choice(("sa", "dir", *_ON_OFF), same=frozenset(("sa", "on"))),
}

type_of_pool_property: dict[str, Choice] = {
    "ashift": Choice(tuple(str(shift) for shift in range(9, 17))),
    "autotrim": Choice(_ON_OFF),
}
