"""How far the estimates of `gls` may be off: every node at once, and any set of leaves.

    v, f: (L,) variance and fourth cumulant of a measurement at each level; f = 3 v² for Laplace noise
    z, s, S, Z: as in `least_squares` · k: (n,) weight of a node's own measurement in z · q = s/S: a child's part of it all
    A, O: what a node's z, and that of each sibling, count for in its x
    x = z + q (x_parent − Z): so, up to what lies outside the family, x_parent = a Z + r with r independent of Z

Cumulants of independent parts add up, and a factor c counts as c² or c⁴. So both travel up the tree with z and down with r.
"""

from typing import NamedTuple

import numpy as np

from ..hierarchy import Hierarchy
from .least_squares import leaf_families, spread_leaves, upward_variances

_EQUAL = 1e-9  # gains that differ by less differ by rounding


class Moments(NamedTuple):
    """What is known of the errors of a level's estimates, each (n,)."""

    variance: np.ndarray  #: in people squared
    fourth: np.ndarray  #: fourth cumulant
    own: np.ndarray  #: how much of its own measurement's error a node keeps: zero, if the level is not measured


def node_moments(hierarchy: Hierarchy, v: np.ndarray, f: np.ndarray) -> list[Moments]:
    """Variance, fourth cumulant and own part of the error of every estimate, in one pass up the tree and one down.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> top, below = node_moments(tree, np.array([2.0, 1.0]), np.array([12.0, 3.0]))
    >>> top.variance, below.variance, below.own
    (array([1.]), array([0.75, 0.75]), array([0.75, 0.75]))
    """
    s, S = upward_variances(hierarchy, v)
    lowest = len(v) - 1
    if not lowest:
        return [Moments(s[0].copy(), np.full_like(s[0], f[0]), np.ones_like(s[0]))]
    k = [_part(S[level], v[level]) for level in range(lowest)]
    fourth, sums = list[np.ndarray](), list[np.ndarray]()  # of z, and of Z
    for level in range(lowest - 1, -1, -1):
        sums.insert(0, hierarchy.sum_children(level, fourth[0]) if sums else f[-1] * leaf_families(hierarchy))
        fourth.insert(0, _power4(1 - k[level]) * sums[0] + _times(_power4(k[level]), f[level]))
    a, rest2, rest4 = 1 - k[0], _times(k[0] ** 2, v[0]), _times(_power4(k[0]), f[0])
    out = [Moments(s[0], fourth[0], k[0])]
    # Leaves of one parent are alike: one stands for all of them, at the place of its parent.
    alike = np.ones(len(S[-1]))
    s, k, fourth = [*s[:-1], v[-1] * alike], [*k, alike], [*fourth, f[-1] * alike]
    for level in range(1, lowest + 1):
        parents = hierarchy.links[level - 1] if level < lowest else slice(None)
        above, below = S[level - 1][parents], s[level]
        q = np.divide(below, above, out=np.zeros_like(below), where=above > 0)
        own, others = 1 - q + q * a[parents], q * (a - 1)[parents]  # what z and the z of each sibling count for
        beside2 = others**2 * (above - below) + q**2 * rest2[parents]
        beside4 = _power4(others) * (sums[level - 1][parents] - fourth[level]) + _power4(q) * rest4[parents]
        own4 = _power4(own)
        out.append(Moments(own**2 * below + beside2, own4 * fourth[level] + beside4, own * k[level]))
        a = own * (1 - k[level])
        rest2 = beside2 + own**2 * _times(k[level] ** 2, v[level])
        rest4 = beside4 + own4 * _times(_power4(k[level]), f[level])
    return [*out[:-1], Moments(*(spread_leaves(hierarchy, x) for x in out[-1]))]


def region_gains(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """How much each measurement counts in the estimate of Σ leaves_i x_i, one array a level.

    With α the weight of a node in the sum, a family gives Σ (α − ᾱ) z + ᾱ x_parent, where ᾱ = Σ α s / S: up the tree, what
    is asked of children is asked of parents. Down the tree, what z of a parent counts for, its children's z count for.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [g.tolist() for g in region_gains(tree, np.array([1.0, 1.0]), np.array([2.0, 1.0]))]
    [[0.5], [0.5, 0.5]]
    """
    S, asked = _asked(hierarchy, leaves, v)
    if not S:
        return [leaves.copy()]
    counts_for, gains = asked[0], list[np.ndarray]()
    for level, parents in enumerate(hierarchy.links):
        k = _part(S[level], v[level])
        gains.append(k * counts_for)
        passed = (1 - k) * counts_for - asked[level]
        lowest = level == len(S) - 1
        counts_for = spread_leaves(hierarchy, passed) if lowest else passed[parents]
        counts_for += asked[level + 1]
    return [*gains, counts_for]


def region_variance(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> float:
    """Var(Σ leaves_i x_i) after `gls`, in people squared: Σ α² s over all nodes less Σ α² S over those with children.

    With α as in `region_gains`: Σ (α − ᾱ) z of a family is independent of x_parent, so each family adds Σ (α − ᾱ)² s, which
    is Σ α² s − ᾱ² S. Only the way up is needed, and no gain of any leaf.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> region_variance(tree, np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    0.75
    """
    s, S = upward_variances(hierarchy, v)
    _, asked = _asked(hierarchy, leaves, v)
    own = sum(float(np.einsum("i,i,i", a, a, x)) for a, x in zip(asked[:-1], s, strict=False))
    own += float(v[-1] * np.einsum("i,i", leaves, leaves))
    return max(own - sum(float(np.einsum("i,i,i", a, a, x)) for a, x in zip(asked, S, strict=False)), 0.0)


def _asked(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """S of every level but the lowest, and α of every level."""
    s, S = upward_variances(hierarchy, v)
    asked = [leaves]
    for level in range(len(S) - 1, -1, -1):
        below = v[-1] * hierarchy.sum_children(level, leaves) if len(asked) == 1 else None
        weighed = hierarchy.sum_children(level, asked[0] * s[level + 1]) if below is None else below
        asked.insert(0, np.divide(weighed, S[level], out=np.zeros_like(weighed), where=S[level] > 0))
    return S, asked


def _power4(x: np.ndarray) -> np.ndarray:
    """x⁴, by two squares: a power takes thirty times as long."""
    square = x * x
    return square * square


def _part(S: np.ndarray, v: float) -> np.ndarray:
    """S / (v + S): zero where nothing was measured, one where the measurement is exact."""
    return np.ones_like(S) if v == 0 else S / (v + S)


def _times(k: np.ndarray, cumulant: float) -> np.ndarray:
    """k times a cumulant; zero where nothing was measured, whose cumulants are infinite."""
    return np.zeros_like(k) if np.isinf(cumulant) else k * cumulant


class Terms(NamedTuple):
    """Independent parts of an error, each (n, m): `times` noises of a `level`, each times the same `gain` ≥ 0.

    Places that are not used have `times` 0. Parts that are not listed are small; moments say what they add up to.
    """

    gain: np.ndarray
    level: np.ndarray
    times: np.ndarray

    def times_gain(self, factor: np.ndarray) -> "Terms":
        """The parts of `factor` (n,) times the error."""
        return self._replace(gain=self.gain * np.abs(factor)[:, None])

    def at(self, rows: np.ndarray) -> "Terms":
        """The parts of some rows."""
        return Terms(*(part[rows] for part in self))


class Alike(NamedTuple):
    """The estimates of a level, those with the same error once: `where` says for each node (n,) which of them it is."""

    where: np.ndarray
    moments: Moments
    terms: Terms


def node_terms(hierarchy: Hierarchy, v: np.ndarray, f: np.ndarray, most: int = 6) -> list[Alike]:
    """Moments of the error of every estimate, and its `most` parts with the largest fourth cumulants.

    Nodes with the same subtree have the same z; with the same z and the same parent, the same error. So a level of eight
    million leaves has only as many kinds of errors as families.

    x = A z + O Σ_siblings z + q r, where A = 1 − q + q a and O = q (a − 1); the largest parts of a sum are among the largest
    of each summand.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> top, below = node_terms(tree, np.array([2.0, 1.0]), np.array([12.0, 3.0]), most=3)
    >>> below.where.tolist(), below.terms.gain.tolist(), below.terms.level.tolist(), below.terms.times.tolist()
    ([0, 0], [[0.75, 0.25, 0.25]], [[1, 0, 1]], [[1.0, 1.0, 1.0]])
    """
    s, S = upward_variances(hierarchy, v)
    finite = np.where(np.isinf(f), 0.0, f)
    kinds, z, sums = _upward(hierarchy, S, v, finite, most)
    out = list[Alike]()
    above, a, r = np.zeros(0, int), np.zeros(0), _nothing(0, most)  # kinds of parents; what Z and all the rest count for
    for level, moments in enumerate(node_moments(hierarchy, v, f)):
        kind = kinds[level]
        if level == 0:
            where, first = _distinct(kind)
            A, beside = np.ones(len(first)), _nothing(len(first), most)
        else:
            parents = hierarchy.links[level - 1]
            where, first = _pairs(above, parents, kind)
            p = parents[first]
            q = np.divide(s[level][first], S[level - 1][p], out=np.zeros(len(first)), where=S[level - 1][p] > 0)
            A = 1 - q + q * a[above[p]]
            siblings = _without(sums[level - 1].at(kinds[level - 1][p]), z[level].at(kind[first]))
            beside = _largest([siblings.times_gain(A - 1), r.at(above[p]).times_gain(q)], finite, most)
        terms = _largest([z[level].at(kind[first]).times_gain(A), beside], finite, most)
        out.append(Alike(where, Moments(*(part[first] for part in moments)), terms))
        if level < len(v) - 1:
            k = _part(S[level][first], v[level])
            r = _largest([_own(A * k, level), beside], finite, most)
            above, a = where, A * (1 - k)
    return out


def _upward(
    hierarchy: Hierarchy, S: list[np.ndarray], v: np.ndarray, f: np.ndarray, most: int
) -> tuple[list[np.ndarray], list[Terms], list[Terms]]:
    """Of every level: which kind of subtree each node has, the parts of z of each kind, and the parts of Z of each kind."""
    lowest = len(v) - 1
    kinds, z, sums = [np.zeros(hierarchy.sizes[-1], int)], [_padded(_own(np.ones(1), lowest), most)], list[Terms]()
    for level in range(lowest - 1, -1, -1):
        parents = hierarchy.links[level]
        mark = np.random.default_rng(level).integers(2**64, size=len(z[0].gain), dtype=np.uint64)
        marks = np.zeros(hierarchy.sizes[level], np.uint64)  # a family's sum of marks tells it from others but once in 2**64
        np.add.at(marks, parents, mark[kinds[0]])
        where, first = _distinct(marks)
        place = np.full(hierarchy.sizes[level], -1)
        place[first] = np.arange(len(first))
        children = np.flatnonzero(place[parents] >= 0)
        # twice as many, since a child's own parts are taken away from those of its family
        sums.insert(0, _added(place[parents[children]], z[0].at(kinds[0][children]), len(first), f, 2 * most))
        k = _part(S[level][first], v[level])
        z.insert(0, _largest([_own(k, level), sums[0].times_gain(1 - k)], f, most))
        kinds.insert(0, where)
    return kinds, z, sums


def largest_terms(gains: list[np.ndarray], f: np.ndarray, most: int = 6) -> Terms:
    """The `most` parts with the largest fourth cumulants of an error with these gains of every measurement.

    >>> found = largest_terms([np.array([0.5]), np.array([0.5, 0.5])], np.array([12.0, 3.0]), most=2)
    >>> found.level.tolist(), found.times.tolist()
    ([[0, 1]], [[1.0, 2.0]])
    """
    level = np.arange(len(gains)).repeat([len(g) for g in gains])[:, None]
    gain = np.abs(np.concatenate(gains))[:, None]
    terms = Terms(gain, level, np.ones_like(gain))
    return _added(np.zeros(len(gain), int), terms, 1, np.where(np.isinf(f), 0.0, f), most)


def _own(gain: np.ndarray, level: int) -> Terms:
    return Terms(np.abs(gain)[:, None], np.full((len(gain), 1), level), np.ones((len(gain), 1)))


def _nothing(rows: int, most: int) -> Terms:
    return Terms(np.zeros((rows, most)), np.zeros((rows, most), int), np.zeros((rows, most)))


def _padded(terms: Terms, most: int) -> Terms:
    empty = _nothing(len(terms.gain), most - terms.gain.shape[1])
    return Terms(*(np.concatenate(pair, axis=1) for pair in zip(terms, empty, strict=True)))


def _size(terms: Terms, f: np.ndarray) -> np.ndarray:
    return terms.times * terms.gain**4 * f[terms.level]


def _largest(parts: list[Terms], f: np.ndarray, most: int) -> Terms:
    """The largest of all parts, row by row, the largest first."""
    every = Terms(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))
    every = _merged(_padded(every, max(most, every.gain.shape[1])))
    size = _size(every, f)
    order = np.argsort(-size, axis=1, kind="stable")[:, :most]
    used = np.take_along_axis(size, order, axis=1) > 0
    return Terms(*(np.where(used, np.take_along_axis(part, order, axis=1), 0) for part in every))


def _merged(terms: Terms) -> Terms:
    """Equal parts of a row once: an unmeasured level makes siblings and cousins count for the same."""
    order = np.lexsort((terms.gain, terms.level), axis=1)
    gain, level, times = (np.take_along_axis(part, order, axis=1) for part in terms)
    same = (np.diff(level, axis=1) == 0) & (np.diff(gain, axis=1) <= _EQUAL * gain[:, 1:])
    for column in range(gain.shape[1] - 1, 0, -1):
        moved = np.where(same[:, column - 1], times[:, column], 0.0)
        times[:, column] -= moved
        times[:, column - 1] += moved
    return Terms(gain, level, times)


def _without(family: Terms, child: Terms) -> Terms:
    """The parts of a family without those of one child; parts of the child that are not listed take nothing away."""
    same = (family.level[:, :, None] == child.level[:, None, :]) & (child.times > 0)[:, None, :]
    same &= np.isclose(family.gain[:, :, None], child.gain[:, None, :], rtol=_EQUAL, atol=0)
    taken = (same * child.times[:, None, :]).sum(axis=2)
    return family._replace(times=np.maximum(family.times - taken, 0.0))


def _added(owner: np.ndarray, terms: Terms, owners: int, f: np.ndarray, most: int) -> Terms:
    """(owners, most) all parts of an owner together: equal ones once, with how often they are there; then the largest."""
    used = terms.times > 0
    who, gain, level, times = owner[:, None].repeat(terms.gain.shape[1], axis=1)[used], *(part[used] for part in terms)
    order = np.lexsort((gain, level, who))
    who, gain, level, times = who[order], gain[order], level[order], times[order]
    new = np.append(True, (np.diff(who) != 0) | (np.diff(level) != 0) | (np.diff(gain) > _EQUAL * gain[1:]))[: len(who)]
    starts = np.flatnonzero(new)
    times = np.add.reduceat(times, starts) if len(starts) else times
    who, gain, level = who[starts], gain[starts], level[starts]
    order = np.lexsort((-times * gain**4 * f[level], who))
    who, gain, level, times = who[order], gain[order], level[order], times[order]
    rank = np.arange(len(who)) - np.searchsorted(who, who)
    keep = (rank < most) & (times * gain**4 * f[level] > 0)
    out = _nothing(owners, most)
    for table, values in zip(out, (gain, level, times), strict=True):
        table[who[keep], rank[keep]] = values[keep]
    return out


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) which of the distinct keys each one is, and where each of these is first."""
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    return where.ravel(), first


def _pairs(above: np.ndarray, parents: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for pairs (kind of the parent, kind of the node)."""
    if kind.max() > 0:
        return _distinct(above[parents] * (kind.max() + 1) + kind)
    # leaves: as many kinds as parents have, which need no sorting of all leaves; of parents without children there is none
    first = np.full(above.max() + 1, -1)
    first[above[parents[::-1]]] = np.arange(len(parents))[::-1]
    place = np.cumsum(first >= 0) - 1
    return place[above[parents]], first[first >= 0]
