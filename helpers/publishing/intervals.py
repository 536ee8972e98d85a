"""How wide an interval around an estimate must be: the error is a sum of whole noises, each times how much it counts for.

    error = Σ_j gain_j · (sum of times_j noises of scale_j) + rest · a noise is whole: P(k) ∝ α^|k|, α = exp(−1/scale)
    C: the first of these parts, the one with the largest fourth cumulant · D: all others and the rest
    rest: of many small parts only variance and fourth cumulant count: it is taken as Laplace + normal, or, where noise is so
    rare that its fourth cumulant exceeds that of a Laplace number, as a Laplace number that is zero most of the time

P(|C + D| ≤ t) is added up over the values of C, which are far apart; the distribution function of D is a Fourier series of
its characteristic function Π [(1 − α)²/(1 − 2α cos(gain ω) + α²)]^times. A normal quantile would be wrong where it matters
most: the estimate of a leaf is nearly its own noise alone. All lengths are in people.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..consistency.uncertainty import Terms, largest_terms, node_terms
from ..hierarchy import Hierarchy

_LATTICE = 30.0  # noise of a larger standard deviation has so many values that it might as well be continuous
_SMALL = 0.01  # parts with less of the fourth cumulant of D are left to the rest
_NONE = 1e-9  # a rest with less of the variance is rounding
_RARE = 1e-7  # values that are rarer are left out
_GRID = 2048  # places in a period
_BLUR = 1.3  # places: a normal number of this standard deviation is added, without which the series would not converge
_NEAR, _SEEN = 3.0, 5e-4  # blurs around a width, and the chance there from which on values may not be left on the edge
_FINE = 256.0  # steps of the standard deviation of D, or of a factor e, by which alike rows are the same
_CHUNK = 2**21  # numbers to hold at a time


class _Rows(NamedTuple):
    """Errors to solve for, in any unit: `gain`, `scale`, `times` are (n, m); of the rest, standard deviation and fourth
    cumulant in units of 3 variance², both (n,)."""

    gain: np.ndarray
    scale: np.ndarray
    times: np.ndarray
    sd: np.ndarray
    peak: np.ndarray

    def at(self, rows: np.ndarray) -> "_Rows":
        return _Rows(*(part[rows] for part in self))


def half_widths(confidence: float, scale: float, own: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """(n,) the least t with P(|own · K + rest| ≤ t) ≥ confidence.

    `variance` and `fourth` are those of the rest, without the node's own noise K. A scale of zero: there is none.

    >>> half_widths(0.95, 1.25, np.ones(1), np.zeros(1), np.zeros(1))  # whole noise, and nothing else
    array([4.])
    >>> half_widths(0.95, 0.0, np.zeros(1), np.ones(1), np.zeros(1)).round(2)  # a normal number
    array([1.96])
    """
    terms = Terms(np.abs(own)[:, None], np.zeros((len(own), 1), int), np.ones((len(own), 1)))
    v, f = noise_cumulants(np.array([scale]))
    return _widths(confidence, terms, np.array([scale]), variance + own**2 * v, fourth + own**4 * f)


def node_half_widths(confidence: float, hierarchy: Hierarchy, scales: np.ndarray) -> list[np.ndarray]:
    """(n,) of every level: the least t with P(|x − N| ≤ t) ≥ confidence for each estimate x of `gls`.

    `scales` is that of the noise of each level: infinite, if it was not measured, and zero, if it was without noise. `gls`
    must have had the variances of `noise_cumulants`.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [t.round(2).tolist() for t in node_half_widths(0.95, tree, np.array([np.inf, 1.25]))]
    [[5.0], [4.0, 4.0]]
    """
    v, f = noise_cumulants(scales)
    kinds = node_terms(hierarchy, v, f)
    return [_widths(confidence, k.terms, scales, k.moments.variance, k.moments.fourth)[k.where] for k in kinds]


def region_half_width(confidence: float, gains: Sequence[np.ndarray], scales: np.ndarray) -> float:
    """The same for a sum of leaves, from its `region_gains`: how much each measurement of each level counts in it.

    >>> region_half_width(0.95, [np.zeros(1), np.ones(2)], np.array([np.inf, 1.25]))  # two numbers, and no more
    5.0
    """
    v, f = (np.where(np.isinf(x), 0.0, x) for x in noise_cumulants(scales))
    variance = sum(u * (g**2).sum() for u, g in zip(v, gains, strict=True))
    fourth = sum(u * (g**4).sum() for u, g in zip(f, gains, strict=True))
    return float(_widths(confidence, largest_terms([*gains], f), scales, np.array([variance]), np.array([fourth]))[0])


def noise_cumulants(scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L,) variance 2α/(1 − α)² and fourth cumulant 2α(1 + 4α + α²)/(1 − α)⁴ of noise with α = exp(−1/scale).

    >>> noise_cumulants(np.array([0.0, 1.0, np.inf]))[0].round(3)
    array([0.   , 1.841,  inf])
    """
    with np.errstate(divide="ignore"):
        rate = 1 / np.asarray(scales, dtype=float)
        alpha, left = np.exp(-rate), -np.expm1(-rate)
        return 2 * alpha / left**2, 2 * alpha * (1 + 4 * alpha + alpha**2) / left**4


def _widths(confidence: float, terms: Terms, scales: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """(n,) the same for errors with these terms, whose variance and fourth cumulant are these in all."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    rows, unit = _rows(terms, np.asarray(scales, dtype=float), variance, fourth)
    table = np.column_stack([rows.gain, rows.scale, rows.times, rows.sd, rows.peak])
    _, first, where = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return _solve(confidence, rows.at(first))[where.ravel()] * unit


def _rows(terms: Terms, scales: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> tuple[_Rows, np.ndarray]:
    """Parts that matter, the rest, and the unit: the first gain, so that values of C are whole; numbers are rounded."""
    v, f = (np.where(np.isinf(x), 0.0, x)[terms.level] for x in noise_cumulants(scales))
    share = terms.times * terms.gain**4 * f
    # D is what decides between two values of C, however small it is: what matters is measured against D alone
    kept = share > _SMALL * np.maximum(fourth - share[:, 0], 0.0)[:, None]
    gain, times = np.where(kept, terms.gain, 0.0), np.where(kept, terms.times, 0.0)
    parts = times * gain**2 * v
    left2 = variance - parts.sum(axis=1)
    left4 = np.maximum(fourth - np.where(kept, share, 0.0).sum(axis=1), 0.0)
    left2 = np.where(left2 > _NONE * variance, left2, 0.0)
    peak = np.divide(left4, 3 * left2**2, out=np.zeros_like(left2), where=left2 > 0)
    unit = np.where(times[:, 0] > 0, gain[:, 0], np.sqrt(variance))
    safe = np.where(unit > 0, unit, 1.0)
    spread = _by_factor(np.sqrt(left2 + parts[:, 1:].sum(axis=1)) / safe)
    gain, step = gain / safe[:, None], spread[:, None] / np.where(kept, np.sqrt(v), 1.0) / _FINE
    gain[:, 1:] = (np.round(gain / np.where(step > 0, step, 1.0)) * step)[:, 1:]
    return _Rows(gain, np.where(kept, scales[terms.level], 0.0), times, _by_factor(np.sqrt(left2) / safe), _peak(peak)), unit


def _by_factor(x: np.ndarray) -> np.ndarray:
    """Rounded to the nearest of many factors."""
    return np.where(x > 0, np.exp(np.round(np.log(np.where(x > 0, x, 1.0)) * _FINE) / _FINE), 0.0)


def _peak(x: np.ndarray) -> np.ndarray:
    return np.where(x > 1, np.exp(np.round(np.log(np.maximum(x, 1.0)) * 16) / 16), np.round(x * 64) / 64)


def _solve(confidence: float, rows: _Rows) -> np.ndarray:
    """Rows whose C has the same values and chances together."""
    v = noise_cumulants(rows.scale)[0]
    others = rows.sd**2 + (rows.times * rows.gain**2 * v)[:, 1:].sum(axis=1)
    apart = (rows.times[:, 0] > 0) & ((rows.times[:, 0] * v[:, 0] <= _LATTICE**2) | (others < 0.25))
    kind = np.where(apart, rows.times[:, 0], 0.0), np.where(apart, rows.scale[:, 0], 0.0)
    kinds, where = np.unique(np.column_stack(kind), axis=0, return_inverse=True)
    out = np.zeros(len(others))
    for index, (times, scale) in enumerate(kinds):
        k, p = _whole(times, scale)
        mine = np.flatnonzero(where.ravel() == index)
        alone = others[mine] == 0
        if times:  # else the first part, if there is one, is among the others
            out[mine[alone]] = k[np.searchsorted(np.cumsum(p), confidence - 1e-12).clip(max=len(k) - 1)]
            rows.times[mine, 0] = 0.0
        mine = mine[~alone | (rows.times[mine, 0] > 0)]
        size = max(1, _CHUNK // max(len(k), _GRID))
        for start in range(0, len(mine), size):
            chunk = mine[start : start + size]
            out[chunk] = _least(confidence, k, p, rows.at(chunk))
    return out


def _whole(times: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of |K₁ + … + K_times| and their chances; zero alone, if times is."""
    if not times:
        return np.zeros(1), np.ones(1)
    v = noise_cumulants(np.array([scale]))[0][0]
    reach = int(np.ceil(scale * np.log(times / _RARE) + 8 * np.sqrt(times * v))) + 1
    omega = 2 * np.pi * np.arange(reach + 1) / (2 * reach)
    p = np.fft.irfft(_characteristic(omega, scale) ** times)[: reach + 1].clip(0)
    p[1:] *= 2
    return np.arange(reach + 1.0), p / p.sum()


def _characteristic(omega: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """E exp(i ω K) = (1 − α)²/((1 − α)² + 4 α sin²(ω/2)), for which no digits are lost; one, for a scale of zero."""
    with np.errstate(divide="ignore"):
        rate = 1 / np.asarray(scale, dtype=float)
    left = np.expm1(-rate) ** 2
    return left / (left + 4 * np.exp(-rate) * np.sin(omega / 2) ** 2)


class _Others(NamedTuple):
    """Distribution function of D at 0, step, 2 step, …, (n, places); and whether D may have single values of some chance."""

    step: np.ndarray
    below: np.ndarray
    bumpy: np.ndarray

    def at(self, y: np.ndarray) -> np.ndarray:
        """(n, m) P(D ≤ y), by straight lines from place to place."""
        place = np.minimum(np.abs(y) / self.step[:, None], self.below.shape[1] - 1.000001)
        left = place.astype(np.intp)
        low = np.take_along_axis(self.below, left, axis=1)
        found = low + (place - left) * (np.take_along_axis(self.below, left + 1, axis=1) - low)
        return np.where(y < 0, 1 - found, found)


def _others(rows: _Rows) -> _Others:
    """P(D ≤ x) = 1/2 + x/P + Σ_n φ(2πn/P) sin(2πnx/P)/(πn), with a period P that D hardly ever leaves."""
    v = noise_cumulants(rows.scale)[0]
    sd = np.sqrt(rows.sd**2 + (rows.times * rows.gain**2 * v).sum(axis=1))
    single = rows.gain * np.ceil(rows.scale * np.log(np.maximum(rows.times, 1) / _RARE)) * (rows.times > 0)
    # a rest of rare Laplace numbers goes as far as these do
    far = single.max(axis=1) + 4 * sd + 10 * rows.sd * np.sqrt(np.maximum(rows.peak, 1.0))
    step = 2 * np.maximum(8 * sd, far) / _GRID
    n = np.arange(1, _GRID // 2 + 1)
    omega = 2 * np.pi * n / (_GRID * step[:, None])
    blur = _BLUR * step
    phi = _rest(omega, rows.sd, rows.peak, blur)
    for j in np.flatnonzero((rows.times > 0).any(axis=0)):
        phi *= _characteristic(omega * rows.gain[:, j, None], rows.scale[:, j, None]) ** rows.times[:, j, None]
    series = np.fft.irfft(np.pad(phi / (1j * np.pi * n), ((0, 0), (1, 0))), _GRID, axis=1) * _GRID / 2
    below = 0.5 + np.arange(_GRID // 2 + 1) / _GRID + series[:, : _GRID // 2 + 1]
    bumpy = (rows.sd < 2 * blur) | (rows.peak > 1.5)
    return _Others(step, np.append(below[:, :-1], np.ones((len(sd), 1)), axis=1), bumpy)


def _rest(omega: np.ndarray, sd: np.ndarray, peak: np.ndarray, blur: np.ndarray) -> np.ndarray:
    """Characteristic function of the rest and of the blur, which takes the place of a normal part where there is one."""
    often = 2 / (np.maximum(peak, 1) + 1)  # how often a number is not zero that has this fourth cumulant
    laplace = np.minimum(np.sqrt(peak), 1.0) * sd**2
    normal = np.maximum(sd**2 - laplace, blur**2)
    rare = laplace / often / 2
    return np.exp(-normal[:, None] * omega**2 / 2) * (1 - often[:, None] * (1 - 1 / (1 + rare[:, None] * omega**2)))


def _least(confidence: float, k: np.ndarray, p: np.ndarray, rows: _Rows) -> np.ndarray:
    """(n,) the least t, by halving; where a value of the error may be at its edge, a little more."""
    others = _others(rows)

    def covered(t: np.ndarray) -> np.ndarray:
        centre = rows.gain[:, :1] * k if len(k) > 1 else np.zeros((1, 1))
        return (others.at(t[:, None] - centre) + others.at(t[:, None] + centre) - 1) @ p

    low, high = np.zeros(len(rows.sd)), k[-1] + others.step * _GRID / 2
    for _ in range(24):
        t = (low + high) / 2
        enough = covered(t) >= confidence
        low, high = np.where(enough, low, t), np.where(enough, t, high)
    near = _NEAR * _BLUR * others.step
    edge = others.bumpy & (covered(high + near) - covered(np.maximum(high - near, 0.0)) > _SEEN)
    return np.where(edge, high + near, high)
