"""Takes the README's picture: the page of a trace in Chromium, light and dark beside each other.

usage: page_picture.py TRACE OUT.png
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

from zmysql.host import Local

WIDTH, HEIGHT = 1040, 1420
SCALE = 0.56

trace, out = Path(sys.argv[1]), Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    page, both = Path(folder) / "page.html", Path(folder) / "both.html"
    program = "from zmysql.cli.main import main; main()"
    Local().run([sys.executable, "-c", program, "locality", "report", str(trace), "--html", str(page)])
    browser = Chromium(Path(folder) / "profile")
    try:
        pictures = []
        for scheme in ("light", "dark"):
            browser.see(scheme, WIDTH)
            browser.open(page)
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
            taken = browser.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
            pictures.append(f'<img src="data:image/png;base64,{taken["data"]}">')
        style = "<style>body{margin:0;display:flex;width:max-content}img{display:block}</style>"
        both.write_text(style + "".join(pictures))
        browser.driver.get(both.as_uri())
        clip = {"x": 0, "y": 0, "width": round(2 * WIDTH * SCALE), "height": round(HEIGHT * SCALE), "scale": 1}
        taken = browser.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        out.write_bytes(base64.b64decode(taken["data"]))
    finally:
        browser.driver.quit()
