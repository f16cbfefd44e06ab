"""The report as a page: what it says, what it leaves out, and that nothing of a trace gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from report_dicts import EVIL, full_report, hostile_report

from zmysql.report.page.page import draw, render, spec
from zmysql.report.page.theme import BY_NAME

SECTIONS = {
    "mrc": "miss-ratio-curve",
    "reuse_distances": "reuse-distances",
    "reads_per_block": "reads-per-record",
    "working_set": "working-set",
    "inter_reference": "inter-reference-times",
    "objects": "tables",
    "recordsizes": "recordsizes",
    "candidates": "candidates",
    "classes": "served-from",
}
MOST_BYTES = 2 << 20


class Page(HTMLParser):
    """The page as a browser takes it apart: its text, its scripts, and each element's attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - HTMLParser's
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif self._inside != "style":
            self.words.append(data.replace("\xa0", " "))

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def ids(self) -> set[str]:
        return {str(attributes["id"]) for _, attributes in self.elements if "id" in attributes}


@pytest.fixture(scope="module")
def full() -> str:
    return render(full_report())


@pytest.fixture(scope="module")
def hostile() -> str:
    return render(hostile_report())


def test_the_verdict_stands_first_with_what_it_gains(full: str) -> None:
    text = Page(full).text
    order = ["An L2ARC pays", "an L2ARC of 8G: 263 µs a read on average instead of 2.7 ms, 10.3 times as fast"]
    order += ["An ARC of 2G serves", "The choice", "An L2ARC pays from 3G on", "The evidence", "How far to trust it"]
    at = [text.index(words) for words in order]
    assert at == sorted(at)
    for words in (
        "confidence: medium",
        "served by a cache 90.0 % now 50.0 %",
        "to pay $42 the SSD lasts 11.2 years",
        "dropped 0 records",
    ):
        assert words in text


def test_the_chosen_candidate_is_marked_in_the_table(full: str) -> None:
    (row,) = re.findall(r'<tr class="chosen">.*?</tr>', full, re.DOTALL)
    assert "an L2ARC of 8G" in row
    assert "90\xa0min" in row


def test_of_a_sample_it_says_of_what_and_gives_the_rates_of_the_whole() -> None:
    sample = {"kept": "1/82", "records": 123_456_789, "kept_records": 1, "distinct_blocks": 1, "error": 0.01}
    text = Page(render(full_report() | {"sampling": "1/820", "sample": sample})).text
    assert "123,456,789 reads" in text
    assert "sampling 1/820 of the blocks, 1/82 of those in the trace" in text
    whole, part = (
        render(full_report() | {"sampling": kept}).partition(">reads a second</th></tr>")[2] for kept in ("1/1", "1/5")
    )
    rates = [int(re.findall(r"<td>([0-9,]+)</td></tr>", page)[0].replace(",", "")) for page in (whole, part)]
    assert rates[1] == pytest.approx(5 * rates[0], abs=5)


def test_of_many_candidates_the_best_of_each_kind_is_shown_first() -> None:
    report = full_report()
    plain = report["candidates"][1]
    more = [
        plain | {"name": f"an L2ARC of {size}G", "l2arc_bytes": size << 30, "chosen": size == 4} for size in (2, 4, 16)
    ]
    larger = plain | {"name": "larger records", "recordsize": 131072, "mean_latency_ns": 1e5}
    report["candidates"][1:2] = [*more, larger, larger | {"name": "slower", "mean_latency_ns": 2e5}]
    html = render(report)
    first, _, figures = html.partition("The evidence")
    for name in ("as it is", "an L2ARC of 4G", "larger records", "all 40G on SSD"):
        assert f'<th scope="row">{name}' in first
        assert f'<th scope="row">{name}' in figures
    for name in ("an L2ARC of 2G", "an L2ARC of 16G", "slower"):
        assert f'<th scope="row">{name}' not in first
        assert f'<th scope="row">{name}' in figures
    assert "has 3 more in its table" in first
    assert "an L2ARC of 4G" in re.findall(r'<tr class="chosen">.*?</tr>', first, re.DOTALL)[0]


def test_what_was_seen_is_said_where_the_simulation_doesnt_see_it() -> None:
    report = full_report() | {"speedup_seen": 31.8, "l2arc_hit_ratio_seen": 0.997, "arc_misses_seen": 2370}
    report["candidates"][1] |= {"mean_latency_ns": report["candidates"][0]["mean_latency_ns"]}
    text = Page(render(report)).text
    assert "As was seen while recording: it makes what misses the ARC 31.8 times as fast." in text
    assert "of the ARC's misses served by the L2ARC 99.7 % seen while recording" in text
    assert "1 times as fast" not in text


def test_where_nothing_is_to_be_bought_it_says_what_there_is() -> None:
    report = full_report()
    report["verdict"]["choice"] = "leave-it"
    text = Page(render(report)).text
    for words in ("of the reads hit the ARC 50.0 % 2 GiB, as an LRU cache", "a read, on average 2.7 ms as it is"):
        assert words in text
    assert "reads a second 1,481 as it is" in text


def test_each_chart_has_a_name_a_sentence_and_a_table(full: str) -> None:
    page = Page(full)
    charts = [attributes for _, attributes in page.elements if "data-chart" in attributes]
    assert len(charts) == 14
    for chart in charts:
        assert chart["tabindex"] == "0"
        assert chart["role"] == "img"
        assert str(chart["aria-label"]).startswith("Chart: ")
        assert chart["aria-describedby"] in page.ids()
        assert f"data-{chart['data-chart']}" in page.ids()
    figures = full.split("<figure")[1:]
    assert [figure.count("<details>") for figure in figures] == [1] * len(SECTIONS)
    assert min(figure.count("<tr") for figure in figures) > 2


def test_sentences_say_what_the_data_say(full: str) -> None:
    text = Page(full).text
    for words in (
        "Beyond 4 GiB nothing is gained: what still misses are first reads, 20.0 % of all.",
        "records of 64K miss least often (40.0 % of the reads); those of 16K make the disks read the fewest bytes",
        "sbtest.sbtest1 takes 40.0 % of the reads",
        "30.0 % of the records were read only once. The hottest tenth takes 26.0 % of the reads.",
        "distinct records of 286 MiB (the median), and 315 MiB at most",
        "Memory served 50.0 % of the reads, the L2ARC 40.0 %, and 10.0 % went to the disks.",
        "Half of the rereads come back within 1 GiB, nine of ten within 16 GiB",
    ):
        assert words in text


@pytest.mark.parametrize("key", SECTIONS)
def test_without_its_data_a_figure_is_left_out_with_the_reason(key: str) -> None:
    report = full_report()
    del report[key]
    figures, missing = draw(report, BY_NAME)
    assert [one.key for one in missing] == [SECTIONS[key]]
    assert missing[0].why.endswith(".")
    assert {one.key for one in figures} == set(SECTIONS.values()) - {SECTIONS[key]}


def test_empty_data_is_as_good_as_none() -> None:
    report: dict[str, Any] = full_report()
    for key in SECTIONS:
        report[key] = type(report[key])()
    figures, missing = draw(report, BY_NAME)
    assert (figures, len(missing)) == ([], len(SECTIONS))


def test_a_report_of_an_older_zmysql_still_makes_a_page() -> None:
    newer = {"recording", "candidates", "formula", "break_even", "confidence", "simulations"}
    old = {
        key: value for key, value in full_report().items() if key not in newer and key not in set(SECTIONS) - {"mrc"}
    }
    page = Page(render(old))
    assert {"miss-ratio-curve"} == page.ids() & set(SECTIONS.values())
    assert "of the reads hit an ARC 40.0 % of 2 GiB, as LRU" in page.text
    assert "What this report doesn't show" in page.text


@pytest.mark.parametrize(
    ("choice", "headline"),
    [("leave-it", "Leave it as it is"), ("record-longer", "Record longer"), ("more-ram", "Add memory"), ("new", "new")],
)
def test_every_verdict_has_a_headline(choice: str, headline: str) -> None:
    report = full_report()
    report["verdict"]["choice"] = choice
    (found,) = re.findall(r'<h1 id="verdict">(.*?)</h1>', render(report))
    assert headline in found


def test_words_of_strangers_stay_words(hostile: str) -> None:
    page, harmless = Page(hostile), Page(render(full_report()))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in harmless.elements]
    kinds = [attributes.get("type") for attributes, _ in page.scripts]
    assert kinds == ["application/json"] * 14 + [None, None]
    for attributes, text in page.scripts[:-2]:
        assert attributes.keys() == {"type", "id"}
        json.loads(text)
    assert page.scripts[-2:] == harmless.scripts[-2:]
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert "49" not in re.findall(r"<h1.*?</h1>", hostile)[0]
    assert EVIL[0] in page.text
    assert hostile.encode().decode() == hostile
    assert "\x1b" not in hostile
    assert "\\x1b[2J\\u202e\\ud800" in page.text


def test_the_page_allows_itself_its_two_scripts_and_nothing_else(full: str) -> None:
    page = Page(full)
    (policy,) = (a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv"))
    hashes = re.findall(r"'sha256-(.+?)'", str(policy))
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for _, text in page.scripts[-2:]]
    assert hashes == digests
    directives = dict(part.strip().split(" ", 1) for part in str(policy).split(";"))
    assert directives.pop("default-src") == "'none'"
    assert directives.keys() == {"script-src", "style-src", "img-src"}
    assert "unsafe-eval" not in str(policy)


def test_the_page_refers_to_nothing_outside_itself(full: str) -> None:
    for tag, attributes in Page(full).elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, attributes)
    assert "@import" not in full
    assert "url(" not in full.partition("</style>")[0]


def test_the_same_report_gives_the_same_bytes(full: str) -> None:
    assert render(full_report()) == full


def test_a_large_report_stays_small() -> None:
    report = full_report()
    window = report["working_set"]["windows"][0]
    report["working_set"]["windows"] = [window | {"start_ns": at * 1_000_000} for at in range(50_000)]
    report["objects"] = [report["objects"][0] | {"name": f"db.t{number}", "object": number} for number in range(2000)]
    report["mrc"] = [{"cache_bytes": size, "miss_ratio": 1 / size} for size in range(1, 20_000)]
    page = render(report)
    assert len(page.encode()) < MOST_BYTES
    assert "Shown are the first 15 of 2000." in page


def test_a_table_that_is_named_twice_is_drawn_twice() -> None:
    report = full_report(("sbtest.sbtest1",))
    figures, _ = draw(report, BY_NAME)
    (tables,) = (one for one in figures if one.key == "tables")
    names = [row[0] for row in tables.table.rows]
    assert len(set(names)) == len(names) == 5


def test_charts_name_their_colours_so_that_they_follow_the_mode() -> None:
    figures, _ = draw(full_report(), BY_NAME)
    for figure in figures:
        for panel in figure.panels:
            text = json.dumps(spec(panel.chart))
            assert not re.search(r'"#[0-9a-f]{3,8}"', text), figure.key
            assert "var(--" in text
