"""The machine's browser, without a window: it prints the book, and the tests read its pages with it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ALONE = ("background-networking", "component-update", "sync")  # what it would ask the network for by itself


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A browser, closed at the end: Playwright allows one at a time."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--no-first-run", *(f"--disable-{one}" for one in ALONE)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()
