"""Each script has a man page that renders, and an example with the columns that it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zmysql.host import Local

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "dscripts"
STEMS = sorted({path.name.partition(".")[0] for path in SCRIPTS.iterdir() if path.suffix in (".d", ".bt")})
# Those of the DTraceToolkit 0.99 that look at files and disks.
TOOLKIT = {
    *("bitesize.d", "iofile.d", "iofileb.d", "iopattern", "iopending", "iosnoop", "iotop", "opensnoop", "pathopens.d"),
    *("fsrw.d", "fspaging.d", "rfileio.d", "rfsio.d", "rwbypid.d", "rwbytype.d", "rwsnoop", "rwtop", "seeksize.d"),
}
COLUMNS = re.compile(r'printf\("# ([a-z]\w*(?: [a-z]\w*)*)\\n"\)')


def rendered(stem: str) -> str:
    """Give the page as a person sees it, without the overstriking that makes it bold."""
    text = Local().run(["mandoc", "-T", "utf8", "-O", "width=120", str(ROOT / "man" / f"{stem}.8")]).stdout
    return re.sub(".\b", "", text)


def columns_of(script: Path) -> str:
    """Give the column names: what the script prints first of all but the start and the sampling."""
    lines: list[str] = COLUMNS.findall(script.read_text())
    return next(line for line in lines if not line.startswith(("began ", "sampling ")))


@pytest.mark.parametrize("stem", STEMS)
def test_the_page_is_right_and_names_what_stands_nearest(stem: str) -> None:
    checked = Local().run(["mandoc", "-T", "lint", "-W", "warning", str(ROOT / "man" / f"{stem}.8")], check=False)
    assert checked.stdout + checked.stderr == ""
    page = rendered(stem)
    first = (SCRIPTS / f"{stem}.d").read_text().splitlines()[2]
    purpose = first.removeprefix(f" * {stem}.d - ").removesuffix(".")
    name = page.partition("NAME\n")[2].partition("\nSYNOPSIS")[0]
    assert name.replace("–", "-").split() == [stem, "-", *purpose.split()]  # noqa: RUF001 - as mandoc draws it
    nearest = re.search(r"^SEE ALSO\n(.*?)(?=^\S)", page, re.DOTALL | re.MULTILINE)
    assert nearest
    assert "DTraceToolkit" in nearest[1]
    assert TOOLKIT & set(re.findall(r"[\w.]+\b", nearest[1]))


@pytest.mark.parametrize("stem", STEMS)
def test_the_example_has_the_columns_that_the_script_prints(stem: str) -> None:
    example = (SCRIPTS / "examples" / f"{stem}.txt").read_text()
    scripts = [path for path in SCRIPTS.iterdir() if path.name.partition(".")[0] == stem]
    for script in scripts:
        assert re.search(rf"^ *# {re.escape(columns_of(script))}$", example, re.MULTILINE), script
