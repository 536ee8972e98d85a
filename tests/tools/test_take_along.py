"""Beyond the chapters: the PDF, the zip, the notebooks to download, the pages made from the code."""

import ast
import json
import re
import shutil
from pathlib import Path
from zipfile import ZipFile

import execute
import nbformat
import pytest
import rooms
import take_along
from _ext.docstrings import to_rst
from bs4 import BeautifulSoup
from chromium import CHROMIUM, chromium
from manuscript import CHAPTERS, code_cells, first_heading, read_notebook, toc_pages
from nbclient import NotebookClient
from support.browser import NO_BROWSER, needs_browser

PAGES = toc_pages()


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def title(site, page):
    """The title of a page, with its number, without the mark that links to it."""
    _, _, article = (site / f"{page}.html").read_text(encoding="utf-8").partition("<article")
    heading = BeautifulSoup(article[: article.index("</h1>")], "html.parser").h1
    return heading.text.removesuffix(heading.find(class_="headerlink").text)


# The PDF


@pytest.fixture(scope="module")
def pdf(site, tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    target = tmp_path_factory.mktemp("pdf") / take_along.PDF
    take_along.make_pdf(site, target)
    return pypdf.PdfReader(target)


def squeezed(text):
    return re.sub(r"\s", "", text)


def chapters_of(pdf):
    """(title, first page) of each chapter, as the outline has them; a list in it has the sections of the entry before."""
    entries = [entry for entry in pdf.outline if not isinstance(entry, list)]
    return [(squeezed(entry.title), pdf.get_destination_page_number(entry)) for entry in entries]


def pages_of(pdf, chapter):
    """The numbers of the pages of the chapter with this title."""
    starts = [*chapters_of(pdf), ("", len(pdf.pages))]
    at = [name for name, _ in starts].index(squeezed(chapter))
    return range(starts[at][1], max(starts[at + 1][1], starts[at][1] + 1))


def text_of(pdf, chapter):
    """The text of the chapter with this title, page by page."""
    return [pdf.pages[i].extract_text() for i in pages_of(pdf, chapter)]


def test_pdf_has_every_page_in_its_outline(pdf, site):
    """The PDF's bookmarks are the titles of all pages of the table of contents, in its order, and the contents."""
    first, *others = [squeezed(title(site, page)) for page in PAGES]
    assert [name for name, _ in chapters_of(pdf)] == [first, "Contents", *others]
    assert len(pdf.pages) > 10 * len(CHAPTERS)


def test_pdf_links_lead_somewhere(pdf):
    """Every link within the PDF has a destination in it, and there are links from the contents to every page."""
    notes = [(number, note.get_object()) for number, page in enumerate(pdf.pages) for note in page.get("/Annots", [])]
    links = [(number, note["/Dest"]) for number, note in notes if note.get("/Subtype") == "/Link" and "/Dest" in note]
    assert {dest for _, dest in links} <= set(pdf.named_destinations)
    contents = pages_of(pdf, "Contents")
    assert len({dest for number, dest in links if number in contents}) == len(PAGES) - 1
    assert len(links) > 5 * len(CHAPTERS)


def test_pdf_ends_with_the_last_chapter(pdf, site):
    """The text of the last chapter, its last heading included, and that of the last page are in the PDF."""
    chapter = [page for page in PAGES if page.startswith("notebooks/")][-1]
    last = soup(site / f"{chapter}.html").article.find_all("h2")[-1]
    last.find(class_="headerlink").decompose()
    assert squeezed(last.text) in squeezed("".join(text_of(pdf, title(site, chapter))))
    assert squeezed("Dwork") in squeezed("".join(text_of(pdf, title(site, PAGES[-1]))))


def test_pdf_cuts_no_code(pdf, site):
    """The longest line of code stands in the PDF from end to end: the width of the notebooks fits on paper."""
    cells = [(path, cell) for path in CHAPTERS for cell in code_cells(read_notebook(path))]
    shown = [(path, cell) for path, cell in cells if not {"remove-input", "remove-cell"} & {*cell.metadata.get("tags", [])}]
    lines = [(path, line) for path, cell in shown for line in cell.source.splitlines()]
    path, longest = max(lines, key=lambda found: len(found[1]))
    pages = text_of(pdf, title(site, f"notebooks/{path.stem}"))
    assert len(longest) <= 84  # as notebooks/ruff.toml says
    assert any(longest.strip() in page for page in pages)  # in one line, with its spaces


# The zip


@needs_browser
def test_zip_opens_from_the_file_system(site, tmp_path):
    """Unpacked, with no server and no network: pages load without an error, formulas are drawn, and the search finds."""
    take_along.make_zip(site, tmp_path / take_along.ZIP)
    with ZipFile(tmp_path / take_along.ZIP) as pack:
        pack.extractall(tmp_path)
    home = tmp_path / Path(take_along.ZIP).stem
    errors = []
    drawn = "() => document.querySelectorAll('mjx-container').length >= document.querySelectorAll('.math').length"
    found = "() => document.querySelector('#search-results')?.innerText.includes('Skewed populations')"
    with chromium() as browser:
        context = browser.new_context(offline=True)
        tab = context.new_page()
        tab.on("console", lambda message: message.type == "error" and errors.append(message.text))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto((home / "index.html").as_uri())
        tab.wait_for_url("**/book/index.html")  # it sends the reader on; another goto before that would be cut short by it
        tab.goto((home / "notebooks" / "06-skewness.html").as_uri())
        tab.wait_for_function(drawn)
        assert errors == []
        for explorer in sorted((home / "book" / "explore").glob("*.html")):
            tab.goto(explorer.as_uri())
            tab.wait_for_selector(".explorer-picture svg, .explorer-live svg")
        assert errors == []
        # The search fetches an excerpt for each result, which browsers allow from a server only: here it lists titles alone.
        tab.goto((home / "search.html").as_uri() + "?q=Karamata")
        tab.wait_for_function(found)
    assert [error for error in errors if "Content Security Policy" in error] == []


def test_links_appear_when_the_files_are_there(site, tmp_path):
    """A page links to the PDF and the zip once they were made, and to neither before."""
    copy = tmp_path / "html"
    (copy / "book").mkdir(parents=True)
    page = copy / "book" / "speed.html"
    shutil.copyfile(site / "book" / "speed.html", page)
    assert take_along.PDF not in page.read_text(encoding="utf-8")
    for name in (take_along.PDF, take_along.ZIP):
        made = tmp_path / name
        made.write_bytes(b"\0" * 2_400_000)
        take_along.link(copy, made, "The book")
    links = soup(page).select(".take-along a")
    assert [link["href"] for link in links] == [f"../{take_along.PDF}", f"../{take_along.ZIP}"]
    assert {link.text for link in links} == {"The book (2 MB)"}
    assert all((page.parent / link["href"]).is_file() for link in links)


# The notebooks


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_offer_their_notebook(site, path):
    """Each chapter's page links to its notebook, and the file is the one in the repository."""
    page = site / "notebooks" / f"{path.stem}.html"
    links = soup(page).select('a[href$=".ipynb"]')
    assert links and all((page.parent / link["href"]).read_bytes() == path.read_bytes() for link in links)


def test_downloaded_notebook_runs_in_an_empty_folder(site, tmp_path):
    """A chapter needs nothing but the installed helpers."""
    notebook = read_notebook(site / "_sources" / "notebooks" / "02-bias-and-variance.ipynb")
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()  # raises if a cell does


@pytest.fixture
def small(tmp_path):
    """A notebook with two cells, one that prints and one that may fail."""

    def write(last):
        cells = [nbformat.v4.new_markdown_cell("# Small"), *map(nbformat.v4.new_code_cell, ("print(1)", last))]
        cells[1].metadata["execution"] = {"iopub.execute_input": "2020-01-01T00:00:00Z"}
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "00-small.ipynb")
        return tmp_path / "00-small.ipynb"

    return write


def test_executing_again_changes_nothing(small):
    """Stored bytes do not depend on the clock, and a row says what the run cost."""
    path = small("import time; print(2, flush=True); time.sleep(0.3); print(3)")
    row = execute.execute(path, path)
    once = path.read_bytes()
    execute.execute(path, path)
    assert path.read_bytes() == once and b"iopub" not in once
    assert (row["chapter"], row["title"]) == ("00-small", "Small")
    assert row["seconds"] > 0.3 and (row["megabytes"] > 20 or not Path("/proc").exists())


def test_a_failing_chapter_is_not_stored(small, monkeypatch, capsys):
    """If a cell fails, the command says where, ends with 1, and leaves the notebook as it was."""
    path = small("1 / 0")
    before = path.read_bytes()
    monkeypatch.setattr("sys.argv", ["execute.py", str(path)])
    assert execute.main() == 1
    assert path.read_bytes() == before
    assert "00-small.ipynb" in (said := capsys.readouterr().err) and "ZeroDivisionError" in said


# The reference


def test_status_is_of_these_chapters(site):
    """The status page has a row for each chapter, under its title. If not: run `make notebooks`."""
    rows = json.loads(execute.JSON.read_text(encoding="utf-8"))["chapters"]
    titles = [first_heading(read_notebook(path)) for path in CHAPTERS]
    wanted = list(zip([path.stem for path in CHAPTERS], titles, strict=True))
    assert [(row["chapter"], row["title"]) for row in rows] == wanted, "chapters have changed: run `make notebooks`"
    assert [row.td.text for row in soup(site / "book" / "status.html").select("tbody tr")[:-1]] == titles


@pytest.fixture(scope="module")
def helpers_pages(site):
    """By room: the core has a page of its own."""
    core, around = (soup(site / "book" / f"{name}.html") for name in ("helpers", "helpers-around"))
    return {room: core if room in rooms.CORE else around for room in rooms.ROOMS}


@pytest.mark.parametrize("module", [module for module in rooms.modules() if rooms.room_of(module) != "exercises"])
def test_helpers_pages_have_every_public_name(helpers_pages, module):
    """Each public function and class of each module is on the page of its room, with a link to its source."""
    body = rooms.parsed(module).body
    public = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]
    assert public
    for name in public:
        entry = helpers_pages[rooms.room_of(module)].find(id=f"helpers.{module.replace('/', '.')}.{name}")
        assert entry and entry.find(class_="viewcode-link"), name


def test_docstrings_become_rst():
    """Code in backticks, marks in words, a glossary and an example all look on the page as they do in the file."""
    written = ["Uses `x`, and |e|.", "", "    x: a number · y: another", "", ">>> f('`')", "1"]
    glossary = [".. code-block:: text", "", "    x: a number", "    y: another"]
    shown = ["Uses ``x``, and \\|e\\|.", "", *glossary, "", ">>> f('`')", "1"]
    assert to_rst(written) == shown
