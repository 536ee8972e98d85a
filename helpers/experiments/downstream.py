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
from ..consistency.methods import METHODS, method_of
from ..hierarchy import Hierarchy
from ..releasing import draw
from ..simulation import ESTIMATES, ErrorStream, LinearFit

Weight = Callable[[np.ndarray], np.ndarray]

#: The paper's three policies: log(1+p) favours small groups, p is proportional, p² favours large groups.
#:
#: :meta hide-value:
WEIGHTS: Mapping[str, Weight] = MappingProxyType({"log": np.log1p, "linear": np.positive, "quadratic": np.square})


_BENT = 300.0  # squared percentage points: families whose shares move further are simulated whole


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
    log        0       320.0
    linear     0       310.0
    quadratic  0       380.0
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
    fit, before = None, list[np.ndarray]()
    if method in (METHODS["top_down"], METHODS["clip"]):
        fit = LinearFit(hierarchy, budgets, mechanism, fitted=method is METHODS["top_down"])
    stakes = {name: _Stakes(families, hierarchy, weight, fit) for name, weight in policies.items()}
    streams = {name: ErrorStream(hierarchy.sizes[-1], trials, families.dot, s.known, s.guess) for name, s in stakes.items()}
    for _ in tqdm(range(trials), desc="releases", delay=1, leave=False):
        released = draw(hierarchy, budgets, rng, method, mechanism, before)
        counts = released[-1].copy()
        clipped = before if method is METHODS["top_down"] else released
        moved = None if fit is None else fit.errors(clipped)[-1]
        for name, stake in stakes.items():
            streams[name].add(*stake.parts(counts, moved))
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

    def spread(self, x: np.ndarray) -> np.ndarray:
        return x.repeat(self.sizes)

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


class _Stakes:
    """What one policy makes of released counts, and how much of it is known beforehand.

    Near the truth, shares are linear in the counts x that they come from, with X = Σ x, summed over the family:

        J x = a (x − p X) − s (Σ a x − X Σ a p),   a = 100 W'(p) / (Σ W(p) · people in the family), s: true shares

    With u, the known part of the error of a count (see `LinearFit`), J u is a known part of the misallocation: its mean is
    zero. As u = Σ_j z_j (e_j − w) + w u_parent with independent z of variances v, E|J u|² = Σ_j v_j |J e_j − J w|² +
    Var(u_parent) |J w|². Any a would do: a chord of W as wide as the noise fits better than its slope, and where shares move
    so far that they are no longer linear, a = 0 does better still.
    """

    def __init__(self, families: "_Families", hierarchy: Hierarchy, weight: Weight, fit: LinearFit | None) -> None:
        self._families, self._weight = families, weight
        n = hierarchy.floats[-1]
        self.true = families.shares(n, weight)
        self.known: np.ndarray | None = None
        self.guess: np.ndarray | None = None
        if fit is None:
            return
        spread, sums = families.spread, families.sums
        w, v, s = fit.shares[-1], fit.noise[-1], self.true
        people = spread(sums(n))
        p = self._p = _or_zero(n, people)
        wide = _or_zero(np.sqrt(v), people)
        low, high = np.maximum(p - wide, 0.0), np.minimum(p + wide, 1.0)
        slope = _or_zero(weight(high) - weight(low), high - low)
        a = self._a = 100 * _or_zero(slope, spread(sums(weight(p))) * people)
        r = a * w - s * spread(sums(a * w)) + (a * p - s * spread(sums(a * p))) * (1 - spread(sums(w)))
        across = a * a * (1 - 2 * s + spread(sums(s * s))) - 2 * a * (r - spread(sums(s * r))) + spread(sums(r * r))
        known = sums(v * across) + sums(self.linear(w) ** 2) * fit.variances[-2][families.parents]
        near = known < _BENT
        self.known, self._a = np.where(near, known, 0.0), a * spread(near)
        self.guess = self.linear(fit.means[-1])

    def linear(self, x: np.ndarray) -> np.ndarray:
        """J x, in percentage points."""
        spread, sums = self._families.spread, self._families.sums
        moved = self._a * (x - self._p * spread(sums(x)))
        return moved - self.true * spread(sums(moved))

    def parts(self, counts: np.ndarray, u: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """The misallocation of released counts, for a stream: without its known part, and that part."""
        error = 100 * (self._families.shares(counts, self._weight) - self.true)
        if u is None:
            return (error,)
        known = self.linear(u)
        return error - known, known


def _or_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b, and zero where b is not above zero, or where that is no number: there nothing is known."""
    out = np.divide(a, b, out=np.zeros(len(b)), where=b > 0)
    return np.nan_to_num(out, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def _given(weights: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sums of weights, if they can be divided by."""
    if not (np.isfinite(sums) & (sums > 0)).all():
        raise ValueError(f"weight must give at least one group a finite weight above zero, got {weights}")
    return sums


def _weight(weight: str | Weight) -> Weight:
    if callable(weight):
        return weight
    return WEIGHTS[checks.one_of("weight", weight, list(WEIGHTS))]
