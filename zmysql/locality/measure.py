"""Measures a device with fio(1), which only reads, and gives a model of it as `--prices` takes it."""

from __future__ import annotations

import itertools
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zmysql.errors import ZmysqlError, shown
from zmysql.host import EXIT_NOT_FOUND
from zmysql.locality.devices import GB, Media

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.host import Host

MOST_IN_FLIGHT = 32
_QUIET, _BUSY = "qd1", f"qd{MOST_IN_FLIGHT}"
# Nothing that rotates answers faster, and no SSD is slower on a quiet day.
_ROTATES_FROM_NS = 1_500_000
_STARTING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What fio found: random reads of 16K, one at a time and many; latencies in ns, from submission to completion."""

    path: str
    fio: str
    year: int
    mean_ns: float
    p99_ns: float
    iops: float
    bandwidth_bytes_per_second: float
    capacity_bytes: int | None = None
    media: Media | None = None


def fio_argv(path: str, seconds: float) -> list[str]:
    """Give the command: it can't write (--readonly), makes no file, and goes around the page cache.

    Threads that each wait for a read are what every system's fio has; the other engines aren't everywhere.
    """
    shared = {
        "filename": re.sub(r"([\\:])", r"\\\1", path),  # a colon would separate two files
        "rw": "randread",
        "bs": "16k",
        "direct": 1,
        "ioengine": "psync",
        "thread": 1,
        "group_reporting": 1,
        "time_based": 1,
        "runtime": f"{round(seconds * 1000)}ms",
        "allow_file_create": 0,
        "percentile_list": "50:90:99:99.9",
    }
    options = [f"--{name}={value}" for name, value in shared.items()]
    quiet, busy = [f"--name={_QUIET}"], [f"--name={_BUSY}", f"--numjobs={MOST_IN_FLIGHT}", "--stonewall"]
    return ["fio", "--readonly", "--output-format=json", "--name=global", *options, *quiet, *busy]


def measure(host: Host, path: str, seconds: float) -> Measured:
    """Run fio on a device or a file of a host.

    Raises ZmysqlError with the way out where there is no fio, no such path, or fio can't read it.
    """
    if host.run(["test", "-e", path], check=False).exit_status != 0:
        raise ZmysqlError(f"{path} isn't there on {host.name}: name a disk of `zmysql devices`, or a large file's path")
    if host.run(["test", "-d", path], check=False).exit_status == 0:
        raise ZmysqlError(
            f"{path} is a directory, and a measurement writes nothing: name a large file in it, or a disk"
        )
    done = host.run(fio_argv(path, seconds), check=False, timeout=2 * seconds + _STARTING_SECONDS)
    if done.exit_status == EXIT_NOT_FOUND:
        raise ZmysqlError(f"{host.name} has no fio, which measures: install the package fio there")
    if done.exit_status != 0:
        # Each of its threads says the same.
        said = " / ".join(list(dict.fromkeys(line.strip() for line in done.stderr.splitlines() if line.strip()))[:2])
        raise ZmysqlError(f"fio can't measure {path} (status {done.exit_status}): {said or 'it said nothing'}")
    return parse_fio(path, done.stdout)


def parse_fio(path: str, text: str) -> Measured:
    """Read fio's JSON (3.x) of the command above.

    Raises ZmysqlError for what isn't that, and for a run in which nothing was read.
    """
    # Some builds print a warning in front of the JSON.
    try:
        content = json.loads(text[text.index("{") :])
        jobs = {job["jobname"]: _reads(path, job) for job in content["jobs"]}
        quiet, busy = jobs[_QUIET], jobs[_BUSY]
        return Measured(
            path=path,
            fio=str(content["fio version"]),
            year=time.gmtime(content["timestamp"]).tm_year,
            mean_ns=float(quiet["lat_ns"]["mean"]),
            p99_ns=float(quiet["clat_ns"]["percentile"]["99.000000"]),
            iops=float(busy["iops"]),
            bandwidth_bytes_per_second=float(busy["bw_bytes"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ZmysqlError(f"what fio says of {path} isn't its JSON ({error}): zmysql reads that of fio 3") from None


def _reads(path: str, job: dict[str, Any]) -> dict[str, Any]:
    reads: dict[str, Any] = job["read"]
    if job["error"] or not reads["total_ios"]:
        raise ZmysqlError(f"fio read nothing of {path} (error {job['error']}): is it as large as 16K, and readable?")
    return reads


def as_toml(found: Measured, name: str) -> str:
    """Give the model as TOML under a name; what fio can't know, a person is to fill in."""
    media = found.media or (Media.HDD if found.mean_ns > _ROTATES_FROM_NS else Media.SSD)
    source = f"measured by {found.fio}: random reads of 16K"
    quiet, busy = f"{source}, one at a time", f"{source}, {MOST_IN_FLIGHT} in flight"

    def figure(key: str, value: float, source: str) -> str:
        return f"{key} = {{ value = {value:.6g}, source = {json.dumps(source)}, year = {found.year} }}"

    lines = [
        f"[devices.{json.dumps(name)}]",
        f"description = {_toml_text(f'{found.path}, as measured')}",
        f"media = {json.dumps(str(media))}",
        figure("latency_us", found.mean_ns / 1e3, quiet),
        figure("latency_p99_us", found.p99_ns / 1e3, quiet),
        figure("iops", found.iops, busy),
        figure("bandwidth_mb_per_second", found.bandwidth_bytes_per_second / 1e6, f"{busy}: at least that"),
    ]
    if found.capacity_bytes:
        lines.append(figure("capacity_gb", found.capacity_bytes / GB, "the system's"))
    lines += [
        "# What a measurement can't tell; without the price there is no word of cost, without the others none of wear:",
        "# price_per_gb = ",
        *(("# drive_writes_per_day = ", "# warranty_years = ") if media is Media.SSD else ()),
    ]
    return "\n".join(lines) + "\n"


def device_names(paths: Iterable[str]) -> list[str]:
    """Give names for the catalogue from the ends of paths, each another one."""
    names: list[str] = []
    for path in paths:
        name = re.sub(r"[^a-z0-9]+", "-", path.rsplit("/", 1)[-1].lower()).strip("-")[:50] or "measured"
        more = (f"{name}-{number}" for number in itertools.count(2))
        names.append(next(one for one in itertools.chain((name,), more) if one not in names))
    return names


def _toml_text(text: str) -> str:
    return json.dumps(text if text.isprintable() else shown(text), ensure_ascii=False)
