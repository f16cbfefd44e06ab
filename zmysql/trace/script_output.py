"""What a script that sums up prints: comments, a table, and histograms that the tracer draws; and the file of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VERSION = 1
_FIRST_KEY = "zmysql-script"
_END_OF_HEADER = "# output"
_MACHINE_COMMENT = re.compile(r"# (?:began \d+, \d+ ns since 1970|at \d+|process \d+ exited)")
_SAMPLING = re.compile(r"# sampling 1/(\d+)")
_HISTOGRAM = (" ", "@", "[", "\t")
_MAX_FILE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a script: `rows` have a value for each of `columns`, numbers as such.

    `notes` are what it says in words, `drawn` its histograms with the words above them, `rate` is N of a sample 1/N.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[int | str, ...], ...]
    notes: tuple[str, ...]
    drawn: tuple[str, ...]
    rate: int = 1


def parse_output(text: str) -> Output:
    """Give what a script printed: the first comment in words names the columns, the last of which may hold blanks.

    Raises ValueError on rows without columns, or with fewer.
    """
    columns: tuple[str, ...] = ()
    rows = list[tuple[int | str, ...]]()
    notes = list[str]()
    drawn = list[str]()
    rate = 1
    titled = False
    for line in text.splitlines():
        sampling = _SAMPLING.fullmatch(line)
        if sampling:
            rate = int(sampling[1])
        elif _MACHINE_COMMENT.fullmatch(line) or not line.strip():
            continue
        elif line.startswith("#"):
            words = line.removeprefix("#").strip()
            if columns:
                notes.append(words)
                titled = True
            else:
                columns = tuple(words.split())
        elif line.startswith(_HISTOGRAM):
            drawn += [notes.pop()] if titled else []  # the comment above it is its heading
            drawn.append(line)
            titled = False
        else:
            rows.append(_row(line, columns))
            titled = False
    return Output(columns, tuple(rows), tuple(notes), tuple(drawn), rate)


def _row(line: str, columns: tuple[str, ...]) -> tuple[int | str, ...]:
    values = line.split(" ", max(len(columns) - 1, 0))
    if len(values) != len(columns) or not columns:
        raise ValueError(f"a row of {len(values)} values for the columns {' '.join(columns) or 'that have no names'}")
    return tuple(int(value) if re.fullmatch(r"-?\d+", value) else value for value in values)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """The file of a script's recording: which script, what is known of the recording, and what it printed.

    `facts` are the keys of the file's header: os, zfs, mysql, host, pid, started, duration_ns, drops, ended, objects
    (paths by "objset:object"), and others.
    """

    script: str
    facts: Mapping[str, object]
    text: str

    @property
    def output(self) -> Output:
        """What the script printed. Raises ValueError as `parse_output` does."""
        return parse_output(self.text)

    def as_text(self) -> str:
        """Give the whole file."""
        header: dict[str, object] = {_FIRST_KEY: VERSION, "script": self.script, **self.facts}
        lines = [f"# {key}: {json.dumps(value)}" for key, value in header.items()]
        return "\n".join((*lines, _END_OF_HEADER, self.text))


def is_script_file(path: Path) -> bool:
    """Say whether a file is one of these, and no trace."""
    first = f"# {_FIRST_KEY}:".encode()
    try:
        with path.open("rb") as file:
            return file.read(len(first)) == first
    except OSError as error:
        raise ZmysqlError(f"{path} can't be read: {error.strerror}") from None


def read_script_file(path: Path) -> ScriptFile:
    """Read the file of a script's recording.

    Raises ZmysqlError with the file and the way out where it isn't one, or is damaged.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ZmysqlError(f"{path} is too large for a script's output: name what `zmysql trace record` wrote")
        text = path.read_text(errors="replace")
    except OSError as error:
        raise ZmysqlError(f"{path} can't be read: {error.strerror}") from None
    head, end, printed = text.partition(f"\n{_END_OF_HEADER}\n")
    facts: dict[str, object] = {}
    for number, line in enumerate(head.splitlines(), 1):
        key, _, value = line.removeprefix("# ").partition(": ")
        try:
            facts[key] = json.loads(value)
        except ValueError:
            raise ZmysqlError(f"{path}, line {number}: {key[:40]!r} has no JSON value: record it again") from None
    if facts.pop(_FIRST_KEY, None) != VERSION or not end or not isinstance(facts.get("script"), str):
        raise ZmysqlError(f"{path} is no script's output, or cut off: name what `zmysql trace record --script` wrote")
    return ScriptFile(str(facts.pop("script")), facts, printed)
