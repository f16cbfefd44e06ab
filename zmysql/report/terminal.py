"""What the parts of a report on a terminal are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

_HEIGHTS = " ▁▂▃▄▅▆▇█"


def plain(text: str) -> Text:
    """Show words of a file without taking them as markup or control codes: it may come from anyone."""
    return Text(text if text.isprintable() else repr(text), overflow="fold")


def percent(part: float, whole: float = 1.0) -> str:
    """Give a share for people."""
    return f"{100 * part / whole:.1f} %"


def grid(columns: int, right: tuple[int, ...] = ()) -> Table:
    """Give a table without lines; where no column is a number's, the first is a dim label's."""
    table = Table.grid(padding=(0, 2))
    for column in range(columns):
        table.add_column(
            justify="right" if column in right else "left", style="dim" if column == 0 and not right else ""
        )
    return table


def indented(what: RenderableType) -> Padding:
    """Move a part to the right."""
    return Padding(what, (0, 0, 0, 2))


def bullets(sentences: Iterable[str], style: str = "") -> Table:
    """List sentences."""
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row(Text("•", style=style), Text(sentence, style=style))
    return table


def bar(share: float, width: int) -> str:
    """Draw a share of a width."""
    return "█" * round(share * width)


def sparkline(values: Sequence[float], width: int) -> str:
    """Draw values over time in one line, the largest as a full block; more values than columns are averaged."""
    if not values:
        return ""
    columns = min(width, len(values))
    edges = [len(values) * column // columns for column in range(columns + 1)]
    means = [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]
    highest = max(means) or 1
    return "".join(_HEIGHTS[round(mean / highest * (len(_HEIGHTS) - 1))] for mean in means)


def duration(time_ns: float) -> str:
    """Give a time for people, in three digits."""
    for unit, length_ns in (("d", 86400e9), ("h", 3600e9), ("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if time_ns >= length_ns:
            return f"{float(f'{time_ns / length_ns:.3g}'):g} {unit}"
    return f"{time_ns:.0f} ns"
