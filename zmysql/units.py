"""Sizes and durations as admins write them: 16K, 2G, 60s."""

from __future__ import annotations

import re

from zmysql.errors import UsageError

_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([KMGTPE]?)(?:i?B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_PREFIXES = "KMGTPE"


def parse_size(text: str) -> int:
    """Give the bytes of a size; suffixes are powers of 1024, as in zfs(8).

    Raises UsageError on anything else.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no size: write bytes, or a number with K, M, G, T, P or E, such as 16K or 1.5G")
    number, prefix = match.groups()
    size = float(number) * 1024 ** (_PREFIXES.index(prefix.upper()) + 1 if prefix else 0)
    return int(number) if not prefix and number.isdigit() else round(size)


def format_size(size_bytes: float) -> str:
    """Give a size for people: at most three digits before the suffix, exact sizes without a fraction."""
    for prefix in ("", *_PREFIXES):
        if abs(size_bytes) < 1024 or prefix == "E":  # noqa: PLR2004 - the base of the suffixes
            break
        size_bytes /= 1024
    return f"{size_bytes:.0f}{prefix}" if size_bytes == round(size_bytes) else f"{size_bytes:.1f}{prefix}"


def parse_duration(text: str) -> float:
    """Give the seconds of a duration such as 500ms, 60s, 5m or 1h; a bare number is seconds.

    Raises UsageError on anything else, and on zero.
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if seconds <= 0:
        raise UsageError(f"{text!r} is no duration: write a number above 0 with ms, s, m or h, such as 60s")
    return seconds
