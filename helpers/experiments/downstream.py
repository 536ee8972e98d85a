"""Money shared out by released counts: how far do the shares go wrong?

    p: (…, k) proportions of k groups · W(p): weight function, the policy · share_i = W(p_i) / Σ_j W(p_j)

Groups lie along the last axis, so a stack of releases is handled at once. `simulate_misallocation` shares out one budget in
every family of a tree's lowest level, such as the blocks of each tract, release after release.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..allocation import Budgets, check_eps
from ..checks import Seed
from ..consistency.methods import method_of
from ..hierarchy import Hierarchy
from ..releasing import draw
from ..simulation import ESTIMATES, ErrorStream

Weight = Callable[[np.ndarray], np.ndarray]

#: The paper's three policies: log(1+p) favours small groups, p is proportional, p² favours large groups.
#:
#: :meta hide-value:
WEIGHTS: Mapping[str, Weight] = MappingProxyType({"log": np.log1p, "linear": np.positive, "quadratic": np.square})


def shares(counts: ArrayLike, weight: str | Weight = "linear") -> np.ndarray:
    """W(p_i) / Σ_j W(p_j) with p_i = N_i / Σ_j N_j: the part of the money that each group gets.

    If nobody is counted at all, every group gets the same part.

    >>> shares([1, 3]), shares([1, 3], "quadratic"), shares([0, 0])
    (array([0.25, 0.75]), array([0.1, 0.9]), array([0.5, 0.5]))
    """
    n = checks.counts("counts", counts).astype(np.float64)
    if n.ndim == 0 or n.shape[-1] == 0:
        raise ValueError(f"counts must hold at least one group, got shape {n.shape}")
    function = _weight(weight)
    total = n.sum(axis=-1, keepdims=True)
    p = np.divide(n, total, out=np.full_like(n, 1 / n.shape[-1]), where=total > 0)
    weights = np.asarray(function(p), dtype=np.float64)
    if weights.shape != p.shape:
        raise ValueError(f"weight must give one number for each of the {p.shape[-1]} groups, got shape {weights.shape}")
    return weights / _given(weights, weights.sum(axis=-1, keepdims=True))


def misallocation(counts: ArrayLike, released: ArrayLike, weight: str | Weight = "linear") -> np.ndarray:
    """100 · (share by released counts − share by true counts), in percentage points of the money.

    >>> misallocation([50, 50], [60, 40])
    array([ 10., -10.])
    """
    true, noisy = checks.counts("counts", counts), checks.counts("released", released)
    try:
        fits = np.broadcast_shapes(true.shape, noisy.shape)[-1:] == true.shape[-1:] == noisy.shape[-1:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"released must have a count for each of the groups in counts {true.shape}, got {noisy.shape}")
    return 100 * (shares(noisy, weight) - shares(true, weight))


def simulate_misallocation(
    hierarchy: Hierarchy,
    eps: Budgets,
    trials: int,
    seed: Seed = None,
    weights: Mapping[str, str | Weight] = WEIGHTS,
    consistent: bool | str | Callable = True,
) -> pd.DataFrame:
    """Bias², variance and MSE of the misallocation inside each family of the lowest level, over `trials` releases.

    Each parent's money is shared out among its children by their released counts. Errors are in percentage points of the
    parent's money, squared and summed over the children. The index is (weight, node), node being the parent's place in its
    level; the columns are those of `simulate`, and so are the estimates, the seed and the progress bar.

    >>> tree = Hierarchy.from_counts([[8], [2, 6]], [None, [0, 0]])
    >>> simulate_misallocation(tree, eps=[1, 1], trials=400, seed=1).mse.round(-1)
    weight     node
    log        0       310.0
    linear     0       310.0
    quadratic  0       360.0
    Name: mse, dtype: float64
    """
    from tqdm import tqdm

    budgets, mechanism = check_eps(hierarchy, eps)
    trials = checks.whole("trials", trials, least=2, most=checks.MOST_TRIALS)
    method, rng = method_of(consistent), checks.generator(seed)
    families = _Families(hierarchy)
    if not isinstance(weights, Mapping) or not weights:
        raise TypeError(f"weights must map at least one name to a function of proportions, got {weights!r}")
    policies = {name: _weight(weight) for name, weight in weights.items()}
    true = {name: families.shares(hierarchy.floats[-1], weight) for name, weight in policies.items()}
    streams = {name: ErrorStream(hierarchy.sizes[-1], trials, families.dot) for name in policies}
    for _ in tqdm(range(trials), desc="releases", delay=1, leave=False):
        counts = draw(hierarchy, budgets, rng, method, mechanism)[-1]
        for name, weight in policies.items():
            streams[name].add(100 * (families.shares(counts, weight) - true[name]))
    tables = {name: pd.DataFrame(dict(zip(ESTIMATES, stream.estimates(), strict=True))) for name, stream in streams.items()}
    return pd.concat({name: table.set_index(families.parents) for name, table in tables.items()}, names=["weight", "node"])


class _Families:
    """The families of a tree's lowest level, side by side in one array: sums, inner products and shares of each."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        if len(hierarchy.levels) < 2:
            raise ValueError(f"hierarchy must have at least two levels, so that there are families, got {hierarchy!r}")
        link = hierarchy.links[-1]
        self.starts = np.flatnonzero(np.diff(link, prepend=-1))
        self.parents = link[self.starts]
        self.sizes = np.diff(self.starts, append=hierarchy.sizes[-1])

    def sums(self, x: np.ndarray) -> np.ndarray:
        return np.add.reduceat(x, self.starts)

    def dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.sums(a * b)

    def shares(self, counts: np.ndarray, weight: Weight) -> np.ndarray:
        """`shares` of every family at once; where nobody is counted, all children get the same."""
        totals = self.sums(counts)
        empty = totals == 0
        if empty.any():
            counts, totals = counts + empty.repeat(self.sizes), np.where(empty, self.sizes, totals)
        weights = weight(counts / totals.repeat(self.sizes))
        return weights / _given(weights, self.sums(weights)).repeat(self.sizes)


def _given(weights: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sums of weights, if they can be divided by."""
    if not (np.isfinite(sums) & (sums > 0)).all():
        raise ValueError(f"weight must give at least one group a finite weight above zero, got {weights}")
    return sums


def _weight(weight: str | Weight) -> Weight:
    if callable(weight):
        return weight
    return WEIGHTS[checks.one_of("weight", weight, list(WEIGHTS))]
