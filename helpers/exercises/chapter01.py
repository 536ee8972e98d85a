"""The exercises of chapter 1.

loss: the largest privacy loss · changed: how much the counts of each level change between neighbours
"""

import numpy as np

from . import Exercise, Mistake

_BUDGETS = np.array([0.1, 0.1, 0.3])  # state, tracts, blocks


def _loss(*changed):
    return float(_BUDGETS @ changed)


def _loss_and_budgets(*changed):
    """The loss, and the budgets in the same proportions that bring it down to 0.5."""
    return [_loss(*changed), *(_BUDGETS * 0.5 / _loss(*changed))]


def _odds(eps=0.5, sure=0.55):
    return [np.exp(eps) / (1 + np.exp(eps)), np.log(sure / (1 - sure))]


EXERCISES = {
    "ex-01-replace": Exercise(
        right=lambda: _loss(0, 2, 2),
        mistakes=[
            Mistake(lambda: _loss(1, 1, 1), "That is the promise for one person added. Use the data set `replaced`."),
            Mistake(lambda: _loss(2, 2, 2), "Not every level changes. How many people does the state have in `replaced`?"),
            Mistake(lambda: _loss(0, 1, 1), "Right about the state. But two blocks change, one at each end of the move."),
        ],
        hint="Add up over the levels: the budget of a level times the sum of the changes of its counts.",
    ),
    "ex-01-peek": Exercise(
        right=lambda: -np.log(np.exp(-0.5) / 2),
        mistakes=[
            Mistake(
                lambda: 0.5,
                "That is the loss of clipping alone. How likely is zero under the colleague's rule, if nobody is there?",
            ),
            Mistake(lambda: 2 * np.exp(0.5), "That is the ratio of the two probabilities. The loss is its logarithm."),
            Mistake(
                lambda: np.log(2),
                "With one person, the count must fall by one before it is clipped to zero. `cdf(0.0, 1, eps=0.5)` knows.",
            ),
            Mistake(lambda: np.log(np.exp(-0.5) / 2), "You divided the wrong way round: the empty block is on top."),
        ],
        hint="The loss is the logarithm of a ratio: how likely zero is with nobody there, over how likely with one person.",
    ),
    "ex-01-odds": Exercise(
        right=_odds,
        mistakes=[
            Mistake(
                lambda: [np.exp(0.5) / 2, np.log(1.1)],
                "You multiplied the probability. What an output multiplies is the odds, p / (1 − p).",
            ),
            Mistake(
                lambda: [_odds()[0], 0.1],
                "The first is right. For the second, turn the probability into odds, and take the logarithm.",
            ),
            Mistake(
                lambda: [_odds(1.0)[0], _odds()[1] / 2],
                "You let the ratio of the two likelihoods be exp(2ε). The definition bounds it by exp(ε), once.",
            ),
        ],
        hint="Odds after the release are odds before, times the ratio of the two likelihoods. Even odds are 1 to 1.",
        rtol=4e-3,
    ),
    "ex-01-household": Exercise(
        right=lambda: _loss_and_budgets(0, 8, 8),
        mistakes=[
            Mistake(
                lambda: _loss_and_budgets(4, 4, 4),
                "A household that moves changes two tracts and two blocks, and the state not at all.",
            ),
            Mistake(lambda: _loss_and_budgets(8, 8, 8), "The state has as many people after the move as before."),
            Mistake(
                lambda: _loss_and_budgets(0, 2, 2),
                "That is one person who moves. Here are up to four, and they move together.",
            ),
            Mistake(
                lambda: _loss_and_budgets(0, 4, 4),
                "Count both ends of the move: one tract loses the household, and another gains it.",
            ),
            Mistake(
                lambda: [_loss(0, 8, 8), *(_BUDGETS / 4)],
                "The loss is right. Then divide the budgets by as much as the loss is too large.",
            ),
        ],
        hint="By how much does each level change in all? The loss is the sum, over the levels, of budget times change.",
    ),
}
