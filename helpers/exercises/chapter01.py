"""The exercises of chapter 1.

loss: the largest privacy loss · changed: how much the counts of each level change between neighbours
"""

from numpy import array, exp, log

from . import Exercise

_EPS = array([0.1, 0.1, 0.3])  # state, tracts, blocks


def _loss(*changed: int) -> float:
    return float(_EPS @ changed)


def _both(*changed: int) -> list[float]:
    """The loss, and the budgets in the same proportions that bring it down to 0.5."""
    return [_loss(*changed), *(_EPS * 0.5 / _loss(*changed))]


def _surest(eps: float) -> list[float]:
    """The ε, and how sure one can be after even odds."""
    return [eps, 1 / (1 + exp(-eps))]


EXERCISES = {
    "ex-01-replace": Exercise(
        lambda: _loss(0, 2, 2),
        "Add up over the levels: the budget of a level times the sum of the changes of its counts.",
        (lambda: _loss(1, 1, 1), "That is the promise for one person added. Use the data set `replaced`."),
        (lambda: _loss(2, 2, 2), "Not every level changes. How many people does the state have in `replaced`?"),
        (lambda: _loss(0, 1, 1), "Right about the state. But two blocks change, one at each end of the move."),
    ),
    "ex-01-peek": Exercise(
        -log(exp(-0.5) / 2),
        "The loss is the logarithm of a ratio: how likely zero is with nobody there, over how likely with one person.",
        (0.5, "That is the loss of clipping alone. How likely is zero under the colleague's rule, if nobody is there?"),
        (2 * exp(0.5), "That is the ratio of the two probabilities. The loss is its logarithm."),
        (log(2), "With one person, the count must fall by one before it is clipped to zero. How likely is that?"),
        (log(exp(-0.5) / 2), "You divided the wrong way round: the empty block is on top."),
    ),
    "ex-01-scale": Exercise(
        lambda: _surest(0.5 * 2**0.5),
        "The variance of Laplace noise of scale b is 2b². Which b has the colleague's noise, and which ε belongs to it?",
        (lambda: _surest(0.5), "That is what the colleague promises. The scale of the noise is not its standard deviation."),
        (lambda: _surest(0.5 / 2**0.5), "The other way round: is that noise larger or smaller than it should be?"),
        (lambda: _surest(1.0), "You took the standard deviation for the variance. The variance is its square."),
        (
            lambda: [0.5 * 2**0.5, exp(0.5 * 2**0.5) / 2],
            "The ε is right. You multiplied the probability. What an output multiplies is the odds, p / (1 − p).",
        ),
    ),
    "ex-01-household": Exercise(
        lambda: _both(0, 8, 8),
        "By how much does each level change in all? The loss is the sum, over the levels, of budget times change.",
        (lambda: _both(4, 4, 4), "A household that moves changes two tracts and two blocks, and the state not at all."),
        (lambda: _both(8, 8, 8), "The state has as many people after the move as before."),
        (lambda: _both(0, 2, 2), "That is one person who moves. Here are up to four, and they move together."),
        (lambda: _both(0, 4, 4), "Count both ends of the move: one tract loses the household, and another gains it."),
        ([_loss(0, 8, 8), *_EPS / 4], "The loss is right. Then divide the budgets by as much as the loss is too large."),
    ),
}
