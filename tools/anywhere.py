"""Run a chapter anywhere: the cell that each begins with, which brings the helpers where they are missing, and their wheel.

    repository: the book's public address, `repository: url` in _config.yml; "" while it has none

That one line of _config.yml is the only place that names the address. `make address` writes it into the chapters, whose
setup cell installs the helpers from there; the website's Colab and Binder buttons, which the theme makes, appear with it.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import yaml
from manuscript import CHAPTERS, ROOT, code_cells, read_notebook, store_notebook

NAME = "where-to-spend-epsilon"
EXTRAS = "[notebooks,release]"  # what the chapters import, and OpenDP, which no browser has
TAGS = ["setup", "remove-cell"]  # no reader of the website needs to see it
CELL = """from importlib.util import find_spec

if not find_spec("helpers"):  # where they are installed, nothing happens
{bring}"""
FETCH = """\
    source = "{name}{extras} @ git+{url}"
    get_ipython().run_line_magic("pip", f'install --quiet "{{source}}"')"""
TELL = """\
    raise ModuleNotFoundError("helpers missing: pip install '.{extras}'")"""


def repository(config: Path = ROOT / "_config.yml") -> str:
    """The public address of the book's repository, or "" while it has none."""
    found = yaml.safe_load(config.read_text(encoding="utf-8")).get("repository") or {}
    return (found.get("url") or "").rstrip("/")


def setup_source(url: str) -> str:
    """The setup cell: plain Python, so that it also runs outside of notebooks."""
    bring = FETCH if url else TELL
    return CELL.format(bring=bring.format(name=NAME, extras=EXTRAS, url=url))


def is_setup(cell: nbformat.NotebookNode) -> bool:
    """Is it the setup cell?"""
    return "setup" in cell.metadata.get("tags", [])


def put_setup(notebook: nbformat.NotebookNode, source: str) -> None:
    """Make `source` the setup cell. A new one comes before all code, and the cells behind it count on by one."""
    code = code_cells(notebook)
    if is_setup(code[0]):
        code[0].source = source
        return
    for counted in [*code, *(output for cell in code for output in cell.outputs)]:
        if counted.get("execution_count"):
            counted["execution_count"] += 1
    new = nbformat.v4.new_code_cell(source, id="setup", metadata={"tags": TAGS}, execution_count=1)
    notebook.cells.insert(notebook.cells.index(code[0]), new)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the helpers, with their data and exercises, from a clean copy of the sources."""
    with TemporaryDirectory() as temporary:
        source = Path(temporary, "source")
        shutil.copytree(ROOT / "helpers", source / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        made = Path(temporary, "made")
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]  # downloads nothing
        subprocess.run([*build, "--wheel-dir", made, source], check=True)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(next(made.glob("*.whl")), folder))


def main() -> None:
    for path in CHAPTERS:
        notebook = read_notebook(path)
        put_setup(notebook, setup_source(repository()))
        store_notebook(notebook, path)


if __name__ == "__main__":
    main()
