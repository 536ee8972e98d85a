"""How to split a privacy budget over the levels of a tree.

    eps: (L,) budget of each level, top first · w: (L,) weights · n: (L,) nodes a level
    F_l(ε) = Σ_j mse(N_j, ε) over the nodes of level l · x: (u,) distinct counts of a level · m: (u,) how often each occurs

Every function takes a hierarchy and returns an `Allocation`, so comparing them is a loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import checks, mechanism
from .hierarchy import Hierarchy, check_hierarchy

_SOLVED = 1e-14  # a spread that rounding alone could cause
_ROUNDING = 1e-10  # below this spread, a step that brings no progress is rounding
_MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class Allocation:
    """A budget for each level and the error it leads to before any consistency step.

    `mse_by_level` and `mse` (their sum) are unweighted, in people squared. `kkt_spread` is how far the weighted marginal
    errors of the levels are apart, relative to their mean: zero exactly at the optimum for the weights in use.
    """

    levels: tuple[str, ...]
    eps: np.ndarray
    mse_by_level: np.ndarray
    kkt_spread: float

    @property
    def total(self) -> float:
        """Σ ε_l, the budget that a release with this allocation spends."""
        return float(self.eps.sum())

    @property
    def mse(self) -> float:
        """Total expected squared error over all nodes of the tree."""
        return float(self.mse_by_level.sum())

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.eps, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        budgets = ", ".join(f"{name} {e:.4g}" for name, e in zip(self.levels, self.eps, strict=True))
        return f"Allocation({budgets}; total {self.total:.4g}, mse {self.mse:.4g})"


def uniform(hierarchy: Hierarchy, total: float) -> Allocation:
    """ε_l = ε/L: every level gets the same.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> uniform(tree, total=1).eps
    array([0.5, 0.5])
    """
    total, w = _checked(hierarchy, "total", total, None)
    return _at(hierarchy, np.full(len(w), total / len(w)), w)


def cube_root(hierarchy: Hierarchy, total: float, weights: Sequence[float] | None = None) -> Allocation:
    """ε_l ∝ (w_l n_l)^(1/3): the optimum when all counts are large (or all zero). Needs node counts only, no data.

    >>> tree = Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])
    >>> cube_root(tree, total=3).eps
    array([1., 2.])
    """
    total, w = _checked(hierarchy, "total", total, weights)
    return _at(hierarchy, total * _cube_root_shares(hierarchy, w), w)


def minimize_error(hierarchy: Hierarchy, total: float, weights: Sequence[float] | None = None) -> Allocation:
    """Program (1): minimise Σ_l w_l F_l(ε_l) over ε > 0 with Σ_l ε_l = total.

    The minimum is where every level has the same marginal error, w_l F_l′(ε_l) = −λ. Newton's method on these L
    equations, started from the cube-root rule, needs a handful of steps.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> minimize_error(tree, total=1).eps.round(4)
    array([0.4581, 0.5419])
    """
    total, w = _checked(hierarchy, "total", total, weights)
    return _allocation(hierarchy, *_newton(hierarchy, total, w))


def minimize_budget(hierarchy: Hierarchy, tau: float, weights: Sequence[float] | None = None) -> Allocation:
    """Program (2): minimise Σ_l ε_l over ε > 0 with Σ_l w_l F_l(ε_l) ≤ tau (people squared).

    The constraint is always active, so this is program (1) at the total T whose least error E(T) is tau. E falls like
    1/T², which makes E^(−1/2) almost a straight line: Newton's method on it needs about four solutions of (1).

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> best = minimize_budget(tree, tau=40)
    >>> round(best.mse, 9), round(best.total, 4)
    (40.0, 0.6099)
    """
    tau, w = _checked(hierarchy, "tau", tau, weights)
    # Proposition 4 puts E(T) between C/T² and 2C/T²; start where C/T² = tau, at or below the answer.
    total = np.sqrt(np.cbrt(w * hierarchy.sizes).sum() ** 3 / tau)
    for _ in range(_MOST_STEPS):
        eps, marginal = _newton(hierarchy, total, w)
        error = w @ _mse_by_level(hierarchy, eps)
        step = 2 * error / marginal.mean() * (np.sqrt(error / tau) - 1)  # the marginal error is −dE/dT
        if abs(step) <= 1e-15 * total:
            break
        total += step
    return _allocation(hierarchy, eps, marginal)


def _newton(hierarchy: Hierarchy, total: float, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L,) the solution of program (1), and (L,) its marginal errors.

    The marginal error M_l falls like 1/ε³, so Newton's method works on G_l = M_l^(−1/3), almost a straight line in ε:
    find steps that make G equal at all levels and add up to zero.
    """
    eps = total * _cube_root_shares(hierarchy, w)
    least, best = np.inf, None
    for _ in range(_MOST_STEPS):
        marginal, curvature = _derivatives(hierarchy, eps, w)
        spread = _spread(marginal)
        if spread < least:
            least, best = spread, (eps, marginal)
        elif least < _ROUNDING:
            break  # rounding, not the method, now moves the spread
        if spread < _SOLVED:
            break
        g = 1 / np.cbrt(marginal)
        slope = g * curvature / (3 * marginal)
        step = ((g / slope).sum() / (1 / slope).sum() - g) / slope
        # Stay inside ε > 0: go at most nine tenths of the way to the boundary.
        step *= min(1.0, 0.9 / max((-step / eps).max(), 0.9))
        eps = eps + step
        eps *= total / eps.sum()
    return best


def _cube_root_shares(hierarchy: Hierarchy, w: np.ndarray) -> np.ndarray:
    root = np.cbrt(w * hierarchy.sizes)
    return root / root.sum()


def _mse_by_level(hierarchy: Hierarchy, eps: np.ndarray) -> np.ndarray:
    """(L,) F_l(ε_l), one evaluation for each distinct count."""
    c = hierarchy.repeated
    return np.add.reduceat(c.times * mechanism.h(c.counts * np.repeat(eps, c.lengths)), c.starts) / eps**2


def _derivatives(hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L,) marginal errors −w_l F_l′(ε_l) and (L,) curvatures w_l F_l″(ε_l), both positive."""
    c = hierarchy.repeated
    a, b = mechanism.h_slope_and_curvature(c.counts * np.repeat(eps, c.lengths))
    return w * np.add.reduceat(c.times * a, c.starts) / eps**3, w * np.add.reduceat(c.times * b, c.starts) / eps**4


def _spread(marginal: np.ndarray) -> float:
    m = marginal.tolist()  # for a handful of numbers, plain Python is faster than NumPy
    return (max(m) - min(m)) / (sum(m) / len(m))


def _at(hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray) -> Allocation:
    return _allocation(hierarchy, eps, _derivatives(hierarchy, eps, w)[0])


def _allocation(hierarchy: Hierarchy, eps: np.ndarray, marginal: np.ndarray) -> Allocation:
    return Allocation(hierarchy.levels, eps, _mse_by_level(hierarchy, eps), _spread(marginal))


def _checked(hierarchy: Hierarchy, name: str, value: float, weights) -> tuple[float, np.ndarray]:
    check_hierarchy(hierarchy)
    value = checks.positive(name, value)
    if weights is None:
        return value, np.ones(len(hierarchy.levels))
    return value, checks.per_level("weights", weights, hierarchy.levels)
