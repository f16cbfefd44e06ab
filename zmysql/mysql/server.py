"""Which server knows which variable: the one table of that, one column a server."""

from __future__ import annotations

from zmysql.errors import UsageError

# The servers whose columns the table has.
SERVERS = ("mysql-9.7",)

# In a column: the server ends with an error when it finds this variable in its my.cnf.
ABSENT = None

# variable → server → its default there, as the server prints it, or ABSENT.
# mysql-9.7 is what mysqld 9.7.4 (Debian) says to `--no-defaults --verbose --help`; the absent ones stopped it. Of
# innodb_flush_method the help says fsync, but where the system has O_DIRECT, that is what the server starts with.
VARIABLES: dict[str, dict[str, str | None]] = {
    "datadir": {"mysql-9.7": "/var/lib/mysql/"},
    "innodb_buffer_pool_size": {"mysql-9.7": "134217728"},
    "innodb_doublewrite": {"mysql-9.7": "ON"},
    "innodb_file_format": {"mysql-9.7": ABSENT},
    "innodb_flush_method": {"mysql-9.7": "O_DIRECT"},
    "innodb_flush_neighbors": {"mysql-9.7": "0"},
    "innodb_log_block_size": {"mysql-9.7": ABSENT},
    "innodb_log_file_size": {"mysql-9.7": ABSENT},
    "innodb_log_files_in_group": {"mysql-9.7": ABSENT},
    "innodb_log_group_home_dir": {"mysql-9.7": "(No default value)"},
    "innodb_page_size": {"mysql-9.7": "16384"},
    "innodb_redo_log_capacity": {"mysql-9.7": "104857600"},
    "innodb_support_xa": {"mysql-9.7": ABSENT},
    "innodb_undo_tablespaces": {"mysql-9.7": ABSENT},
    "innodb_use_atomic_writes": {"mysql-9.7": ABSENT},
    "innodb_use_native_aio": {"mysql-9.7": "TRUE"},
    "log_bin": {"mysql-9.7": "binlog"},
    "tmpdir": {"mysql-9.7": "/tmp"},  # noqa: S108 - a server's default, nothing that we write to
}


def check_server(name: str) -> str:
    """Give the name of a known server back.

    Raises UsageError otherwise, with those that are known.
    """
    if name not in SERVERS:
        raise UsageError(f"unknown server {name!r}; known are {', '.join(SERVERS)}")
    return name


def knows(server: str, variable: str) -> bool:
    """Tell whether a server starts with this variable in its my.cnf.

    Raises KeyError for a variable that isn't in the table: look it up and enter it there first.
    """
    return VARIABLES[variable][server] is not ABSENT
