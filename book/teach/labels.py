"""What the book calls things: the numbers and titles that its website shows, by label.

    label: chapter-release, prop-bias, eq-clip, fig-virginia, ex-01-level … · stem: a chapter's file name without .ipynb

Propositions and theorems are numbered through the book (see _ext/numbering.py); figures, equations, exercises and the other
statements by chapter.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

import nbformat
from manuscript import ROOT, chapters_of, first_heading, key, number, read_notebook, toc_parts
from pybtex.database import Entry, parse_file

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
        return key(self.path)


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
        return [*chain(*self.parts.values())]

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
    toc = toc_parts()
    parts = {caption: [read_chapter(path) for path in paths] for caption in toc if (paths := chapters_of(caption))}
    places, throughout = dict[str, Place](), Counter[str]()
    for chapter in chain(*parts.values()):
        places |= labels_of(chapter, throughout)
    for page in [page for page in chain(*toc.values()) if not page.startswith("notebooks/")]:
        places |= {label: Place(title) for label, _, title in TARGET.findall((ROOT / f"{page}.md").read_text("utf-8"))}
    return Book(parts, places, dict(parse_file(ROOT / "book" / "references.bib").entries))


def read_chapter(path: Path) -> Chapter:
    """A chapter with its number and title."""
    notebook = read_notebook(path)
    return Chapter(path, number(path), first_heading(notebook), notebook)


def labels_of(chapter: Chapter, throughout: Counter[str]) -> dict[str, Place]:
    """The places of a chapter by label. `throughout` counts the statements that are numbered through the book."""
    here, found = Counter[str](), dict[str, Place]()

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
            elif block.name in ("exercise", "exercise-start", "figure"):
                numbered(block.label, kind.partition("-")[0], "Fig. {}" if kind == "figure" else "Exercise {}")
    return found
