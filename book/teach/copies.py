"""The instructor's and the student's copy of a chapter.

    piece: a stretch of a chapter that is text, an exercise, part of a solution, or code · hole: what a student's copy has
    in place of a part of a solution

A Markdown cell of a chapter can end one solution and begin the next exercise, so it is cut into pieces; the first keeps the
cell's id. The instructor's copy has them all. The student's copy is the instructor's with holes, and nothing else differs.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.plugin import find_plugin

from .labels import Book, Chapter
from .myst import Directive, blocks
from .plain import MARKING, ROLE, plain

# Points and what to look for, where an exercise has no marking notes of its own.
LEVELS = {
    "Warm-up": (1, "1 point for the right answer with the step that leads to it."),
    "Standard": (2, "1 point for the right method, 1 for the result and what it means."),
    "Hard": (3, "1 point for setting the problem up, 1 for the argument or code, 1 for a check that could have failed."),
    "Open-ended": (4, "By the rubric for open answers: question, method, evidence, limits, a point each."),
}
MARK = re.compile(r"^\*(?P<words>[^*\n]+)\.\*")
POINTS = re.compile(r"(\d+)(?: points?)? for\b")
LICENCE = "From *Where to Spend ε*. Text and figures: CC BY 4.0; code: BSD-3-Clause."


@dataclass(frozen=True)
class Exercise:
    """What a teacher wants to know of an exercise."""

    label: str
    name: str  # as in "Exercise 4.1 (By heart)"
    chapter: Chapter
    text: str
    level: str
    minutes: int | None
    checked: bool  # a cell of the chapter checks the answer
    marking: str
    points: int


@dataclass
class Piece:
    """A stretch of a chapter; `label` names the exercise it belongs to."""

    kind: str  # text, exercise, code, solution
    id: str
    text: str
    label: str = ""
    cell: nbformat.NotebookNode | None = None


def pieces(chapter: Chapter) -> list[Piece]:
    """A chapter in pieces, in order."""
    found, inside = [], ("text", "")  # what the text at hand belongs to, and to which exercise
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            found.append(Piece("solution" if inside[0] == "solution" else "code", cell.id, cell.source, inside[1], cell))
            continue
        for count, (kind, label, text) in enumerate(cut(cell.source, inside)):
            found.append(Piece(kind, f"{cell.id}-{count}" if count else cell.id, text, label))
        inside = after(cell.source, inside)
    return found


def cut(text: str, inside: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """(kind, label, text) of the pieces of a Markdown cell."""
    gathered = []
    for block in blocks(text):
        gate = block.name.partition("-")[0] if isinstance(block, Directive) else ""
        if gate not in ("exercise", "solution"):
            gathered.append(block)
            continue
        yield from written(gathered, inside)
        gathered, inside = [], passed(block, inside)
        if block.name in ("exercise", "solution"):
            yield gate, owner(block), block.body
        elif block.name == "solution-start":
            yield gate, owner(block), ""
    yield from written(gathered, inside)


def owner(block: Directive) -> str:
    """The exercise that a gate or fence belongs to."""
    return block.label if block.name.startswith("exercise") else block.argument


def passed(block: Directive, inside: tuple[str, str]) -> tuple[str, str]:
    """What the text behind a gate belongs to."""
    gate, _, end = block.name.partition("-")
    return (gate, owner(block)) if end == "start" else ("text", "")


def after(text: str, inside: tuple[str, str]) -> tuple[str, str]:
    for block in blocks(text):
        if isinstance(block, Directive) and block.name.partition("-")[0] in ("exercise", "solution"):
            inside = passed(block, inside)
    return inside


def written(gathered: list, inside: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    text = "\n\n".join(block if isinstance(block, str) else source(block) for block in gathered)
    if text.strip():
        yield *inside, text


def source(block: Directive) -> str:
    """A directive as it was written."""
    fence = ":" * (2 + max(3, *(len(run) for run in re.findall(r"[`:]{3,}", block.body)), 3))
    options = "".join(f":{key}: {value}\n" for key, value in block.options.items())
    return f"{fence}{{{block.name}}} {block.argument}\n{options}{block.body}\n{fence}"


def exercises(chapter: Chapter, book: Book) -> dict[str, Exercise]:
    """The exercises of a chapter by label, in order."""
    titles = {owner(block): block.argument for block in gates(chapter) if block.name.startswith("exercise")}
    whole = {label: {"exercise": "", "solution": "", "code": ""} for label in titles if label}
    for piece in pieces(chapter):
        if piece.label in whole:
            whole[piece.label][piece.kind] += piece.text + "\n"
    code = "\n".join(cell.source for cell in chapter.notebook.cells if cell.cell_type == "code")
    return {label: exercise(label, titles[label], chapter, text, book, code) for label, text in whole.items()}


def gates(chapter: Chapter) -> Iterator[Directive]:
    for cell in chapter.notebook.cells:
        if cell.cell_type == "markdown":
            yield from (block for block in blocks(cell.source) if isinstance(block, Directive))


def exercise(label: str, title: str, chapter: Chapter, text: dict[str, str], book: Book, code: str) -> Exercise:
    words = (MARK.match(text["exercise"].strip()) or {"words": ""})["words"]
    level = next((level for level in LEVELS if words.startswith(level.partition("-")[0])), "Standard")
    minutes = re.search(r"(\d+) minutes", words)
    notes = [" ".join(note.split()) for note in MARKING.findall(text["solution"])]
    points = sum(int(number) for number in POINTS.findall(" ".join(notes))) or LEVELS[level][0]
    name = book.places[label].text + (f" ({title})" if title else "")
    minutes = int(minutes[1]) if minutes else 60 if "hour" in words else None
    marking = " ".join(notes) or LEVELS[level][1]
    checked = f'check("{label}"' in code
    return Exercise(label, name, chapter, text["exercise"].strip(), level, minutes, checked, marking, points)


def instructor(chapter: Chapter, book: Book) -> nbformat.NotebookNode:
    """The chapter as a plain notebook, with solutions and marking notes in cells that are tagged `solution`."""
    known, cells, begun = exercises(chapter, book), [], set()
    for piece in pieces(chapter):
        head = ""
        if piece.kind == "exercise" and piece.label not in begun:
            head = f"### {known[piece.label].name}\n\n"
        elif piece.kind == "solution" and ("solution", piece.label) not in begun:
            head = solution_head(known[piece.label])
        begun |= {piece.label} if piece.kind == "exercise" else {("solution", piece.label)} if head else set()
        made = code_cells(piece, book) if piece.cell else [new_markdown_cell(head + plain(piece.text, book), id=piece.id)]
        for cell in made:
            if piece.kind == "solution":
                cell.metadata.tags = ["solution"]
                cell.metadata.exercise = piece.label
        cells += made
    cells[0].source = cells[0].source.replace("# ", f"# {chapter.number}. ", 1)
    cells.append(new_markdown_cell(references(chapter, book), id="references"))
    return new_notebook(cells=cells, metadata=deepcopy(chapter.notebook.metadata))


def solution_head(one: Exercise) -> str:
    points = f"{one.points} point{'s' if one.points > 1 else ''}"
    return f"#### Solution of {one.name}\n\n> **Marking, {points}.** {one.marking}\n\n"


def code_cells(piece: Piece, book: Book) -> list[nbformat.NotebookNode]:
    """A code cell with its outputs, and behind it the caption and the description of its figure."""
    cell = new_code_cell(piece.text, id=piece.id, outputs=deepcopy(piece.cell.outputs))
    cell.execution_count = piece.cell.execution_count
    for output in cell.outputs:
        if markdown := output.get("data", {}).get("text/markdown"):
            output.data["text/markdown"] = plain(markdown, book)
    about = piece.cell.metadata.get("mystnb", {})
    if "figure" not in about:
        return [cell]
    figure = about["figure"]
    number = book.places[figure["name"]].text
    text = f"**{number}.** {plain(figure['caption'], book)}"
    if alt := about.get("image", {}).get("alt"):
        text += f"\n\n<details><summary>The figure in words</summary>{alt}</details>"
    return [cell, new_markdown_cell(text, id=f"{piece.id}-caption")]


def references(chapter: Chapter, book: Book) -> str:
    """The sources that a chapter cites, and the licence."""
    text = "\n".join(cell.source for cell in chapter.notebook.cells if cell.cell_type == "markdown")
    cited = [role["inside"].split(",") for role in ROLE.finditer(text) if role["role"].startswith("cite")]
    keys = sorted({key.strip() for row in cited for key in row}, key=book.authors)
    style = find_plugin("pybtex.style.formatting", "plain")()
    entries = style.format_entries([book.sources[key] for key in keys])
    lines = [f"- {entry.text.render_as('text')}" for entry in entries]
    return "\n".join([*(["## References", "", *lines, ""] if lines else []), LICENCE])


def student(copy: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """An instructor's copy with a hole in place of every cell that is part of a solution."""
    copy = deepcopy(copy)
    before = ""
    for cell in copy.cells:
        label = cell.metadata.get("exercise", "")
        if label:
            cell.source = "" if cell.cell_type == "code" else "**Your work:**" if label != before else "*In words:*"
            cell.metadata.tags = ["answer"]
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        before = label
    return copy
