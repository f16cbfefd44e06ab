"""Reads the facts of a machine in a few commands; what they printed becomes facts in pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from zmysql.check import source
from zmysql.check.facts import TABLESPACES, Facts, File, Leaf, Need, PoolFacts, Top
from zmysql.check.mysqld import Place, Server, wanted_places
from zmysql.errors import UsageError
from zmysql.layout.fit import fit
from zmysql.layout.inventory import read_inventory
from zmysql.layout.plan import wanted_pool
from zmysql.layout.template import load_template
from zmysql.mysql.client import query
from zmysql.platforms.system import system_of
from zmysql.zfs.capability import read_zfs
from zmysql.zfs.model import VdevRole
from zmysql.zfs.parse import parse_pool, parse_status
from zmysql.zfs.read import LAYOUT_MARK, SETTINGS_MARK, TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zmysql.host import Host
    from zmysql.layout.model import Inventory, Template
    from zmysql.mysql.client import Dsn
    from zmysql.zfs.capability import Zfs
    from zmysql.zfs.model import Pool

DEFAULT_DWPD = 1.0
_SOURCE = 3  # column of `zfs get -o name,property,value,source`
_FIELD = re.compile(r"^ *(\w+): (.*(?:\n(?:\t| {4}).*)*)", re.MULTILINE)
_ROW = re.compile(r"^\t +(\S+) +([A-Z]+) +(\d+|-) +(\d+|-) +(\d+|-)(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks to be checked."""

    pool: str
    dsn: Dsn | None = None
    dwpd: float = DEFAULT_DWPD


def read_facts(host: Host, question: Question) -> Facts:
    """Read all that the rules look at; what can't be read is said in `unknown`.

    Raises UsageError where no such pool is imported, ZfsMissing where there is no ZFS, and QueryFailed where a server
    was named that doesn't answer.
    """
    inventory = read_inventory(host)
    names = _pools_of_layout(host, question.pool, inventory)
    system = system_of(host)
    said = host.run(("sh", "-s", "--", *names), stdin=source.MACHINE_SCRIPT, check=False).stdout
    facts = machine_facts(said, names, inventory, read_zfs(host, system.name), question.dwpd)
    facts = with_memory(facts, system.memory_bytes(host))
    facts = with_template(facts)
    if question.dsn is not None:
        facts = with_server(facts, question.dsn, query(host, question.dsn, "SHOW GLOBAL VARIABLES"))
    asked = files_question(facts)
    return with_files(facts, host.run(("sh", "-s", "--", *asked), stdin=source.FILES_SCRIPT, check=False).stdout)


def machine_facts(said: str, pools: Sequence[str], inventory: Inventory, zfs: Zfs, dwpd: float = DEFAULT_DWPD) -> Facts:
    """Give the facts in what MACHINE_SCRIPT printed."""
    by_name = source.sections(said)
    ashifts = source.parse_ashifts(by_name["zdb"])
    found = [one for name in pools if (one := _pool_facts(name, by_name, ashifts.get(name, {})))]
    if not found:
        raise UsageError(f"there is no imported pool {pools[0]}: see `zpool list`")
    facts = Facts(
        hostname=by_name["hostname"].strip(),
        now=source.parse_date(by_name["date"]) or datetime.now(),  # noqa: DTZ005 - the machine's own zone
        epoch_s=int((re.findall(r"^\d+$", by_name["date"], re.MULTILINE) or ["0"])[0]),
        up_s=source.parse_age(by_name["up"]),
        pools=tuple(found),
        inventory=inventory,
        parameters=source.parse_parameters(by_name["parameters"]),
        arcstats=source.parse_statistics(by_name["arcstats"]),
        swap=source.parse_swap(by_name["swap"], by_name["zvols"]),
        memory_bytes=None,
        dwpd=dwpd,
        zfs=zfs,
    )
    unknown = {
        Need.ASHIFT: None if ashifts else "`zdb -C` shows no pools here",
        Need.PARAMETERS: None if facts.parameters else f"{zfs.system} doesn't tell the parameters of its ZFS module",
        Need.ARC: None if "c_max" in facts.arcstats else "this machine tells no arcstats",
        Need.MEMORY: "how much memory the machine has isn't known",
        Need.TEMPLATE: f"zmysql didn't make the pool {pools[0]}",
        Need.SERVER: "no --mysql",
        Need.PLACES: "no --mysql",
        Need.FILES: "no program here tells the record sizes of files (illumos: perl)",
    }
    return replace(facts, unknown={need: why for need, why in unknown.items() if why})


def with_memory(facts: Facts, memory_bytes: int | None) -> Facts:
    """Add the size of the machine's memory."""
    return facts if memory_bytes is None else replace(_knowing(facts, Need.MEMORY), memory_bytes=memory_bytes)


def with_template(facts: Facts) -> Facts:
    """Add the template that the pools were created from, with its overrides, and what it wants of each pool here."""
    mark = facts.pools[0].pool.property_of_root(TEMPLATE_MARK)
    if mark is None:
        return facts
    try:
        template = load_template(mark, (facts.pools[0].pool.property_of_root(SETTINGS_MARK) or "").split())
    except UsageError as error:
        return replace(facts, unknown={**facts.unknown, Need.TEMPLATE: str(error)})
    pools = tuple(_with_wanted(pool, template, facts) for pool in facts.pools)
    return replace(_knowing(facts, Need.TEMPLATE), template=template, pools=pools)


def with_server(facts: Facts, dsn: Dsn, rows: Sequence[Mapping[str, str | None]]) -> Facts:
    """Add a server by its global variables, as SHOW GLOBAL VARIABLES gives them."""
    variables = {row["Variable_name"] or "": row["Value"] or "" for row in rows}
    server = Server(dsn, variables)
    known = replace(_knowing(facts, Need.SERVER), server=server)
    if server.value("hostname") != facts.hostname:
        why = f"the server runs on {server.value('hostname')}, and the pool is on {facts.hostname}"
        return replace(known, unknown={**known.unknown, Need.PLACES: why})
    return known


def files_question(facts: Facts) -> tuple[str, ...]:
    """Give the arguments of FILES_SCRIPT."""
    planned = (facts.planned(key) for key in TABLESPACES)
    folders = [
        dataset.properties["mountpoint"]
        for _, dataset in (one for one in planned if one)
        if dataset.properties.get("mounted") == "yes"
    ]
    asked = wanted_places(facts.server.variables) if facts.server and _is_here(facts) else {}
    folders += [path for key, (_, path) in asked.items() if key in {"data", "undo"}]
    return (*source.FILE_TELLERS[facts.system], *dict.fromkeys(folders), "--", *(path for _, path in asked.values()))


def with_files(facts: Facts, said: str) -> Facts:
    """Add the files of tables and the server's places, from what FILES_SCRIPT printed."""
    by_name = source.sections(said)
    rows = (line.split(" ", 2) for line in by_name["files"].splitlines() if line)
    # A file that lies in two of the folders is one file.
    files = {row[2]: File(row[2], int(row[1]), int(row[0])) for row in rows}
    if "no" not in by_name["teller"]:
        facts = replace(_knowing(facts, Need.FILES), files=tuple(files.values()))
    if facts.server is None or not _is_here(facts):
        return facts
    found = source.parse_places(by_name["places"])
    asked = wanted_places(facts.server.variables)
    places = {key: Place(name, path, *found[path]) for key, (name, path) in asked.items() if path in found}
    return replace(_knowing(facts, Need.PLACES), server=replace(facts.server, places=places))


def _is_here(facts: Facts) -> bool:
    return facts.server is not None and facts.server.value("hostname") == facts.hostname


def _knowing(facts: Facts, need: Need) -> Facts:
    return replace(facts, unknown={key: why for key, why in facts.unknown.items() if key is not need})


def _pools_of_layout(host: Host, name: str, inventory: Inventory) -> tuple[str, ...]:
    """Give the pools that belong together with a pool, the layout's first pool first."""
    imported = [pool.name for pool in inventory.pools]
    if name not in imported:
        there = f"there are {', '.join(imported)}" if imported else "there are none"
        raise UsageError(f"there is no imported pool {name!r}; {there}: see `zpool list`, or `zpool import`")
    said = host.run(("zfs", "get", "-H", "-o", "name,value", LAYOUT_MARK, *imported)).stdout
    marks = dict(line.split("\t") for line in said.splitlines())
    layout = marks[name] if marks[name] != "-" else name
    together = [pool for pool in imported if marks[pool] == layout]
    return tuple(sorted(together, key=lambda pool: (pool != layout, pool))) or (name,)


def _pool_facts(name: str, said: Mapping[str, str], ashifts: Mapping[str, int]) -> PoolFacts | None:
    status = parse_status(said[f"status {name}"])
    if not status:
        return None
    pool = parse_pool(status[0], said[f"pool {name}"], said[f"datasets {name}"])
    names = said[f"names {name}"]
    sources: dict[str, dict[str, str]] = {}
    for line in said[f"datasets {name}"].split("\n"):
        # A value of somebody's user property may have tabs and newlines in it; the source is the last word.
        words = line.split("\t")
        if len(words) > _SOURCE:
            sources.setdefault(words[0], {})[words[1]] = words[-1]
    above, _, table = names.partition("config:\n")
    return PoolFacts(
        pool=pool,
        tops=_tops(pool, names, said, ashifts),
        sources=sources,
        status={match[1]: match[2] for part in (above, table) for match in _FIELD.finditer(part)},
        imported_s=source.parse_span(said[f"import {name}"]),
        removed_vdevs=len(re.findall(r"^\tindirect-\d+", said[f"list {name}"], re.MULTILINE)),
    )


def _tops(pool: Pool, names: str, said: Mapping[str, str], ashifts: Mapping[str, int]) -> tuple[Top, ...]:
    """Give the vdevs with all that is known of their disks; the two forms of zpool status list them in one order."""
    rows = {match[1]: match for match in _ROW.finditer(names)}
    sizes = source.parse_sizes(said[f"list {pool.name}"])
    rates = source.parse_rates(said[f"iostat {pool.name}"])
    named = parse_status(names)[0].vdevs

    def leaf(name: str, node: str) -> Leaf:
        row = rows.get(name)
        errors = [0 if row is None or row[column] == "-" else int(row[column]) for column in (3, 4, 5)]
        return Leaf(
            name=name,
            node=node,
            state=row[2] if row else "UNKNOWN",
            errors=(errors[0], errors[1], errors[2]),
            note=row[6].strip(" ()") if row else "",
            size_bytes=sizes.get(name),
            written_bytes_per_s=rates.get(name),
        )

    return tuple(
        Top(
            role=vdev.role,
            kind=vdev.kind,
            leaves=tuple(leaf(name, node) for name, node in zip(of_name.disks, vdev.disks, strict=True)),
            ashift=next((ashifts[name] for name in of_name.disks if name in ashifts), None),
        )
        for vdev, of_name in zip(pool.vdevs, named, strict=True)
    )


def _with_wanted(pool: PoolFacts, template: Template, facts: Facts) -> PoolFacts:
    layout = pool.pool.property_of_root(LAYOUT_MARK) or pool.name
    spec = next((one for one in template.pools if one.name_of_pool(layout) == pool.name), None)
    if spec is None:
        return pool
    disks = {
        role: tuple(
            device
            for top in pool.with_role(role)
            for leaf in top.leaves
            if (device := facts.inventory.carrying(leaf.node))
        )
        for role in VdevRole
    }
    # What this ZFS lacks was left out when the pool was made, and isn't missed now.
    fitted = fit(spec, facts.zfs).spec
    return replace(pool, spec=fitted, wanted=wanted_pool(layout, fitted, disks))
