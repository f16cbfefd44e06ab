"""The report as a page: one file with all it needs, made from the dict of `zmysql locality report -j` alone.

The words in it come from strangers' traces: jinja2 escapes them, `tojson` keeps them inside the charts' data, and the
page's own policy lets run no script but the two that are hashed here, and load nothing at all.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, cast

import altair as alt
import jinja2
import vl_convert
from markupsafe import Markup

from zmysql.errors import printable
from zmysql.report.page.candidates import candidates
from zmysql.report.page.curve import miss_ratio_curve
from zmysql.report.page.distances import inter_reference, reuse_distances
from zmysql.report.page.figure import AnyChart, Figure, Missing, Report
from zmysql.report.page.flow import served, working_set
from zmysql.report.page.objects import tables
from zmysql.report.page.provenance import GLOSSARY, about, costs, formula, made
from zmysql.report.page.records import reads_per_record, recordsizes
from zmysql.report.page.summary import summarise
from zmysql.report.page.theme import BY_NAME, DARK, LIGHT, Palette, config, css_variables

VEGA_LITE = alt.SCHEMA_VERSION.rpartition(".")[0]
_EXPORT = "window.vegaEmbed = vegaEmbed;"
_FIGURES = (
    miss_ratio_curve,
    candidates,
    recordsizes,
    tables,
    working_set,
    reuse_distances,
    inter_reference,
    reads_per_record,
    served,
)


def draw(report: Report, palette: Palette) -> tuple[list[Figure], list[Missing]]:
    """Give the figures that a report has data for, in the page's order, and those that it hasn't."""
    drawn = [figure(report, palette) for figure in _FIGURES]
    return [one for one in drawn if isinstance(one, Figure)], [one for one in drawn if isinstance(one, Missing)]


def render(found: Report) -> str:
    """Give the page as HTML: the same report gives the same bytes."""
    report = cleaned(found)
    figures, missing = draw(report, BY_NAME)
    bundle = _bundle()
    script = _script(_text("page.js"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_text("page.html")).render(
        report=report,
        summary=summarise(report),
        confidence=report.get("confidence"),
        about=about(report),
        costs=costs(report),
        formula=formula(report),
        made=made(report),
        glossary=GLOSSARY,
        figures=figures,
        missing=missing,
        charts=[
            (f"{one.key}-{number}", spec(panel.chart)) for one in figures for number, panel in enumerate(one.panels, 1)
        ],
        light=css_variables(LIGHT),
        dark=css_variables(DARK),
        css=Markup(_text("page.css")),  # noqa: S704 - ours
        bundle=bundle,
        script=script,
        hashes=" ".join(_hash(text) for text in (bundle, script)),
    )


def spec(chart: AnyChart) -> dict[str, Any]:
    """Give a chart as the page embeds it: as wide as its place, in colours by name."""
    return cast("dict[str, Any]", chart.properties(width="container").configure(**config(BY_NAME)).to_dict())


def cleaned(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Give the report with each text in one line that can be printed and encoded, whatever a trace had in it."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): cleaned(one) for key, one in value.items()}
    return [cleaned(one) for one in value] if isinstance(value, list) else value


def _text(name: str) -> str:
    return (files("zmysql.report.page") / name).read_text(encoding="utf-8")


@cache
def _bundle() -> Markup:
    """Give Vega, Vega-Lite and Vega-Embed as one script, which takes a second to put together."""
    return _script(vl_convert.javascript_bundle(_EXPORT, vl_version=VEGA_LITE))


def _script(text: str) -> Markup:
    """Give a script of ours as it can stand in the page."""
    if "</script" in text or "<!--" in text:
        raise AssertionError("a script of ours would end its own element")
    return Markup(text)  # noqa: S704 - ours, or Vega's


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
