"""The error of noisy counts that are clipped at zero, before any consistency step: no simulation needed.

bias2 = Σ bias² · variance = Σ Var · mse = bias2 + variance, in people squared, each summed over the nodes of a level
"""

import numpy as np
import pandas as pd

from ..allocation import Budgets, check_eps
from ..hierarchy import Hierarchy
from ..mechanisms import Mechanism

COLUMNS = ["bias2", "variance", "mse"]


def expected_error(hierarchy: Hierarchy, eps: Budgets, mechanism: Mechanism | None = None) -> pd.DataFrame:
    """Bias², variance and MSE of each level in closed form, before any consistency step, in people squared.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> expected_error(tree, eps=[0.5, 0.5]).round(3)
             bias2  variance     mse
    level 1  0.007     6.844   6.851
    level 2  0.185    10.641  10.826
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism)
    rows = []
    for n, e in zip(hierarchy.floats, budgets, strict=True):
        bias2, mse = kind.bias_unchecked(n, e) ** 2, kind.mse_unchecked(n, e)
        rows.append((bias2.sum(), (mse - bias2).sum(), mse.sum()))
    return pd.DataFrame(rows, index=list(hierarchy.levels), columns=COLUMNS)


def relative_errors(hierarchy: Hierarchy, eps: Budgets) -> list[np.ndarray]:
    """√MSE(N, ε_l) / N for each node with N > 0, one array a level, before any consistency step.

    >>> tree = Hierarchy.from_counts([[100], [100, 0]], [None, [0, 0]])
    >>> [r.round(4).tolist() for r in relative_errors(tree, eps=[1, 0.5])]
    [[0.0141], [0.0283]]
    """
    budgets, mechanism = check_eps(hierarchy, eps)
    filled = [(n[n > 0], e) for n, e in zip(hierarchy.floats, budgets, strict=True)]
    return [np.sqrt(mechanism.mse_unchecked(n, e)) / n for n, e in filled]
