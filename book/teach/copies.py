"""The instructor's and the student's copy of a chapter.

    piece: a stretch of a chapter that is text, an exercise, part of a solution, or code · hole: what a student's copy has
    in place of a part of a solution

A Markdown cell of a chapter can end one solution and begin the next exercise, so it is cut into pieces; the first keeps the
cell's id. The instructor's copy has them all. The student's copy is the instructor's with holes, and nothing else differs.
"""

import re
from copy import deepcopy
from dataclasses import dataclass, field

import nbformat
from manuscript import MARK, code_cells, prose
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.plugin import find_plugin

from .labels import Book, Chapter
from .myst import blocks
from .plain import MARKING, ROLE, plain

# Points and what to look for, where an exercise has no marking notes of its own.
LEVELS = {
    "Warm-up": (1, "1 point for the right answer with the step that leads to it."),
    "Standard": (2, "1 point for the right method, 1 for the result and what it means."),
    "Hard": (3, "1 point for setting the problem up, 1 for the argument or code, 1 for a check that could have failed."),
    "Open-ended": (4, "By the rubric for open answers: question, method, evidence, limits, a point each."),
}
POINTS = re.compile(r"(\d+)(?: points?)? for\b")
LICENCE = "From *Where to Spend ε*. Text and figures: CC BY 4.0; code: BSD-3-Clause."


@dataclass(frozen=True)
class Exercise:
    """What a teacher wants to know of an exercise."""

    label: str
    name: str  # as in "Exercise 4.1 (By heart)"
    chapter: Chapter
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
    cell: nbformat.NotebookNode = field(default_factory=nbformat.NotebookNode)  # of code; empty for text


def pieces(chapter: Chapter) -> list[Piece]:
    """A chapter in pieces, in order."""
    found, inside = list[Piece](), ("text", "")  # what the text at hand belongs to, and to which exercise
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            found.append(Piece("solution" if inside[0] == "solution" else "code", cell.id, cell.source, inside[1], cell))
            continue
        parts = [(inside, list[str]())]  # of the cell, each with its blocks; one without any is no piece
        for block in blocks(cell.source):
            gate, _, end = ("", "", "") if isinstance(block, str) else block.name.partition("-")
            if isinstance(block, str) or gate not in ("exercise", "solution"):
                parts[-1][1].append(block if isinstance(block, str) else block.source)
                continue
            owner = block.label if gate == "exercise" else block.argument
            if not end or block.name == "solution-start":
                parts.append(((gate, owner), ["" if end else block.body]))
            inside = (gate, owner) if end == "start" else ("text", "")
            parts.append((inside, []))
        for count, ((kind, label), texts) in enumerate(part for part in parts if part[1]):
            found.append(Piece(kind, f"{cell.id}-{count}" if count else cell.id, "\n\n".join(texts), label))
    return found


def exercises(chapter: Chapter, book: Book) -> dict[str, Exercise]:
    """The exercises of a chapter by label, in order."""
    found, cut = dict[str, Exercise](), pieces(chapter)
    code = "\n".join(cell.source for cell in code_cells(chapter.notebook))
    for gate in blocks(prose(chapter.notebook)):
        if isinstance(gate, str) or gate.name not in ("exercise", "exercise-start") or not gate.label:
            continue
        asked, solved = (
            "\n".join(one.text for one in cut if (one.kind, one.label) == (kind, gate.label))
            for kind in ("exercise", "solution")
        )
        mark = MARK.match(asked.strip())
        level, minutes = (mark["level"], int(mark["minutes"])) if mark else ("Standard", None)
        notes = " ".join(" ".join(MARKING.findall(solved)).split())
        points = sum(int(number) for number in POINTS.findall(notes)) or LEVELS[level][0]
        name = book.places[gate.label].text + (f" ({gate.argument})" if gate.argument else "")
        checked = f'check("{gate.label}"' in code
        found[gate.label] = Exercise(gate.label, name, chapter, level, minutes, checked, notes or LEVELS[level][1], points)
    return found


def instructor(chapter: Chapter, book: Book) -> nbformat.NotebookNode:
    """The chapter as a plain notebook, with solutions and marking notes in cells that are tagged `solution`."""
    known, cells, begun = exercises(chapter, book), list[nbformat.NotebookNode](), set[tuple[str, str]]()
    for piece in pieces(chapter):
        head, first = "", (piece.kind, piece.label) not in begun
        begun.add((piece.kind, piece.label))
        if first and piece.kind == "exercise":
            head = f"### {known[piece.label].name}\n\n"
        elif first and piece.kind == "solution":
            one = known[piece.label]
            points = f"{one.points} point{'s' if one.points > 1 else ''}"
            head = f"#### Solution of {one.name}\n\n> **Marking, {points}.** {one.marking}\n\n"
        made = cells_of_code(piece, book) if piece.cell else [new_markdown_cell(head + plain(piece.text, book), id=piece.id)]
        for cell in made:
            if piece.kind == "solution":
                cell.metadata.tags = ["solution"]
                cell.metadata.exercise = piece.label
        cells += made
    cells[0].source = cells[0].source.replace("# ", f"# {chapter.number}. ", 1)
    cells.append(new_markdown_cell(references(chapter, book), id="references"))
    return new_notebook(cells=cells, metadata=deepcopy(chapter.notebook.metadata))


def cells_of_code(piece: Piece, book: Book) -> list[nbformat.NotebookNode]:
    """A code cell with its outputs, and behind it the caption and the description of its figure."""
    cell = new_code_cell(piece.text, id=piece.id, outputs=deepcopy(piece.cell.outputs))
    cell.execution_count = piece.cell.execution_count
    for output in cell.outputs:
        if markdown := output.get("data", {}).get("text/markdown"):
            output.data["text/markdown"] = plain(markdown, book)
    about = piece.cell.metadata.get("mystnb", {})
    if not (figure := about.get("figure")):
        return [cell]
    text = f"**{book.places[figure['name']].text}.** {plain(figure['caption'], book)}"
    if alt := about.get("image", {}).get("alt"):
        text += f"\n\n<details><summary>The figure in words</summary>{alt}</details>"
    return [cell, new_markdown_cell(text, id=f"{piece.id}-caption")]


def references(chapter: Chapter, book: Book) -> str:
    """The sources that a chapter cites, and the licence."""
    cited = [role["inside"].split(",") for role in ROLE.finditer(prose(chapter.notebook)) if role["role"].startswith("cite")]
    keys = sorted({key.strip() for row in cited for key in row}, key=book.authors)
    entries = find_plugin("pybtex.style.formatting", "plain")().format_entries([book.sources[key] for key in keys])
    lines = [f"- {entry.text.render_as('text')}" for entry in entries]
    return "\n".join([*(["## References", "", *lines, ""] if lines else []), LICENCE])


def student(copy: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """An instructor's copy with a hole in place of every cell that is part of a solution."""
    copy, before = deepcopy(copy), ""
    for cell in copy.cells:
        label = cell.metadata.get("exercise", "")
        if label:
            cell.source = "" if cell.cell_type == "code" else "**Your work:**" if label != before else "*In words:*"
            cell.metadata.tags = ["answer"]
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        before = label
    return copy
