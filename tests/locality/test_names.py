"""Names of the server's files."""

from __future__ import annotations

import pytest

from zmysql.locality.names import Kind, Name, data_directories, name_of

DATA = "/tank/mysql/data"


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("sbtest/sbtest1.ibd", Kind.TABLE, "sbtest.sbtest1"),
        ("my@002dshop/caf@00e9@0020bar.ibd", Kind.TABLE, "my-shop.café bar"),
        ("shop/orders#p#p2026.ibd", Kind.TABLE, "shop.orders PARTITION (p2026)"),
        ("shop/orders#P#p2026.ibd", Kind.TABLE, "shop.orders PARTITION (p2026)"),
        ("shop/orders#p#p1#sp#p1sp0.ibd", Kind.TABLE, "shop.orders PARTITION (p1sp0)"),
        ("shop/orders#P#p1#SP#p1sp0.ibd", Kind.TABLE, "shop.orders PARTITION (p1sp0)"),
        ("shop/a@0023p@0023b.ibd", Kind.TABLE, "shop.a#p#b"),
        ("shop/#sql-ib1064-2816.ibd", Kind.TABLE, "shop.#sql-ib1064-2816"),
        ("mysql/user.MYI", Kind.TABLE, "mysql.user"),
        ("mysql/tables_priv.MAD", Kind.TABLE, "mysql.tables_priv"),
        (
            "shop/fts_0000000000000425_00000000000000a1_index_3.ibd",
            Kind.FULLTEXT,
            "shop: full-text index id 161 of table id 1061, part 3",
        ),
        (
            "shop/FTS_0000000000000425_BEING_DELETED.ibd",
            Kind.FULLTEXT,
            "shop: full-text being deleted of table id 1061",
        ),
        ("ibdata1", Kind.SYSTEM, "system tablespace ibdata1"),
        ("mysql.ibd", Kind.DICTIONARY, "data dictionary mysql.ibd"),
        ("ts1.ibd", Kind.GENERAL, "tablespace ts1"),
        ("undo_001", Kind.UNDO, "undo tablespace undo_001"),
        ("undo001", Kind.UNDO, "undo tablespace undo001"),
        ("more.ibu", Kind.UNDO, "undo tablespace more.ibu"),
        ("ibtmp1", Kind.TEMPORARY, "temporary tablespace ibtmp1"),
        ("#innodb_temp/temp_7.ibt", Kind.TEMPORARY, "temporary tablespace temp_7.ibt"),
        ("ib_logfile0", Kind.REDO, "redo log ib_logfile0"),
        ("#innodb_redo/#ib_redo12_tmp", Kind.REDO, "redo log #ib_redo12_tmp"),
        ("#ib_16384_1.dblwr", Kind.DOUBLEWRITE, "doublewrite buffer #ib_16384_1.dblwr"),
        ("db1-relay-bin.000017", Kind.RELAY, "relay log db1-relay-bin.000017"),
        ("relay.000001", Kind.RELAY, "relay log relay.000001"),
        ("db1-slow.log", Kind.SLOW, "slow query log db1-slow.log"),
        ("binlog.000001", Kind.BINLOG, "binary log binlog.000001"),
        ("ib_buffer_pool", Kind.OTHER, f"{DATA}/ib_buffer_pool"),
    ],
)
def test_files_have_the_names_that_people_know(path: str, kind: Kind, text: str) -> None:
    assert name_of(f"{DATA}/{path}", {DATA}) == Name(kind, text)


def test_what_is_no_path_stays_as_it_is() -> None:
    assert name_of(None) == Name(Kind.OTHER, None)
    assert name_of("17") == Name(Kind.OTHER, "17")
    assert name_of("sbtest1.ibd") == Name(Kind.OTHER, "sbtest1.ibd")
    assert name_of("") == Name(Kind.OTHER, "")


def test_data_directories_are_known_by_what_lies_in_them() -> None:
    assert data_directories([f"{DATA}/ibdata1", f"{DATA}/shop/a.ibd", "/undo/undo_001"]) == {DATA, "/undo"}
    assert name_of(f"{DATA}/ts1.ibd") == Name(Kind.TABLE, "data.ts1")
