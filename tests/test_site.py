"""The website: built strictly, then read as files, then opened page by page in a real browser."""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parent.parent
MODES = ("light", "dark")
WIDTHS = {"desktop": 1280, "phone": 390}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def toc_pages(toc=ROOT / "_toc.yml"):
    """Every page that the table of contents names, root first."""

    def walk(entry):
        if isinstance(entry, dict):
            for key, value in entry.items():
                if key in ("root", "file"):
                    yield value
                else:
                    yield from walk(value)
        elif isinstance(entry, list):
            for item in entry:
                yield from walk(item)

    return list(walk(yaml.safe_load(Path(toc).read_text(encoding="utf-8"))))


def build_site(source, target):
    """Build the book as strictly as Sphinx can; return the finished process and the folder of pages."""
    command = [
        sys.executable,
        "-c",
        "from jupyter_book.cli.main import main; main()",
        "build",
        str(source),
        "--all",
        "-W",
        "-n",
        "--keep-going",
        "--path-output",
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return done, Path(target, "_build", "html")


PAGES = toc_pages()


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return build_site(ROOT, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def site(built):
    done, html = built
    if not html.is_dir():
        pytest.fail(f"the book was not built:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return html


# The files


@functools.cache
def parsed(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@functools.cache
def anchors(path):
    return {tag["id"] for tag in parsed(path).find_all(id=True)} | {""}


def is_remote(address):
    return address.startswith(("http:", "https:", "//"))


def loaded_at_once(path):
    """What a browser fetches when it opens the page, as the page's tags say."""
    for tag in parsed(path).find_all(["script", "img", "iframe", "source", "video", "audio", "embed"]):
        yield tag.get("src", "")
    for tag in parsed(path).find_all("link"):
        if "canonical" not in tag.get("rel", []):
            yield tag.get("href", "")


def broken_links(path):
    """Links of the page that lead to no file of the site, or to no place in that file."""
    for tag in parsed(path).find_all("a", href=True):
        link = urlsplit(tag["href"])
        if link.scheme or link.netloc:
            continue
        target = (path.parent / unquote(link.path)).resolve() if link.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield tag["href"]
        elif target.suffix == ".html" and unquote(link.fragment) not in anchors(target):
            yield tag["href"]


def test_build_is_clean(built):
    """The strict build ends well and warns of nothing."""
    done, _ = built
    log = done.stdout + done.stderr
    warnings = [line for line in log.splitlines() if re.search(r"WARNING|ERROR|Warning:", line)]
    assert warnings == []
    assert done.returncode == 0, log[-2000:]


@pytest.mark.parametrize("page", PAGES)
def test_page_exists(site, page):
    """Every page of the table of contents is on the site and has exactly one title."""
    file = site / f"{page}.html"
    assert file.is_file()
    assert len(parsed(file).select("article h1")) == 1


def test_pages_name_no_outside_resource(site):
    """No page or style sheet names a resource of another host that would be fetched at load."""
    remote = {
        (page.name, address) for page in site.rglob("*.html") for address in loaded_at_once(page) if is_remote(address)
    }
    imported = {
        sheet.name
        for sheet in site.rglob("*.css")
        if re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8"))
    }
    assert (remote, imported) == (set(), set())


def test_links_resolve(site):
    """Every link inside the site leads to a page that exists and to an anchor on it."""
    broken = {str(page.relative_to(site)): found for page in site.rglob("*.html") if (found := list(broken_links(page)))}
    assert broken == {}


def test_ids_are_unique(site):
    """No page uses an id twice, so every anchor has one meaning."""
    twice = {}
    for page in site.rglob("*.html"):
        ids = Counter(tag["id"] for tag in parsed(page).find_all(id=True))
        if repeated := [name for name, times in ids.items() if times > 1]:
            twice[str(page.relative_to(site))] = repeated
    assert twice == {}


# The browser


@dataclass(frozen=True)
class Visit:
    """What one look at one page found."""

    theme: str  # the mode that the page says it is in
    outside: list  # requests to other hosts
    errors: list  # console errors, uncaught exceptions, answers of 400 and above
    overflow: int  # pixels that the page is wider than the window
    raw_math: list  # formulas that were not drawn, or drawn as an error
    bad_images: list  # pictures that did not load or have no alternative text


LOOK = """async () => {
  if (window.MathJax?.startup?.promise) await MathJax.startup.promise;
  const drawn = m => m.querySelector('mjx-container') && !m.querySelector('mjx-merror, [data-mjx-error]');
  const shown = i => i.complete && i.naturalWidth > 0;
  return {
    theme: document.documentElement.dataset.theme,
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    raw_math: [...document.querySelectorAll('.math')].filter(m => !drawn(m)).map(m => m.textContent),
    bad_images: [...document.images].filter(i => !shown(i) || !i.alt.trim()).map(i => i.src),
  };
}"""


@pytest.fixture(scope="session")
def address(site):
    """The site, served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def visit(browser, address):
    """Look at a page in a mode and at a width; each look happens once, however many tests use it."""

    @functools.cache
    def window(mode, width):
        return browser.new_context(color_scheme=mode, viewport={"width": width, "height": 900})

    @functools.cache
    def look(name, mode, width):
        page = window(mode, width).new_page()
        outside, errors = [], []
        page.on("request", lambda r: is_remote(r.url) and not r.url.startswith(address) and outside.append(r.url))
        page.on("response", lambda r: r.status >= 400 and errors.append(f"{r.status} {r.url}"))
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto(f"{address}{name}.html", wait_until="load")
        found = page.evaluate(LOOK)
        page.close()
        return Visit(outside=outside, errors=errors, **found)

    return look


def in_browser(test):
    """Run the test for every page, in both modes, at both widths; skip it where there is no browser."""
    for mark in (
        pytest.mark.parametrize("page", PAGES),
        pytest.mark.parametrize("mode", MODES),
        pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys()),
        pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install `chromium`"),
    ):
        test = mark(test)
    return test


@in_browser
def test_follows_the_readers_mode(visit, page, mode, width):
    """A page is dark for readers whose system is dark, and light for the others."""
    assert visit(page, mode, width).theme == mode


@in_browser
def test_asks_nobody_else(visit, page, mode, width):
    """A page sends no request to another host."""
    assert visit(page, mode, width).outside == []


@in_browser
def test_has_no_error(visit, page, mode, width):
    """A page loads without a console error, an exception or a missing file."""
    assert visit(page, mode, width).errors == []


@in_browser
def test_does_not_scroll_sideways(visit, page, mode, width):
    """A page is never wider than the window."""
    assert visit(page, mode, width).overflow <= 0


@in_browser
def test_draws_its_formulas(visit, page, mode, width):
    """Every formula is drawn, and none as an error."""
    assert visit(page, mode, width).raw_math == []


@in_browser
def test_shows_its_pictures(visit, page, mode, width):
    """Every picture loads and has a text for those who do not see it."""
    assert visit(page, mode, width).bad_images == []
