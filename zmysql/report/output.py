"""What every JSON output begins with."""

from __future__ import annotations


def output_version(command: str) -> dict[str, object]:
    """Give the version of a command's output, in the form of zpool(8)'s JSON."""
    return {"command": f"zmysql {command}", "vers_major": 0, "vers_minor": 1}
