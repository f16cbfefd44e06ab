"""The trace format: gzip text that `zcat` shows, a header of `# key: JSON` lines, then one record read a line.

What somebody packed anew with zstd, or unpacked to look at, is read as well.

The header begins with `# zmysql-trace: 1` and ends with `# columns: time_ns objset object level blkid size class`.
A record's line has these columns with single spaces, such as `1234567 54 128 0 17 16384 miss`: nanoseconds since the
start, the block's address as in a zbookmark (objset, object, level, blkid), its size in bytes, and where the read was
served from: dbuf, arc, l2hit, miss, wait (joined a read already in flight), hole (needed no read), direct (Direct I/O,
past the ARC), or - where that isn't known. prefetch and write are no reads: the prefetcher asked for the record, or it
was written.

While it is recorded, a trace has a provisional header with `complete: false`. Here is the header; writer.py
writes traces, and the engine alone reads records (engine/src/trace.rs).
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from zmysql.errors import ZmysqlError
from zmysql.trace.engine import engine_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

VERSION = 1
COLUMNS = "time_ns objset object level blkid size class"
CLASSES = ("dbuf", "arc", "l2hit", "miss", "wait", "hole", "-", "direct", "prefetch", "write")
NO_READS = ("prefetch", "write")

_FIRST_KEY = "zmysql-trace"
_SAMPLING = re.compile(r"[1-9][0-9]{0,17}/[1-9][0-9]{0,17}")
_CHUNK_BYTES = 1 << 16
_MAX_HEADER_BYTES = 256 << 20  # a million long paths; more is no header
GZIP = 31  # zlib's wbits for a gzip member
_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_TEXT_MAGIC = f"# {_FIRST_KEY}:".encode()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset whose records were read."""

    name: str
    recordsize: int


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a recording; None where it isn't.

    `sampling` is "records kept/records", 1/1 for all; blocks are chosen by a hash of their address, so that a kept
    block is kept at each of its reads. `started` is ISO 8601 in UTC. `datasets` is keyed by objset id, `objects`
    (paths) by (objset, object). `drops` are records that the tracer lost. `arc_bytes` and `l2arc_bytes` are the sizes
    of the machine's caches at the time, `host` its name, `imported` the file that a foreign trace came from.
    `pid` is the process that was traced first, `restarts` how often another took its place, and `ended` says what
    ended the recording: duration, interrupted, mysqld ended, or tracer died. `sampling_assumed` isn't written: a
    header that was read has no sampling.
    """

    complete: bool
    os: str | None = None
    zfs: str | None = None
    mysql: str | None = None
    started: str | None = None
    duration_ns: int | None = None
    sampling: str = "1/1"
    records: int | None = None
    drops: int | None = None
    datasets: Mapping[int, Dataset] = field(default_factory=dict)
    objects: Mapping[tuple[int, int], str] = field(default_factory=dict)
    host: str | None = None
    arc_bytes: int | None = None
    l2arc_bytes: int | None = None
    imported: str | None = None
    pid: int | None = None
    ended: str | None = None
    restarts: int | None = None
    sampling_assumed: bool = field(default=False, metadata={"written": False})


def header_text(header: Header) -> str:
    """Give the header's lines, newlines included."""
    values: dict[str, object] = {_FIRST_KEY: VERSION}
    values |= {name.name: getattr(header, name.name) for name in fields(header) if name.metadata.get("written", True)}
    values["datasets"] = {str(objset): asdict(dataset) for objset, dataset in header.datasets.items()}
    values["objects"] = {f"{objset}:{number}": path for (objset, number), path in header.objects.items()}
    return "".join(f"# {key}: {json.dumps(value)}\n" for key, value in values.items()) + f"# columns: {COLUMNS}\n"


def read_header(path: Path) -> Header:
    """Read the header of a trace, and none of its records.

    Raises ZmysqlError, with the file and the way out in one line, where there is no such file or no such header.
    """
    values: dict[str, object] = {}
    for number, line in enumerate(_header_lines(path), 1):
        key, colon, text = line.removeprefix("# ").partition(": ")
        if number == 1:
            _check_version(path, key, text)
        elif key == "columns":
            if text != COLUMNS:
                raise ZmysqlError(f"{path}, line {number}: the columns are {text!r}, and must be {COLUMNS!r}")
            return _header_of(path, values)
        elif not line.startswith("# ") or not colon:
            raise ZmysqlError(
                f"{path}, line {number}: the header must have lines `# key: JSON`, and end with # columns"
            )
        else:
            values[key] = _json(path, number, key, text)
    raise ZmysqlError(f"{path} is cut off within its header: copy it again from where it was recorded")


def records_kept(path: Path) -> int:
    """Count the whole lines after the header of a trace that may be cut off anywhere, without looking into them."""
    lines = 0
    rest = b""
    for chunk in _inflate(path):
        *whole, rest = (rest + chunk).split(b"\n")
        lines += sum(not line.startswith(b"#") for line in whole)
    return lines


def _inflate(path: Path) -> Iterator[bytes]:
    """Yield the text of a gzip file of any number of members, as far as it can be had."""
    try:
        with path.open("rb") as file:
            member = zlib.decompressobj(GZIP)
            held = file.read(_CHUNK_BYTES)
            while held:
                yield member.decompress(held)
                if member.eof:
                    held = member.unused_data or file.read(_CHUNK_BYTES)
                    member = zlib.decompressobj(GZIP)
                else:
                    held = file.read(_CHUNK_BYTES)
    except zlib.error:
        return
    except OSError as error:
        raise ZmysqlError(f"{path} can't be read: {error.strerror}") from None


def _header_lines(path: Path) -> Iterator[str]:
    """Yield the lines up to the header's end, without newlines, as far as there are any."""
    rest = b""
    size_bytes = 0
    for chunk in _unpack(path):
        size_bytes += len(chunk)
        if size_bytes > _MAX_HEADER_BYTES:
            raise ZmysqlError(f"{path} is no zmysql trace: its header doesn't end")
        rest += chunk
        if b"\n" in chunk:
            *lines, rest = rest.split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)


def _unpack(path: Path) -> Iterator[bytes]:
    """Yield the text of a trace, whatever it is packed in, as far as it can be had; of zstd that of the header only."""
    magic = _magic(path)
    if magic.startswith(_GZIP_MAGIC):
        yield from _inflate(path)
    elif magic.startswith(_ZSTD_MAGIC):
        with engine_for("locality report", path) as engine:
            yield engine.header(path, _MAX_HEADER_BYTES + 1)
    elif magic == _TEXT_MAGIC:  # somebody unpacked it, to look
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    else:
        raise ZmysqlError(f"{path} is no gzip or zstd file, so no trace: `zmysql trace import` brings in other traces")


def _magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_TEXT_MAGIC))
    except OSError as error:
        way_out = "name a trace that `zmysql trace record` or `zmysql trace import` wrote"
        raise ZmysqlError(f"{path} can't be read: {error.strerror}; {way_out}") from None
    if not magic:
        raise ZmysqlError(f"{path} is empty: record or import the trace again")
    return magic


def _check_version(path: Path, key: str, text: str) -> None:
    if key != _FIRST_KEY:
        raise ZmysqlError(f"{path} is no zmysql trace: `zmysql trace import` brings in other traces")
    if text != str(VERSION):
        raise ZmysqlError(
            f"{path} has trace format {text[:20]}, and this zmysql reads {VERSION}: use the one that wrote it"
        )


def _json(path: Path, number: int, key: str, text: str) -> Any:  # noqa: ANN401 - that is what JSON is
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ZmysqlError(f"{path}, line {number}: the value of {key} is no JSON: copy or record it again") from None


def _header_of(path: Path, values: Mapping[str, object]) -> Header:
    """Take the keys we know; others are from a later zmysql, and don't change what these mean."""

    def wrong(key: str, wanted: str) -> ZmysqlError:
        return ZmysqlError(f"{path}: the header's {key} must be {wanted}: copy or record it again")

    def text(key: str) -> str | None:
        value = values.get(key)
        if value is not None and not isinstance(value, str):
            raise wrong(key, "text or null")
        return value

    def count(key: str) -> int | None:
        value = values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise wrong(key, "a whole number from 0 or null")
        return value

    if not isinstance(values.get("complete"), bool):
        raise wrong("complete", "true or false")
    sampling = text("sampling") or "1/1"
    if not _SAMPLING.fullmatch(sampling):
        raise wrong("sampling", "records kept/records, such as 1/100")
    try:
        datasets, objects = _datasets(values.get("datasets")), _objects(values.get("objects"))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise wrong(
            "map of datasets or objects", 'as in {"54": {"name": …, "recordsize": …}} and {"54:128": path}'
        ) from None
    return Header(
        complete=values["complete"] is True,
        os=text("os"),
        zfs=text("zfs"),
        mysql=text("mysql"),
        started=text("started"),
        duration_ns=count("duration_ns"),
        sampling=sampling,
        sampling_assumed=text("sampling") is None,
        records=count("records"),
        drops=count("drops"),
        datasets=datasets,
        objects=objects,
        host=text("host"),
        arc_bytes=count("arc_bytes"),
        l2arc_bytes=count("l2arc_bytes"),
        imported=text("imported"),
        pid=count("pid"),
        ended=text("ended"),
        restarts=count("restarts"),
    )


def _datasets(found: Any) -> dict[int, Dataset]:  # noqa: ANN401 - JSON; what isn't as it should be raises
    return {int(objset): Dataset(str(one["name"]), int(one["recordsize"])) for objset, one in (found or {}).items()}


def _objects(found: Any) -> dict[tuple[int, int], str]:  # noqa: ANN401 - as above
    objects = {}
    for address, path in (found or {}).items():
        objset, number = address.split(":")
        objects[int(objset), int(number)] = str(path)
    return objects
