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

from zmysql.locality.analysis import analyse
from zmysql.locality.assessment import assess
from zmysql.locality.catalogue import load_catalogue
from zmysql.locality.question import ask
from zmysql.report.locality import for_terminal
from zmysql.trace.format import read_header

trace, out = Path(sys.argv[1]), Path(sys.argv[2])
header = read_header(trace)
question = ask(header, load_catalogue())
console = Console(record=True, width=92, file=io.StringIO(), highlight=False)
console.print(for_terminal(assess(Path("FILE"), header, analyse(trace, header, question), question)))
# A picture loads nothing from elsewhere: any monospaced font will do.
drawn = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
out.write_text(console.export_svg(title="zmysql locality report FILE", code_format=drawn))
