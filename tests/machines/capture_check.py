"""Saves what `zmysql check` reads of a machine, as test data: the unedited output of the commands that it runs.

Run it on this side: .venv/bin/python tests/machines/capture_check.py FOLDER POOL HOST [DSN], HOST as for --host.

Files: about, lsblk.json, dev-disk, zpool-status, meminfo, zfs-version, machine (MACHINE_SCRIPT), files (FILES_SCRIPT),
and with a DSN variables (SHOW GLOBAL VARIABLES of mysql --batch). Linux only. Serial numbers and names of tables are in
it: on a machine that isn't a testbed, replace them everywhere alike and say so in `about`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.check.read import Question, files_question, read_facts
from zmysql.check.source import FILES_SCRIPT, MACHINE_SCRIPT
from zmysql.cli.hosts import parse_host
from zmysql.mysql.client import parse_dsn
from zmysql.platforms.linux import LINKS, LSBLK

if TYPE_CHECKING:
    from zmysql.host import Host

ABOUT = """
date -u '+date: %Y-%m-%d'
sed -n 's/^PRETTY_NAME="\\(.*\\)"/os: \\1/p' /etc/os-release
uname -srm | sed 's/^/kernel: /'
zfs version | sed 's/^/zfs: /'
"""


def main(folder: Path, pool: str, host: Host, dsn: str | None) -> None:
    """Save the files of one machine."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = read_facts(host, Question(pool, parse_dsn(dsn) if dsn else None))
    names = [one.name for one in facts.pools]
    saved = {
        "about": host.run(("sh", "-c", ABOUT)).stdout,
        "lsblk.json": host.run(LSBLK).stdout,
        "dev-disk": host.run(LINKS).stdout,
        "zpool-status": host.run(("zpool", "status", "-LP")).stdout,
        "meminfo": host.run(("cat", "/proc/meminfo")).stdout,
        "zfs-version": host.run(("zfs", "version")).stdout,
        "machine": host.run(("sh", "-s", "--", *names), stdin=MACHINE_SCRIPT).stdout,
        "files": host.run(("sh", "-s", "--", *files_question(facts)), stdin=FILES_SCRIPT).stdout,
    }
    if facts.server is not None:
        saved["about"] += f"server: {facts.server.value('version')}\n"
        argv = facts.server.statement("SHOW GLOBAL VARIABLES")
        saved["variables"] = host.run((argv[0], "--batch", *argv[1:])).stdout
    for name, text in saved.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], parse_host(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
