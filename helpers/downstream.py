"""Money shared out by released counts: how far do the shares go wrong?

    p: (…, k) proportions of k groups · W(p): weight function, the policy · share_i = W(p_i) / Σ_j W(p_j)

Groups lie along the last axis, so a stack of releases is handled at once.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from . import checks

Weight = Callable[[np.ndarray], np.ndarray]

#: The paper's three policies: log(1+p) favours small groups, p is proportional, p² favours large groups.
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
    given = weights.sum(axis=-1, keepdims=True)
    if not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(f"weight must give at least one group a finite weight above zero, got {weights}")
    return weights / given


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


def _weight(weight: str | Weight) -> Weight:
    if callable(weight):
        return weight
    return WEIGHTS[checks.one_of("weight", weight, list(WEIGHTS))]
