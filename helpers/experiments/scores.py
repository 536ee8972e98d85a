"""Do measurements agree with a formula, and which mistake would they show?

z: (k,) scores, (measured − formula) / se, of k independent measurements: standard normal if the formula is right
"""

import numpy as np

from .. import checks
from ..checks import Numbers

BAR = 3.5  # standard errors; a right formula passes it once in 2000 times
MOSTLY = 1.28  # a normal number is above −1.28 in 9 of 10 cases


def look_normal(z: Numbers) -> bool:
    """Is no score far out (5 or more), their mean near 0 and their spread near 1, both within 3.5 standard errors?

    The mean is the sharpest of the three: a wrong formula shifts all scores the same way.

    >>> look_normal([-1.2, 0.3, 0.8, -0.4]), look_normal([2.1, 1.4, 2.9, 1.8])
    (True, False)
    """
    scores = checks.numbers("z", z)
    k = checks.whole("the number of scores", scores.size, least=2)
    mean_off, spread_off = abs(scores.mean()), abs(scores.std() - 1)
    return bool(mean_off < BAR / np.sqrt(k) and spread_off < BAR / np.sqrt(2 * k) and np.abs(scores).max() < 5)


def noticed(formula: Numbers, se: Numbers) -> float:
    """The relative error that the mean score shows in 9 of 10 runs, if the formula is off by it everywhere.

    An error of r moves score i by r formula_i / se_i, so r = (3.5 + 1.28) / (√k · mean of formula/se).

    >>> round(noticed([100, 100, 100, 100], se=[1, 1, 1, 1]), 4)
    0.0239
    """
    values, errors = checks.numbers("formula", formula), checks.positives("se", se)
    checks.fitting(formula=values, se=errors)
    return float((BAR + MOSTLY) / np.sqrt(values.size) / np.mean(values / errors))
