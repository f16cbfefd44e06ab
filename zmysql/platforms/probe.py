"""What the looks at FreeBSD's and illumos's disks share: one script for many questions, and labels of ZFS.

Each command on a distant machine is a round trip, and a machine may have hundreds of disks. So one script asks all, and
prints a line `@@ NAME` before each answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zmysql.host import Completed, Host

_HEADING = re.compile(r"^@@ (.*)\n", re.MULTILINE)
_POOL = re.compile(r"^ *name: '(.*)'$", re.MULTILINE)
_GUID = re.compile(r"^ *guid: \d+$", re.MULTILINE)

# Prints what fstyp(8) and zdb(8) find on a node. The labels are four, and long: what tells them is the name and guid.
PROBE_NODE = """probe() {
  echo "@@ on $1"
  fstyp $2 "$1" 2>/dev/null
  zdb -l "$1" 2>/dev/null | sed -n '/^ *name:/p;/^ *guid:/p'
}
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies on a node: the type of a file system, None where none is recognised, and whether a label of ZFS does.

    `pool` is the pool that the label names; that of a cache or spare disk names none.
    """

    file_system: str | None
    is_zfs: bool
    pool: str | None


NOTHING = Contents(None, is_zfs=False, pool=None)


def run_script(host: Host, script: str, *arguments: str) -> Completed:
    """Run a script of sh(1), whatever its status.

    It comes by standard input, since ssh goes through the user's shell, and the csh of FreeBSD's root takes no word of
    several lines.
    """
    # A function is read whole before it runs, and so nothing that it calls can eat the rest of the script.
    whole = f'main() {{\n{script}\n}}\nmain "$@" </dev/null\n'
    return host.run(("sh", "-s", *arguments), stdin=whole, check=False)


def sections(text: str) -> dict[str, str]:
    """Give the answers of a script by the names in their headings."""
    _, *parts = _HEADING.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def parse_contents(text: str) -> Contents:
    """Give what fstyp(8) and `zdb -l` said of a node.

    zdb(8) prints one label or up to four; any one that it could read counts, since ZFS would find the pool by it.
    """
    pool = _POOL.search(text)
    first = text.partition("\n")[0].strip()
    file_system = first if re.fullmatch(r"[a-z][\w+.-]*", first) and first != "zfs" else None
    return Contents(
        file_system, is_zfs=bool(pool or _GUID.search(text) or first == "zfs"), pool=pool[1] if pool else None
    )
