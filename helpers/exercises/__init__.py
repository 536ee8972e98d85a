"""Exercises that check themselves: `check("ex-04-rule", answer)` says whether an answer is right, and never what is right.

    label: the exercise's name in its chapter · right: the answer, computed when asked for · mistake: a usual wrong answer

One file a chapter (chapter04.py, …) has a dictionary EXERCISES. The exercise's text and its solution stand in the chapter's
notebook, which calls `check` on the solution's own answer: so a wrong checker fails the chapter's test.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

_EMPTY = "Put your answer in place of the dots, and run the cell again."


class Mistake(NamedTuple):
    """A usual wrong answer, computed when asked for, and what to say to whoever gives it."""

    answer: Callable[[], Any]
    hint: str


class Exercise:
    """What an answer is compared with: numbers, one or many, to a relative tolerance.

    `hint` is for a wrong answer that is none of the mistakes, `praise` one more thought for whoever is right. A mistake is
    a pair of an answer and its own hint. An answer is a number, or numbers, or a function without arguments that finds them.
    """

    def __init__(
        self, right: Any, hint: str, *mistakes: tuple[Any, str], praise: str = "", rtol: float = 2e-3, atol: float = 0.0
    ) -> None:
        self.right, self.hint, self.praise, self.rtol, self.atol = _later(right), hint, praise, rtol, atol
        self.mistakes = [Mistake(_later(answer), hint) for answer, hint in mistakes]

    def verdict(self, answer: Any) -> tuple[bool, str]:
        """Is the answer right, and what to say."""
        if answer is ... or answer is None:
            return False, _EMPTY
        try:
            found = self._numbers(answer)
        except (TypeError, ValueError) as problem:
            return False, str(problem)
        right = self._numbers(self.right())
        if found.shape != right.shape:
            return False, f"The answer is {_described(right)}. Yours is {_described(found)}."
        if self._close(found, right):
            return True, f"Right. {self.praise}".strip()
        for mistake in self.mistakes:
            usual = self._numbers(mistake.answer())
            if usual.shape == found.shape and self._close(found, usual):
                return False, f"Not yet. {mistake.hint}"
        return False, f"Not yet. {self.hint}"

    def _close(self, a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.allclose(a, b, rtol=self.rtol, atol=self.atol))

    def _numbers(self, answer: Any) -> np.ndarray:
        try:
            values = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"The answer is made of numbers. Yours is {type(answer).__name__}: {answer!r:.60}") from None
        if not np.isfinite(values).all():
            raise ValueError("The answer is finite. Yours has a number that is infinite or missing.")
        return values


class FunctionExercise(Exercise):
    """An answer that is a function: it is called on cases, and must return what the right function returns."""

    def __init__(self, right: Any, hint: str, *mistakes: tuple[Any, str], cases: Sequence[tuple]) -> None:
        super().__init__(right, hint, *mistakes)
        self.cases = cases

    def _numbers(self, answer: Any) -> np.ndarray:
        if not callable(answer):
            raise TypeError(f"The answer is a function. Yours is {type(answer).__name__}: {answer!r:.60}")
        try:
            return np.array([np.asarray(answer(*case), dtype=np.float64) for case in self.cases])
        except Exception as problem:  # whatever a reader's function may raise is told to the reader
            raise ValueError(f"Your function fails with {type(problem).__name__}: {problem}") from None


def check(label: str, answer: Any) -> None:
    """Print whether `answer` solves the exercise, and if not, what may have gone wrong. Never prints the solution.

    >>> check("ex-04-rule", ...)
    Put your answer in place of the dots, and run the cell again.
    """
    print(find(label).verdict(answer)[1])


def find(label: str) -> Exercise:
    """The exercise of that label.

    >>> find("ex-99-none")
    Traceback (most recent call last):
    ValueError: label must be that of an exercise with a checker, as in "ex-04-rule", got 'ex-99-none'
    """
    try:
        chapter = str(label).split("-")[1]
        return import_module(f"{__name__}.chapter{chapter}").EXERCISES[label]
    except (IndexError, ImportError, KeyError):
        sentence = f'label must be that of an exercise with a checker, as in "ex-04-rule", got {label!r}'
        raise ValueError(sentence) from None


def _later(answer: Any) -> Callable[[], Any]:
    return answer if callable(answer) else lambda: answer


def _described(values: np.ndarray) -> str:
    if values.ndim == 0:
        return "one number"
    return f"{len(values)} numbers" if values.ndim == 1 else f"a table of shape {values.shape}"
