"""How good the counts of a release would be: the error of each level, and of each count as a part of it.

    error: root mean squared error of one count, in people · relative error: that, divided by the count
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .allocation import Allocation
from .hierarchy import Hierarchy
from .release import Seed, check_eps
from .simulation import expected_error, simulate


def relative_errors(hierarchy: Hierarchy, eps: Sequence[float] | Allocation) -> list[np.ndarray]:
    """√MSE(N, ε_l) / N for each node with N > 0, one array a level, before any consistency step.

    >>> tree = Hierarchy.from_counts([[100], [100, 0]], [None, [0, 0]])
    >>> [r.round(4).tolist() for r in relative_errors(tree, eps=[1, 0.5])]
    [[0.0141], [0.0283]]
    """
    eps, mechanism = check_eps(hierarchy, eps)
    filled = [(n[n > 0], e) for n, e in zip(hierarchy.floats, eps, strict=True)]
    return [np.sqrt(mechanism.mse(n, e)) / n for n, e in filled]


def error_report(hierarchy: Hierarchy, eps: Sequence[float] | Allocation, trials: int, seed: Seed = None) -> pd.DataFrame:
    """A row a level: nodes, budget, the error of one count in closed form and measured, and how many are good to a tenth.

    `expected` is before children are made to add up, `measured` after it, over `trials` simulated releases, `±` its standard
    error. `within 10%` is the part of the nodes whose expected error is at most a tenth of their count (never, if empty).

    >>> tree = Hierarchy.from_counts([[100], [100, 0]], [None, [0, 0]])
    >>> error_report(tree, eps=[1, 0.5], trials=4, seed=1)[["nodes", "budget", "expected", "within 10%"]].round(2)
             nodes  budget  expected  within 10%
    level 1      1     1.0      1.41         1.0
    level 2      2     0.5      2.45         0.5
    """
    measured = simulate(hierarchy, eps, trials, seed)
    n, error = hierarchy.sizes, np.sqrt(measured.mse / hierarchy.sizes)
    columns = {
        "nodes": n,
        "budget": check_eps(hierarchy, eps)[0],
        "expected": np.sqrt(expected_error(hierarchy, eps).mse / n),
        "measured": error,
        "±": (measured.mse_se / n / (2 * error)).fillna(0.0),  # of a root: d√x = dx / 2√x; of no error at all: 0/0
        "within 10%": [np.sum(r <= 0.1) for r in relative_errors(hierarchy, eps)] / n,
    }
    return pd.DataFrame(columns)
