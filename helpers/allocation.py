"""How to split a privacy budget over the levels of a tree.

    eps: (L,) budget of each level, top first · w: (L,) weights · n: (L,) nodes a level
    F_l(ε) = Σ_j mse(N_j, ε) over the nodes of level l

Every function takes a hierarchy and returns an `Allocation`, so comparing them is a loop. The noise is Laplace noise unless
`mechanism` says otherwise; what is written ε here is then the budget of that mechanism, such as ρ for Gaussian noise.
"""

from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from . import checks
from .checks import Numbers
from .hierarchy import Hierarchy, check_hierarchy
from .layout import frozen
from .mechanisms import LAPLACE, Mechanism, check_mechanism

_SOLVED = 1e-14  # a spread that rounding alone could cause
_ROUNDING = 1e-10  # below this spread, a step that brings no progress is rounding
_MOST_STEPS = 60
# Between these, no marginal error and no curvature leaves the range of doubles, whatever the tree and the mechanism; for
# the budget of a level, "eps", the fourth power of an error must fit.
_RANGES = {"total": (1e-40, 1e40), "tau": (1e-60, 1e50), "weights": (1e-20, 1e20), "eps": (1e-60, 1e60)}


class Source(NamedTuple):
    """What budgets were chosen on: the "nodes" of a tree, which are public, or its "counts"; and the digest of those."""

    looked_at: str
    digest: str

    @classmethod
    def nodes(cls, hierarchy: Hierarchy) -> "Source":
        """Of budgets that look at the nodes alone."""
        return cls("nodes", hierarchy.shape_digest)

    @classmethod
    def counts(cls, hierarchy: Hierarchy) -> "Source":
        """Of budgets that look at the counts."""
        return cls("counts", hierarchy.digest)


@dataclass(frozen=True, eq=False)
class Allocation:
    """A budget for each level and the error it leads to before any consistency step.

    `mse_by_level` and `mse` (their sum) are unweighted, in people squared. `kkt_spread` is how far the weighted marginal
    errors of the levels are apart, relative to their mean: zero exactly at the optimum for the weights in use. Budgets
    remember what they were `chosen_on`, so that a private release can refuse those that looked at the counts it protects.
    """

    levels: tuple[str, ...]
    eps: np.ndarray
    mse_by_level: np.ndarray
    kkt_spread: float
    mechanism: Mechanism = LAPLACE
    chosen_on: Source | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Closed, because this error belongs to these budgets and to no others.
        object.__setattr__(self, "eps", frozen(np.asarray(self.eps)))
        object.__setattr__(self, "mse_by_level", frozen(np.asarray(self.mse_by_level)))

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # a copy is closed, too

    @property
    def total(self) -> float:
        """Σ ε_l, the budget that a release with this allocation spends."""
        return float(self.eps.sum())

    @property
    def mse(self) -> float:
        """Total expected squared error over all nodes of the tree."""
        return float(self.mse_by_level.sum())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.eps, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        budgets = ", ".join(f"{name} {e:.4g}" for name, e in zip(self.levels, self.eps, strict=True))
        kind = "" if self.mechanism == LAPLACE else f"{self.mechanism.name} noise: "
        return f"Allocation({kind}{budgets}; total {self.total:.4g}, mse {self.mse:.4g})"


Budgets = Numbers | Allocation  # what may be given as eps


def uniform(hierarchy: Hierarchy, total: float, mechanism: Mechanism = LAPLACE) -> Allocation:
    """ε_l = ε/L: every level gets the same.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> uniform(tree, total=1).eps
    array([0.5, 0.5])
    """
    whole, w = check_amount(hierarchy, "total", total, None, mechanism)
    return _at(hierarchy, np.full(len(w), whole / len(w)), w, mechanism)


def cube_root(hierarchy: Hierarchy, total: float, weights: Numbers | None = None) -> Allocation:
    """ε_l ∝ (w_l n_l)^(1/3): the optimum when all counts are large (or all zero). Needs node counts only, no data.

    >>> tree = Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])
    >>> cube_root(tree, total=3).eps
    array([1., 2.])
    """
    return root_rule(hierarchy, total, weights)


def root_rule(
    hierarchy: Hierarchy, total: float, weights: Numbers | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """The same for any mechanism, b_l ∝ (w_l n_l)^(1/k): a cube root for Laplace noise, a square root for Gaussian.

    k is `mechanism.power`. For discrete Laplace noise the rule is meant for small ε; for large ε use `minimize_error`.

    >>> from helpers.mechanisms import GAUSSIAN
    >>> tree = Hierarchy.from_counts([[10], [1, 2, 3, 4]], [None, [0] * 4])
    >>> root_rule(tree, total=3, mechanism=GAUSSIAN).eps
    array([1., 2.])
    """
    whole, w = check_amount(hierarchy, "total", total, weights, mechanism)
    return _at(hierarchy, whole * root_shares(hierarchy, w, mechanism), w, mechanism)


def root_shares(hierarchy: Hierarchy, weights: np.ndarray | None = None, mechanism: Mechanism = LAPLACE) -> np.ndarray:
    """(L,) what part of the budget each level gets by `root_rule`: looks at node counts alone, and at no count.

    >>> root_shares(Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])).round(4)
    array([0.3333, 0.6667])
    """
    n = hierarchy.sizes if weights is None else weights * hierarchy.sizes
    root = np.cbrt(n) if mechanism.power == 3 else n ** (1 / mechanism.power)
    return root / root.sum()


def minimize_error(
    hierarchy: Hierarchy, total: float, weights: Numbers | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """Program (1): minimise Σ_l w_l F_l(ε_l) over ε > 0 with Σ_l ε_l = total.

    The minimum is where every level has the same marginal error, w_l F_l′(ε_l) = −λ. Newton's method on these L
    equations, started from the cube-root rule, needs a handful of steps.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> minimize_error(tree, total=1).eps.round(4)
    array([0.4581, 0.5419])
    """
    whole, w = check_amount(hierarchy, "total", total, weights, mechanism)
    looked = len(hierarchy.levels) > 1  # a single level gets the total, whatever its counts are
    source = Source.counts(hierarchy) if looked else Source.nodes(hierarchy)
    return _allocation(hierarchy, *_newton(hierarchy, whole, w, mechanism), mechanism, source)


def minimize_budget(
    hierarchy: Hierarchy, tau: float, weights: Numbers | None = None, mechanism: Mechanism = LAPLACE
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
    target, w = check_amount(hierarchy, "tau", tau, weights, mechanism)
    k = mechanism.power
    # Proposition 4 puts E(T) between C/T^(k−1) and twice that (or, for discrete noise, below); start where C/T^(k−1) = tau.
    total = (((w * hierarchy.sizes) ** (1 / k)).sum() ** k * mechanism.empty_mse / target) ** (1 / (k - 1))
    total = min(total, mechanism.largest)
    for _ in range(_MOST_STEPS):
        eps, marginal = _newton(hierarchy, total, w, mechanism)
        error = w @ _mse_by_level(hierarchy, eps, mechanism)
        # The slope of log E in log T is −T M/E, with the marginal error M = −dE/dT.
        factor = (error / target) ** (error / (total * marginal.mean()))
        before, total = total, min(total * factor, mechanism.largest)
        if abs(total - before) <= 1e-15 * before:
            break
    if error > 1.001 * target:  # only where a budget can be too large for doubles
        raise ValueError(
            f"tau must be an error that {mechanism.name} noise can reach, got {target:g}; {error:g} is the least"
        )
    return _allocation(hierarchy, eps, marginal, mechanism, Source.counts(hierarchy))


def check_eps(hierarchy: Hierarchy, eps: Budgets, mechanism: Mechanism | None = None) -> tuple[np.ndarray, Mechanism]:
    """(L,) budgets above zero, one a level, from numbers or from an `Allocation`, and the mechanism they are meant for.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> check_eps(tree, [1, 2])
    (array([1., 2.]), <Laplace noise, budget ε>)
    """
    check_hierarchy(hierarchy)
    budgets = checks.per_level("eps", eps, hierarchy.levels)
    meant = eps.mechanism if isinstance(eps, Allocation) else None
    mechanism = check_mechanism((meant or LAPLACE) if mechanism is None else mechanism)
    if meant not in (None, mechanism):  # a ρ is not an ε
        raise ValueError(f"mechanism must be that of the allocation in eps, {meant.name}, got {mechanism.name}")
    checks.all_between("eps", budgets, *_RANGES["eps"])
    mechanism.check_largest("eps", budgets)
    return budgets, mechanism


def check_amount(
    hierarchy: Hierarchy, name: str, value: float, weights: Numbers | None, mechanism: Mechanism = LAPLACE
) -> tuple[float, np.ndarray]:
    """A total or a tau, by its name, as a float that a solver can work with, and (L,) weights: ones unless told.

    >>> check_amount(Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]]), "total", 1, weights=None)
    (1.0, array([1., 1.]))
    """
    check_hierarchy(hierarchy)
    number = checks.positive(name, value)
    check_mechanism(mechanism)
    checks.between(name, number, *_RANGES[name])
    if name == "total":
        mechanism.check_largest(name, number)
    if weights is None:
        return number, np.ones(len(hierarchy.levels))
    w = checks.per_level("weights", weights, hierarchy.levels)
    return number, checks.all_between("weights", w, *_RANGES["weights"])


def _newton(
    hierarchy: Hierarchy, total: float, w: np.ndarray, mechanism: Mechanism = LAPLACE
) -> tuple[np.ndarray, np.ndarray]:
    """(L,) the solution of program (1), and (L,) its marginal errors."""
    step = _root_step if mechanism.scale_free else _local_power_step
    eps = total * root_shares(hierarchy, w, mechanism)
    least, best = np.inf, (eps, eps)
    for _ in range(_MOST_STEPS):
        marginal, curvature = _derivatives(hierarchy, eps, w, mechanism)
        spread = _spread(marginal)
        if spread < least:
            least, best = spread, (eps, marginal)
        elif least < _ROUNDING:
            break  # rounding, not the method, now moves the spread
        if spread < _SOLVED:
            break
        eps = step(eps, marginal, curvature, total, mechanism.power)
    return best


def _root_step(eps: np.ndarray, marginal: np.ndarray, curvature: np.ndarray, total: float, k: int) -> np.ndarray:
    """(L,) the next budgets: one step of Newton's method.

    The marginal error M_l falls like 1/ε^k (k = 3 for Laplace noise), so the method
    works on G_l = M_l^(−1/k), almost a straight line in ε: find steps δ that make G
    equal at all levels and add up to zero. reach: G/G′ · change: δ/ε
    """
    M, e = marginal.tolist(), eps.tolist()  # of a handful of numbers, plain Python is faster than NumPy
    G = [m ** (-1 / k) for m in M]
    reach = [k * m / c for m, c in zip(M, curvature.tolist(), strict=True)]
    mu = sum(reach) / sum([r / g for r, g in zip(reach, G, strict=True)])
    change = [(mu / g - 1) * r / x for g, r, x in zip(G, reach, e, strict=True)]
    # Stay inside ε > 0: go at most nine tenths of the way to the boundary.
    part = 0.9 / max(0.9, -min(change))
    new = [x * (1 + part * d) for x, d in zip(e, change, strict=True)]
    return np.array(new) * (total / sum(new))


def _local_power_step(eps: np.ndarray, marginal: np.ndarray, curvature: np.ndarray, total: float, k: int) -> np.ndarray:
    """(L,) the solution of program (1) if each marginal error were M_l (ε_l/x)^κ_l, with the slope κ_l that it has here.

    For whole noise, whose slope is not k everywhere. Then x_l = ε_l (M_l/λ)^(1/κ_l), and log Σ x is convex in log λ:
    Newton's method finds the λ that makes Σ x the total.
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


def _mse_by_level(hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism) -> np.ndarray:
    """(L,) F_l(ε_l), one evaluation for each distinct count."""
    c = hierarchy.repeated
    return np.add.reduceat(c.times * mechanism.mse_unchecked(c.counts, eps.repeat(c.lengths)), c.starts)


def _derivatives(
    hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray, mechanism: Mechanism = LAPLACE
) -> tuple[np.ndarray, np.ndarray]:
    """(L,) marginal errors −w_l F_l′(ε_l) and (L,) curvatures w_l F_l″(ε_l), both positive."""
    c = hierarchy.repeated
    slope, curvature = mechanism.derivatives(c.counts, eps.repeat(c.lengths))
    return w * np.add.reduceat(c.times * slope, c.starts), w * np.add.reduceat(c.times * curvature, c.starts)


def _spread(marginal: np.ndarray) -> float:
    m = marginal.tolist()  # for a handful of numbers, plain Python is faster than NumPy
    return (max(m) - min(m)) / (sum(m) / len(m))


def _at(hierarchy: Hierarchy, eps: np.ndarray, w: np.ndarray, mechanism: Mechanism) -> Allocation:
    marginal = _derivatives(hierarchy, eps, w, mechanism)[0]
    return _allocation(hierarchy, eps, marginal, mechanism, Source.nodes(hierarchy))


def _allocation(
    hierarchy: Hierarchy, eps: np.ndarray, marginal: np.ndarray, mechanism: Mechanism, source: Source
) -> Allocation:
    error = _mse_by_level(hierarchy, eps, mechanism)
    return Allocation(hierarchy.levels, eps, error, _spread(marginal), mechanism, source)
