"""The exercises of chapter 16."""

from functools import cache

import numpy as np

from .. import LAPLACE, Hierarchy, cube_root, gls, gls_variances, load_state, noisy_counts, top_down
from . import Exercise, FunctionExercise

_PAIR = Hierarchy.from_counts([[2], [1, 1]], [None, [0, 0]])
_CHAIN = Hierarchy.from_counts([[9], [9]], [None, [0]])
_TRIALS = 60


def _by_hand() -> np.ndarray:
    counts, variances = gls(_PAIR, [[20], [5, 9]], [6, 3]), gls_variances(_PAIR, [6, 3])
    return np.concatenate([*counts, *variances])


def _twice(share: float) -> float:
    """Variance of a count that is measured twice, with these parts of a budget of 1."""
    return gls_variances(_CHAIN, LAPLACE.noise_variance([share, 1 - share]))[0][0]


def _one_program(parent: float, first: float) -> float:
    """The parent's count if the second child is held at zero, the first is the parent, and these are their variances."""
    return (10 / parent + 12 / first) / (1 / parent + 1 / first)


def _two_steps(parent: float, child: float) -> float:
    return top_down(_PAIR, gls(_PAIR, [[10], [12, -6]], [parent, child]))[0][0]


@cache
def _known_empty(level: int, signs: bool = True) -> float:
    """By how many percent a level's error falls if the empty blocks of Wyoming are known, with GLS at ε = 2."""
    errors = [_error(load_state("Wyoming", kind), level, signs) for kind in ("geography", "populated")]
    return 100 * (1 - errors[1] / errors[0])


def _error(tree: Hierarchy, level: int, signs: bool) -> float:
    eps = cube_root(tree, 2).eps
    v = LAPLACE.noise_variance(eps)
    if not signs:
        return gls_variances(tree, v)[level].sum()
    rng, found = np.random.default_rng(16), 0.0
    for _ in range(_TRIALS):
        released = top_down(tree, gls(tree, noisy_counts(tree, eps, rng), v))
        found += ((released[level] - tree.floats[level]) ** 2).sum() / _TRIALS
    return found


EXERCISES = {
    "ex-16-hand": Exercise(
        _by_hand,
        "Sum of the blocks, and its variance; average with the tract's count; then share out the gap.",
        ([20, 8, 12, 6, 3, 3], "That is top-down: it ignores what the blocks say about the tract."),
        ([14, 5, 9, 6, 3, 3], "That is bottom-up: it ignores the tract's own count."),
        (
            lambda: [*_by_hand()[:4], 3, 3],
            "The blocks learn something from the tract, so their variances fall as well: see the lemma.",
        ),
        (
            lambda: [*_by_hand()[:4], 1.5, 1.5],
            "The variance of a block has two parts. You left out the one that comes from the fitted tract.",
        ),
    ),
    "ex-16-chain": Exercise(
        lambda: [_twice(0.5), LAPLACE.noise_variance(1)],
        "Precisions add up: that of a measurement is half of ε². Where is their sum largest, at a total of 1?",
        (lambda: [_twice(0.5)] * 2, "Is half and half really the best? Try to give one of the two more."),
        ([8, 2], "With half and half there are two measurements, and GLS averages them."),
        ([8, 4], "You added up tract and block. Both have the same count: what is the variance of that one?"),
    ),
    "ex-16-gauss": FunctionExercise(
        lambda: lambda k: (np.sqrt(k + 1) - 1) / (k - 1 + np.sqrt(k + 1)),
        "Write parent and k children after GLS with the lemma on variances, put in 1/(2ρ), and set the slope to zero.",
        (lambda: lambda k: 1 / (1 + np.sqrt(k)), "That is the square-root rule, for counts that are used alone."),
        (lambda: lambda k: 1 / (1 + np.cbrt(k)), "That is the cube-root rule, for Laplace noise."),
        (lambda: lambda k: 1 - (np.sqrt(k + 1) - 1) / (k - 1 + np.sqrt(k + 1)), "That is the share of the children."),
        (lambda: lambda k: 0.0 * k, "For Laplace noise and small families, yes. Look at the slope at zero with 1/(2ρ)."),
        cases=[(2,), (10,), (164,)],
    ),
    "ex-16-zeros": Exercise(
        lambda: _known_empty(2),
        "Release both trees dozens of times with the cube-root split of each, and compare the sums over all blocks.",
        (lambda: _known_empty(1, signs=False), "That is the fall at the tracts. The blocks are asked for."),
        (lambda: _known_empty(2, signs=False), "That is GLS with negative counts. Make them non-negative, in both trees."),
        (lambda: 100 - _known_empty(2), "That is what is left of the error. By how much does it fall?"),
        (lambda: _known_empty(2) / 100, "That is a share. The answer is asked for in percent."),
        rtol=0.0,
        atol=1.3,
    ),
    "ex-16-nnls": Exercise(
        lambda: [_one_program(2, 1), _two_steps(2, 1)],
        "In the single program the second child is zero, and the first is the parent. What is the best average then?",
        (lambda: [_two_steps(2, 1), _one_program(2, 1)], "The single program comes first."),
        ([11, 26 / 3], "You gave all measurements the same say. Divide each square by its variance."),
        (lambda: [_one_program(2, 1), 10], "The parent kept its measurement: GLS comes before the signs are mended."),
        (lambda: [_two_steps(2, 1)] * 2, "In the single program the sign and the parent are settled together."),
    ),
}
