"""The website: built strictly, then read as files, then opened page by page in a real browser."""

import functools
import re
from collections import Counter
from contextlib import nullcontext
from urllib.parse import unquote, urlsplit

import pytest
from _ext.policy import with_policy
from _ext.tidy import one_head
from bs4 import BeautifulSoup
from manuscript import chapter_range, chapters_of, toc_pages, toc_parts
from support.browser import AXE, LOOK, WIDTHS, axe_core, served

PAGES = toc_pages()


# The files


@functools.cache
def parsed(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@functools.cache
def ids(path):
    """How often each id is used on a page."""
    return Counter(tag["id"] for tag in parsed(path).find_all(id=True))


def is_remote(address):
    return address.startswith(("http:", "https:", "//"))


def loaded_at_once(path):
    """What a browser fetches when it opens the page, as the page's tags say."""
    for tag in parsed(path).find_all(["script", "img", "iframe", "source", "video", "audio", "embed", "link"]):
        if "canonical" not in tag.get("rel", []):
            yield tag.get("href" if tag.name == "link" else "src", "")


def broken_links(path):
    """Links of the page that lead to no file of the site, or to no place in that file."""
    for tag in parsed(path).find_all("a", href=True):
        link = urlsplit(tag["href"])
        if link.scheme or link.netloc:
            continue
        target = (path.parent / unquote(link.path)).resolve() if link.path else path
        if target.is_dir():
            target /= "index.html"
        place = unquote(link.fragment)
        if not target.is_file() or (target.suffix == ".html" and place and place not in ids(target)):
            yield tag["href"]


def test_build_is_clean(built):
    """The strict build ends well and warns of nothing."""
    code, log, _ = built
    assert [line for line in log.splitlines() if re.search(r"WARNING|ERROR|Warning:", line)] == []
    assert code == 0, log[-2000:]


@pytest.mark.parametrize("page", PAGES)
def test_page_exists(site, page):
    """Every page of the table of contents is on the site and has exactly one title."""
    file = site / f"{page}.html"
    assert file.is_file()
    assert len(parsed(file).select("article h1")) == 1


def test_front_page_tells_the_parts_by_the_contents(site):
    """Each numbered part stands there with its chapters, and its numbers are those of the table of contents."""
    text = parsed(site / "book" / "index.html").article.text
    ranges = {part: chapter_range(part) for part in toc_parts() if chapters_of(part)}
    assert len(ranges) > 2 and [part for part, chapters in ranges.items() if f"{part} ({chapters})" not in text] == []


def test_pages_keep_the_makers_notes_to_themselves(site):
    """Comments that bind numbers, and notes for whoever marks an exercise, stay in the notebooks."""
    for page in PAGES:
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert "<!-- marking:" not in text and "<!--= " not in text, page


def test_pages_name_no_outside_resource(site):
    """No page or style sheet names a resource of another host that would be fetched at load."""
    assert [(page.name, url) for page in site.rglob("*.html") for url in loaded_at_once(page) if is_remote(url)] == []
    imports = re.compile(r"(url\(|@import)\s*['\"]?(https?:)?//")
    assert [sheet.name for sheet in site.rglob("*.css") if imports.search(sheet.read_text(encoding="utf-8"))] == []


def test_links_resolve(site):
    """Every link inside the site leads to a page that exists and to an anchor on it."""
    assert [(str(page.relative_to(site)), link) for page in site.rglob("*.html") for link in broken_links(page)] == []


def test_ids_are_unique(site):
    """No page uses an id twice, so every anchor has one meaning."""
    assert [(page.name, name) for page in site.rglob("*.html") for name, times in ids(page).items() if times > 1] == []


def policy(path):
    """What the policy of a page allows, by kind."""
    [tag] = parsed(path).find_all("meta", {"http-equiv": "Content-Security-Policy"})
    return {kind: set(sources) for kind, *sources in map(str.split, tag["content"].split(";"))}


def test_every_page_has_a_policy_before_all_else(site):
    """No page loads anything before its policy, and no policy allows another host, or scripts that nobody foresaw."""
    for page in site.rglob("*.html"):
        assert page.read_text(encoding="utf-8").partition("Content-Security-Policy")[0].count("<script") == 0, page.name
        found = policy(page)
        assert found["default-src"] == found["base-uri"] == {"'none'"}, page.name
        assert {s for s in found["script-src"] if not s.startswith("'sha256-")} == {"'self'"}, page.name
        everything = set.union(*found.values())
        known = {"'self'", "'none'", "'unsafe-inline'", "data:", *found["script-src"]}
        assert everything <= known and found["connect-src"] == ({"'self'"} if page.stem == "search" else {"'none'"}), (
            page.name
        )


def test_no_script_stands_in_an_attribute_or_in_the_text(site):
    """A policy refuses scripts in attributes; and a script in the text of a page would get a hash that nobody looked at."""
    for page in site.rglob("*.html"):
        tags = parsed(page).find_all(True)
        assert [tag for tag in tags if any(name.startswith("on") for name in tag.attrs)] == [], page.name
        assert [tag for tag in tags if str(tag.get("href", "")).startswith("javascript:")] == [], page.name
        assert parsed(page).select("article script") == [], page.name


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


# What is cut off at the edge of the text. On a phone, code and tables scroll; half a formula would be another formula.
CUT = """() => {
  const boxes = 'mjx-container[display]' + (innerWidth > 1000 ? ', .cell pre, .cell_output > .output' : '');
  const cut = e => e.scrollWidth > e.clientWidth + 1 && e.checkVisibility();
  return [...document.querySelectorAll(`.bd-article :is(${boxes})`)].filter(cut).map(e => e.textContent.trim().slice(0, 99));
}"""


@pytest.fixture(scope="module")
def address(site):
    """The site, served on this machine."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="module")
def visit(browser, address):
    """Look at a page in a mode and at a width; each look happens once, however many tests use it."""

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
        page.evaluate(axe_core())
        barriers = page.evaluate(AXE)  # folded solutions are open from here on
        cut = page.evaluate(CUT)
        page.close()
        return found | {"outside": outside, "errors": errors, "barriers": barriers, "cut": cut}

    return look


CARD = ["rgb(253, 252, 249)", "none"]  # a figure's own light ground, and no filter on its colours
LAWS = {  # what a look finds: what it may be
    "theme": lambda found, mode: found == mode,  # dark for readers whose system is dark, light for the others
    "outside": lambda found, mode: found == [],  # requests to other hosts
    "errors": lambda found, mode: found == [],  # console errors, uncaught exceptions, answers of 400 and above
    "overflow": lambda found, mode: found <= 0,  # pixels that the page is wider than the window
    "cut": lambda found, mode: found == [],  # formulas, and on a wide screen code and tables, that do not fit into the text
    "raw_math": lambda found, mode: found == [],  # formulas that were not drawn, or drawn as an error
    "bad_images": lambda found, mode: found == [],  # pictures that did not load, or whose alternative text says nothing
    "grounds": lambda found, mode: mode == "light" or all(card == CARD for card in found),  # what is behind each figure
    "weight": lambda found, mode: found < 1_500_000,  # bytes of the page and all it loads, apart from MathJax
    "barriers": lambda found, mode: found == [],  # what axe-core finds in the way of readers with a disability
}


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("law", LAWS)
def test_page_in_the_browser(visit, page, mode, width, law):
    """Every page keeps every law, in both modes and at both widths."""
    found = visit(page, mode, width)[law]
    assert LAWS[law](found, mode), found


@pytest.fixture
def tab(browser):
    """A tab of its own, on which no page may have complained, about its policy or anything else."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page, errors = context.new_page(), []
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.on("pageerror", lambda e: errors.append(str(e)))
    yield page
    context.close()
    assert errors == []


def test_search_finds_a_word(tab, address):
    """Who searches for Karamata from any page is sent to the chapter on skewness, with an excerpt of it."""
    tab.goto(f"{address}{PAGES[1]}.html")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("Karamata")
    tab.keyboard.press("Enter")
    tab.locator("#search-results li:has(a[href*='06-skewness']) p.context").first.wait_for(timeout=10_000)


def test_the_theme_works_under_the_policy(tab, address):
    """Mode switch, folded boxes, the copy and print buttons and the menu of a formula do what they say."""
    tab.add_init_script("window.print = () => { window.printed = true }")
    tab.goto(f"{address}notebooks/04-optimal-allocation.html")
    tab.evaluate("() => MathJax.startup.promise")
    modes = []
    for _ in range(3):
        tab.locator("button.theme-switch-button").first.click()
        modes.append(tab.evaluate("document.documentElement.dataset.mode"))
    assert set(modes) == {"auto", "dark", "light"}
    assert tab.evaluate("document.querySelectorAll('.admonition.dropdown.toggle-hidden').length") > 0
    tab.locator(".admonition.dropdown.toggle-hidden .admonition-title").first.click()
    tab.locator("div.highlight pre").first.hover()
    tab.locator("button.copybtn").first.click()
    tab.locator("button.copybtn.success").wait_for()
    tab.evaluate("document.querySelector('.btn-download-pdf-button').click()")
    assert tab.evaluate("window.printed")
    tab.locator("mjx-container").first.click(button="right")
    tab.locator(".CtxtMenu_Menu").wait_for()


INJECTED = {
    "a script": "<script>window.ran = true</script>",
    "a handler": "<img src='nothing.png' onerror='window.ran = true'>",
    "a script in an address": "<script src='data:text/javascript,window.ran=true'></script>",
    "a frame": "<iframe srcdoc='<script>parent.ran = true</script>'></iframe>",
}


@pytest.mark.parametrize("protected", [True, False], ids=["with the policy", "without"])
@pytest.mark.parametrize("scheme", ["http", "file"])
@pytest.mark.parametrize("injected", INJECTED.values(), ids=INJECTED)
def test_an_injected_script_does_not_run(browser, site, tmp_path, injected, scheme, protected):
    """What somebody puts into a page does not run, on a web server and from the file system; only the policy prevents it."""
    folder = tmp_path / "book"
    folder.mkdir()
    (tmp_path / "_static").symlink_to(site / "_static")
    html = (site / "book" / "speed.html").read_text(encoding="utf-8")
    if not protected:
        html = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    (folder / "speed.html").write_text(html.replace("</article>", f"{injected}</article>"), encoding="utf-8")
    with served(tmp_path) if scheme == "http" else nullcontext(f"{tmp_path.as_uri()}/") as address:
        page = browser.new_page()
        page.goto(f"{address}book/speed.html", wait_until="load")
        page.wait_for_timeout(100)
        assert page.evaluate("window.ran === true") != protected
        assert page.evaluate("document.documentElement.dataset.theme") == "light"  # the page's own scripts ran
        page.close()


def test_a_policy_stands_behind_the_charset():
    """Browsers look for the charset at the very beginning; a page that is only a refresh begins with its policy."""
    page = '<head><meta charset="utf-8" /><script>a</script>'
    assert (
        with_policy(page).index("charset")
        < with_policy(page).index("Content-Security-Policy")
        < with_policy(page).index(">a<")
    )
    assert with_policy("<p>").startswith('<meta http-equiv="Content-Security-Policy"')


# The element that has the focus: a name for it, whether it is in the text, and whether one can see that it has the focus.
FOCUSED = """() => {
  const e = document.activeElement, s = getComputedStyle(e);
  const name = ['skip-link', 'search-button__button', 'theme-switch-button', 'primary-toggle'].find(c => e.closest('.' + c));
  return {name, inside: !!e.closest('article'), seen: s.outlineStyle != 'none' || s.boxShadow != 'none', html: e.outerHTML};
}"""


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
