"""Release a tree with simulated noise, to study errors: noise, clip at zero or not, consistency.

The noise here is simulated: fast, reproducible from a seed, and drawn with floating-point numbers. It is meant for
studying errors, never for publishing confidential data: `publishing.publish` is for that, and does not come by here.
"""

from collections.abc import Callable

import numpy as np

from . import checks
from .allocation import Budgets, check_eps
from .checks import Seed
from .consistency.methods import METHODS, Method, method_of
from .consistency.projection import bring_within_reach, fit_families
from .hierarchy import Hierarchy, check_like
from .mechanisms import LAPLACE, Mechanism

_FAINT = 1e-6  # with a smaller budget, noise may drown the parent in rounding errors


def release(
    hierarchy: Hierarchy,
    eps: Budgets,
    seed: Seed = None,
    consistent: bool | str | Callable = True,
    mechanism: Mechanism | None = None,
) -> list[np.ndarray]:
    """Ñ = max(0, N + Lap(1/ε_l)) for every node of every level l; then, if `consistent`, children that sum to parents.

    Nodes of one level share no people, so level l costs ε_l once, however many nodes it has (parallel composition); the
    levels together cost Σ ε_l (sequential composition). Clipping and consistency are post-processing and cost nothing.
    The noise is that of `mechanism`, or of the allocation; for plain numbers it is Laplace noise.

    `consistent` is True for the paper's way (clip, then top-down), False to clip only, the name of another method ("gls",
    "bottom_up"), or a function from the tree and its noisy counts, which are not clipped, to one array of counts a level.
    A level with a budget of 0 is not measured, and becomes the sum of its children; the lowest must be measured.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> for consistent in (True, "gls", "bottom_up"):
    ...     state, blocks = release(tree, eps=[0.4, 0.6], seed=1, consistent=consistent)
    ...     print(bool(np.isclose(state, blocks.sum())), bool((blocks >= 0).all()))
    True True
    True True
    True True
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism, unmeasured=True)
    return draw(hierarchy, budgets, checks.generator(seed), method_of(consistent), kind)


def noisy_counts(
    hierarchy: Hierarchy, eps: Budgets, seed: Seed = None, mechanism: Mechanism | None = None
) -> list[np.ndarray]:
    """N + Lap(1/ε_l) for every node of every level l: unbiased, neither clipped nor consistent.

    A level with a budget of 0 is not measured: its counts are the sums of those below.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [len(level) for level in noisy_counts(tree, eps=[0.4, 0.6], seed=1)]
    [1, 2]
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism, unmeasured=True)
    return measure(hierarchy, budgets, checks.generator(seed), kind)


def draw(
    hierarchy: Hierarchy,
    eps: np.ndarray,
    rng: np.random.Generator,
    method: Method,
    mechanism: Mechanism = LAPLACE,
    before: list[np.ndarray] | None = None,
) -> list[np.ndarray]:
    """One release, unchecked: `release` checks once and draws once, `simulate` checks once and draws many times.

    If `before` is given, the paper's methods leave there, one array a level, the counts as they were before the last step:
    noisy before "clip", clipped before "top_down".
    """
    if method in (METHODS["clip"], METHODS["top_down"]) and eps.all():
        return _run_by_run(hierarchy, eps, rng, method is METHODS["top_down"], mechanism, before)
    found = method(hierarchy, measure(hierarchy, eps, rng, mechanism), noise_variances(eps, mechanism))
    # Copies, because errors are computed in place, and a method may hand out arrays that it keeps.
    return [x.copy() for x in check_like("consistent()", found, hierarchy)]


def noise_variances(eps: np.ndarray, mechanism: Mechanism) -> np.ndarray:
    """(L,) variance of a measurement at each level; infinite where nothing is spent."""
    variances = np.full(len(eps), np.inf)
    variances[eps > 0] = mechanism.noise_variance(eps[eps > 0])
    return variances


def measure(hierarchy: Hierarchy, eps: np.ndarray, rng: np.random.Generator, mechanism: Mechanism) -> list[np.ndarray]:
    """`noisy_counts`, unchecked."""
    out = [np.empty(n) for n in hierarchy.sizes]
    for noise, counts, budget in zip(out, hierarchy.floats, eps, strict=True):
        if budget:
            mechanism.draw(rng, budget, noise)
            noise += counts
    for level in reversed(np.flatnonzero(eps == 0)):
        out[level] = hierarchy.sum_children(level, out[level + 1])
    return out


def _run_by_run(
    hierarchy: Hierarchy,
    eps: np.ndarray,
    rng: np.random.Generator,
    consistent: bool,
    mechanism: Mechanism,
    before: list[np.ndarray] | None = None,
) -> list[np.ndarray]:
    """The paper's release, with or without its consistency, a run of families at a time: noise that is clipped and fitted
    while it is still in the cache costs half."""
    out = [np.empty(n) for n in hierarchy.sizes]
    if before is not None:
        before[:] = map(np.empty_like, out)

    def fill(level: int, nodes: slice) -> np.ndarray:
        x = out[level][nodes]
        mechanism.draw(rng, eps[level], x)
        x += hierarchy.floats[level][nodes]
        if before is not None and not consistent:
            before[level][nodes] = x
        np.maximum(x, 0.0, out=x)
        if before is not None and consistent:
            before[level][nodes] = x
        return x

    fill(0, slice(None))
    for level, runs in enumerate(hierarchy.runs, start=1):
        for run in runs:
            x = fill(level, run.nodes)
            if consistent:
                t = out[level - 1][run.parents]
                if eps[level] < _FAINT:
                    bring_within_reach(x, t, run)
                fit_families(x, t, run)
    return out
