"""The instructor's pack: two copies of every chapter that differ by holes alone, in Markdown that any program reads."""

import ast
import re
from collections import Counter

import nbformat
import pytest
from manuscript import EXERCISE, FENCED_SOLUTION, ROOT, SOLUTION, code_cells, in_one_text
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from teach import __main__ as pack_maker
from teach import copies
from teach.labels import Book, Chapter, labels_of, read_book
from teach.plain import plain

BOOK = read_book()
HOLES = ("", "**Your work:**", "*In words:*")
each_chapter = pytest.mark.parametrize("chapter", BOOK.chapters, ids=lambda chapter: chapter.stem)


def both(chapter):
    """The instructor's and the student's copy."""
    teacher = copies.instructor(chapter, BOOK)
    return teacher, copies.student(teacher)


# The copies


@each_chapter
def test_the_student_copy_is_the_instructor_copy_with_holes(chapter):
    """Same cells in the same order; where they differ, one is a part of a solution and the other a hole."""
    teacher, student = both(chapter)
    assert [cell.id for cell in student.cells] == [cell.id for cell in teacher.cells]
    assert len({cell.id for cell in teacher.cells}) == len(teacher.cells)
    for full, hole in zip(teacher.cells, student.cells, strict=True):
        if full.metadata.get("tags") == ["solution"]:
            assert hole.cell_type == full.cell_type and hole.source in HOLES and not hole.get("outputs")
            assert hole.metadata == {"tags": ["answer"], "exercise": full.metadata.exercise}
        else:
            assert hole == full
    assert teacher.metadata == student.metadata


@each_chapter
def test_no_solution_is_left_in_the_student_copy(chapter):
    """No sentence or line of code of a solution, as the chapter's source has it, is in the student's copy."""
    source, (teacher, student) = in_one_text(chapter.notebook), both(chapter)
    solutions = [found[0] for found in SOLUTION.finditer(source)] + [one["text"] for one in FENCED_SOLUTION.finditer(source)]
    assert len(solutions) == len(copies.exercises(chapter, BOOK))
    rest = source
    for solution in solutions:
        rest = rest.replace(solution, "")
    between = re.compile(r"<!--.*?-->|\{[\w:]+\}`[^`]*`|</?code>|(?<=\.) ")  # written in another way; ends of sentences
    lines = [line for solution in solutions for line in solution.splitlines() if "{solution-" not in line]
    pieces = {piece.strip() for line in lines for piece in between.split(line)}
    secret = {piece for piece in pieces if len(piece) > 25 and piece not in rest}
    shown, full = nbformat.writes(student), in_one_text(teacher)
    assert len(secret) > 5
    assert all(piece in full for piece in secret)  # so the test looks for what could be found
    assert not [piece for piece in secret if piece in shown or piece in in_one_text(student)]


@each_chapter
def test_the_exercises_stay(chapter):
    """Every exercise of the chapter, and every cell that checks an answer, is in both copies, in order, with its number."""
    source, (_, student) = in_one_text(chapter.notebook), both(chapter)
    titles = re.findall(r"^### (Exercise \d+\.\d+)", in_one_text(student), re.MULTILINE)
    assert titles == [f"Exercise {chapter.number}.{count}" for count in range(1, len(titles) + 1)]
    assert len(titles) == len(re.findall(r"\{exercise(?:-start)?\}", source))
    for found in EXERCISE.finditer(source):
        last = re.split(r"<!--|`|\$|\n", found["text"].strip().splitlines()[-1])[-1].strip()
        assert last in in_one_text(student)
    asked = {cell.source for cell in code_cells(chapter.notebook) if "= ...\n" in cell.source}
    assert asked <= {cell.source for cell in student.cells}


@each_chapter
def test_copies_are_plain_notebooks(chapter):
    """Valid notebooks without a directive, a role, a target or an invisible comment of the book's own Markdown."""
    for copy in both(chapter):
        nbformat.validate(copy)
        texts = [cell.source for cell in copy.cells if cell.cell_type == "markdown"]
        outputs = [out for cell in copy.cells for out in cell.get("outputs", []) if "data" in out]
        texts += [out.data.get("text/markdown", "") for out in outputs]
        for text in texts:
            assert not re.search(r"^[`:]{3,}\{|\{[\w:]+\}`|^\([\w-]+\)=$|<!--|\]\(#|\$\$ *\(", text, re.MULTILINE), text
        figures = [cell for cell in chapter.notebook.cells if "figure" in cell.metadata.get("mystnb", {})]
        assert len([text for text in texts if text.startswith("**Fig. ")]) == len(figures)


@pytest.mark.parametrize("kind", ["student", "instructor"])
@pytest.mark.parametrize("number", ["01", "13"])  # quick ones; `make teach RUN=1` runs them all
def test_copies_run(pack, kind, number):
    """The notebooks run to the end where they lie, holes and all, with no more than the files beside them."""
    [path] = (pack / kind).glob(f"{number}-*.ipynb")
    pack_maker.run(path)


def names(cell, context):
    """The names that a code cell sets (ast.Store) or uses (ast.Load); functions, imports and loops set names too."""
    tree = ast.parse(cell.source)
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
        found |= {alias.asname or alias.name for alias in aliases}
    return found


@each_chapter
def test_nothing_hangs_on_a_solution(chapter):
    """No cell that a student keeps uses a name that only a solution sets."""
    teacher, _ = both(chapter)
    code = code_cells(teacher)
    kept = [cell for cell in code if "tags" not in cell.metadata]
    only = {name for cell in code if "tags" in cell.metadata for name in names(cell, ast.Store)}
    only -= {name for cell in kept for name in names(cell, ast.Store)}
    assert not {cell.id: used for cell in kept if (used := names(cell, ast.Load) & only)}


MADE_UP = """(chapter-made)=
# Made up

## Exercises

```{exercise} Half
:label: ex-01-half
*Hard, 10 minutes.* What is half of a whole?
```
"""


def made_up_chapter(solution):
    check = new_code_cell('answer = ...\ncheck("ex-01-half", answer)')
    cells = [
        new_markdown_cell(MADE_UP),
        check,
        new_markdown_cell(f"```{{solution}} ex-01-half\n:class: dropdown\n{solution}\n```"),
    ]
    chapter = Chapter(ROOT / "01-made.ipynb", 1, "Made up", new_notebook(cells=cells))
    return chapter, Book({"Part": [chapter]}, labels_of(chapter, Counter()), {})


def test_marking_notes_are_for_instructors():
    """A comment in a solution sets points and what to look for; it is in the instructor's copy, and nowhere else."""
    notes = "<!-- marking: 2 points for the half;\n1 for its unit -->"
    chapter, book = made_up_chapter(f"One half. {notes}")
    one = copies.exercises(chapter, book)["ex-01-half"]
    assert (one.points, one.marking) == (3, "2 points for the half; 1 for its unit")
    assert (one.level, one.minutes, one.checked, one.name) == ("Hard", 10, True, "Exercise 1.1 (Half)")
    teacher = copies.instructor(chapter, book)
    assert "> **Marking, 3 points.** 2 points for the half; 1 for its unit" in in_one_text(teacher)
    assert "marking" not in in_one_text(copies.student(teacher)) and "One half" not in in_one_text(copies.student(teacher))


def test_without_marking_notes_the_usual_ones_hold():
    """An exercise without notes is worth what its kind is worth."""
    chapter, book = made_up_chapter("One half.")
    one = copies.exercises(chapter, book)["ex-01-half"]
    assert (one.points, one.marking) == copies.LEVELS["Hard"]


def test_numbers_are_those_of_the_website():
    """Propositions and theorems are numbered through the book, all else by chapter, as the pages show them."""
    shown = {
        "prop-bounded": "Proposition 4", "thm-skewness": "Theorem 2", "obs-cube-root": "Observation 4.1",
        "eq-04-kkt": "(4.4)", "fig-04-duality": "Fig. 4.4", "ex-13-strict": "Exercise 13.2",
        "chapter-bias": "Bias and variance of one count",
    }  # fmt: skip
    assert {label: BOOK.places[label].text for label in shown} == shown


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("as in {prf:ref}`prop-bias`", "as in Proposition 1"),
        ("by {eq}`eq-clip`, and {numref}`fig-loss`", "by (1.1), and Fig. 1.2"),
        ("see {ref}`chapter-bias`", "see [Bias and variance of one count](02-bias-and-variance.ipynb)"),
        ("see {ref}`the next <chapter-bias>`", "see [the next](02-bias-and-variance.ipynb)"),
        ("{cite:t}`ko2025optimal` {cite}`mcsherry2009privacy`", "Ko et al. (2025) [McSherry, 2009]"),
        ("13%<!--= 100 * x --> more, `<!-- kept -->`", "13% more, `<!-- kept -->`"),
        (":::{admonition} Look\n:class: note\n$$\nx\n$$\n:::", "> **Look**\n>\n> $$ x $$"),
        (":::{prf:theorem} T\n:label: thm-skewness\nYes.\n:::", "> **Theorem 2 (T)**\n>\n> Yes."),
        ("$$\nx\n$$ (eq-clip)", "$$\nx \\tag{1.1}\n$$"),
        ("```python\nx = {1: 2}\n```", "```python\nx = {1: 2}\n```"),
    ],
)
def test_plain_markdown(source, made):
    """Each of the book's own marks has its counterpart in ordinary Markdown."""
    assert plain(source, BOOK) == made
