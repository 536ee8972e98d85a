"""Stored outputs come from the code beside them: nbval compares their text, and fingerprints vouch for the rest."""

import os
import re
import subprocess
import sys

import execute
import nbformat
import pytest
from manuscript import CHAPTERS, chapters_of, in_one_text, read_notebook

PLOT = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})


@pytest.fixture
def chapter():
    """A chapter as it looks after being executed."""
    new = nbformat.v4
    setup = new.new_code_cell("install()", metadata={"tags": ["setup"]})
    drawing = new.new_code_cell("draw(x)", outputs=[PLOT])
    return new.new_notebook(cells=[setup, new.new_markdown_cell("# Title"), new.new_code_cell("x = 1"), drawing])


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_outputs_are_those_of_the_code(path):
    """No chapter's code, nor the code that draws its figures, has changed since its outputs were stored."""
    notebook = read_notebook(path)
    stored, now = notebook.metadata.get("executed"), execute.fingerprints(notebook)
    assert stored == now, f"outputs of {path.stem} are older than its code; store them anew: make notebooks"


@pytest.mark.parametrize("cell", [2, 3])
def test_a_changed_cell_is_noticed(chapter, cell):
    """Any change of a chapter's own code changes its fingerprint."""
    before = execute.fingerprints(chapter)
    chapter.cells[cell].source += "  # more"
    assert execute.fingerprints(chapter)["code"] != before["code"]


def test_moved_code_is_noticed(chapter):
    """The same lines in other cells are another chapter."""
    before = execute.fingerprints(chapter)
    chapter.cells[2].source, chapter.cells[3].source = "x = 1\ndraw(x)", ""
    assert execute.fingerprints(chapter) != before


@pytest.mark.parametrize("cell", [0, 1])
def test_words_and_the_setup_cell_do_not_matter(chapter, cell):
    """Editing prose, or the address from which the helpers are installed, makes no output old."""
    before = execute.fingerprints(chapter)
    chapter.cells[cell].source += " more"
    assert execute.fingerprints(chapter) == before


def test_figures_are_as_old_as_the_code_that_draws_them(chapter, monkeypatch, tmp_path):
    """A change in plots or panels makes the figures old, and leaves chapters without figures alone."""
    with_figures = execute.fingerprints(chapter)
    chapter.cells[3].outputs = []
    without = execute.fingerprints(chapter)
    assert "drawing" in with_figures and "drawing" not in without
    other = tmp_path / "plots.py"
    other.write_text("BLUE = 'red'", encoding="utf-8")
    monkeypatch.setattr(execute, "DRAWING", [other])
    assert execute.fingerprints(chapter) == without
    chapter.cells[3].outputs = [PLOT]
    assert execute.fingerprints(chapter)["drawing"] != with_figures["drawing"]


def test_executing_stores_the_fingerprints(chapter, tmp_path):
    """What `make notebooks` writes passes. (In a process of its own: a kernel leaves an event loop behind.)"""
    chapter.cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("print(1 + 1)")]
    nbformat.write(chapter, tmp_path / "new.ipynb")
    command = [sys.executable, execute.__file__, tmp_path / "new.ipynb", "--into", tmp_path / "into"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # as `make` sets it
    subprocess.run(command, env=environment, check=True, capture_output=True)
    stored = read_notebook(tmp_path / "into" / "new.ipynb")
    assert stored.cells[1].outputs[0].text == "2\n" and stored.metadata["executed"] == execute.fingerprints(stored)


def test_the_experiments_at_full_size_are_a_part_of_the_book(monkeypatch, tmp_path):
    """`make full` executes the chapters of that part, in order, and they do simulate as many releases as they are told."""
    executed = []
    row = {"chapter": "", "seconds": 0, "megabytes": 0}
    monkeypatch.setattr(execute, "execute", lambda source, target: executed.append(source) or row)
    monkeypatch.setattr("sys.argv", ["execute.py", "--part", "The experiments", "--into", str(tmp_path)])
    assert execute.main() == 0 and executed == chapters_of("The experiments")
    assert sum(bool(re.search(r"\btrials\(\d", in_one_text(read_notebook(path)))) for path in executed) >= 5
