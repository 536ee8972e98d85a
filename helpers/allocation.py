"""How to split a privacy budget over the levels of a tree.

    eps: (L,) budget of each level, top first · w: (L,) weights · n: (L,) nodes a level
    F_l(ε) = Σ_j mse(N_j, ε) over the nodes of level l

Every function takes a hierarchy and returns an `Allocation`, so comparing them is a loop. The noise is Laplace noise unless
`mechanism` says otherwise; what is written ε here is then the budget of that mechanism, such as ρ for Gaussian noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from . import checks
from .hierarchy import Hierarchy, check_hierarchy
from .mechanisms import LAPLACE, Mechanism, check_mechanism

_SOLVED = 1e-14  # a spread that rounding alone could cause
_ROUNDING = 1e-10  # below this spread, a step that brings no progress is rounding
_MOST_STEPS = 60
# Between these, no marginal error and no curvature leaves the range of doubles, whatever the tree and the mechanism.
_RANGES = {"total": (1e-40, 1e40), "tau": (1e-60, 1e50), "weights": (1e-20, 1e20)}


@dataclass(frozen=True, eq=False)
class Allocation:
    """A budget for each level and the error it leads to before any consistency step.

    `mse_by_level` and `mse` (their sum) are unweighted, in people squared. `kkt_spread` is how far the weighted marginal
    errors of the levels are apart, relative to their mean: zero exactly at the optimum for the weights in use. Budgets that
    depend on counts remember the tree, `optimised_on`, so that a private release of it can refuse them.
    """

    levels: tuple[str, ...]
    eps: np.ndarray
    mse_by_level: np.ndarray
    kkt_spread: float
    mechanism: Mechanism = LAPLACE
    optimised_on: Hierarchy | None = field(default=None, repr=False)

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
        kind = "" if self.mechanism is LAPLACE else f"{self.mechanism.name} noise: "
        return f"Allocation({kind}{budgets}; total {self.total:.4g}, mse {self.mse:.4g})"


def uniform(hierarchy: Hierarchy, total: float, mechanism: Mechanism = LAPLACE) -> Allocation:
    """ε_l = ε/L: every level gets the same.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> uniform(tree, total=1).eps
    array([0.5, 0.5])
    """
    total, w = _checked(hierarchy, "total", total, None, mechanism)
    return _at(hierarchy, np.full(len(w), total / len(w)), w, mechanism)


def cube_root(hierarchy: Hierarchy, total: float, weights: Sequence[float] | None = None) -> Allocation:
    """ε_l ∝ (w_l n_l)^(1/3): the optimum when all counts are large (or all zero). Needs node counts only, no data.

    >>> tree = Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])
    >>> cube_root(tree, total=3).eps
    array([1., 2.])
    """
    return root_rule(hierarchy, total, weights)


def root_rule(
    hierarchy: Hierarchy, total: float, weights: Sequence[float] | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """The same for any mechanism, b_l ∝ (w_l n_l)^(1/k): a cube root for Laplace noise, a square root for Gaussian.

    k is `mechanism.power`. For discrete Laplace noise the rule is meant for small ε; for large ε use `minimize_error`.

    >>> from helpers.mechanisms import GAUSSIAN
    >>> tree = Hierarchy.from_counts([[10], [1, 2, 3, 4]], [None, [0] * 4])
    >>> root_rule(tree, total=3, mechanism=GAUSSIAN).eps
    array([1., 2.])
    """
    total, w = _checked(hierarchy, "total", total, weights, mechanism)
    return _at(hierarchy, total * _root_shares(hierarchy, w, mechanism), w, mechanism)


def minimize_error(
    hierarchy: Hierarchy, total: float, weights: Sequence[float] | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """Program (1): minimise Σ_l w_l F_l(ε_l) over ε > 0 with Σ_l ε_l = total.

    The minimum is where every level has the same marginal error, w_l F_l′(ε_l) = −λ. Newton's method on these L
    equations, started from the cube-root rule, needs a handful of steps.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> minimize_error(tree, total=1).eps.round(4)
    array([0.4581, 0.5419])
    """
    total, w = _checked(hierarchy, "total", total, weights, mechanism)
    on = hierarchy if len(hierarchy.levels) > 1 else None  # a single level gets the total, whatever its counts are
    return _allocation(hierarchy, *_newton(hierarchy, total, w, mechanism), mechanism, on)


def minimize_budget(
    hierarchy: Hierarchy, tau: float, weights: Sequence[float] | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """Program (2): minimise Σ_l ε_l over ε > 0 with Σ_l w_l F_l(ε_l) ≤ tau (people squared).

    The constraint is always active, so this is program (1) at the total T whose least error E(T) is tau. E falls like
    1/T² (with Gaussian noise like 1/T), which makes log E almost a straight line in log T: Newton's method on it needs
    about four solutions of (1).

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> best = minimize_budget(tree, tau=40)
    >>> round(best.mse, 9), round(best.total, 4)
    (40.0, 0.6099)
    """
    tau, w = _checked(hierarchy, "tau", tau, weights, mechanism)
    k = mechanism.power
    # Proposition 4 puts E(T) between C/T^(k−1) and twice that (or, for discrete noise, below); start where C/T^(k−1) = tau.
    total = (((w * hierarchy.sizes) ** (1 / k)).sum() ** k * mechanism.least / tau) ** (1 / (k - 1))
    total = min(total, mechanism.largest)
    for _ in range(_MOST_STEPS):
        eps, marginal = _newton(hierarchy, total, w, mechanism)
        error = w @ _mse_by_level(hierarchy, eps, mechanism)
        # The slope of log E in log T is −T M/E, with the marginal error M = −dE/dT.
        factor = (error / tau) ** (error / (total * marginal.mean()))
        before, total = total, min(total * factor, mechanism.largest)
        if abs(total - before) <= 1e-15 * before:
            break
    if error > 1.001 * tau:  # only where a budget can be too large for doubles
        raise ValueError(f"tau must be an error that {mechanism.name} noise can reach, got {tau:g}; {error:g} is the least")
    return _allocation(hierarchy, eps, marginal, mechanism, hierarchy)


def _newton(
    hierarchy: Hierarchy, total: float, w: np.ndarray, mechanism: Mechanism = LAPLACE
) -> tuple[np.ndarray, np.ndarray]:
    """(L,) the solution of program (1), and (L,) its marginal errors.

    The marginal error M_l falls like 1/ε^k (k = 3 for Laplace noise), so Newton's
    method works on G_l = M_l^(−1/k), almost a straight line in ε: find steps that
    make G equal at all levels and add up to zero.
    """
    k = mechanism.power
    eps = total * _root_shares(hierarchy, w, mechanism)
    least, best = np.inf, None
    for _ in range(_MOST_STEPS):
        marginal, curvature = _derivatives(hierarchy, eps, w, mechanism)
        spread = _spread(marginal)
        if spread < least:
            least, best = spread, (eps, marginal)
        elif least < _ROUNDING:
            break  # rounding, not the method, now moves the spread
        if spread < _SOLVED:
            break
        if not mechanism.steady:  # whole noise, not Laplace noise
            eps = _by_local_powers(eps, marginal, curvature, total)
            continue
        g = marginal ** (-1 / k)
        slope = g * curvature / (k * marginal)
        step = (sum((g / slope).tolist()) / sum((1 / slope).tolist()) - g) / slope
        # Stay inside ε > 0: go at most nine tenths of the way to the boundary.
        step *= 0.9 / max(0.9, *(-step / eps).tolist())
        eps = eps + step
        eps *= total / sum(eps.tolist())
    return best


def _by_local_powers(eps: np.ndarray, marginal: np.ndarray, curvature: np.ndarray, total: float) -> np.ndarray:
    """(L,) the solution of program (1) if each marginal error were M_l (ε_l/x)^κ_l, with the slope κ_l that it has here.

    Then x_l = ε_l (M_l/λ)^(1/κ_l), and log Σ x is convex in log λ: Newton's method finds the λ that makes Σ x the total.
    """
    log_m, kappa = np.log(marginal), curvature * eps / marginal
    log_lambda = log_m.min()
    for _ in range(_MOST_STEPS):
        x = eps * np.exp((log_m - log_lambda) / kappa)
        step = np.log(x.sum() / total) * x.sum() / (x / kappa).sum()
        log_lambda += step
        if abs(step) < 1e-12:
            break
    return x * (total / x.sum())


def _root_shares(hierarchy: Hierarchy, w: np.ndarray, mechanism: Mechanism) -> np.ndarray:
    root = np.cbrt(w * hierarchy.sizes) if mechanism.power == 3 else (w * hierarchy.sizes) ** (1 / mechanism.power)
    return root / root.sum()


def _mse_by_level(hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism) -> np.ndarray:
    """(L,) F_l(ε_l), one evaluation for each distinct count."""
    c = hierarchy.repeated
    return np.add.reduceat(c.times * mechanism.error(c.counts, np.repeat(eps, c.lengths)), c.starts)


def _derivatives(
    hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray, mechanism: Mechanism = LAPLACE
) -> tuple[np.ndarray, np.ndarray]:
    """(L,) marginal errors −w_l F_l′(ε_l) and (L,) curvatures w_l F_l″(ε_l), both positive."""
    c = hierarchy.repeated
    slope, curvature = mechanism.derivatives(c.counts, np.repeat(eps, c.lengths))
    return w * np.add.reduceat(c.times * slope, c.starts), w * np.add.reduceat(c.times * curvature, c.starts)


def _spread(marginal: np.ndarray) -> float:
    m = marginal.tolist()  # for a handful of numbers, plain Python is faster than NumPy
    return (max(m) - min(m)) / (sum(m) / len(m))


def _at(hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray, mechanism: Mechanism) -> Allocation:
    return _allocation(hierarchy, eps, _derivatives(hierarchy, eps, w, mechanism)[0], mechanism)


def _allocation(
    hierarchy: Hierarchy, eps: np.ndarray, marginal: np.ndarray, mechanism: Mechanism, on: Hierarchy | None = None
) -> Allocation:
    return Allocation(hierarchy.levels, eps, _mse_by_level(hierarchy, eps, mechanism), _spread(marginal), mechanism, on)


def _checked(hierarchy: Hierarchy, name: str, value: float, weights, mechanism: Mechanism) -> tuple[float, np.ndarray]:
    check_hierarchy(hierarchy)
    value = checks.positive(name, value)
    check_mechanism(mechanism)
    checks.between(name, value, *_RANGES[name])
    if name == "total":
        mechanism.check_largest(name, value)
    if weights is None:
        return value, np.ones(len(hierarchy.levels))
    w = checks.per_level("weights", weights, hierarchy.levels)
    return value, checks.all_between("weights", w, *_RANGES["weights"])
