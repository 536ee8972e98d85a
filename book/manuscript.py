"""The book as files, and nothing else knows them: its parts and pages, its chapters, quizzes, exercises and pictures.

page: a name in _toc.yml, like notebooks/04-… or book/glossary · chapter: the notebook of a numbered page
key: the two digits that a chapter's file name begins with, and that name its quiz and its checkers · text: Markdown
"""

import re
import struct
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml

ROOT = Path(__file__).absolute().parent.parent  # as it was reached: a copy made of links is a book of its own

# An exercise with its title and its text; a solution between gates, which may hold cells, and one in a fence.
EXERCISE = re.compile(r"^(?P<fence>`{3,})\{exercise\}(?P<title>[^\n]*)\n(?P<text>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"\{solution-start\} (?P<label>\S+).*?\{solution-end\}", re.DOTALL)
FENCED_SOLUTION = re.compile(r"^(?P<fence>[`:]{3,})\{solution\} \S+\n(?P<text>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE)
# What an exercise begins with: how hard it is, and how long it takes.
MARK = re.compile(r"^\*(?P<level>Warm-up|Standard|Hard|Open-ended), (?P<minutes>\d+) minutes\.\*", re.MULTILINE)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a dictionary."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


# The table of contents


def toc_parts(toc: Path = ROOT / "_toc.yml") -> dict[str, list[str]]:
    """The pages of each part, by its caption; the front page is a part without a caption."""

    def files(entry: Any) -> Iterator[str]:
        if isinstance(entry, dict) and "file" in entry:
            yield entry["file"]
        for item in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
            yield from files(item)

    found = yaml.safe_load(toc.read_text(encoding="utf-8"))
    return {"": [found["root"]]} | {part["caption"]: list(files(part["chapters"])) for part in found["parts"]}


def toc_pages() -> list[str]:
    """Every page, in order, the front page first."""
    return [page for pages in toc_parts().values() for page in pages]


def chapters_of(part: str) -> list[Path]:
    """The chapters of a part, in order."""
    return [ROOT / f"{page}.ipynb" for page in toc_parts()[part] if page.startswith("notebooks/")]


def chapter_range(part: str) -> str:
    """The chapters of a part in words.

    >>> chapter_range("The question and the theory")
    'chapters 1–6'
    """
    first, *_, last = [number(path) for path in chapters_of(part)] * 2
    return f"chapters {first}–{last}" if first < last else f"chapter {first}"


CHAPTERS = [path for part in toc_parts() for path in chapters_of(part)]


# A chapter


def key(path: Path) -> str:
    """The chapter's two digits."""
    return path.name[:2]


def number(path: Path) -> int:
    """The chapter's number."""
    return int(key(path))


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """A notebook."""
    return nbformat.read(path, as_version=4)


def store_notebook(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook so that the same notebook is always the same bytes."""
    path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")


def prose(notebook: nbformat.NotebookNode) -> str:
    """The text of a notebook."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def in_one_text(notebook: nbformat.NotebookNode) -> str:
    """The text of a notebook with its code between tags."""
    return "\n".join(f"<code>{cell.source}</code>" if cell.cell_type == "code" else cell.source for cell in notebook.cells)


def first_heading(notebook: nbformat.NotebookNode) -> str:
    """The first heading."""
    return re.findall(r"^# (.+)$", prose(notebook), re.MULTILINE)[0]


# Quizzes and pictures


def quiz_path(key: str) -> Path:
    """Where the quiz of a chapter is, or would be."""
    return ROOT / "book" / "quizzes" / f"{key}.toml"


def read_quiz(key: str) -> list[dict[str, Any]]:
    """The questions of a chapter, each with `ask` and its `option`s; none if it has no quiz."""
    return read_toml(quiz_path(key))["question"] if quiz_path(key).exists() else []


def png_size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels, from its header."""
    return struct.unpack(">II", path.read_bytes()[16:24])
