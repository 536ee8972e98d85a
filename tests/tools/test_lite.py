"""The chapters in JupyterLite: what is handed to it, and the button that opens it. `make test-lite` is the rest."""

import json
import re

import lite
import nbformat
import pytest
from anywhere import is_setup
from bs4 import BeautifulSoup
from manuscript import CHAPTERS, ROOT, read_notebook

PAGE = f'<div class="header-article-item">{lite.PLACE}</div>'


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_go_in_as_they_are(path):
    """A chapter in the browser differs from the book's in its setup cell and its kernel only."""
    copy = nbformat.reads(lite.for_the_browser(path), as_version=4)
    nbformat.validate(copy)
    cells = [cell for cell in read_notebook(path).cells if not is_setup(cell)]
    kept = [cell for cell in copy.cells if not is_setup(cell)]
    assert [(cell.id, cell.source) for cell in kept] == [(cell.id, cell.source) for cell in cells]
    [setup] = [cell for cell in copy.cells if is_setup(cell)]
    assert setup.source == '%pip install --quiet "where-to-spend-epsilon[notebooks]"'
    assert copy.metadata.kernelspec.name == "python"


def test_button_appears_where_there_is_a_notebook(tmp_path):
    """A page gets the button if JupyterLite has its notebook, and stays as it is if not; the button opens that notebook."""
    for folder in ("book", "notebooks", "lite/files", "lite/notebooks", "lite/lab"):
        (tmp_path / folder).mkdir(parents=True)
    for app in lite.APPS:
        (tmp_path / "lite" / app / "index.html").touch()
    (tmp_path / "book" / "index.html").write_text(PAGE)
    for chapter, notebook in (("01-a", "02-b"), ("02-b", "03-c")):
        (tmp_path / "notebooks" / f"{chapter}.html").write_text(PAGE)
        (tmp_path / "lite" / "files" / f"{notebook}.ipynb").touch()
    lite.link(tmp_path)
    assert (tmp_path / "notebooks" / "01-a.html").read_text() == PAGE
    [button] = BeautifulSoup((tmp_path / "notebooks" / "02-b.html").read_text(), "html.parser").select("a")
    address, _, query = button["href"].partition("?")
    assert (tmp_path / "notebooks" / address).resolve().is_file() and query == "path=02-b.ipynb"
    assert button.text.strip() == "Run in your browser"
    assert not (tmp_path / "notebooks" / "03-c.html").exists()
    [link] = BeautifulSoup((tmp_path / "book" / "index.html").read_text(), "html.parser").select("a")
    assert (tmp_path / "book" / link["href"]).resolve().is_file()


def test_pages_keep_a_place_for_the_button():
    """The template of the pages and the front page have the mark that the button and the sentence replace."""
    assert lite.PLACE in (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    assert lite.PLACE in (ROOT / "book" / "_templates" / "run.html").read_text(encoding="utf-8")
    assert "article_header_end: [run.html," in (ROOT / "_config.yml").read_text(encoding="utf-8")


def test_pyodide_is_pinned():
    """The app loads one version of Pyodide, over a secure connection; what the kernel adds to it is pinned as well."""
    settings = json.loads(json.dumps(lite.CONFIG))["jupyter-config-data"]["litePluginSettings"][lite.KERNEL]
    assert settings == {"pyodideUrl": f"https://cdn.jsdelivr.net/pyodide/v{lite.PYODIDE}/full/pyodide.mjs"}
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert set(lite.WHEELS) <= set(pins)
    assert sum(bool(re.match(r"jupyterlite-(core|pyodide-kernel)==\d", pin)) for pin in pins) == 2
