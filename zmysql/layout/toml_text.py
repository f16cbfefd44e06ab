"""The text of a TOML file of a person's own, which may be any file there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 256 << 10  # the shipped ones have under 16K


def toml_text(path: Path, name: str, kind: str) -> str:
    """Read it; messages begin with this name, and `kind` is what should be in it.

    Raises UsageError where it can't be read, is larger than any such file, or isn't UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise UsageError(f"{name}: it has more than {_MOST_BYTES >> 10}K, which no {kind} needs")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: it is no text in UTF-8 (byte {error.start + 1})") from None
