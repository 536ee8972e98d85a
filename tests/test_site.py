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
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from _ext.tidy import one_head
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


def test_pages_keep_the_makers_notes_to_themselves(site):
    """Comments that bind numbers, and notes for whoever marks an exercise, stay in the notebooks."""
    for page in toc_pages():
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert "<!-- marking:" not in text and "<!--= " not in text, page


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


HEADS = {  # as pandas writes the head of a table, and as the page shows it
    "<tr><th></th><th>log</th></tr><tr><th>people</th><th></th></tr>": "<tr><th>people</th><th>log</th></tr>",
    "<tr><th></th><th>log</th></tr>": "<tr><th></th><th>log</th></tr>",
    "<tr><th>weight</th><th>log</th></tr><tr><th>total</th><th></th></tr>": None,  # its corner is not empty
    '<tr><th></th><th colspan="2">a</th></tr><tr><th></th><th>b</th><th>c</th></tr>': None,  # no row has a name
}


@pytest.mark.parametrize(("written", "shown"), HEADS.items())
def test_names_of_rows_take_no_line_of_their_own(written, shown):
    """The name of a table's rows stands in the corner of its head, where that is empty."""
    assert one_head(f"<thead>{written}</thead>") == f"<thead>{shown or written}</thead>"


def test_short_formulas_are_not_torn_apart(site):
    """No line breaks between ε and its value, nor between a formula and the comma behind it."""
    page = parsed(site / "notebooks" / "08-wyoming.html").article
    words = " ".join(p.text for p in page.select("p") if not p.find("code"))
    assert "ε\u00a0=\u00a01" in words and not re.search(r"ε = \d", words)
    text = str(parsed(site / "notebooks" / "04-optimal-allocation.html").article)
    formulas = r'<span class="math [^>]*>[^<]*</span>'
    kept = re.compile(rf'<span class="unbroken">[^<]?{formulas}[^<]*</span>')
    assert kept.search(text) and not re.search(formulas + "[,.;:]", kept.sub("", text))


# The browser


@dataclass(frozen=True)
class Visit:
    """What one look at one page found."""

    theme: str  # the mode that the page says it is in
    outside: list  # requests to other hosts
    errors: list  # console errors, uncaught exceptions, answers of 400 and above
    overflow: int  # pixels that the page is wider than the window
    raw_math: list  # formulas that were not drawn, or drawn as an error
    bad_images: list  # pictures that did not load, or whose alternative text says nothing
    grounds: list  # what is behind each figure: a colour and a filter
    weight: int  # bytes of the page and all it loads, apart from MathJax
    barriers: list  # what axe-core finds in the way of readers with a disability
    cut: list  # formulas, and on a wide screen code and tables too, that do not fit into the text


# Sizes come from the browser's own record: it counts what a cache gave, and the size before any compression.
LOOK = """async () => {
  if (window.MathJax?.startup?.promise) await MathJax.startup.promise;
  const drawn = m => m.querySelector('mjx-container') && !m.querySelector('mjx-merror, [data-mjx-error]');
  const shown = i => i.complete && i.naturalWidth > 0;
  const told = i => i.alt.trim().length >= 15 && !/\\.(png|svg|jpe?g)$/i.test(i.alt.trim());
  const figures = '.bd-article :is(figure, .cell_output) img';
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return {
    theme: document.documentElement.dataset.theme,
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    raw_math: [...document.querySelectorAll('.math')].filter(m => !drawn(m)).map(m => m.textContent),
    bad_images: [...document.images].filter(i => !shown(i) || !told(i)).map(i => `${i.src}: ${i.alt}`),
    grounds: [...document.querySelectorAll(figures)].map(getComputedStyle).map(s => [s.backgroundColor, s.filter]),
    weight: loaded.filter(e => !e.name.includes('/mathjax/')).reduce((sum, e) => sum + e.decodedBodySize, 0),
  };
}"""

# axe-core checks each element, and the contrast of each takes milliseconds: a minute for a chapter full of code. Elements of
# the same ink, size and grounds have the same contrast, so one of each look stands for all; the other words of the code,
# and in the dark the formulas, need not be elements any more.
AXE = """async () => {
  const nextFrame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  document.querySelectorAll('details').forEach(d => d.open = true);
  document.querySelectorAll('button.toggle-button-hidden').forEach(b => b.click());
  await nextFrame();  // the page's own script has seen what opened
  const grounds = new Map(), seen = new Set();
  for (const e of document.body.querySelectorAll('*')) {
    const s = getComputedStyle(e);
    const own = [s.backgroundColor, s.backgroundImage, s.opacity].join(' ');
    const ground = (grounds.get(e.parentElement) ?? '') + (own == 'rgba(0, 0, 0, 0) none 1' ? '' : own);
    grounds.set(e, ground);
    const words = [...e.childNodes].some(n => n.nodeType == Node.TEXT_NODE && n.data.trim());
    const look = [s.color, s.fontSize, s.fontWeight, ground].join(' ');
    if (words && e.checkVisibility({visibilityProperty: true}) && !seen.has(look)) {
      seen.add(look);
      e.dataset.look = '';
    }
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
  const light = document.documentElement.dataset.theme == 'light';
  const spare = 'pre span:not([data-look], :has([data-look]))' + (light ? '' : ', mjx-container:not(:has([data-look]))');
  document.querySelectorAll(spare).forEach(e => e.replaceWith(e.textContent));
  const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
  const colours = ['color-contrast', 'link-in-text-block'];
  const runOnly = light ? all : colours;  // the modes differ in nothing else
  const {violations} = await axe.run({runOnly, resultTypes: ['violations'], preload: false});
  return violations.flatMap(v => v.nodes.map(n => `${v.impact} ${v.id}: ${n.html.slice(0, 150)} ${n.failureSummary}`));
}"""


# What is cut off at the edge of the text. On a phone, code and tables scroll; half a formula would be another formula.
CUT = """() => {
  const boxes = 'mjx-container[display]' + (innerWidth > 1000 ? ', .cell pre, .cell_output > .output' : '');
  const cut = e => e.scrollWidth > e.clientWidth + 1 && e.checkVisibility();
  return [...document.querySelectorAll(`.bd-article :is(${boxes})`)].filter(cut).map(e => e.textContent.trim().slice(0, 99));
}"""


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def browser():
    """Closed with this module: Playwright allows one at a time, and other modules open their own."""
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


@pytest.fixture(scope="module")
def visit(browser, address):
    """Look at a page in a mode and at a width; each look happens once, however many tests use it."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")

    @functools.cache
    def window(mode, width):
        # with less motion, so that nothing is measured half faded in
        return browser.new_context(color_scheme=mode, reduced_motion="reduce", viewport={"width": width, "height": 900})

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
        page.evaluate(axe)
        barriers = page.evaluate(AXE)  # folded solutions are open from here on
        cut = page.evaluate(CUT)
        page.close()
        return Visit(outside=outside, errors=errors, barriers=barriers, cut=cut, **found)

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
def test_cuts_nothing_off(visit, page, mode, width):
    """Formulas fit into the text at every width, and so do code and tables on a wide screen."""
    assert visit(page, mode, width).cut == []


@in_browser
def test_draws_its_formulas(visit, page, mode, width):
    """Every formula is drawn, and none as an error."""
    assert visit(page, mode, width).raw_math == []


@in_browser
def test_shows_its_pictures(visit, page, mode, width):
    """Every picture loads and has a text, not a file name, for those who do not see it."""
    assert visit(page, mode, width).bad_images == []


@in_browser
def test_figures_keep_their_light_card(visit, page, mode, width):
    """In the dark, figures stand on their own light ground, in their own colours."""
    if mode == "dark":
        assert set(map(tuple, visit(page, mode, width).grounds)) <= {("rgb(253, 252, 249)", "none")}


@in_browser
def test_is_light_to_load(visit, page, mode, width):
    """A page and all it loads, apart from MathJax, weigh less than 1.5 MB."""
    assert visit(page, mode, width).weight < 1_500_000


@in_browser
def test_is_open_to_everybody(visit, page, mode, width):
    """axe-core finds nothing in the way of readers who use a keyboard, a screen reader or strong contrast."""
    assert visit(page, mode, width).barriers == []


def chromium_only(test):
    return pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install `chromium`")(test)


@chromium_only
def test_search_finds_a_word(browser, address):
    """Who searches for Karamata is sent to the chapter on skewness."""
    page = browser.new_page()
    page.goto(f"{address}search.html?q=Karamata")
    page.locator("#search-results a[href*='06-skewness']").first.wait_for(timeout=10_000)
    page.close()


# The element that has the focus: a name for it, whether it is in the text, and whether one can see that it has the focus.
FOCUSED = """() => {
  const e = document.activeElement, s = getComputedStyle(e);
  const name = ['skip-link', 'search-button__button', 'theme-switch-button', 'primary-toggle'].find(c => e.closest('.' + c));
  return {name, inside: !!e.closest('article'), seen: s.outlineStyle != 'none' || s.boxShadow != 'none', html: e.outerHTML};
}"""


@chromium_only
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
def test_can_be_read_without_a_mouse(browser, address, width):
    """The Tab key leads to the skip link, the search, the mode switch, a phone's menu and the text, and one sees where."""
    page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page.goto(f"{address}{PAGES[1]}.html")
    stops = []
    while len(stops) < 80 and not (stops and stops[-1]["inside"]):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
    names = [stop["name"] for stop in stops]
    wanted = {"skip-link", "search-button__button", "theme-switch-button"} | ({"primary-toggle"} if width < 600 else set())
    assert names[0] == "skip-link" and wanted <= set(names) and stops[-1]["inside"]
    assert [stop["html"] for stop in stops if not stop["seen"]] == []

    page.reload()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('#main-content')")
    page.close()
