"""Checkers say what is right and help with what is wrong, and the chapters' own solutions pass them."""

import re
from importlib import import_module
from pathlib import Path

import nbformat
import numpy as np
import pytest

from helpers.exercises import Exercise, FunctionExercise, Mistake, check, find

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FILES = sorted((ROOT / "helpers" / "exercises").glob("chapter*.py"))
ALL = {label: one for file in FILES for label, one in import_module(f"helpers.exercises.{file.stem}").EXERCISES.items()}
MARK = re.compile(r"\*(Warm-up|Standard|Hard|Open-ended), (\d+) minutes\.\*")
EXERCISE = re.compile(r"^(`{3,})\{exercise\}([^\n]*)\n(.*?)^\1", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"\{solution-start\} (\S+).*?\{solution-end\}", re.DOTALL)
HALF = Exercise(lambda: 0.5, [Mistake(lambda: 2, "upside down"), Mistake(lambda: -0.5, "the sign")], "Think of a half.")


def exercises(path):
    """(title, label, text) of each exercise of a chapter."""
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    return [(title.strip(), re.search(r":label: (\S+)", body)[1], body) for _, title, body in EXERCISE.findall(text)]


def coded_solutions(path):
    """{label: code} of the solutions that have code."""
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(f"<code>{cell.source}</code>" if cell.cell_type == "code" else cell.source for cell in cells)
    code = {found[1]: "\n".join(re.findall(r"<code>(.*?)</code>", found[0], re.DOTALL)) for found in SOLUTION.finditer(text)}
    return {label: lines for label, lines in code.items() if lines}


@pytest.mark.parametrize("label", ALL)
def test_the_right_answer_is_accepted(label):
    """The right answer is right, and the dots are no answer."""
    one = find(label)
    assert one.verdict(one.right())[0]
    assert one.verdict(...) == (False, "Put your answer in place of the dots, and run the cell again.")


@pytest.mark.parametrize("label", ALL)
def test_usual_mistakes_get_their_hint(label):
    """At least two wrong answers are known; each is refused with a sentence of its own."""
    one = find(label)
    assert len(one.mistakes) >= 2
    for mistake in one.mistakes:
        assert one.verdict(mistake.answer()) == (False, f"Not yet. {mistake.hint}")
    assert len({mistake.hint for mistake in one.mistakes} | {one.hint}) == len(one.mistakes) + 1


@pytest.mark.parametrize("label", ALL)
def test_no_sentence_gives_the_answer_away(label):
    """No hint and no praise holds a number of the right answer that the question does not ask for by itself."""
    one = find(label)
    if isinstance(one, FunctionExercise):
        return
    said = " ".join([one.hint, *(mistake.hint for mistake in one.mistakes)])
    numbers = {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", said)}
    right = np.ravel(np.asarray(one.right(), dtype=float))
    assert not [n for n in numbers for r in right if r not in (0, 1) and np.isclose(n, abs(r), rtol=one.rtol, atol=0)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_checkers_belong_to_exercises(file):
    """Each checker is called twice in its chapter: on the dots, for the reader, and in the solution, on its answer."""
    number = file.stem.removeprefix("chapter")
    [path] = [path for path in CHAPTERS if path.name.startswith(number)]
    cells = nbformat.read(path, as_version=4).cells
    code, solutions = [cell.source for cell in cells if cell.cell_type == "code"], coded_solutions(path)
    labels = {label for _, label, _ in exercises(path)}
    for label in import_module(f"helpers.exercises.{file.stem}").EXERCISES:
        assert label in labels and label.startswith(f"ex-{number}-")
        assert any("= ..." in source and f'check("{label}",' in source for source in code), label
        assert f'check("{label}",' in solutions[label], label


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_exercises_of_all_kinds(path):
    """At least five, from a warm-up to an open-ended one; whichever has code in its solution has a checker."""
    found = {label: MARK.search(text)[1] for _, label, text in exercises(path)}
    assert len(found) >= 5 and {"Warm-up", "Open-ended"} <= set(found.values())
    coded = [label for label in coded_solutions(path) if found[label] != "Open-ended"]
    assert [label for label in coded if label not in ALL] == []


def test_a_wrong_answer_that_nobody_knows_gets_the_general_hint():
    """Also a wrong shape, a text and an infinite number get a sentence, and no traceback."""
    assert HALF.verdict(0.7) == (False, "Not yet. Think of a half.")
    assert HALF.verdict(2) == (False, "Not yet. upside down")
    assert HALF.verdict([0.5, 0.5]) == (False, "The answer is one number. Yours is 2 numbers.")
    assert HALF.verdict("a half") == (False, "The answer is made of numbers. Yours is str: 'a half'")
    assert HALF.verdict(np.inf) == (False, "The answer is finite. Yours has a number that is infinite or missing.")
    assert HALF.verdict(0.5004)[0] and not HALF.verdict(0.502)[0]


def test_functions_are_called_on_cases():
    """A function is compared on the cases; one that fails is told how, and what is no function is refused."""
    square = FunctionExercise(
        lambda: np.square,
        [Mistake(lambda: lambda x: 2 * x, "doubled"), Mistake(lambda: np.abs, "size only")],
        "x times x",
        cases=[(2,), (-3,)],
    )
    assert square.verdict(lambda x: x**2)[0]
    assert square.verdict(lambda x: 2 * x) == (False, "Not yet. doubled")
    assert square.verdict(lambda x: x / 0) == (False, "Your function fails with ZeroDivisionError: division by zero")
    assert square.verdict(4) == (False, "The answer is a function. Yours is int: 4")


def test_check_prints_one_sentence(capsys):
    """`check` prints the verdict, and nothing else."""
    check("ex-04-rule", ...)
    assert capsys.readouterr().out == "Put your answer in place of the dots, and run the cell again.\n"
