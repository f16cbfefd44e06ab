"""The start of a trace as a time of day: ISO 8601 in UTC, with as many digits of a fraction as there are."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SECOND_NS = 1_000_000_000
_FORM = "%Y-%m-%dT%H:%M:%S"
_STARTED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


def parse_started(text: str) -> int | None:
    """Give the nanoseconds since 1970 of a start such as 2026-11-20T07:00:00Z; None where it isn't one."""
    found = _STARTED.fullmatch(text)
    try:
        seconds = datetime.strptime(found[1], _FORM).replace(tzinfo=UTC).timestamp() if found else None
    except ValueError:  # the 30th of February
        return None
    if found is None or seconds is None:
        return None
    return int(seconds) * _SECOND_NS + int((found[2] or "0").ljust(9, "0"))


def format_started(since_1970_ns: int) -> str:
    """Give the start in the form that a header has it."""
    seconds, rest_ns = divmod(since_1970_ns, _SECOND_NS)
    fraction = f".{rest_ns:09}".rstrip("0") if rest_ns else ""
    return f"{datetime.fromtimestamp(seconds, UTC).strftime(_FORM)}{fraction}Z"
