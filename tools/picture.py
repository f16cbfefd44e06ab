"""Draws the README's picture: the report of a trace, as the terminal shows it.

usage: picture.py TRACE OUT.svg
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from zmysql.locality.assessment import ASSUMED_DISK_LATENCY_NS, ASSUMED_SSD_LATENCY_NS, assess, choose_caches
from zmysql.locality.latency import LatencyRatio
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.report.locality import for_terminal
from zmysql.trace.format import read_header

trace, out = Path(sys.argv[1]), Path(sys.argv[2])
header = read_header(trace)
caches = choose_caches(header, None, None)
ratio = LatencyRatio(ASSUMED_DISK_LATENCY_NS / ASSUMED_SSD_LATENCY_NS, "7 ms to 0.2 ms, assumed")
console = Console(record=True, width=92, file=io.StringIO(), highlight=False)
found = profile(load(trace, header), header, caches.sizes())
console.print(for_terminal(assess(Path("FILE"), header, found, caches, ratio)))
# A picture loads nothing from elsewhere: any monospaced font will do.
drawn = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
out.write_text(console.export_svg(title="zmysql locality report FILE", code_format=drawn))
