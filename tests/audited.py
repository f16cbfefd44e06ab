"""Facts of captured machines, as `zmysql check` reads them: what tests/machines/capture_check.py saved."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from captures import capture, inventory

from zmysql.check.read import machine_facts, with_files, with_memory, with_server, with_template
from zmysql.mysql.client import Dsn, parse_batch
from zmysql.platforms.linux import parse_memory
from zmysql.zfs.capability import Zfs, parse_version
from zmysql.zfs.model import Dataset, VdevRole

if TYPE_CHECKING:
    from zmysql.check.facts import Facts, Leaf, PoolFacts

DSN = Dsn(user="root", host="localhost", socket="/tmp/zmcheck.sock")


@cache
def facts(machine: str, *, asked: bool = True) -> Facts:
    """Give the facts of a machine; without those of the server unless it was `asked`."""
    said = capture(machine, "machine")
    zfs = Zfs("linux", parse_version(capture(machine, "zfs-version")))
    found = machine_facts(said, re.findall(r"^==== zmysql: status (.+)$", said, re.MULTILINE), inventory(machine), zfs)
    found = with_template(with_memory(found, parse_memory(capture(machine, "meminfo"))))
    if asked:
        found = with_server(found, DSN, parse_batch(capture(machine, "variables")))
    return with_files(found, capture(machine, "files"))


def with_pool(base: Facts, **changed: object) -> Facts:
    """Give facts whose first pool differs."""
    return replace(base, pools=(replace(base.pools[0], **changed), *base.pools[1:]))  # type: ignore[arg-type]


def having(base: Facts, dataset: str, **properties: str) -> Facts:
    """Give facts in which a dataset of the first pool differs; `zpool` stands for the properties of the pool itself."""
    first = base.pools[0]
    if dataset == "zpool":
        return with_pool(base, pool=replace(first.pool, properties={**first.pool.properties, **properties}))
    there = [
        Dataset(one.name, {**one.properties, **properties}) if one.name == dataset else one
        for one in first.pool.datasets
    ]
    local = {**first.sources[dataset], **dict.fromkeys(properties, "local")}
    return with_pool(base, pool=replace(first.pool, datasets=tuple(there)), sources={**first.sources, dataset: local})


def with_leaf(base: Facts, node_end: str, **changed: object) -> Facts:
    """Give facts in which a disk of the first pool differs, which is known by the end of its node."""

    def of(leaf: Leaf) -> Leaf:
        return replace(leaf, **changed) if leaf.node.endswith(node_end) else leaf  # type: ignore[arg-type]

    tops = (replace(top, leaves=tuple(map(of, top.leaves))) for top in base.pools[0].tops)
    return with_pool(base, tops=tuple(tops))


def with_top(base: Facts, of_role: VdevRole, **changed: object) -> Facts:
    """Give facts in which the vdevs of a role differ."""
    tops = (replace(top, **changed) if top.role is of_role else top for top in base.pools[0].tops)  # type: ignore[arg-type]
    return with_pool(base, tops=tuple(tops))


def with_variables(base: Facts, **variables: str) -> Facts:
    """Give facts in which the server has other variables."""
    assert base.server is not None
    return replace(base, server=replace(base.server, variables={**base.server.variables, **variables}))


def moved(base: Facts, key: str, file_system: str) -> Facts:
    """Give facts in which the server keeps a kind of file elsewhere."""
    assert base.server is not None
    place = replace(base.server.places[key], file_system=file_system)
    return replace(base, server=replace(base.server, places={**base.server.places, key: place}))


def foreign(base: Facts) -> Facts:
    """Give facts of the same pools, had zmysql not made them."""

    def of(pool: PoolFacts) -> PoolFacts:
        datasets = tuple(Dataset(one.name.replace("/mysql", "/db"), one.properties) for one in pool.pool.datasets)
        sources = {name.replace("/mysql", "/db"): values for name, values in pool.sources.items()}
        return replace(pool, pool=replace(pool.pool, datasets=datasets), sources=sources, spec=None, wanted=None)

    return replace(base, pools=tuple(map(of, base.pools)), template=None)
