"""How wide an interval around an estimate must be: the error is a part of its own noise, and the rest of many others'.

    error = own · K + B + G, independent · K: the node's own noise, whole, P(k) ∝ exp(−|k|/scale)
    B ~ Laplace, G ~ Normal, whose variances sum to `variance`, with the fourth cumulant `fourth`: what siblings, parents and
    children bring. One large part makes that Laplace, many small ones make it normal.

A normal quantile would be wrong where it matters most: the estimate of a leaf is nearly its own noise alone.
"""

import numpy as np
from scipy.special import log_ndtr, ndtr

_LATTICE = 20.0  # noise of a larger scale has so many values that it might as well be continuous
_FEWEST = 1e-9  # values of K that are rarer are left out


def half_widths(confidence: float, scale: float, own: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """(n,) the least t with P(|error| ≤ t) ≥ confidence.

    `variance` and `fourth` are those of the rest, without the node's own noise. A scale of zero: there is none.

    >>> half_widths(0.95, 1.25, np.ones(1), np.zeros(1), np.zeros(1)).round(6)  # whole noise, and nothing else
    array([4.])
    >>> half_widths(0.95, 0.0, np.zeros(1), np.ones(1), np.zeros(1)).round(2)  # a normal number
    array([1.96])
    """
    rows, where = np.unique(_round(np.column_stack([own, variance, fourth])), axis=0, return_inverse=True)
    return _solve(confidence, scale, *rows.T)[where.ravel()]


def _round(x: np.ndarray) -> np.ndarray:
    """Five digits are plenty for a width, and make alike nodes the same."""
    with np.errstate(divide="ignore"):
        places = np.where(x == 0, 0.0, np.floor(np.log10(np.abs(x))))
    unit = 10.0 ** (places - 4)
    return np.round(x / unit) * unit


def _solve(confidence: float, scale: float, own: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    k, p = _whole_noise(scale)
    if len(k) == 1:  # none, or too fine to matter
        alpha = np.exp(-1 / scale) if scale else 0.0
        noise = own**2 * 2 * alpha / (1 - alpha) ** 2
        variance, fourth = variance + noise, fourth + 3 * noise**2
        own = np.zeros_like(own)
    laplace = np.minimum(np.sqrt(np.maximum(fourth, 0.0) / 3), variance)
    b, sigma = np.sqrt(laplace / 2), np.sqrt(np.maximum(variance - laplace, 0.0))
    low = np.zeros(len(own))
    high = own * k[-1] + 40 * b + 12 * sigma
    for _ in range(60):
        t = (low + high) / 2
        covered = sum(q * _within(t, own * n, b, sigma) for n, q in zip(k, p, strict=True))
        enough = covered >= confidence
        low, high = np.where(enough, low, t), np.where(enough, t, high)
    return high


def _whole_noise(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of |K| and their chances."""
    if not 0 < scale <= _LATTICE:
        return np.zeros(1), np.ones(1)
    alpha = np.exp(-1 / scale)
    k = np.arange(int(np.ceil(-np.log(_FEWEST) * scale)) + 1)
    p = (1 - alpha) / (1 + alpha) * alpha**k * np.where(k == 0, 1, 2)
    return k.astype(float), p / p.sum()


def _within(t: np.ndarray, centre: np.ndarray, b: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """P(|centre + B + G| ≤ t)."""
    return _below(t - centre, b, sigma) - _below(-t - centre, b, sigma, at=False)


def _below(y: np.ndarray, b: np.ndarray, sigma: np.ndarray, at: bool = True) -> np.ndarray:
    """P(B + G ≤ y), or, where both are zero and not `at`, P(B + G < y)."""
    some, wide = np.where(sigma > 0, sigma, 1.0), np.where(b > 0, b, 1.0)
    step = (y >= -1e-12) if at else (y > 1e-12)
    normal = np.where(sigma > 0, ndtr(y / some), step)
    ratio = np.where(sigma > 0, sigma / wide, 0.0)
    with np.errstate(over="ignore"):
        right = np.exp(np.minimum(ratio**2 / 2 - y / wide + _log_ndtr(y, some, ratio, sigma), 50))
        left = np.exp(np.minimum(ratio**2 / 2 + y / wide + _log_ndtr(-y, some, ratio, sigma), 50))
    both = normal - (right - left) / 2
    return np.where(b > 0, both, normal)


def _log_ndtr(y: np.ndarray, some: np.ndarray, ratio: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.where(sigma > 0, log_ndtr(y / some - ratio), np.log((y >= 0) * 1.0))
