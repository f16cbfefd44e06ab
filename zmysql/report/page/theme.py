"""The page's colours, light and dark, and how its charts look.

Categories are after Okabe and Ito's palette, which people of all colour visions tell apart; contrast and distances are
computed in tests/report/test_page_theme.py. Charts in the page name colours as CSS variables, so that one drawing
follows the reader's mode, and turns light in print; pictures take the light palette itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by what they are for.

    `memory`, `flash` and `disk` are where a read is served from; `heat0` to `heat5` rise from cold to hot, and
    `on_heat0` to `on_heat5` are for words on them. `good`, `keep` and `unsure` mark the verdict.
    """

    paper: str
    card: str
    ink: str
    muted: str
    line: str
    grid: str
    accent: str
    memory: str
    flash: str
    disk: str
    quiet: str
    good: str
    keep: str
    unsure: str
    heat0: str
    heat1: str
    heat2: str
    heat3: str
    heat4: str
    heat5: str
    on_heat0: str
    on_heat1: str
    on_heat2: str
    on_heat3: str
    on_heat4: str
    on_heat5: str

    @property
    def heat(self) -> list[str]:
        """The steps from cold to hot."""
        return [self.heat0, self.heat1, self.heat2, self.heat3, self.heat4, self.heat5]

    @property
    def on_heat(self) -> list[str]:
        """Give the colours of words on each step."""
        return [self.on_heat0, self.on_heat1, self.on_heat2, self.on_heat3, self.on_heat4, self.on_heat5]


LIGHT = Palette(
    paper="#f6f7f9",
    card="#ffffff",
    ink="#181c22",
    muted="#56606e",
    line="#d5dae1",
    grid="#e7eaee",
    accent="#0b62a6",
    memory="#005a9e",
    flash="#00a579",
    disk="#d55e00",
    quiet="#848e9b",
    good="#00734d",
    keep="#8a5a00",
    unsure="#5b4b9a",
    heat0="#eef4fa",
    heat1="#c9dff0",
    heat2="#94c3e3",
    heat3="#4f9bcd",
    heat4="#1b6fae",
    heat5="#0b4478",
    on_heat0="#181c22",
    on_heat1="#181c22",
    on_heat2="#181c22",
    on_heat3="#0b0d10",
    on_heat4="#ffffff",
    on_heat5="#ffffff",
)

DARK = Palette(
    paper="#101317",
    card="#181c22",
    ink="#e9ecf0",
    muted="#a7b0bd",
    line="#353c47",
    grid="#262c35",
    accent="#7cc0f2",
    memory="#3f94dd",
    flash="#5fe3b8",
    disk="#f5893d",
    quiet="#7b8694",
    good="#4fd1a1",
    keep="#f0b849",
    unsure="#b9a9f5",
    heat0="#1f2937",
    heat1="#1c3f5e",
    heat2="#1f5f8f",
    heat3="#3b8cc4",
    heat4="#79bce8",
    heat5="#cfe8fa",
    on_heat0="#e9ecf0",
    on_heat1="#e9ecf0",
    on_heat2="#ffffff",
    on_heat3="#0b0d10",
    on_heat4="#0b0d10",
    on_heat5="#0b0d10",
)

BY_NAME = Palette(**{name: f"var(--{name.replace('_', '-')})" for name in asdict(LIGHT)})


def css_variables(palette: Palette) -> str:
    """Give a palette as CSS declarations."""
    return " ".join(f"--{name.replace('_', '-')}: {colour};" for name, colour in asdict(palette).items())


def config(palette: Palette) -> dict[str, Any]:
    """Give Vega-Lite's config: quiet axes, words that can be read, and nothing that isn't the data."""
    words = {"labelColor": palette.muted, "titleColor": palette.muted, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "aria": False,  # thousands of marks say nothing; the figure has a label, a sentence and a table
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **words,
            "titleFontWeight": "normal",
            "domainColor": palette.line,
            "tickColor": palette.line,
            "gridColor": palette.grid,
            "labelOverlap": "greedy",
            "labelSeparation": 6,
            "labelPadding": 5,
            "titlePadding": 8,
        },
        "legend": {**words, "title": None, "orient": "top", "symbolStrokeWidth": 2, "labelLimit": 260, "offset": 6},
        "title": {"color": palette.ink, "subtitleColor": palette.muted, "anchor": "start", "fontSize": 13},
        "text": {"color": palette.ink, "fontSize": 12},
        "rule": {"color": palette.muted},
    }
