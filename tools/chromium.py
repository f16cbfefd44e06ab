"""Headless Chromium on a page of ours: for the tests, and for the README's picture.

chromium and chromium-driver are Debian's packages; their paths are given, so that Selenium fetches nothing.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

WAIT_S = 60  # other work may be going on


class Chromium:
    """Chromium, with what it said on its console and asked of the network."""

    def __init__(self, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = found("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        arguments = (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,1000",
        )
        for argument in (*arguments, "--disable-background-networking", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        self.driver = webdriver.Chrome(options=options, service=Service(found("chromedriver")))

    def open(self, page: Path) -> None:
        """Open a page from the disk, and wait until its charts are there."""
        self.asked()
        self.said()
        self.driver.get(page.as_uri())
        WebDriverWait(self.driver, WAIT_S).until(
            lambda _: self.run("return document.documentElement.dataset.drawn") == "all"
        )

    def run(self, script: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever the script gives
        """Run JavaScript in the page."""
        return self.driver.execute_script(script, *arguments)

    def cdp(self, command: str, **arguments: object) -> dict[str, Any]:
        """Run a command of Chromium's own protocol."""
        return dict(self.driver.execute_cdp_cmd(command, arguments))

    def see(self, scheme: str, width: int = 1200) -> None:
        """Look as somebody with these settings does."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)

    def one(self, selector: str) -> WebElement:
        """Give the first element of a CSS selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def hover(self, selector: str, right: float = 0.5, down: float = 0.5) -> str:
        """Move the pointer into an element, and give the words of the tooltip that appears."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        box = element.rect
        x, y = round((right - 0.5) * box["width"]), round((down - 0.5) * box["height"])
        ActionChains(self.driver).move_to_element_with_offset(element, x, y).move_by_offset(2, 2).perform()
        shown = "#vg-tooltip-element.visible"
        WebDriverWait(self.driver, WAIT_S).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, shown))
        return self.one(shown).text

    def asked(self) -> list[str]:
        """Give the addresses that were asked for since the page was opened, its own among them."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        requests = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        sockets = [event["params"]["url"] for event in events if event["method"] == "Network.webSocketCreated"]
        return requests + sockets

    def said(self) -> list[str]:
        """Give what was written to the console since the page was opened."""
        return [entry["message"] for entry in self._log("browser")]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """Give what was logged since this was last asked for."""
        return list(self.driver.get_log(kind))  # type: ignore[no-untyped-call] # Selenium annotates no logs


def found(program: str) -> str:
    """Give the path of a program, or say how to get it."""
    path = shutil.which(program)
    if path is None:
        raise SystemExit(
            f"{program} isn't installed: sh tools/install-packages.sh chromium chromium-driver poppler-utils"
        )
    return path
