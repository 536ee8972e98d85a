"""Chapters run anywhere: their setup cell, the wheel of the helpers, what they import, Binder's files, Colab's button."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import anywhere
import nbformat
import pytest
import yaml
from _ext.launch import wait_for_an_address
from manuscript import CHAPTERS, ROOT, code_cells, read_notebook, read_toml

ADDRESS = "https://github.com/owner/name"
PROJECT = read_toml(ROOT / "pyproject.toml")["project"]


def run(source, **names):
    exec(compile(source, "setup", "exec"), names)


# The setup cell


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_begin_with_the_setup_cell(path):
    """The first code cell, and no other, is the setup for the address in _config.yml. If not: run `make address`."""
    first, *others = code_cells(read_notebook(path))
    assert anywhere.is_setup(first) and not any(map(anywhere.is_setup, others))
    assert first.source == anywhere.setup_source(anywhere.repository())
    assert "remove-cell" in first.metadata.tags and first.outputs == []


@pytest.mark.parametrize("url", ["", ADDRESS])
def test_setup_does_nothing_where_the_helpers_are(url):
    """With the helpers installed, the cell runs without a notebook around it; it is short."""
    source = anywhere.setup_source(url)
    run(source)
    assert len([line for line in source.splitlines() if line]) <= 4


def test_setup_fetches_the_helpers_where_they_are_missing(monkeypatch):
    """Without the helpers, pip is asked once, for the package and all that chapters import, from the address."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # as if it was not there
    asked = []
    shell = SimpleNamespace(run_line_magic=lambda *line: asked.append(line))
    run(anywhere.setup_source(ADDRESS), get_ipython=lambda: shell)
    assert asked == [("pip", f'install --quiet "where-to-spend-epsilon[notebooks,release] @ git+{ADDRESS}"')]
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[notebooks,release\]'"):
        run(anywhere.setup_source(""))


def test_putting_the_setup_twice_changes_nothing():
    """A new setup cell comes before all code, and the cells behind it count on; a second one only takes its place."""
    new = nbformat.v4
    result = new.new_output("execute_result", {"text/plain": "2"}, execution_count=1)
    cells = [new.new_markdown_cell("# Title"), new.new_code_cell("1 + 1", execution_count=1, outputs=[result])]
    notebook = new.new_notebook(cells=[*cells, new.new_code_cell("never run")])
    anywhere.put_setup(notebook, "first")
    anywhere.put_setup(notebook, "second")
    assert [cell.source for cell in notebook.cells] == ["# Title", "second", "1 + 1", "never run"]
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2, None]
    assert notebook.cells[2].outputs[0].execution_count == 2
    nbformat.validate(notebook)


def test_the_address_has_one_place(tmp_path):
    """The address is read from _config.yml, with or without a slash at its end; without one it is empty."""
    config = tmp_path / "_config.yml"
    for written, read in (("", ""), ("repository: {url: }", ""), (f"repository: {{url: {ADDRESS}/}}", ADDRESS)):
        config.write_text(f"title: x\n{written}\n")
        assert anywhere.repository(config) == read


def test_buttons_wait_for_an_address():
    """The theme gets the buttons for Colab and Binder once there is an address, and not before."""
    buttons = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["launch_buttons"]
    assert {"colab_url", "binderhub_url"} < set(buttons)
    for url in ("", ADDRESS):
        config = SimpleNamespace(html_theme_options={"repository_url": url, "launch_buttons": buttons})
        wait_for_an_address(None, config)
        assert ("launch_buttons" in config.html_theme_options) == bool(url)


# What a chapter needs


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return ZipFile(anywhere.build_wheel(tmp_path_factory.mktemp("wheel")))


def test_wheel_has_code_data_and_exercises(wheel):
    """Every file of the package is in the wheel, byte for byte, and nothing else is."""
    files = {p for p in (ROOT / "helpers").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == {p.relative_to(ROOT).as_posix() for p in files}
    assert all(wheel.read(p.relative_to(ROOT).as_posix()) == p.read_bytes() for p in files)
    assert any(name.endswith(".csv.gz") for name in packed) and any("/exercises/" in name for name in packed)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("path", [*CHAPTERS, *sorted((ROOT / "helpers").rglob("*.py"))], ids=lambda path: path.stem)
def test_imports_are_declared(path):
    """A chapter imports the helpers, what they depend on, the extra [notebooks] and Jupyter; a helper may know any extra."""
    extras = PROJECT["optional-dependencies"]
    wanted = ["notebooks"] if path.suffix == ".ipynb" else list(extras)
    needs = PROJECT["dependencies"] + [need for extra in wanted for need in extras[extra]]
    declared = {re.match(r"[\w-]+", need)[0] for need in needs} | {"helpers", *sys.stdlib_module_names}
    if path.suffix == ".ipynb":
        declared.add("IPython")
        sources = [cell.source for cell in code_cells(read_notebook(path))]
    else:
        sources = [path.read_text(encoding="utf-8")]
    assert {name for source in sources for name in imported(ast.parse(source))} <= declared


def test_binder_installs_the_same():
    """Binder's script can be run, is a correct script, and a Python that fits installs the helpers and what the cell would.

    What it downloads, and that all of it has a hash, is in test_pins.py.
    """
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[-2].endswith(" --require-hashes --requirement binder/requirements.txt") and lines[-1].endswith(" .")
    compiled = re.findall(r"--extra (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))  # what `make lock` puts there
    assert f"[{','.join(compiled)}]" == anywhere.EXTRAS
    name, _, version = Path(ROOT, "binder", "runtime.txt").read_text().strip().partition("-")
    least = PROJECT["requires-python"].removeprefix(">=")
    assert name == "python" and tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
