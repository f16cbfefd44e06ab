"""A template on a host whose ZFS lacks something of it: that is left out, or refused. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.layout.model import Refusal
from zmysql.zfs.capability import lacks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.layout.model import PoolSpec
    from zmysql.zfs.capability import Zfs


@dataclass(frozen=True, slots=True)
class Fit:
    """What is left of a pool of a template on a host, why the rest isn't, and what can't be left out."""

    spec: PoolSpec
    reasons: tuple[str, ...]
    refusals: tuple[Refusal, ...]


def fit(spec: PoolSpec, zfs: Zfs) -> Fit:
    """Leave out what the host's ZFS doesn't know, as far as the layout is meant without it."""
    found = _Found(zfs, [], [])
    fitted = replace(
        spec,
        properties=found.known(f"{spec.prefix}pool", spec.properties),
        root_properties=found.known(f"{spec.prefix}properties", spec.root_properties),
        datasets={key: found.known(f"{spec.prefix}datasets.{key}", of_one) for key, of_one in spec.datasets.items()},
    )
    return Fit(fitted, tuple(found.reasons), tuple(found.refusals))


@dataclass(frozen=True, slots=True)
class _Found:
    zfs: Zfs
    reasons: list[str]
    refusals: list[Refusal]

    def known(self, where: str, properties: Mapping[str, str]) -> dict[str, str]:
        """Give those of some properties that ZFS knows, and write down the others."""
        known = {}
        for name, value in properties.items():
            lack = lacks(self.zfs, name, value)
            if lack is None:
                known[name] = value
            elif lack.refuse:
                way_out = f"--set {where}.{name}=… to what it knows, or take another template"
                self.refusals.append(Refusal(f"{where}.{name}={value}", lack.reason, way_out))
            else:
                self.reasons.append(f"{where}.{name}={value} is left out: {lack.reason}")
        return known
