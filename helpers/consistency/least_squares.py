"""Use every measurement of a tree: least squares where each parent is the sum of its children, in two linear passes.

    m: (n,) measured counts of a level · v: (L,) variance of a measurement at each level, in people squared
    z, s: (n,) best estimate of a node from its own subtree, and the variance of that estimate
    Z, S: (n,) sum of the children's z, and of their s · x: (n,) best estimate of a node from the whole tree

Up the tree, a node's own measurement and the sum of its children are averaged in inverse proportion to their variances. Down
the tree, what a node has learnt from above is shared among its children in proportion to their s.

A node above the leaves that has no children is an empty sum. It is set to zero, whatever was measured there, as `bottom_up`
does; a `Hierarchy` only allows such a node if its true count is zero, so nothing is biased by it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Numbers
from ..hierarchy import Hierarchy, check_hierarchy, check_like


def gls(hierarchy: Hierarchy, noisy: Sequence[ArrayLike | None], variances: Numbers) -> list[np.ndarray]:
    """Minimise Σ_l Σ_j (x_j − noisy_j)²/variances_l over all x whose parents are the sums of their children.

    `noisy` holds unbiased measurements, not clipped ones, and `variances` is what their noise has at each level (see
    `Mechanism.noise_variance`); only its ratios matter. The result is unbiased, linear in `noisy`, and may be below zero;
    `top_down(hierarchy, gls(...))` makes it non-negative. A level with an infinite variance, or with None in `noisy`, was
    not measured; the lowest must be.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [x.tolist() for x in gls(tree, [[7.0], [1.0, 3.0]], variances=[2.0, 1.0])]
    [[5.5], [1.75, 3.75]]
    """
    check_hierarchy(hierarchy)
    v = checks.per_level("variances", variances, hierarchy.levels, unmeasured=np.inf)
    m, v = _measurements(hierarchy, noisy, v)
    s, S = upward_variances(hierarchy, v)
    z, Z = [m[-1]], list[np.ndarray]()
    for level in range(len(v) - 2, -1, -1):
        Z.insert(0, hierarchy.sum_children(level, z[0]))
        own = S[level] / (v[level] + S[level])  # zero, if the level was not measured
        z.insert(0, Z[0] + own * (m[level] - Z[0]))
    x = [z[0].copy()]
    for level in range(1, len(v)):
        gap = _divide(x[-1] - Z[level - 1], S[level - 1])  # (above,) what children must still give, per unit of s
        x.append(z[level] + s[level] * gap[hierarchy.links[level - 1]])
    return x


def gls_variances(hierarchy: Hierarchy, variances: Numbers) -> list[np.ndarray]:
    """Var(x_j) of every node after `gls`, in people squared. No simulation is needed, and no count is looked at.

    Of its s, a child keeps s − s²/S; the part that the siblings share, s²/S, becomes (s/S)² Var(x_parent).

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [x.tolist() for x in gls_variances(tree, variances=[2.0, 1.0])]
    [[1.0], [0.75, 0.75]]
    """
    check_hierarchy(hierarchy)
    v = checks.per_level("variances", variances, hierarchy.levels, unmeasured=np.inf)
    s, S = upward_variances(hierarchy, v)
    out = [s[0].copy()]
    for parents, own, above in zip(hierarchy.links[:-1], s[1:], S, strict=False):
        share = _divide(own, above[parents])
        out.append(own * (1 - share) + share**2 * out[-1][parents])
    if S:  # leaves of one parent are alike
        share = _divide(np.full_like(S[-1], v[-1]), S[-1])
        out.append(spread_leaves(hierarchy, v[-1] * (1 - share) + share**2 * out[-1]))
    return out


def _measurements(
    hierarchy: Hierarchy, noisy: Sequence[ArrayLike | None], v: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Measured counts of each level, zero where there are none, and the variances, infinite there."""
    if isinstance(noisy, Sequence) and len(noisy) == len(v) and any(level is None for level in noisy):
        if noisy[-1] is None:
            raise ValueError(f"noisy must measure the lowest level, {hierarchy.levels[-1]}, got None")
        v = np.array([np.inf if level is None else variance for level, variance in zip(noisy, v, strict=True)])
    given: Any = noisy
    if np.isinf(v).any() and isinstance(noisy, Sequence) and len(noisy) == len(v):
        blank = map(np.zeros, hierarchy.sizes)
        given = [zeros if np.isinf(u) else level for zeros, u, level in zip(blank, v, noisy, strict=True)]
    return check_like("noisy", given, hierarchy), v


def upward_variances(hierarchy: Hierarchy, v: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """s of every level, and S of every level but the lowest; s of the leaves is one number, in an array not to be changed.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> s, S = upward_variances(tree, np.array([2.0, 1.0]))
    >>> s[0], S[0]
    (array([1.]), array([2.]))
    """
    s, S = [np.broadcast_to(v[-1], hierarchy.sizes[-1])], list[np.ndarray]()
    for level in range(len(v) - 2, -1, -1):
        S.insert(0, hierarchy.sum_children(level, s[0]) if S else v[-1] * leaf_families(hierarchy))
        # 1/s = 1/v + 1/S, and zero where S is; without noise, too
        s.insert(0, S[0] / (1 + S[0] / v[level]) if v[level] else np.zeros_like(S[0]))
    return s, S


def leaf_families(hierarchy: Hierarchy) -> np.ndarray:
    """(n,) how many leaves each node of the level above them has.

    >>> leaf_families(Hierarchy.from_counts([[5, 0], [2, 3]], [None, [0, 0]]))
    array([2, 0])
    """
    fertile, starts = hierarchy.families[-1]
    out = np.zeros(hierarchy.sizes[-2], dtype=np.int64)
    out[fertile] = np.diff(starts, append=hierarchy.sizes[-1])
    return out


def spread_leaves(hierarchy: Hierarchy, above: np.ndarray) -> np.ndarray:
    """(n,) for each leaf, what its parent has in `above`: faster than by an index of each.

    >>> spread_leaves(Hierarchy.from_counts([[5, 1], [2, 3, 1]], [None, [0, 0, 1]]), np.array([7.0, 8.0]))
    array([7., 7., 8.])
    """
    return above.repeat(leaf_families(hierarchy))


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b, and zero where b is: there nothing is uncertain, so nothing is shared."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
