"""What an audit reads of a machine: one shell script for each question, and the parsing of what it prints.

The scripts print sections, each under a line of its own, so that a question costs one round trip to a distant machine.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARK = "==== zmysql: "

# -t and -P came with OpenZFS 0.8 and are in illumos too. `zdb -C` reads the cache file, and needs neither root nor the
# pool. init's age is the machine's, in the one form that ps(1) has everywhere.
MACHINE_SCRIPT = f"""
section() {{ printf '\\n{_MARK}%s\\n' "$*"; }}
section hostname; uname -n
section date; date '+%a %b %d %H:%M:%S %Y'; date +%s
section up; ps -o etime= -p 1
section zdb; zdb -C 2>/dev/null
for pool; do
    section status "$pool"; zpool status -LP "$pool"
    section names "$pool"; zpool status -Pt "$pool"
    section pool "$pool"; zpool get -Hp -o name,property,value,source all "$pool"
    section list "$pool"; zpool list -vHpP "$pool"
    section iostat "$pool"; zpool iostat -vHpP "$pool"
    section import "$pool"; head -n 1 "/proc/spl/kstat/zfs/$pool/iostats" 2>/dev/null
    section datasets "$pool"; zfs get -Hpr -t filesystem,volume -o name,property,value,source all "$pool"
done
section parameters; cd /sys/module/zfs/parameters 2>/dev/null && grep -s . ./*
sysctl vfs.zfs.arc vfs.zfs.l2arc vfs.zfs.zil vfs.zfs.nocacheflush 2>/dev/null
section arcstats; cat /proc/spl/kstat/zfs/arcstats 2>/dev/null ||
    sysctl kstat.zfs.misc.arcstats 2>/dev/null || kstat -p zfs:0:arcstats 2>/dev/null
section swap; cat /proc/swaps 2>/dev/null || swapinfo -k 2>/dev/null || swap -l 2>/dev/null
section zvols; find /dev/zvol -type l -exec ls -l {{}} + 2>/dev/null
section end
"""

# $1 to $3 are a program, an option and a text with which it tells record size, size and name of files; then come
# directories of tables, --, and places. df(1) says of each place on which file system it lies: of ZFS, the dataset.
FILES_SCRIPT = f"""
section() {{ printf '\\n{_MARK}%s\\n' "$*"; }}
program=$1 option=$2 text=$3; shift 3
section teller; command -v "$program" >/dev/null || echo no
section files
while [ "$1" != -- ]; do
    # One file system only: what is mounted beneath is another dataset, and asked for by its own name.
    find "$1" -xdev -type f \\( -name '*.ibd' -o -name '*.ibu' -o -name 'ibdata*' -o -name 'undo*0*' \\) \\
        -exec "$program" "$option" "$text" {{}} + 2>/dev/null
    shift
done
shift
section places
for place; do
    printf '%s\\t%s\\n' "$place" "$(df -P -- "$place" 2>/dev/null | tail -n 1)"
done
section end
"""

# By System.name: what tells record size (st_blksize), size and name of files. Not every illumos has a stat(1).
FILE_TELLERS = {
    "linux": ("stat", "-c", "%o %s %n"),
    "freebsd": ("stat", "-f", "%k %z %N"),
    "illumos": ("perl", "-e", r'for (@ARGV) { my @status = lstat; print "$status[11] $status[7] $_\n" }'),
}

# The names of module parameters on FreeBSD, where they are sysctls: zfs(4) has those of Linux.
SYSCTLS = {
    "zfs_arc_max": "vfs.zfs.arc.max",
    "zfs_arc_min": "vfs.zfs.arc.min",
    "l2arc_write_max": "vfs.zfs.l2arc.write_max",
    "l2arc_write_boost": "vfs.zfs.l2arc.write_boost",
    "l2arc_noprefetch": "vfs.zfs.l2arc.noprefetch",
    "l2arc_headroom": "vfs.zfs.l2arc.headroom",
    "l2arc_mfuonly": "vfs.zfs.l2arc.mfuonly",
    "l2arc_rebuild_enabled": "vfs.zfs.l2arc.rebuild_enabled",
    "zfs_nocacheflush": "vfs.zfs.nocacheflush",
    "zil_nocacheflush": "vfs.zfs.zil.nocacheflush",
    "zil_replay_disable": "vfs.zfs.zil.replay_disable",
}
_PARAMETERS = {sysctl: name for name, sysctl in SYSCTLS.items()}

_PARAMETER = re.compile(r"(?:\./)?([\w.]+): ?(-?\d+)")
_STATISTIC = re.compile(r"(?:kstat\.zfs\.misc\.arcstats\.|zfs:0:arcstats:)?(\w+)(?:: |\t|\s+\d+\s+)(\d+)")
_AGE = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)")
_FILE_SYSTEM = re.compile(r"(.+?)\s+\d+\s+\d+\s+-?\d+\s+\d+%\s+(/.*)")


def sections(text: str) -> dict[str, str]:
    """Give what a script printed, by section.

    Raises ZmysqlError when the end is missing, which is when the machine or its ssh went away.
    """
    # Before the first mark there may be what the machine says to everybody who comes.
    parted = (one.partition("\n") for one in text.split(f"\n{_MARK}")[1:])
    by_name = {name: body for name, _, body in parted}
    if "end" not in by_name:
        raise ZmysqlError("the machine ended in the middle of an answer: run it again")
    return by_name


def parse_date(text: str) -> datetime | None:
    """Give the first date in the form of ctime(3) in a text; zpool(8) prints such dates, in the machine's own zone."""
    found = re.search(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}", text)
    # The zone is the machine's for all of them, so it cancels out.
    return datetime.strptime(found[0], "%a %b %d %H:%M:%S %Y") if found else None  # noqa: DTZ007


def parse_age(text: str) -> int:
    """Give the seconds of an elapsed time of ps(1): [[days-]hours:]minutes:seconds; 0 where there is none."""
    found = _AGE.search(text)
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0, 0)
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def parse_span(kstat: str) -> int | None:
    """Give the seconds from the creation of a kstat to its reading, from its first line; Linux only."""
    words = kstat.split()
    # kid, type, flags, records, bytes, creation and snapshot in ns: kstat_seq_show_headers() in spl-kstat.c.
    return (int(words[6]) - int(words[5])) // 10**9 if len(words) == 7 else None  # noqa: PLR2004


def parse_parameters(text: str) -> dict[str, int]:
    """Give the module's numeric parameters by their names on Linux, from its files or from FreeBSD's sysctl(8)."""
    found = (match for line in text.splitlines() if (match := _PARAMETER.fullmatch(line.strip())))
    return {_PARAMETERS.get(match[1], match[1]): int(match[2]) for match in found}


def parse_statistics(text: str) -> dict[str, int]:
    """Give the kstat arcstats, as Linux, FreeBSD's sysctl(8) or illumos's kstat(8) prints it."""
    return {match[1]: int(match[2]) for line in text.splitlines() if (match := _STATISTIC.fullmatch(line.strip()))}


def parse_swap(text: str, zvols: str) -> tuple[str, ...]:
    """Give the volumes of ZFS that are swapped to, from the list of swap devices and the links under /dev/zvol."""
    # Linux swaps to the kernel's name; elsewhere the name is the volume's own.
    names = dict[str, str]()
    for line in zvols.splitlines():
        link, is_link, node = line.partition(" -> ")
        if is_link:
            names["/dev/" + node.rsplit("/", 1)[1]] = "/dev/zvol/" + link.partition("/dev/zvol/")[2]
    devices = [line.split()[0] for line in text.splitlines() if line.startswith("/")]
    found = (names.get(device, device) for device in devices)
    return tuple(re.sub(r"^/dev/zvol/(dsk/)?", "", one) for one in found if one.startswith("/dev/zvol/"))


def parse_ashifts(zdb: str) -> dict[str, dict[str, int]]:
    """Give the ashift of each top-level vdev by the paths of its leaves, for each pool, from `zdb -C`."""
    found: dict[str, dict[str, int]] = {}
    for pool in re.split(r"^(?=\S)", zdb, flags=re.MULTILINE):
        of_pool = found.setdefault(pool.partition(":")[0], {})
        for vdev in re.split(r"^ {8}children\[", pool, flags=re.MULTILINE)[1:]:
            ashift = re.search(r"^ {12}ashift: (\d+)", vdev, re.MULTILINE)
            paths = re.findall(r"^ +path: '(.*)'", vdev, re.MULTILINE)
            of_pool.update({path: int(ashift[1]) for path in paths} if ashift else {})
    return found


def parse_places(text: str) -> dict[str, tuple[str, str]]:
    """Give file system and mount point of each place, from the lines of df(1), without those that aren't there."""
    found = {}
    for line in text.splitlines():
        place, _, listed = line.partition("\t")
        if match := _FILE_SYSTEM.fullmatch(listed):
            found[place] = (match[1], match[2])
    return found


def parse_rates(iostat: str) -> dict[str, int]:
    """Give the bytes a second that were written to each vdev since the pool was imported, from `zpool iostat -vHpP`."""
    rows = (line.split("\t") for line in iostat.splitlines())
    return {row[0]: int(row[6]) for row in rows if len(row) > 6 and row[6].isdigit()}  # noqa: PLR2004 - columns


def parse_sizes(listed: str) -> Mapping[str, int]:
    """Give the size of each vdev in bytes, from `zpool list -vHpP`."""
    rows = (line.split() for line in listed.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
