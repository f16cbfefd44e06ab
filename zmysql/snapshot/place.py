"""Whether a server is the one that runs on a layout: only its lock protects a snapshot of it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from zmysql.mysql.client import query
from zmysql.snapshot.model import Layout, Refusal

if TYPE_CHECKING:
    from zmysql.host import Host
    from zmysql.mysql.client import Dsn

# Without any of these there is no database. Those that a version doesn't know aren't in its answer.
_DIRECTORIES = ("datadir", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory")
_UUID, _BINLOG = "server_uuid", "log_bin_basename"
_ASK = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})".format(
    ", ".join(f"'{name}'" for name in (*_DIRECTORIES, _UUID, _BINLOG))
)
# The real path of each directory, an empty line for one that isn't there; then MySQL's own mark of its data directory.
_LOOK = r"""
datadir=$1
for directory; do (cd -- "$directory" 2>/dev/null && pwd -P) || echo; done
sed -n 's/^server-uuid=//p' "$datadir/auto.cnf" 2>/dev/null
exit 0
"""


def against_server(host: Host, dsn: Dsn, layout: Layout) -> tuple[Refusal, ...]:
    """Say why a server isn't one that is wholly on a layout. Raises QueryFailed."""
    asked = {row["Variable_name"] or "": row["Value"] or "" for row in query(host, dsn, _ASK)}
    datadir = asked["datadir"]
    directories = [_within(datadir, asked[name]) for name in _DIRECTORIES if name in asked]
    if asked.get(_BINLOG):
        directories.append(_within(datadir, asked[_BINLOG]).rpartition("/")[0])
    mountpoints = [member.mountpoint for member in layout.members if member.mountpoint and member.mounted]
    paths = tuple(dict.fromkeys((*directories, *mountpoints)))
    looked = host.run(("sh", "-c", _LOOK, "sh", *paths)).stdout.split("\n")
    real = dict(zip(paths, looked, strict=False))
    on = [f"{real[mountpoint]}/" for mountpoint in mountpoints if real[mountpoint]]
    about = f"MySQL at {dsn}"
    way_out = "name the server of this layout with --mysql (or --allow-elsewhere, if a container calls it so)"
    found = [
        Refusal(about, f"its directory {given} isn't on {layout.name}, so the snapshot wouldn't have it", way_out)
        for given in dict.fromkeys(directories)
        if not any(f"{real[given]}/".startswith(mountpoint) for mountpoint in on)
    ]
    uuid = looked[len(paths)]
    if uuid and _UUID in asked and uuid != asked[_UUID]:
        found.append(Refusal(about, f"{datadir} on {host.name} belongs to another server ({uuid})", way_out))
    return tuple(found)


def _within(datadir: str, path: str) -> str:
    """Give the directory that a variable names: empty means the data directory, others may be relative to it."""
    return posixpath.normpath(posixpath.join(datadir, path))
