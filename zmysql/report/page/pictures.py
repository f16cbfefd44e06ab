"""The report's figures as pictures for slides."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import altair as alt
import vl_convert

from zmysql.report.page.page import VEGA_LITE, cleaned, draw
from zmysql.report.page.theme import LIGHT, config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.report.page.figure import Figure, Report

_WIDTH, _GAP = 1000, 40
_AXIS = 60  # what an axis takes beside its chart
_LETTERS = 130
_SCALE = 2.0


def pictures(found: Report) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of a PNG for each figure that the report has data for."""
    figures, _ = draw(cleaned(found), LIGHT)
    for figure in figures:
        yield (
            f"{figure.key}.png",
            vl_convert.vegalite_to_png(_slide(figure), vl_version=VEGA_LITE, scale=_SCALE, allowed_base_urls=[]),
        )


def _slide(figure: Figure) -> dict[str, object]:
    """Give one spec of all panels, with the figure's title and sentence above."""
    each = (_WIDTH - _GAP * (len(figure.panels) - 1)) // len(figure.panels) - _AXIS
    several = len(figure.panels) > 1
    panels = [
        panel.chart.properties(width=each, **({"title": panel.label} if several else {})) for panel in figure.panels
    ]
    title = alt.TitleParams(
        figure.title,
        subtitle=textwrap.wrap(figure.sentence, _LETTERS),
        anchor="start",
        fontSize=20,
        offset=16,
        subtitlePadding=6,
    )
    theme = config(LIGHT) | {"background": LIGHT.card, "padding": 24}
    spec: dict[str, object] = alt.hconcat(*panels, spacing=_GAP).properties(title=title).configure(**theme).to_dict()
    return spec
