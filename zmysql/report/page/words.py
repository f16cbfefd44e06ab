"""Numbers as a person reads them: GiB, %, ms. The space before a unit doesn't break."""

from __future__ import annotations

NONE = "\N{EN DASH}"  # in a table, where there is nothing to say

_SPACE = "\N{NO-BREAK SPACE}"
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_TIMES = (("days", 86_400e9), ("h", 3_600e9), ("min", 60e9), ("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_ENOUGH = 3  # of a unit before it is used for times: 90 min, not 1.5 h


def size(size_bytes: float) -> str:
    """Give a size with three digits: 3.25 GiB."""
    unit = 0
    while abs(size_bytes) >= 1024 and unit < len(_BYTES) - 1:  # noqa: PLR2004 - the base of the units
        size_bytes /= 1024
        unit += 1
    return f"{_digits(size_bytes)}{_SPACE}{_BYTES[unit]}"


def percent(ratio: float) -> str:
    """Give a ratio from 0 to 1 as per cent, and never as 0 or 100 what is neither."""
    if 0 < ratio < 0.0005:  # noqa: PLR2004 - half of the last digit shown
        return f"< 0.1{_SPACE}%"
    if 0.9995 <= ratio < 1:  # noqa: PLR2004 - the same
        return f"> 99.9{_SPACE}%"
    return f"{100 * ratio:.{0 if ratio in {0, 1} else 1}f}{_SPACE}%"


def time(time_ns: float) -> str:
    """Give a time with three digits in the unit that fits: 263 µs, 7 ms, 90 min."""
    if time_ns == 0:
        return f"0{_SPACE}s"
    for unit, unit_ns in _TIMES:
        if abs(time_ns) >= unit_ns * (_ENOUGH if unit_ns > 1e9 else 1):  # noqa: PLR2004 - seconds and below change at 1
            return f"{_digits(time_ns / unit_ns)}{_SPACE}{unit}"
    return f"{time_ns:.2g}{_SPACE}ns"


def count(number: float) -> str:
    """Give a whole number with its thousands apart."""
    return f"{number:,.0f}"


def times(ratio: float) -> str:
    """Give a ratio in words: 5.2 times."""
    return f"{_digits(ratio)}{_SPACE}times"


def span(low: str, high: str) -> str:
    """Give two values of the same kind as a range."""
    return f"{low} to {high}"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 99.5 else f"{value:.3g}"  # noqa: PLR2004 - where %g would turn to 1e+02
