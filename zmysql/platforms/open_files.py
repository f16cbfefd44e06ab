"""Who has files open on a file system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Host

# All three print a line for each process and mount point: pid, program, mount point, with tabs between.

# By the device of what is open, since a container calls the same file system by another path. The links of /proc also
# show files that were unlinked.
LINUX = r"""
for directory; do stat -c %d -- "$directory" >/dev/null || exit 1; done
{
    for directory; do stat -c 'on %d %n' -- "$directory"; done
    find /proc/[0-9]*/fd /proc/[0-9]*/cwd -maxdepth 1 -type l -exec stat -L -c '%d %n' {} + 2>/dev/null
} | awk '
    $1 == "on" { device = $2; sub(/^on [0-9]+ /, ""); on[device] = $0; next }
    $1 in on { split($2, part, "/"); if (!seen[part[3], $1]++) printf "%s\t%s\n", part[3], on[$1] }
' | while IFS='	' read -r pid directory; do
    read -r program <"/proc/$pid/comm" && printf '%s\t%s\t%s\n' "$pid" "$program" "$directory"
done 2>/dev/null
exit 0
"""
# fuser(1) of POSIX, which FreeBSD and illumos have: process ids to its standard output, all else to the other.
POSIX = r"""
command -v fuser >/dev/null || exit 127
for directory; do
    for pid in $(fuser -c "$directory" 2>/dev/null); do
        program=$(ps -o comm= -p "$pid") && printf '%s\t%s\t%s\n' "$pid" "$program" "$directory"
    done
done
exit 0
"""


@dataclass(frozen=True, slots=True)
class Opener:
    """A process that has files open on the file system at a mount point, or stands in one of its directories."""

    pid: int
    program: str
    mountpoint: str

    def __str__(self) -> str:
        return f"{self.program} (process {self.pid}) uses {self.mountpoint}"


def read_openers(host: Host, script: str, mountpoints: Sequence[str]) -> tuple[Opener, ...]:
    """Run one of the scripts for some mount points; root sees all processes. Raises CommandFailed when it can't run."""
    return parse_openers(host.run(("sh", "-c", script, "sh", *mountpoints)).stdout) if mountpoints else ()


def parse_openers(text: str) -> tuple[Opener, ...]:
    """Give the processes that a script printed, by process id."""
    rows = (line.split("\t", 2) for line in text.splitlines())
    found = {Opener(int(pid), program.strip().rpartition("/")[2], mountpoint) for pid, program, mountpoint in rows}
    return tuple(sorted(found, key=lambda one: (one.pid, one.mountpoint)))
