"""Names of schemas and tables from those of their files, as MariaDB 10.11 writes them."""

from __future__ import annotations

import pytest

from zmysql.mysql.filenames import decoded


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sbtest1", "sbtest1"),
        ("my@002dshop", "my-shop"),
        ("a@0020b@0023c@002e@0040", "a b#c.@"),
        ("@4e2d@6587", "中文"),
        ("stra@1je_@0L@1I@1O_@0l@1i@1o", "straße_ÅÖÜ_åöü"),
        ("caf@0p_@2x", "café_ĳ"),
        ("@y0@g0@h0@r0@o0@i1@g0", "таблица"),
        ("@Y0@G0@O1", "ТАЬ"),  # noqa: RUF001 - Cyrillic
        ("@7j@7i@7U@7W@8I", "σςΏΒΠ"),
        ("@tp@up", "ằẳ"),
        ("@d", "@d"),
        ("@zz@", "@zz@"),
    ],
)
def test_names_are_those_that_people_gave(name: str, meant: str) -> None:
    assert decoded(name) == meant
