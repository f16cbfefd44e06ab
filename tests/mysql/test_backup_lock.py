"""Which server is locked by which statements."""

from __future__ import annotations

import pytest

from zmysql.errors import ZmysqlError
from zmysql.mysql.backup_lock import statements_for


# As VERSION() of each of them says; those of 9.7.4 and MariaDB 10.11.19 from servers that were run.
@pytest.mark.parametrize(
    ("version", "first", "status", "unlock"),
    [
        ("5.7.44-log", "FLUSH LOCAL TABLES WITH READ LOCK", "SHOW MASTER STATUS", ("UNLOCK TABLES",)),
        ("8.0.36-28", "LOCK INSTANCE FOR BACKUP", "SHOW MASTER STATUS", ("UNLOCK TABLES", "UNLOCK INSTANCE")),
        ("8.4.0", "LOCK INSTANCE FOR BACKUP", "SHOW BINARY LOG STATUS", ("UNLOCK TABLES", "UNLOCK INSTANCE")),
        ("9.7.4-2", "LOCK INSTANCE FOR BACKUP", "SHOW BINARY LOG STATUS", ("UNLOCK TABLES", "UNLOCK INSTANCE")),
        ("10.3.39-MariaDB", "FLUSH LOCAL TABLES WITH READ LOCK", "SHOW MASTER STATUS", ("UNLOCK TABLES",)),
        ("10.11.19-MariaDB-0+deb12u1-log", "BACKUP STAGE START", "SHOW MASTER STATUS", ("BACKUP STAGE END",)),
        ("11.8.6-MariaDB-0+deb13u1 from Debian", "BACKUP STAGE START", "SHOW MASTER STATUS", ("BACKUP STAGE END",)),
    ],
)
def test_each_server_is_locked_its_own_way(version: str, first: str, status: str, unlock: tuple[str, ...]) -> None:
    statements = statements_for(version)
    assert (statements.lock[0], statements.status, statements.unlock) == (first, status, unlock)
    # Commits are held back before the redo log is written out, or it would not have the last of them.
    assert statements.lock[-1] == "FLUSH LOCAL ENGINE LOGS"
    assert {"FLUSH LOCAL TABLES WITH READ LOCK", "BACKUP STAGE BLOCK_COMMIT"} & set(statements.lock[:-1])


def test_a_version_that_is_none() -> None:
    with pytest.raises(ZmysqlError, match="its version 'five'"):
        statements_for("five")
