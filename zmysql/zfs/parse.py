"""What zpool(8) and zfs(8) print, as values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from zmysql.zfs.model import Dataset, Pool, Vdev, VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

# The headings of `zpool status`, at the same depth as the pool's own line.
_SECTIONS = {
    "special": VdevRole.SPECIAL,
    "dedup": VdevRole.DEDUP,
    "logs": VdevRole.LOG,
    "cache": VdevRole.CACHE,
    "spares": VdevRole.SPARE,
}
# A vdev that has children, by its printed name: mirror-0, raidz2-1, draid1:4d:9c:1s-0, replacing-3, indirect-2.
_INTERIOR = re.compile(r"(mirror|raidz[123]|draid[\w:]*|replacing|spare|indirect)-\d+")


def parse_status(text: str) -> tuple[Pool, ...]:
    """Give the imported pools with their vdevs, from `zpool status -LP`.

    The text, not `-j`: that came with OpenZFS 2.3, while this has had one shape on all systems since Solaris 10.
    A missing disk appears under the number that zpool(8) prints in place of its path.
    """
    pools = []
    for block in re.split(r"^ *pool: ", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        state = re.search(r"^ *state: (\S+)", rest, re.MULTILINE)
        pools.append(Pool(name.strip(), tuple(_vdevs(rest)), state=state[1] if state else "UNKNOWN"))
    return tuple(pools)


def parse_pool(pool: Pool, zpool_get: str, zfs_get: str) -> Pool:
    """Give a pool of `zpool status` with its properties and datasets, too."""
    properties = parse_get(zpool_get)[pool.name]
    # zfs(8) lists parents before children, so the root comes first.
    datasets = tuple(Dataset(name, values) for name, values in parse_get(zfs_get).items())
    return replace(pool, guid=properties.pop("guid"), properties=properties, datasets=datasets)


def parse_get(text: str) -> dict[str, dict[str, str]]:
    """Give property → value for each name, from `zfs get -Hp` or `zpool get -Hp`; `-` means none and is left out."""
    found: dict[str, dict[str, str]] = {}
    for line in text.split("\n"):
        name, _, rest = line.partition("\t")
        prop, _, rest = rest.partition("\t")
        # Anybody's user property may have tabs and newlines in its value.
        value, tab, _source = rest.rpartition("\t")
        if tab:
            found.setdefault(name, {}).update({} if value == "-" else {prop: value})
    return found


def _vdevs(status: str) -> Iterator[Vdev]:
    role = VdevRole.DATA
    kind, disks = "", list[str]()
    for row, (depth, name) in enumerate(_config_rows(status)):
        if depth <= 1 and disks:
            yield Vdev(role, kind, tuple(disks))
            disks = []
        interior = _INTERIOR.fullmatch(name)
        if depth == 0:
            # The first row is the pool's own, and a pool may be called cache.
            role = _SECTIONS.get(name, VdevRole.DATA) if row else VdevRole.DATA
        elif depth == 1:
            kind, disks = (interior[1], []) if interior else ("disk", [name])
        elif not interior:
            # Under `replacing` or `spare` lie both the old and the new disk; the vdev holds on to both.
            disks.append(name)
    if disks:
        yield Vdev(role, kind, tuple(disks))


def _config_rows(status: str) -> Iterator[tuple[int, str]]:
    """Give depth and name of each row of the config table; depth 0 are the pool and the headings."""
    _, _, table = status.partition("config:\n")
    for line in table.lstrip("\n").splitlines()[1:]:
        if not line.startswith("\t"):
            return
        row = line[1:]
        yield (len(row) - len(row.lstrip(" "))) // 2, row.split()[0]
