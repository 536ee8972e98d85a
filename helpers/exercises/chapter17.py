"""The exercises of chapter 17."""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from .. import Accountant, cube_root, load_state
from . import Exercise

_PIECES: list[tuple[float | Fraction, int]] = [(0.1, 10), (1 / 3, 3), (Fraction(1, 3), 3), (1 / 7, 7)]
_log = np.vectorize(math.log)  # the logarithm that NumPy's generator uses


def _nothing_left(piece: float | Fraction, times: int) -> bool:
    purse = Accountant(1)
    for _ in range(times):
        purse.spend(piece, "a piece")
    return purse.left == 0


@cache
def _budgets() -> np.ndarray:
    return cube_root(load_state("delaware", tree="geography"), total=1).eps


def _move(times: float = 2, factor: float | None = None) -> list[float]:
    """So many times the budgets of tracts and blocks are promised to a move; and so many times their scales."""
    promise = times * _budgets()[1:].sum()
    return [promise, *(promise if factor is None else factor) / _budgets()[1:]]


@cache
def _impossible(signed: bool, draws: int) -> float:
    """Share of Laplace noise on N = 0 at ε = 0.5 that N = 1 can never give, by either formula for the noise."""
    rng, b, near = np.random.default_rng(1), 1 / 0.5, np.arange(-4, 5)
    y = rng.choice([-1, 1], draws) * b * _log(1 - rng.random(draws)) if signed else rng.laplace(0, b, draws)
    side = np.sign(y - 1)[:, None]
    tail = np.exp(-np.abs(y - 1) / b)  # u of the first formula, 2u or 2 − 2u of the second, which so has half as many values
    step = 2.0**-53 if signed else 2.0**-52
    u = np.clip((np.rint(tail / step)[:, None] + near) * step, step, 1)
    return 1 - float((1 - side * b * _log(u) == y[:, None]).any(axis=1).mean())


@cache
def _first_come() -> np.ndarray:
    """(10,) mean errors when the odd people of a family of ten go to the first members, at ε = 1."""
    k = np.arange(-60, 61)
    chance = np.bincount(k % 10, np.tanh(0.5) * np.exp(-np.abs(k)), minlength=10)  # of one noise, modulo ten
    excess = np.fft.ifft(np.fft.fft(chance) ** 11).real  # of the children over the parent: eleven noises, modulo ten
    odd = np.roll(excess[::-1], 1)  # people to hand out
    return 1 - np.cumsum(odd) - odd @ np.arange(10) / 10


EXERCISES = {
    "ex-17-purse": Exercise(
        lambda: [_nothing_left(*piece) for piece in _PIECES],
        "Open an `Accountant(1)` for each, spend the pieces, and look at `left`.",
        ([0, 1, 1, 0], "That is what sums of floats say. The account takes a float for the decimal that it prints."),
        ([1, 1, 1, 1], "They all fit, but is nothing at all left over? Look at how 1/3 is printed."),
        (lambda: [not _nothing_left(*piece) for piece in _PIECES], "Upside down: True is for nothing left."),
    ),
    "ex-17-neighbours": Exercise(
        _move,
        "Which levels does a move change, and by how much in all? Add up change times budget over these levels.",
        (lambda: [2, *_move(factor=2)[1:]], "Does a move within the state change the state's total?"),
        (
            lambda: _move(times=1),
            "A move takes a person from one count and adds one to another: how many counts change at a level?",
        ),
        (lambda: _move(factor=2), "The promise is right. Doubling the scales is a little more than the promise asks for."),
        (lambda: _move(factor=1), "The promise is right. These scales are those of the release as it is."),
    ),
    "ex-17-textbook": Exercise(
        lambda: _impossible(signed=True, draws=50_000),
        "For a count n, u is near exp(−|y − n|/b). Try the nine multiples of 2⁻⁵³ around it, with the sign of y − n.",
        (lambda: _impossible(signed=False, draws=20_000), "That is the share for NumPy's formula."),
        (lambda: 1 - _impossible(signed=True, draws=20_000), "That is the share of outputs that *are* possible."),
        (lambda: 100 * _impossible(signed=True, draws=20_000), "Between zero and one, please: not in percent."),
        rtol=0.0,
        atol=0.02,
    ),
    "ex-17-round": Exercise(
        round(52 * math.log(2) / 0.5),
        "Which u gives the largest noise in NumPy's formula? There are finitely many, equally spaced.",
        (round(53 * math.log(2) / 0.5), "The logarithm is not of u, but of twice as much: look at the formula."),
        (round(52 * math.log(2)), "The noise has a scale, too."),
        (round(52 * math.log(2) * 0.5), "Is the scale ε, or its inverse?"),
        (52 * math.log(2) / 0.5, "That is the largest noise. It is still to be rounded."),
        rtol=1e-6,
    ),
    "ex-17-odd": Exercise(
        lambda: _first_come()[[0, -1]],
        "Round all members down by the same number, give one more to the first ones, and average released minus true.",
        ([0, 0], "That is what drawing lots gives. Hand the odd people to the first members."),
        (lambda: _first_come()[[-1, 0]], "The other way round: the first block's error comes first, with its sign."),
        (lambda: np.abs(_first_come()[[0, -1]]), "An error has a sign: released minus true."),
        praise="It can be had without drawing: all that matters is the sum of the noise modulo ten.",
        rtol=0.0,
        atol=0.1,
    ),
}
