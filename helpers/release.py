"""Release a tree: noise, clip at zero, consistency.

The noise here is simulated: fast, reproducible from a seed, and drawn with floating-point numbers. It is meant for
studying errors, never for publishing confidential data.
"""

from collections.abc import Sequence

import numpy as np

from . import checks
from .allocation import Allocation
from .consistency import bring_within_reach, fit_families
from .hierarchy import Hierarchy, check_hierarchy
from .mechanisms import LAPLACE, Mechanism, check_mechanism

_FAINT = 1e-6  # with a smaller budget, noise may drown the parent in rounding errors
_RANGE = 1e-60, 1e60  # of a level's budget; the fourth power of an error must fit into a double

Seed = int | np.random.Generator | np.random.SeedSequence | None


def release(
    hierarchy: Hierarchy,
    eps: Sequence[float] | Allocation,
    seed: Seed = None,
    consistent: bool = True,
    mechanism: Mechanism | None = None,
) -> list[np.ndarray]:
    """Ñ = max(0, N + Lap(1/ε_l)) for every node of every level l; then, if `consistent`, children that sum to parents.

    Nodes of one level share no people, so level l costs ε_l once, however many nodes it has (parallel composition); the
    levels together cost Σ ε_l (sequential composition). Clipping and consistency are post-processing and cost nothing.
    The noise is that of `mechanism`, or of the allocation; for plain numbers it is Laplace noise.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> state, blocks = release(tree, eps=[0.4, 0.6], seed=1)
    >>> bool(np.isclose(state, blocks.sum())), bool((blocks >= 0).all())
    (True, True)
    """
    eps, mechanism = check_eps(hierarchy, eps, mechanism)
    return draw(hierarchy, eps, generator(seed), checks.flag("consistent", consistent), mechanism)


def noisy_counts(
    hierarchy: Hierarchy, eps: Sequence[float] | Allocation, seed: Seed = None, mechanism: Mechanism | None = None
) -> list[np.ndarray]:
    """N + Lap(1/ε_l) for every node of every level l: unbiased, neither clipped nor consistent.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [len(level) for level in noisy_counts(tree, eps=[0.4, 0.6], seed=1)]
    [1, 2]
    """
    eps, mechanism = check_eps(hierarchy, eps, mechanism)
    rng = generator(seed)
    out = [np.empty(n) for n in hierarchy.sizes]
    for noise, counts, budget in zip(out, hierarchy.floats, eps, strict=True):
        mechanism.draw(rng, budget, noise)
        noise += counts
    return out


def draw(
    hierarchy: Hierarchy, eps: np.ndarray, rng: np.random.Generator, consistent: bool, mechanism: Mechanism = LAPLACE
) -> list[np.ndarray]:
    """One release, unchecked: `release` checks once and draws once, `simulate` checks once and draws many times."""

    def fill(counts: np.ndarray, budget: float, x: np.ndarray) -> None:
        mechanism.draw(rng, budget, x)
        x += counts
        np.maximum(x, 0.0, out=x)

    out = [np.empty(n) for n in hierarchy.sizes]
    fill(hierarchy.floats[0], eps[0], out[0])
    for level, runs in enumerate(hierarchy.runs, start=1):
        for run in runs:  # a run at a time: its noise is still in the cache when it is clipped and fitted
            x = out[level][run.nodes]
            fill(hierarchy.floats[level][run.nodes], eps[level], x)
            if consistent:
                t = out[level - 1][run.parents]
                if eps[level] < _FAINT:
                    bring_within_reach(x, t, run)
                fit_families(x, t, run)
    return out


def check_eps(
    hierarchy: Hierarchy, eps: Sequence[float] | Allocation, mechanism: Mechanism | None = None
) -> tuple[np.ndarray, Mechanism]:
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
    checks.all_between("eps", budgets, *_RANGE)
    mechanism.check_largest("eps", budgets)
    return budgets, mechanism


def generator(seed: Seed) -> np.random.Generator:
    """A random generator from a seed: a whole number, a Generator, a SeedSequence, or None for a fresh one."""
    if seed is None or isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(checks.whole("seed", seed, least=0))
