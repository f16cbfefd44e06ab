"""Takes the README's picture: parts of the page of a trace in Chromium, on the left in light, on the right in dark.

usage: page_picture.py TRACE OUT.png
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

from zmysql.host import Local

WIDTH, HEIGHT = 920, 1250
LEFT_OUT = "section:has(> #choice), #candidates"  # there is no room for all
TOGETHER = """<style>
body { margin: 0 } img { position: absolute; left: 0; top: 0 }
img + img { clip-path: polygon(58% 0, 100% 0, 100% 100%, 42% 100%) }
</style>"""


def main(trace: Path, out: Path) -> None:
    """Make the page with the command, and take it in both modes."""
    with tempfile.TemporaryDirectory() as folder:
        page, both = Path(folder) / "page.html", Path(folder) / "both.html"
        program = "from zmysql.cli.main import main; main()"
        Local().run([sys.executable, "-c", program, "locality", "report", str(trace), "--html", str(page)])
        browser = Chromium(Path(folder) / "profile")
        try:
            images = []
            for scheme in ("light", "dark"):
                browser.see(scheme, WIDTH)
                browser.open(page)
                browser.run("document.querySelectorAll(arguments[0]).forEach((part) => part.remove())", LEFT_OUT)
                images.append(f'<img src="data:image/png;base64,{_taken(browser)}">')
            both.write_text(TOGETHER + "".join(images))
            browser.driver.get(both.as_uri())
            out.write_bytes(base64.b64decode(_taken(browser)))
        finally:
            browser.driver.quit()


def _taken(browser: Chromium) -> str:
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
    return str(browser.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])


main(Path(sys.argv[1]), Path(sys.argv[2]))
