"""The page of a real sysbench trace in headless Chromium: seen, hovered, tabbed through, printed, dark, on a phone."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

import pytest
from chromium import WAIT_S, Chromium, found
from contrast import contrast
from report_dicts import full_report, hostile_report
from running import zmysql
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from zmysql.host import Local
from zmysql.report.page.page import render
from zmysql.report.page.theme import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRACE = "tests/data/sysbench-random-points/trace.gz"
# Each text with its colour, and the colour of what is behind it.
TEXTS = """
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour !== 'rgba(0, 0, 0, 0)' && colour !== 'transparent') return colour;
  }
  return 'rgb(255, 255, 255)';
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  const style = getComputedStyle(element);
  if (!walker.currentNode.data.trim() || !element.getClientRects().length || style.visibility === 'hidden') continue;
  if (element.closest('script, style, .role-mark')) continue;
  const colour = element instanceof SVGElement ? style.fill : style.color;
  found.push([walker.currentNode.data.trim(), colour, behind(element)]);
}
return found;
"""
FOCUSABLE = """
const all = document.querySelectorAll('a[href], button, input, [tabindex="0"], summary');
return Array.from(all).filter((element) => element.checkVisibility()).map((element, at) => {
  element.dataset.at = at;
  return at;
});
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the page of a real trace, as the command makes it, and its JSON beside it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    done = zmysql("locality", "report", TRACE, "-j", "--html", path)
    assert done.exit_status == 0, done
    path.with_suffix(".json").write_text(done.stdout)
    return path


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a page with every section."""
    path = tmp_path_factory.mktemp("full") / "full.html"
    path.write_text(render(full_report()), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Chromium, page: Path) -> Chromium:
    browser.see("light")
    browser.open(page)
    return browser


def rgb(colour: str) -> str:
    """Give what Chromium says of a colour as #rrggbb."""
    channels = re.findall(r"[\d.]+", colour)
    assert colour.startswith("rgb(") or channels[3] == "1", colour
    return "#" + "".join(f"{int(channel):02x}" for channel in channels[:3])


def test_the_verdict_is_seen_first_and_nothing_is_asked_of_the_network(opened: Chromium, page: Path) -> None:
    reasons = json.loads(page.with_suffix(".json").read_text())["verdict"]["reasons"]
    verdict = opened.one("#verdict")
    assert verdict.is_displayed()
    assert verdict.text == "An L2ARC pays"
    assert opened.run("return arguments[0].getBoundingClientRect().bottom < innerHeight / 2", verdict)
    assert [item.text for item in opened.driver.find_elements(By.CSS_SELECTOR, ".verdict li")] == reasons
    assert opened.asked() == [page.as_uri()]
    assert opened.said() == []


def test_hovering_the_curve_says_size_and_misses(opened: Chromium) -> None:
    words = opened.hover("#miss-ratio-curve .chart svg", right=0.6)
    assert re.fullmatch(r"size\s+[\d.]+\sMiB\s+reads that miss\s+[\d.]+\s%", words), words
    near_the_end = opened.hover("#miss-ratio-curve .chart svg", right=0.9)
    assert near_the_end != words
    assert opened.said() == []


def test_the_keyboard_reaches_each_chart_and_its_table_in_order(opened: Chromium) -> None:
    order = opened.run(FOCUSABLE)
    assert len(opened.driver.find_elements(By.CSS_SELECTOR, "[data-chart], summary")) < len(order)
    reached = []
    for _ in order:
        ActionChains(opened.driver).send_keys(Keys.TAB).perform()
        number, outline = opened.run(
            "const at = document.activeElement; return [Number(at.dataset.at), getComputedStyle(at).outlineStyle]"
        )
        assert outline == "solid"
        reached.append(number)
    assert reached == order


def test_enter_opens_a_table_and_the_skip_link_goes_to_the_verdict(opened: Chromium) -> None:
    table = "#miss-ratio-curve details table"
    assert not opened.one(table).is_displayed()
    opened.one("#miss-ratio-curve summary").send_keys(Keys.ENTER)
    assert opened.one(table).is_displayed()
    assert len(opened.driver.find_elements(By.CSS_SELECTOR, f"{table} tbody tr")) > 20
    opened.one(".skip").send_keys(Keys.ENTER)
    assert opened.run("return document.activeElement.id") == "main"


def test_it_prints_with_verdict_and_charts(opened: Chromium, page: Path, tmp_path: Path) -> None:
    opened.see("dark")
    printed = tmp_path / "report.pdf"
    printed.write_bytes(base64.b64decode(opened.cdp("Page.printToPDF", printBackground=True)["data"]))
    pages = Local().run([found("pdftotext"), "-layout", str(printed), "-"]).stdout.split("\f")[:-1]
    assert 1 < len(pages) < 8
    assert "An L2ARC pays" in pages[0]
    text = " ".join("".join(pages).split())
    assert "size of the cache" in text  # the axis of the curve
    assert "Skip to the verdict" not in text
    assert "Drag to move" not in text
    # Nothing is cut off at the paper's edge.
    for reason in json.loads(page.with_suffix(".json").read_text())["verdict"]["reasons"]:
        assert " ".join(reason.split()) in text
    boxes = Local().run([found("pdftotext"), "-bbox", str(printed), "-"]).stdout
    width = float(re.findall(r'<page width="([\d.]+)"', boxes)[0])
    rights = [float(right) for right in re.findall(r'xMax="([\d.]+)"', boxes)]
    assert len(rights) > 300
    assert max(rights) <= width


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_every_text_can_be_read_in_both_modes(browser: Chromium, full: Path, scheme: str, palette: Palette) -> None:
    browser.see(scheme)
    browser.open(full)
    assert rgb(browser.run("return getComputedStyle(document.body).backgroundColor")) == palette.paper
    line = browser.one("#miss-ratio-curve .mark-line path")
    assert rgb(line.value_of_css_property("stroke")) == palette.memory
    texts = browser.run(TEXTS)
    assert len(texts) > 300
    poor = {(words, colour, ground) for words, colour, ground in texts if contrast(rgb(colour), rgb(ground)) < 4.5}
    assert poor == set()


@pytest.mark.parametrize("width", [320, 375, 768, 1600])
def test_no_width_needs_sideways_scrolling(browser: Chromium, full: Path, width: int) -> None:
    browser.see("light", width)
    browser.open(full)
    browser.run("for (const details of document.querySelectorAll('details')) details.open = true")
    WebDriverWait(browser.driver, WAIT_S).until(
        lambda _: browser.run("""
        return Array.from(document.querySelectorAll('.chart svg')).every((svg) => {
          const inner = svg.getBoundingClientRect(), outer = svg.closest('.chart').getBoundingClientRect();
          return inner.width > 0 && inner.width <= outer.width + 1;
        })""")
    )
    assert browser.run("return innerWidth") == width
    assert browser.run("return document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth") == 0


def test_the_legend_filters(browser: Chromium, full: Path) -> None:
    browser.see("light")
    browser.open(full)
    line = "#miss-ratio-curve .mark-line path"
    assert browser.one(line).get_attribute("opacity") == "1"
    (simulated,) = (
        label
        for label in browser.driver.find_elements(By.CSS_SELECTOR, "#miss-ratio-curve .role-legend-label text")
        if label.text == "OpenZFS's ARC, simulated"
    )
    browser.run("arguments[0].scrollIntoView({block: 'center'})", simulated)
    ActionChains(browser.driver).move_to_element(simulated).click().perform()
    WebDriverWait(browser.driver, WAIT_S).until(lambda _: browser.one(line).get_attribute("opacity") != "1")
    assert browser.said() == []


def test_words_of_strangers_do_nothing(browser: Chromium, tmp_path: Path) -> None:
    page = tmp_path / "hostile.html"
    page.write_text(render(hostile_report()), encoding="utf-8")
    browser.see("light")
    browser.open(page)
    for panel, mark in (("tables-1", "rect"), ("tables-2", "rect"), ("candidates-1", "symbol")):
        words = browser.hover(f"[data-chart='{panel}'] .mark-{mark} path")
        assert words.startswith(("table", "candidate"))
        assert browser.driver.find_elements(By.CSS_SELECTOR, "img, #vg-tooltip-element :is(a, script, img)") == []
    assert browser.run("return window.harmed") is None
    assert browser.asked() == [page.as_uri()]
    assert browser.said() == []


def test_without_javascript_the_figures_are_in_the_tables(browser: Chromium, page: Path) -> None:
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(page.as_uri())
        assert browser.one("#verdict").text == "An L2ARC pays"
        assert "The charts need JavaScript" in browser.one("noscript").text
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
