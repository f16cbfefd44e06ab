"""A my.cnf explained: as a table for people, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table

from zmysql.mysql.mycnf import settings_for
from zmysql.mysql.served import contradictions
from zmysql.mysql.setting import explain
from zmysql.mysql.sizing import arc_tuning
from zmysql.report.output import output_version

if TYPE_CHECKING:
    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.server import Server
    from zmysql.mysql.sizing import Budget


def as_json(server: Server, served: ServedLayout, budget: Budget) -> dict[str, object]:
    """Give the settings with the server's defaults, the memory, the ARC's cap, and what works against itself."""
    tuning = arc_tuning(served.system, budget)
    return {
        "output_version": output_version("mycnf"),
        "layout": served.name,
        "pools": [pool.name for pool in served.pools],
        "server": server.name,
        "memory": asdict(budget),
        "arc": {"file": tuning[0], "lines": list(tuning[1])} if tuning else None,
        "settings": [
            {**asdict(one.setting), "default": one.default}
            for one in explain(server, settings_for(server, served, budget))
        ],
        "contradictions": list(contradictions(served)),
    }


def as_table(server: Server, served: ServedLayout, budget: Budget) -> Table:
    """Give variable, value, the server's default, why, and who says so."""
    table = Table(box=None, pad_edge=False, header_style="bold", row_styles=("", "dim"))
    table.add_column("variable", no_wrap=True)
    table.add_column("value", overflow="fold", max_width=36)
    table.add_column("default", overflow="fold", max_width=24)
    table.add_column("why", ratio=1)
    table.add_column("source", max_width=30)
    for one in explain(server, settings_for(server, served, budget)):
        setting = one.setting
        table.add_row(setting.variable, setting.value, one.default, setting.why, ", ".join(setting.sources))
    return table
