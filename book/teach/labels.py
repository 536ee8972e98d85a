"""What the book calls things: the numbers and titles that its website shows, by label.

    label: chapter-release, prop-bias, eq-clip, fig-virginia, ex-01-level … · stem: a chapter's file name without .ipynb

Propositions and theorems are numbered through the book (see _ext/numbering.py); figures, equations, exercises and the other
statements by chapter.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
from pybtex.database import Entry, parse_file
from take_along import ROOT, toc_parts

from .myst import every_directive

THROUGHOUT = ("proposition", "theorem")
TARGET = re.compile(r"^\(([\w-]+)\)=\s*\n+(#+) (.+)$", re.MULTILINE)
EQUATION = re.compile(r"\$\$ *\(([\w-]+)\)")


@dataclass(frozen=True)
class Chapter:
    """A numbered notebook of the table of contents."""

    path: Path
    number: int
    title: str
    notebook: nbformat.NotebookNode = field(repr=False)

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def key(self) -> str:
        return self.path.name[:2]


@dataclass(frozen=True)
class Place:
    """What a reference to a label says, and the chapter it leads to (none for the other pages)."""

    text: str
    stem: str = ""


@dataclass(frozen=True)
class Book:
    """The chapters by part, every label, and the bibliography."""

    parts: dict[str, list[Chapter]]
    places: dict[str, Place]
    sources: dict[str, Entry]

    @property
    def chapters(self) -> list[Chapter]:
        return [chapter for chapters in self.parts.values() for chapter in chapters]

    def authors(self, key: str) -> tuple[str, str]:
        """Authors and year of a source, as its citation shows them.

        >>> read_book().authors("ko2025optimal")
        ('Ko et al.', '2025')
        """
        people = [" ".join(person.prelast_names + person.last_names) for person in self.sources[key].persons["author"]]
        names = [str(name).strip("{}") for name in people]
        text = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."
        return text, self.sources[key].fields.get("year", "n.d.")


@cache
def read_book() -> Book:
    """Read all chapters and pages of the table of contents."""
    parts, places, pages, number = {}, {}, [], 0
    for caption, names in toc_parts():
        for name in names:
            if not name.startswith("notebooks/"):
                pages.append(ROOT / f"{name}.md")
                continue
            number += 1
            path = ROOT / f"{name}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            parts.setdefault(caption, []).append(Chapter(path, number, first_heading(notebook), notebook))
    throughout = Counter()
    for chapters in parts.values():
        for chapter in chapters:
            places |= labels_of(chapter, throughout)
    for page in pages:
        places |= {label: Place(title) for label, _, title in TARGET.findall(page.read_text(encoding="utf-8"))}
    return Book(parts, places, dict(parse_file(ROOT / "book" / "references.bib").entries))


def first_heading(notebook: nbformat.NotebookNode) -> str:
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]


def labels_of(chapter: Chapter, throughout: Counter) -> dict[str, Place]:
    """The places of a chapter by label. `throughout` counts the statements that are numbered through the book."""
    here, found = Counter(), {}

    def numbered(label: str, kind: str, form: str = "{}") -> None:
        count, before = (throughout, "") if kind in THROUGHOUT else (here, f"{chapter.number}.")
        count[kind] += 1
        found[label or f"{kind}-{chapter.number}-{count[kind]}"] = Place(form.format(f"{before}{count[kind]}"), chapter.stem)

    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            if figure := cell.metadata.get("mystnb", {}).get("figure"):
                numbered(figure.get("name", ""), "figure", "Fig. {}")
            continue
        for label, _, title in TARGET.findall(cell.source):
            found[label] = Place(title, chapter.stem)
        for label in EQUATION.findall(cell.source):
            numbered(label, "equation", "({})")
        for block in every_directive(cell.source):
            kind = block.name.removeprefix("prf:")
            if block.name.startswith("prf:") and kind != "proof":
                if "nonumber" in block.options:
                    found[block.label] = Place(kind.capitalize(), chapter.stem)
                else:
                    numbered(block.label, kind, kind.capitalize() + " {}")
            elif block.name in ("exercise", "exercise-start"):
                numbered(block.label, "exercise", "Exercise {}")
            elif block.name == "figure":
                numbered(block.label, "figure", "Fig. {}")
    return found
