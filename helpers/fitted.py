"""The split for what is published: the least variance after every measurement was used.

    p: (L,) precision of a measurement at each level, 1/variance; zero where a level is not measured · w: (L,) weights
    s: (c,) variance of a node's estimate from its own subtree · S = Σ s over its children, so that 1/s = p + 1/S
    V = Σ_l w_l Σ_j Var(x_j) after `gls`, in people squared

What a subtree adds to V is linear in the variance of its root, a + b Var(root), and a child has the variance
s (1 − s/S) + (s/S)² Var(parent). So a and b of a node follow from those of its children,

    a = Σ (a_c + b_c s_c) − B/S,   b = w + B/S²,   B = Σ b_c s_c²

and one pass up the tree gives V. It looks at the shape alone, and alike subtrees are taken once: a nation of eight million
blocks has a few hundred kinds of block groups.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from .allocation import Allocation, Source, check_amount
from .checks import Numbers
from .hierarchy import Hierarchy
from .mechanisms import LAPLACE, Mechanism
from .shape import Shape

_NEGLIGIBLE = 1e-7  # a share of the budget that might as well be nothing
_FAR = -60.0  # a share of e^−60 is as good as none, and its square is still a double
_MANY_KINDS = 5_000  # of subtrees: then a solution takes a second
_SAME = 1e-9  # errors that differ by no more are the same
_MOST_FREE = 6  # levels above the lowest of which every choice is tried: 64 of them


def minimize_fitted_error(
    hierarchy: Hierarchy, total: float, weights: Numbers | None = None, mechanism: Mechanism = LAPLACE
) -> Allocation:
    """Minimise Σ_l w_l Σ_j Var(x_j) after `gls` over ε ≥ 0 with Σ_l ε_l = total: which levels to measure, and how well.

    Looks at the shape of the tree and at no count. A level may get 0: it is not measured, costs nothing, and becomes the
    sum of its children. `mse_by_level` and `mse` of the result are those after the fit. The problem is not convex (but for
    Gaussian noise it is): every choice of levels is solved by itself, or, of more than seven levels, every choice that
    differs in one level from the best so far.

    >>> tree = Hierarchy.from_counts([[8], [8], [1] * 8], [None, [0], [0] * 8])
    >>> minimize_fitted_error(tree, total=1).eps.round(3)
    array([0., 0., 1.])
    """
    whole, w = check_amount(hierarchy, "total", total, weights, mechanism)
    problem = _Problem(Shape.of(hierarchy), hierarchy.sizes, whole, w, mechanism)
    eps = problem.polish(problem.best())
    marginal = problem.marginals(eps)[eps > 0]
    spread = float(np.ptp(marginal) / marginal.mean())
    by_level = fitted_variances(problem.shape, problem.precisions(eps)[0], w)[2]
    return Allocation(hierarchy.levels, eps, by_level, spread, mechanism, Source.nodes(hierarchy))


def fitted_variances(shape: Shape, p: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """V, (L,) its slopes ∂V/∂p_l, and (L,) Σ_j Var(x_j) of each level: one pass up the kinds of a tree, and one down.

    The pass down is the chain rule backwards: a name with a bar, such as s_bar, is ∂V/∂s.
    """
    s, a, b = np.array([1 / p[-1]]), np.zeros(1), np.array([w[-1]])
    kept = []
    for families, precision, weight in zip(reversed(shape.levels), p[-2::-1], w[-2::-1], strict=True):
        S, A, B = (families.sums(x) for x in (s, a + b * s, b * s * s))
        safe = np.where(S > 0, S, 1.0)  # without children nothing is uncertain, and B is zero
        kept.append((s, b, safe, B, S / (1 + precision * S)))
        s, a, b = kept[-1][-1], np.maximum(A - B / safe, 0.0), weight + B / safe**2  # a is zero above only children
    error = float(shape.top @ (a + b * s))
    s_bar, a_bar, b_bar = shape.top * b, shape.top, shape.top * s
    slopes, levels = list[float](), list[float]()
    for families, (below, b, S, B, own) in zip(shape.levels, reversed(kept), strict=True):
        slopes.append(-float(s_bar @ (own * own)))
        levels.append(float(b_bar.sum()))
        S_bar = a_bar * B / S**2 - 2 * b_bar * B / S**3 + s_bar * (own / S) ** 2
        up, across, A_bar = (families.spread(x, len(below)) for x in (S_bar, b_bar / S**2 - a_bar / S, a_bar))
        s_bar = up + b * A_bar + 2 * b * below * across
        a_bar, b_bar = A_bar, below * A_bar + below * below * across
    slopes.append(-float(s_bar.sum()) / p[-1] ** 2)
    levels.append(float(b_bar.sum()))
    return error, np.array(slopes), np.array(levels)


@dataclass(frozen=True)
class _Problem:
    """V as a function of the budgets, and ways to lower it."""

    shape: Shape
    sizes: np.ndarray
    total: float
    w: np.ndarray
    mechanism: Mechanism

    def precisions(self, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(L,) p of each level, and (L,) dp/dε; zero where nothing is spent."""
        p, slope = np.zeros_like(eps), np.zeros_like(eps)
        measured = eps > 0
        b, nobody = eps[measured], np.zeros(measured.sum())
        # The noise has twice the error of an empty count, whose clipping takes off half.
        v = 2 * self.mechanism.mse_unchecked(nobody, b)
        p[measured], slope[measured] = 1 / v, 2 * self.mechanism.derivatives(nobody, b)[0] / v**2
        return p, slope

    def error(self, eps: np.ndarray) -> float:
        return fitted_variances(self.shape, self.precisions(eps)[0], self.w)[0]

    def marginals(self, eps: np.ndarray) -> np.ndarray:
        """(L,) −∂V/∂ε of each level."""
        p, slope = self.precisions(eps)
        return -fitted_variances(self.shape, p, self.w)[1] * slope

    def budgets(self, logs: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """(L,) budgets of the total, in proportion to exp(logs) at these levels and zero at the others."""
        parts = np.exp(np.maximum(logs - logs.max(), _FAR))  # a search may look far out
        eps = np.zeros(len(self.w))
        eps[levels] = self.total * parts / parts.sum()
        return eps

    def solve(self, start: np.ndarray) -> np.ndarray:
        """(L,) the least V that is downhill from `start`; levels that get nothing there stay without."""
        from scipy.optimize import minimize

        chosen = np.flatnonzero(start)

        def log_error(logs: np.ndarray) -> tuple[float, np.ndarray]:
            eps = self.budgets(logs, chosen)
            p, slope = self.precisions(eps)
            error, slopes, _ = fitted_variances(self.shape, p, self.w)
            uphill = (slopes * slope * eps)[chosen]
            return np.log(error), (uphill - eps[chosen] / self.total * uphill.sum()) / error

        found = minimize(log_error, np.log(start[chosen]), jac=True, method="BFGS", options={"gtol": 1e-6})
        eps = self.budgets(found.x, chosen)
        eps[:-1][eps[:-1] < _NEGLIGIBLE * self.total] = 0.0
        return eps * (self.total / eps.sum())

    def start(self, levels: Iterable[int]) -> np.ndarray:
        """(L,) a start where these levels are measured: the best of a regular tree with as many nodes."""
        chosen = list(levels)
        rule = np.zeros(len(self.w))
        rule[chosen] = (self.w * self.sizes)[chosen] ** (1 / self.mechanism.power)
        rule *= self.total / rule.sum()
        found = replace(self, shape=Shape.regular(self.sizes)).solve(rule)
        found = np.maximum(found, 0.1 * rule)  # what a regular tree does without, this one may want
        return found * (self.total / found.sum())

    def best(self) -> np.ndarray:
        """(L,) budgets of the best choice of levels: of all choices, or, if these are many, of those that are one step off
        the best so far, step by step."""
        lowest, above = len(self.w) - 1, range(len(self.w) - 1)
        if lowest <= _MOST_FREE:
            choices = ((*upper, lowest) for k in range(lowest + 1) for upper in combinations(above, k))
            return self.best_of([self.start(levels) for levels in choices])
        eps = self.solve(self.start(range(lowest + 1)))
        while True:
            measured = set(np.flatnonzero(eps).tolist())
            nearest = self.best_of([self.start(measured ^ {level}) for level in above])
            if self.error(nearest) >= self.error(eps) * (1 - _SAME):
                return eps
            eps = nearest

    def best_of(self, starts: Sequence[np.ndarray]) -> np.ndarray:
        """(L,) the least V that is downhill from a start; in a large tree, from the best of a coarse one."""
        found = [self.solve(start) for start in starts] if self.rough is self else self.promising(starts)
        errors = np.array([self.error(eps) for eps in found])
        return found[int(np.argmax(errors <= errors.min() * (1 + _SAME)))]  # of equals the first, which measures least

    @cached_property
    def rough(self) -> "_Problem":
        """The same with a coarse shape, if there are many kinds of subtrees."""
        many = sum(families.kinds for families in self.shape.levels) > _MANY_KINDS
        return replace(self, shape=self.shape.coarse()) if many else self

    def promising(self, starts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Solutions for the choices of levels that are within 2% of the best on the coarse shape, and 0.1% on this one."""
        coarse = [self.rough.solve(start) for start in starts]
        errors = np.array([self.rough.error(eps) for eps in coarse])
        choices = dict[tuple[int, ...], np.ndarray]()
        for eps, error in zip(coarse, errors, strict=True):
            if error <= 1.02 * errors.min():
                choices.setdefault(tuple(np.flatnonzero(eps).tolist()), eps)
        near = list(choices.values())
        errors = np.array([self.error(eps) for eps in near])
        near = [eps for eps, error in zip(near, errors, strict=True) if error <= 1.001 * errors.min()]
        return [self.downhill(eps) for eps in near]

    def downhill(self, eps: np.ndarray) -> np.ndarray:
        """(L,) the least V that is downhill from the optimum of the coarse shape, which is close: by `polish`, if that
        works."""
        found = self.polish(eps)
        return found if self.error(found) <= self.error(eps) * (1 + _SAME) else self.solve(eps)

    def polish(self, eps: np.ndarray) -> np.ndarray:
        """(L,) the same levels, with marginal errors M made equal to rounding: Newton's method on log M over log ε.

        In a large tree, the slopes are those of the coarse one: each step leaves a small part, not its square, and is cheap.
        """
        chosen = np.flatnonzero(eps)
        k, step = len(chosen), 1e-5
        if k == 1:
            return eps

        def log_marginals(logs: np.ndarray, of: "_Problem" = self) -> np.ndarray:
            budgets = np.zeros_like(eps)
            budgets[chosen] = np.exp(logs)
            return np.log(of.marginals(budgets)[chosen])

        logs = np.log(eps[chosen])
        for _ in range(4 if self.rough is self else 20):
            system = np.zeros((k + 1, k + 1))  # steps that make all log M the same number, and leave the total as it is
            columns = [log_marginals(logs + d, self.rough) - log_marginals(logs - d, self.rough) for d in step * np.eye(k)]
            system[:k, :k], system[:k, k] = np.array(columns).T / (2 * step), -1
            system[k, :k] = np.exp(logs)
            # Levels that hold the same nodes may share their budget in any way: the smallest step will do.
            found = np.linalg.lstsq(system, np.append(-log_marginals(logs), 0.0))[0][:k]
            logs = logs + found / max(1.0, 2 * np.abs(found).max())
            logs += np.log(self.total / np.exp(logs).sum())
            if np.abs(found).max() < 1e-11:
                break
        out = np.zeros_like(eps)
        out[chosen] = np.exp(logs)
        return out
