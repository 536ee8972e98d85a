"""The book as files: what is written down once is read from there, and chapters are numbered by the table of contents."""

import doctest
import re
from base64 import b64decode
from importlib import import_module

import manuscript
import pytest
from manuscript import CHAPTERS, ROOT, first_heading, number, prose, read_notebook
from PIL import Image

PAGES = [ROOT / "README.md", *sorted((ROOT / "book").rglob("*.md"))]
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
NUMBERED = re.compile(r"\[chapter (\d+)\]\([^)]*notebooks/(\d\d)-")


@pytest.mark.parametrize("name", ["manuscript", "teach.myst", "teach.labels", "teach.plain", "teach.bank"])
def test_examples_in_docstrings(name):
    """The examples in the docstrings of the book's own code give what they say."""
    result = doctest.testmod(import_module(name))
    assert result.attempted and not result.failed


def test_chapters_are_numbered_by_the_table_of_contents():
    """A chapter's file name begins with its place in _toc.yml, and every notebook has one there."""
    notebooks = set((ROOT / "notebooks").glob("*.ipynb"))
    assert notebooks == set(CHAPTERS), "list every notebook in _toc.yml, and nothing else under notebooks/"
    wrong = [path.name for place, path in enumerate(CHAPTERS, start=1) if number(path) != place]
    assert not wrong, f"rename them by their place in _toc.yml: {wrong}"
    assert len({first_heading(read_notebook(path)) for path in CHAPTERS}) == len(CHAPTERS)


@pytest.mark.parametrize("path", [*PAGES, *CHAPTERS], ids=lambda path: path.stem)
def test_links_name_a_chapter_by_its_number(path):
    """Where a link to a notebook says its chapter's number, it says the right one."""
    text = prose(read_notebook(path)) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
    assert [said for said, key in NUMBERED.findall(text) if int(said) != int(key)] == []


def test_every_source_is_cited_and_every_citation_has_its_source():
    """A key of references.bib is cited on some page, and a page cites no key that is not there."""
    texts = [path.read_text(encoding="utf-8") for path in PAGES] + [prose(read_notebook(path)) for path in CHAPTERS]
    cited = {key.strip() for text in texts for keys in CITATION.findall(text) for key in keys.split(",")}
    sources = re.findall(r"^@\w+\{(.+),$", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(sources) == len(set(sources))
    assert cited == set(sources), f"not on both sides: {sorted(cited ^ set(sources))}"


def test_parts_come_in_order_with_the_sections_of_a_page_behind_it(tmp_path):
    """The front page comes first, then each part's pages, and a page before the pages below it."""
    toc = tmp_path / "_toc.yml"
    toc.write_text("root: a\nparts:\n- caption: B\n  chapters:\n  - file: b\n    sections: [{file: c}]\n  - file: d\n")
    assert manuscript.toc_parts(toc) == {"": ["a"], "B": ["b", "c", "d"]}


def test_the_size_of_a_picture_is_in_its_header(tmp_path):
    """Width and height are what a program that reads the whole picture says."""
    outputs = [output for cell in manuscript.code_cells(read_notebook(CHAPTERS[0])) for output in cell.outputs]
    [first, *_] = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    (tmp_path / "figure.png").write_bytes(b64decode(first))
    with Image.open(tmp_path / "figure.png") as figure:
        assert manuscript.png_size(tmp_path / "figure.png") == figure.size
