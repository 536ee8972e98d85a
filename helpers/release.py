"""Release a tree: noise, clip at zero, consistency.

The noise here is simulated: fast, reproducible from a seed, and drawn with floating-point numbers. It is meant for
studying errors, never for publishing confidential data.
"""

from collections.abc import Sequence

import numpy as np

from . import checks
from .allocation import Allocation
from .consistency import fit_families
from .hierarchy import Hierarchy, check_hierarchy

# (256, 8) the bits of every byte as signs: one look-up turns a random byte into eight random signs.
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)

Seed = int | np.random.Generator | np.random.SeedSequence | None


def release(
    hierarchy: Hierarchy, eps: Sequence[float] | Allocation, seed: Seed = None, consistent: bool = True
) -> list[np.ndarray]:
    """Ñ = max(0, N + Lap(1/ε_l)) for every node of every level l; then, if `consistent`, children that sum to parents.

    Siblings do not share people, so level l costs ε_l once, however many nodes it has (parallel composition); the levels
    together cost Σ ε_l (sequential composition). Clipping and consistency are post-processing and cost nothing.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> state, blocks = release(tree, eps=[0.4, 0.6], seed=1)
    >>> bool(np.isclose(state, blocks.sum())), bool((blocks >= 0).all())
    (True, True)
    """
    eps = check_eps(hierarchy, eps)
    return draw(hierarchy, eps, generator(seed), consistent)


def draw(hierarchy: Hierarchy, eps: np.ndarray, rng: np.random.Generator, consistent: bool) -> list[np.ndarray]:
    """One release, unchecked: `release` checks once and draws once, `simulate` checks once and draws many times."""
    out = [np.empty(n) for n in hierarchy.sizes]
    _noisy(rng, hierarchy.floats[0], eps[0], out[0])
    for level, runs in enumerate(hierarchy.runs, start=1):
        for run in runs:  # a run at a time: its noise is still in the cache when it is clipped and fitted
            x = out[level][run.nodes]
            _noisy(rng, hierarchy.floats[level][run.nodes], eps[level], x)
            if consistent:
                fit_families(x, out[level - 1][run.parents], run)
    return out


def _noisy(rng: np.random.Generator, counts: np.ndarray, eps: float, out: np.ndarray) -> None:
    simulated_laplace(rng, 1 / eps, out)
    out += counts
    np.maximum(out, 0.0, out=out)


def simulated_laplace(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with Laplace noise, for simulation only: exponential sizes with random signs, without a logarithm.

    >>> noise = np.empty(1000)
    >>> simulated_laplace(np.random.default_rng(1), 2.0, noise)
    >>> float(np.abs(noise).mean().round(1))  # the mean size is the scale
    2.0
    """
    rng.standard_exponential(out=out)
    coins = np.frombuffer(rng.bytes(-(-out.size // 8)), dtype=np.uint8)
    out *= (scale * _SIGNS).take(coins, axis=0).reshape(-1)[: out.size]


def check_eps(hierarchy: Hierarchy, eps: Sequence[float] | Allocation) -> np.ndarray:
    """(L,) budgets above zero, one a level, from numbers or from an `Allocation`."""
    check_hierarchy(hierarchy)
    return checks.per_level("eps", eps, hierarchy.levels)


def generator(seed: Seed) -> np.random.Generator:
    """A random generator from a seed: a whole number, a Generator, a SeedSequence, or None for a fresh one."""
    if seed is None or isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(checks.whole("seed", seed, least=0))
