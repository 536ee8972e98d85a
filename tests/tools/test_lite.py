"""The chapters in JupyterLite: what is handed to it, and the button that opens it. `make test-lite` is the rest."""

import io
import json
import re
import tarfile
from base64 import b64encode
from hashlib import sha512

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


def test_pyodide_is_of_the_site_and_its_packages_are_of_its_version():
    """No setting names an interpreter elsewhere; packages come from one place, by a secure connection, none from PyPI."""
    settings = json.loads(json.dumps(lite.CONFIG))["jupyter-config-data"]["litePluginSettings"][lite.KERNEL]
    place = f"https://cdn.jsdelivr.net/pyodide/v{lite.PYODIDE}/full/"
    assert settings == {"loadPyodideOptions": {"packageBaseUrl": place}, "disablePyPIFallback": True}


def packed(names):
    """An archive like npm's, with a file of each name."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as pack:
        for name in names:
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(name)
            pack.addfile(member, io.BytesIO(name.encode()))
    return whole.getvalue()


def test_pyodide_is_unpacked_if_it_is_the_file_that_was_tested(tmp_path):
    """A file of another hash is refused before any of it is written; of the right one, the needed files go in."""
    pack = packed([*lite.RUNTIME, "console.html"])
    with pytest.raises(SystemExit, match=rf"^pyodide@{lite.PYODIDE} of npm must have the hash sha512-.{{88}}, got sha512-"):
        lite.unpack(pack, tmp_path / "pyodide")
    assert not (tmp_path / "pyodide").exists() and re.fullmatch(r"sha512-[\w+/]{86}==", lite.INTEGRITY)
    lite.unpack(pack, tmp_path / "pyodide", f"sha512-{b64encode(sha512(pack).digest()).decode()}")
    files = {file.name: file.read_text() for file in (tmp_path / "pyodide").iterdir()}
    assert {*files} == {*lite.RUNTIME, "LICENSE.txt"} and all(files[name] == name for name in lite.RUNTIME)


def test_lite_says_what_is_missing(tmp_path, monkeypatch):
    """Without npm, the command ends with a sentence that names it."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit, match=r"^npm, which brings Pyodide, was not found: install `npm` and try again\.$"):
        lite.fetch_pyodide(tmp_path)
