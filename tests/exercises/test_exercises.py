"""Checkers say what is right and help with what is wrong, and the chapters' own solutions pass them."""

import re
from copy import copy
from functools import cache
from importlib import import_module

import manuscript
import numpy as np
import pytest
from manuscript import CHAPTERS, ROOT, read_notebook
from numpy.testing import assert_allclose

from helpers import Hierarchy, bias, census, mse
from helpers.exercises import Exercise, FunctionExercise, Mistake, check, find

FILES = sorted((ROOT / "helpers" / "exercises").glob("chapter*.py"))
CHAPTER = {int(file.stem[-2:]): import_module(f"helpers.exercises.{file.stem}") for file in FILES}
ALL = {label: one for module in CHAPTER.values() for label, one in module.EXERCISES.items()}
ANSWERS = manuscript.read_toml(ROOT / "tests" / "answers.toml")
HALF = Exercise(0.5, "Think of a half.", (2, "upside down"), (lambda: -0.5, "the sign"))


def changed(one, **fields):
    """The same exercise but for these fields."""
    other = copy(one)
    vars(other).update(fields)
    return other


def exercises(path):
    """{label: text} of the exercises of a chapter."""
    texts = [found["text"] for found in manuscript.EXERCISE.finditer(manuscript.prose(read_notebook(path)))]
    return {re.search(r":label: (\S+)", text)[1]: text for text in texts}


def coded_solutions(path):
    """{label: code} of the solutions that have code."""
    text = manuscript.in_one_text(read_notebook(path))
    found = {solution["label"]: solution[0] for solution in manuscript.SOLUTION.finditer(text)}
    code = {label: "\n".join(re.findall(r"<code>(.*?)</code>", text, re.DOTALL)) for label, text in found.items()}
    return {label: lines for label, lines in code.items() if lines}


@cache
def settled(label):
    """An exercise with its answers worked out: that takes a second for some, and all tests below ask for them."""
    one = find(label)
    right, wrong = one.right(), [(mistake.answer(), mistake.hint) for mistake in one.mistakes]
    mistakes = [Mistake(lambda answer=answer: answer, hint) for answer, hint in wrong]
    return changed(one, right=lambda: right, mistakes=mistakes)


@pytest.mark.parametrize("label", ALL)
def test_answers_are_those_of_the_answer_sheet(label):
    """What counts as right, and as a usual mistake, is what it was when chapter and checker were written."""
    one, sheet = settled(label), ANSWERS[label]
    # Six digits are kept. Two are looser: a logarithm's last digit decides one, a tiny difference of budgets the other.
    rtol = 1e-3 if label in ("ex-14-wyoming", "ex-17-textbook") else 1e-5
    assert_allclose(one._numbers(one.right()), sheet["right"], rtol=rtol, atol=1e-12)
    for mistake, answer in zip(one.mistakes, sheet["wrong"], strict=True):
        assert_allclose(one._numbers(mistake.answer()), answer, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("label", ALL)
def test_the_right_answer_is_accepted(label):
    """The right answer is right, and the dots are no answer."""
    one = settled(label)
    assert one.verdict(one.right())[0]
    assert one.verdict(...) == (False, "Put your answer in place of the dots, and run the cell again.")


@pytest.mark.parametrize("label", ALL)
def test_usual_mistakes_get_their_hint(label):
    """At least two wrong answers are known; each is refused with a sentence of its own."""
    one = settled(label)
    assert len(one.mistakes) >= 2
    for mistake in one.mistakes:
        assert one.verdict(mistake.answer()) == (False, f"Not yet. {mistake.hint}")
    assert len({mistake.hint for mistake in one.mistakes} | {one.hint}) == len(one.mistakes) + 1


@pytest.mark.parametrize("label", ALL)
def test_no_sentence_gives_the_answer_away(label):
    """No hint and no praise holds a number of the right answer that the question does not ask for by itself."""
    one = settled(label)
    if isinstance(one, FunctionExercise):
        return
    said = " ".join([one.hint, *(mistake.hint for mistake in one.mistakes)])
    numbers = {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", said)}
    right = np.ravel(np.asarray(one.right(), dtype=float))
    assert not [n for n in numbers for r in right if r not in (0, 1) and np.isclose(n, abs(r), rtol=one.rtol, atol=0)]


@pytest.mark.parametrize("number", [file.stem[-2:] for file in FILES], ids=lambda number: f"chapter{number}")
def test_checkers_belong_to_exercises(number):
    """Each checker is called twice in its chapter: on the dots, for the reader, and in the solution, on its answer."""
    [path] = [path for path in CHAPTERS if manuscript.key(path) == number]
    code, solutions = [cell.source for cell in manuscript.code_cells(read_notebook(path))], coded_solutions(path)
    labels = set(exercises(path))
    for label in CHAPTER[int(number)].EXERCISES:
        assert label in labels and label.startswith(f"ex-{number}-")
        assert any("= ..." in source and f'check("{label}",' in source for source in code), label
        assert f'check("{label}",' in solutions[label], label


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_exercises_of_all_kinds(path):
    """At least five, from a warm-up to an open-ended one; whichever has code in its solution has a checker."""
    found = {label: manuscript.MARK.search(text)["level"] for label, text in exercises(path).items()}
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
    assert HALF.verdict("a" * 70) == (False, "The answer is made of numbers. Yours is str: '" + "a" * 59)


def test_shapes_are_told_in_words():
    """One number, several or a table: what is asked for and what was given."""
    table = Exercise(lambda: np.zeros((2, 3)), "no")
    assert table.verdict(0) == (False, "The answer is a table of shape (2, 3). Yours is one number.")
    assert table.verdict([0]) == (False, "The answer is a table of shape (2, 3). Yours is 1 numbers.")
    assert HALF.verdict([[0.5]]) == (False, "The answer is one number. Yours is a table of shape (1, 1).")


def test_whoever_is_right_may_get_one_more_thought():
    """Praise follows, if there is any; None, as from a function that forgot its return, is treated like the dots."""
    assert HALF.verdict(None) == (False, "Put your answer in place of the dots, and run the cell again.")
    assert HALF.verdict(0.5) == (True, "Right.")
    assert changed(HALF, praise="And a third?").verdict(0.5) == (True, "Right. And a third?")


def test_a_tolerance_is_relative_to_the_right_answer_or_absolute():
    """An answer is close if it differs by at most atol + rtol · |right answer|, and a mistake is known by the same law."""
    wide = changed(HALF, rtol=0.5)
    assert wide.verdict(0.74)[0] and not wide.verdict(0.76)[0]
    zero = Exercise(0, "no", (1, "off by one"), atol=0.1)
    assert zero.verdict(0.09)[0] and zero.verdict(1.09) == (False, "Not yet. off by one") and not zero.verdict(0.11)[0]


def test_a_mistake_of_another_shape_is_another_mistake():
    """One number that somebody may give for two is not taken for two equal ones."""
    two = Exercise([1, 2], "no", Mistake(lambda: 3, "one number"), (lambda: [3, 3], "two threes"))
    assert two.verdict([3, 3]) == (False, "Not yet. two threes")


@pytest.mark.parametrize("label", ["ex-99-none", "ex-04-none", "rule", None])
def test_unknown_labels_are_refused(label):
    """A label without a checker is refused with a sentence that shows one with."""
    with pytest.raises(ValueError) as caught:
        find(label)
    expected = f'label must be that of an exercise with a checker, as in "ex-04-rule", got {label!r}'
    assert str(caught.value) == expected and caught.value.__suppress_context__


def test_families_are_judged_by_how_far_they_move_apart():
    """Chapter 5's two families may be any that scaling to 100 moves ten times as far apart, and must be families."""
    one = find("ex-05-scale")
    assert one.verdict([[5, 5, 0, 0], [0, 0, 5, 5]])[0]  # exactly ten times
    apart, further, empty = (f"Not yet. {mistake.hint}" for mistake in one.mistakes)
    for families, hint in [
        ([[50, 50, 0, 0], [0, 0, 50, 50]], apart),  # exactly as far
        ([[1, 1], [100, 0]], apart),
        ([[200, 0], [0, 200]], apart),
        ([[6, 6, 0, 0], [0, 0, 6, 6]], further),
        ([[99, 0], [0, 99]], further),
        ([[1, 2], [1, 2]], empty),
        ([[1, 2], [0, 0]], empty),
    ]:
        assert one.verdict(families) == (False, hint)
    sentence = "The answer is a list of two families, each a list of counts that are zero or more."
    for families in ([1, 2], 5, [[1, 2]], [[1, 0], [0, 1], [1, 1]], [[1, -1], [0, 1]], [[[1], [2]], [[1], [3]]]):
        assert one.verdict(families) == (False, sentence)


def test_functions_are_called_on_cases():
    """A function is compared on the cases; one that fails is told how, and what is no function is refused."""
    mistakes = [(lambda: lambda x: 2 * x, "doubled"), (lambda: np.abs, "size only")]
    square = FunctionExercise(lambda: np.square, "x times x", *mistakes, cases=[(2,), (-3,)])
    assert square.verdict(lambda x: x**2)[0]
    assert square.verdict(lambda x: 2 * x) == (False, "Not yet. doubled")
    assert square.verdict(lambda x: x / 0) == (False, "Your function fails with ZeroDivisionError: division by zero")
    text = "Your function fails with ValueError: could not convert string to float: 'four'"
    assert square.verdict(lambda x: "four") == (False, text)
    assert square.verdict(lambda x: [x, x]) == (False, "The answer is 2 numbers. Yours is a table of shape (2, 2).")
    assert square.verdict(lambda x: None) == (False, "Not yet. x times x")
    assert square.verdict("x" * 70) == (False, "The answer is a function. Yours is str: '" + "x" * 59)
    assert square.verdict(4) == (False, "The answer is a function. Yours is int: 4")


def test_check_prints_one_sentence(capsys):
    """`check` prints the verdict, and nothing else."""
    check("ex-04-rule", ...)
    assert capsys.readouterr().out == "Put your answer in place of the dots, and run the cell again.\n"
    check("ex-04-rule", [0.1, 0.2, 1.0])
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize("w", [(10, 1), (6, 2), (1, 3)])
def test_the_recipe_of_chapter_6_makes_weighted_slopes_equal(w):
    """Without a bound at zero, ten people are split so that w exp(−εn) is the same in both regions."""
    first, second, *bounds = CHAPTER[6]._recipe(w, eps=0.1)
    assert_allclose([first + second, w[0] * np.exp(-0.1 * first)], [10, w[1] * np.exp(-0.1 * second)], rtol=1e-12)
    assert bounds == [0, 0]


def test_the_biases_of_chapter_6_add_up():
    """With consistency, the children's biases sum to that of their parent, 100 people at ε = 0.1; without, to their own."""
    *own, first, second = CHAPTER[6]._biases()
    assert_allclose(first + second, bias(100, 0.1), rtol=1e-11)  # a difference of numbers near three
    assert CHAPTER[6]._biases(after=False) == [*own, *own] == [float(bias(95, 0.1)), float(bias(5, 0.1))] * 2


def test_near_order_one_the_divergence_of_chapter_15_is_the_answer():
    """Rényi divergence over order falls with the order here, so the right answer is its limit at order 1."""
    right = find("ex-15-renyi").right()
    assert_allclose(CHAPTER[15]._renyi_over_order(1 + 1e-6), right, rtol=1e-4)  # the limit's own error and its cancellation
    assert (CHAPTER[15]._renyi_over_order(2) < right).all()


@pytest.mark.parametrize("parent, first", [(1, 1), (2, 4), (3, 0.5)])
def test_one_program_of_chapter_16_weighs_two_measurements(parent, first):
    """With the other child held at zero, parent and child are one count, measured as 10 and as 12: a weighted mean."""
    expected = np.average([10, 12], weights=[1 / parent, 1 / first])
    assert_allclose(CHAPTER[16]._one_program(parent, first), expected, rtol=1e-14)


def test_the_best_power_of_chapter_12_is_sought_on_its_grid(monkeypatch):
    """Powers 0.2, 0.3, …, 2.0 are tried, the one with the least variance is taken, and compared with linear weights."""
    tried = []
    monkeypatch.setattr(CHAPTER[12], "_sensitivity", lambda power, consistent: tried.append(power) or 1 + (power - 1.4) ** 2)
    assert_allclose(CHAPTER[12]._best(), [1.4, 1 / 1.16], rtol=1e-14)
    assert tried == [round(0.1 * i, 1) for i in range(2, 21)]


def test_blocks_at_the_threshold_of_chapter_7_are_not_above_it():
    """Without noise a block is shown if it has more people than the threshold, not as many."""
    n = census.blocks("WY").population
    expected = [17, (n >= 18).sum(), n[n >= 18].sum() / n.sum()]
    assert_allclose(CHAPTER[7]._truly_above(17), expected, rtol=1e-14)


@pytest.mark.parametrize("total, smallest", [(1.4, None), (2.8, None), (5.6, None), (2.8, 0.9), (5.6, 0.6), (5.6, 1.6)])
def test_three_regions_of_chapter_6_come_smallest_first(total, smallest):
    """They sum to the total, in rising order, the first as asked, and no other such split on the grid has less error."""
    found = CHAPTER[6]._three(total, smallest)
    grid = np.linspace(0, total, 561)[::20]
    assert_allclose(found.sum(), total, rtol=1e-14)
    assert (np.diff(found) > -1e-12).all() and (smallest is None or abs(found[0] - smallest) < 1e-12)
    splits = [(a, b, total - a - b) for a in (grid if smallest is None else [smallest]) for b in grid]
    best = min(mse([a, b, c], 1).sum() for a, b, c in splits if a <= b <= c)
    assert mse(np.maximum(0, found), 1).sum() <= best + 1e-12


def test_errors_of_chapter_16_are_those_of_the_formula_where_counts_are_large():
    """Measured over a few releases, the error of a level is its variance, if no count is near zero."""
    tree = Hierarchy.from_counts([[8e5], [1e4] * 80], [None, [0] * 80])
    measured, formula = (CHAPTER[16]._error(tree, 1, signs) for signs in (True, False))
    assert abs(measured / formula - 1) < 0.13  # 60 releases of 80 nodes: 4 √(5/4800), as Laplace noise has kurtosis 6
