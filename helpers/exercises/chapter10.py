"""The exercises of chapter 10."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from .. import bias, census, expected_error, load_state, minimize_error, prior, uniform
from ..allocation import Budgets
from . import Exercise


def _gone(error: Callable[[float], float], most: float = 20.0) -> float:
    """The total at which an error of Delaware falls to one."""
    return brentq(lambda total: np.log(error(total)), 0.05, most)


def _bias2(rule: Callable[[float], Budgets]) -> Callable[[float], float]:
    truth = load_state("DE")
    return lambda total: expected_error(truth, rule(total)).bias2.sum()


def _bias(total: float) -> float:
    truth = load_state("DE")
    return sum(bias(n, e).sum() for n, e in zip(truth.counts, minimize_error(prior("DE"), total).eps, strict=True))


def _variance(total: float) -> float:
    return expected_error(load_state("DE"), minimize_error(prior("DE"), total)).variance.sum()


def _shared(what: str) -> np.ndarray:
    """People (sum) or blocks (size) in the two tracts that share a code, the larger tract first."""
    leaves = census.leaves("DE", "populated", ["county", "tract", "block"])
    tracts = leaves.groupby("tract", as_index=False).population.agg(["sum", "size"])
    return tracts[tracts.tract.str[5:].duplicated(keep=False)].sort_values("sum", ascending=False)[what].to_numpy()


EXERCISES = {
    "ex-10-noise": Exercise(
        lambda: _gone(_bias2(lambda total: minimize_error(prior("DE"), total))),
        "Write a function of the total: split it on de.earlier, take the Bias² of de.truth, and add up. Where is it 1?",
        (lambda: _gone(_bias2(lambda total: uniform(load_state("DE"), total))), "That is the uniform split."),
        (lambda: _gone(_bias), "You added up biases. Square the bias of each node first."),
        (lambda: _gone(_variance, 2000.0), "That is the variance, which falls much more slowly."),
        (
            lambda: _gone(_bias2(lambda total: [total] * 3)),
            "You gave each level the whole total. The split shares it out between the levels.",
        ),
    ),
    "ex-10-tract": Exercise(
        lambda: _shared("sum"),
        "Add up the people of each tract. Which two tracts have the same last six digits?",
        (lambda: _shared("sum")[::-1], "The right two tracts. Give the larger one first."),
        (lambda: _shared("size"), "These are numbers of blocks. Add up the people."),
        (
            lambda: np.sort(load_state("DE").counts[1])[1::-1],
            "These are the smallest tracts of the published tree, where the two are one already.",
        ),
    ),
}
