"""The parts of the locality report on a terminal that say what is in the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from zmysql.report.terminal import bar, duration, grid, percent, plain, sparkline
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.locality.assessment import Assessment
    from zmysql.locality.profile import Profile

_SURESH = {"more than once": "5 %", "more than twice": "0.2 %"}  # of the blocks, in his article's random read load
_CLASS_WORDS = {
    "dbuf": "dbuf cache",
    "arc": "ARC",
    "l2hit": "L2ARC",
    "miss": "disk",
    "wait": "a read in flight",
    "hole": "no device: holes",
    "direct": "disk, by Direct I/O",
}
_OTHER_WORDS = {"prefetch": "records prefetched", "write": "records written"}
_MOST_TABLES = 5
_MOST_BARS = 10
_BAR_WIDTH = 40
_SPARK_WIDTH = 60


def recorded(found: Assessment) -> Table:
    """Say where and when."""
    header = found.header
    table = grid(2)
    machine = [
        header.host,
        header.os,
        f"ZFS {header.zfs}" if header.zfs else None,
        f"MySQL {header.mysql}" if header.mysql else None,
        f"imported from {header.imported}" if header.imported else None,
    ]
    table.add_row("on", plain(", ".join(word for word in machine if word) or "an unknown machine"))
    # The span of the records where the recording doesn't say how long it was.
    seconds = (found.profile.span_ns if header.duration_ns is None else header.duration_ns) / 1e9
    since = f" from {header.started}" if header.started else ""
    ended = f" ({header.ended})" if header.ended not in {None, "duration"} else ""
    table.add_row("for", plain(f"{seconds:,.1f} s{since}{ended}"))
    if header.datasets and not header.imported:
        names = (f"{dataset.name} ({format_size(dataset.recordsize)} records)" for dataset in header.datasets.values())
        table.add_row("of", plain(", ".join(names)))
    return table


def counts(profile: Profile) -> Table:
    """Say how many records were read, how often, and from where."""
    table = grid(4, right=(1, 2))
    table.add_row("reads", f"{profile.references:,}")
    table.add_row("distinct records", f"{profile.distinct_blocks:,}", "", format_size(profile.distinct_bytes))
    for name, blocks in (
        ("once", profile.blocks_read_once),
        ("more than once", profile.blocks_read_more_than_once),
        ("more than twice", profile.blocks_read_more_than_twice),
    ):
        compared = f"Suresh 2009: {_SURESH[name]}" if name in _SURESH else ""
        table.add_row(f"  read {name}", f"{blocks:,}", percent(blocks, profile.distinct_blocks), compared)
    for name, words in _CLASS_WORDS.items():
        if reads := profile.classes.get(name):
            table.add_row(f"reads from {words}", f"{reads:,}", percent(reads, profile.references))
    for name, words in _OTHER_WORDS.items():
        if records := profile.classes.get(name):
            table.add_row(words, f"{records:,}", "", "in no other figure")
    return table


def tables(found: Assessment) -> Table:
    """List the most read files, with the bytes that were read of them and how they would do with the ARC shared."""
    objects = found.analysis.objects.objects
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in ("reads", "", "size", "missed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold")
    whole = found.profile.references
    for one in objects[:_MOST_TABLES]:
        missed = percent(one.misses, one.references)
        name = plain(one.path or one.name)
        table.add_row(
            f"{one.references:,}", percent(one.references, whole), format_size(one.distinct_bytes), missed, name
        )
    if others := objects[_MOST_TABLES:]:
        reads, size = sum(one.references for one in others), sum(one.distinct_bytes for one in others)
        missed = percent(sum(one.misses for one in others), reads)
        table.add_row(f"{reads:,}", percent(reads, whole), format_size(size), missed, f"in {len(others)} others")
    return table


def curve(found: Assessment) -> Table:
    """Draw the miss-ratio curve as bars: some sizes of the curve, and the caches' own."""
    profile, caches = found.profile, found.caches
    doublings = profile.mrc[1::8]  # eight points a doubling, after that of no cache
    rows = {size: (miss_ratio, "") for size, miss_ratio in doublings[:: len(doublings) // _MOST_BARS + 1]}
    last_size, last_ratio = profile.mrc[-1]
    rows[last_size] = (last_ratio, "flat from here: first reads")
    for size, name in ((caches.arc_bytes, "ARC"), (caches.both_bytes, "ARC + L2ARC")):
        rows[size] = ((profile.references - profile.hits[size]) / profile.references, f"← {name}")
    table = grid(4, right=(0, 1))
    for size, (miss_ratio, note) in sorted(rows.items()):
        drawn = Text(bar(miss_ratio, _BAR_WIDTH), style="cyan" if note.startswith("←") else "blue")
        drawn.append(f" {note}" if note else "", style="bold" if note.startswith("←") else "dim")
        table.add_row(format_size(size), percent(miss_ratio), drawn)
    return table


def recordsizes(found: Assessment) -> Table:
    """Compare recordsizes: reads from disk and their bytes, next to the trace's own."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in ("records", "missed", "disk reads", "disk bytes", "neighbours used"):
        table.add_column(heading, justify="right")
    table.add_column("")
    sizes = found.analysis.recordsizes
    for one in sizes.known:
        useful = "" if one.useful_neighbour_ratio is None else percent(one.useful_neighbour_ratio)
        times = (
            "" if ratio is None else f"{ratio:.2f} x" for ratio in (one.disk_reads_ratio, one.disk_read_bytes_ratio)
        )
        own = "← as recorded" if one.recordsize == sizes.own_recordsize else ""
        table.add_row(format_size(one.recordsize), percent(one.miss_ratio), *times, useful, Text(own, style="bold"))
    return table


def working_set(found: Assessment) -> Table:
    """Draw the distinct bytes of each window over time."""
    windows = found.analysis.working_set.windows
    sizes = [window.distinct_bytes for window in windows]
    length = duration(found.analysis.working_set.window_ns)
    table = grid(1)
    table.add_row(Text(sparkline(sizes, _SPARK_WIDTH), style="cyan"))
    least, most = format_size(min(sizes)), format_size(max(sizes))
    table.add_row(Text(f"{least} to {most} in each {length}", style="dim"))
    return table
