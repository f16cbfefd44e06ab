"""The colours can be read and told apart, in both modes and by every kind of eye: computed, not judged by looking."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations, pairwise

import pytest
from contrast import Colour, contrast, linear, luminance

from zmysql.report.page.theme import BY_NAME, DARK, LIGHT, Palette, css_variables

BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
# What is left of linear red, green and blue without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1.
SEEN = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(seen: Colour) -> Colour:
    """Give CIE L*a*b* of linear sRGB, D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = (sum(a * b for a, b in zip(row, seen, strict=True)) for row in rows)
    x, y, z = (max(one / white, 1e-9) for one, white in zip(xyz, (0.9505, 1.0, 1.089), strict=True))
    fx, fy, fz = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: str, other: str, eye: str) -> float:
    def look(colour: str) -> Colour:
        red, green, blue = (sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in SEEN[eye])
        return lab((red, green, blue))

    return float(sum((a - b) ** 2 for a, b in zip(look(one), look(other), strict=True)) ** 0.5)


@BOTH
def test_words_have_the_contrast_of_wcag_aa(palette: Palette) -> None:
    words = ("ink", "muted", "accent", "good", "keep", "unsure")
    poor = {
        (name, ground): ratio
        for name in words
        for ground in ("paper", "card")
        if (ratio := contrast(asdict(palette)[name], asdict(palette)[ground])) < 4.5
    }
    assert poor == {}
    on_heat = [contrast(ink, ground) for ink, ground in zip(palette.on_heat, palette.heat, strict=True)]
    assert min(on_heat) >= 4.5


@BOTH
def test_marks_stand_out_from_their_ground(palette: Palette) -> None:
    marks = ("memory", "flash", "disk", "quiet", "good", "accent")
    assert {name for name in marks if contrast(asdict(palette)[name], palette.card) < 3} == set()


@BOTH
@pytest.mark.parametrize("eye", SEEN)
def test_every_eye_tells_memory_flash_and_disk_apart(palette: Palette, eye: str) -> None:
    categories = (palette.memory, palette.flash, palette.disk)
    assert min(distance(one, other, eye) for one, other in combinations(categories, 2)) > 20
    assert distance(palette.good, palette.quiet, eye) > 20
    assert distance(palette.quiet, palette.memory, eye) > 20


@BOTH
def test_heat_rises_in_one_direction(palette: Palette) -> None:
    steps = [luminance(colour) for colour in palette.heat]
    rising = [after > before for before, after in pairwise(steps)]
    assert len(set(rising)) == 1


def test_the_page_names_every_colour_that_its_charts_use() -> None:
    declared = {one.partition(":")[0].strip() for one in css_variables(LIGHT).split(";") if one.strip()}
    assert declared == {colour.removeprefix("var(").removesuffix(")") for colour in asdict(BY_NAME).values()}
