"""What becomes of hits: one finding for one thing, the worst first, and a word on what wasn't checked."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from audited import facts, foreign, having, with_pool
from captures import capture

from zmysql.check.audit import audit
from zmysql.check.facts import Need
from zmysql.check.model import Severity
from zmysql.check.read import machine_facts, with_server, with_template
from zmysql.errors import UsageError

SOUND = facts("debian13-zfs2.3-serving")
FAULTY = facts("debian13-zfs2.3-faulty")


def test_the_worst_comes_first() -> None:
    order = [list(Severity).index(finding.severity) for finding in audit(FAULTY).findings]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}


def test_what_two_rules_say_of_one_property_is_told_once_and_mended_as_the_template_has_it() -> None:
    found = audit(having(SOUND, "tank/mysql/data", compression="off")).findings
    assert [(finding.id, finding.mend) for finding in found] == [
        ("compression-off", (("zfs", "inherit", "compression", "tank/mysql/data"),))
    ]
    on_foreign = audit(having(foreign(SOUND), "tank/db/data", compression="off")).findings
    assert ("zfs", "set", "compression=lz4", "tank/db/data") in [argv for one in on_foreign for argv in one.mend]


def test_what_datasets_inherit_is_one_finding_where_it_is_set() -> None:
    base = SOUND
    for dataset in ("tank", "tank/mysql", "tank/mysql/data", "tank/mysql/redo"):
        base = having(base, dataset, compression="off")
        if dataset != "tank":
            pool = base.pools[0]
            inherited = {**pool.sources[dataset], "compression": "inherited from tank"}
            base = with_pool(base, sources={**pool.sources, dataset: inherited})
    assert [(one.id, one.of) for one in audit(base).findings] == [("compression-off", "tank")]


def test_a_value_that_holds_until_the_next_mount_isnt_what_is_looked_at() -> None:
    # atime=on was set on the root while its children were mounted without.
    assert FAULTY.pools[0].sources["tank/mysql/data"]["atime"] == "temporary"
    assert [one.of for one in audit(FAULTY).findings if one.id == "atime-on"] == ["tank"]


def test_what_the_template_wants_itself_is_no_finding() -> None:
    # tmp has logbias=throughput by the template; data has not.
    assert SOUND.pools[0].is_meant("tank/mysql/tmp", "logbias", "throughput")
    assert not SOUND.pools[0].is_meant("tank/mysql/data", "logbias", "throughput")


def test_without_a_server_its_rules_are_named_as_not_run() -> None:
    report = audit(facts("debian13-zfs2.3-serving", asked=False))
    assert report.findings == ()
    (skipped,) = report.not_checked
    assert skipped.why == "no --mysql"
    assert {"l2arc-direct-io", "doublewrite-off", "datadir-elsewhere"} <= set(skipped.ids)
    assert "old-records" not in skipped.ids


def test_a_server_on_another_machine_says_nothing_of_places_here() -> None:
    rows = [{"Variable_name": "hostname", "Value": "elsewhere"}, {"Variable_name": "version", "Value": "9.7.4"}]
    base = facts("debian13-zfs2.3-serving", asked=False)
    assert base.hostname == "zmysql-testbed"
    report = audit(with_server(base, SOUND.server.dsn, rows) if SOUND.server else base)
    (skipped,) = report.not_checked
    assert skipped.why == "the server runs on elsewhere, and the pool is on zmysql-testbed"


def test_a_pool_of_somebody_else_is_audited_by_the_rules_alone() -> None:
    base = foreign(SOUND)
    unmarked = replace(base, unknown={**base.unknown, Need.TEMPLATE: "zmysql didn't make the pool tank"})
    (skipped,) = audit(unmarked).not_checked
    assert "property-drift" in skipped.ids


def test_a_template_that_is_gone_is_said_to_be() -> None:
    base = facts("debian13-zfs2.3-serving", asked=False)
    marked = having(base, "tank", **{"zmysql:template": "/nowhere/mine.toml"})
    found = with_template(replace(marked, template=None))
    assert "/nowhere/mine.toml" in found.unknown[Need.TEMPLATE]


def test_overrides_are_part_of_the_template() -> None:
    base = having(facts("debian13-zfs2.3-serving", asked=False), "tank", **{"zmysql:set": "data.recordsize=32K"})
    found = [one for one in audit(with_template(base)).findings if one.id == "property-drift"]
    assert [one.evidence.value for one in found] == ["recordsize=16384, the template's is 32K"]


def test_a_pool_that_went_away_meanwhile_is_a_clear_error() -> None:
    said = capture("debian13-zfs2.3-serving", "machine")
    gone = re.sub(r"(?<=: status tank\n).*?(?=\n==== )", "", said, flags=re.DOTALL)
    with pytest.raises(UsageError, match="no imported pool tank"):
        machine_facts(gone, ["tank"], SOUND.inventory, SOUND.zfs)
