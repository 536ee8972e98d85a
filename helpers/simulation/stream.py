"""Error vectors in, one release after another; bias², variance and MSE out, with standard errors. Nothing grows with T.

    e_t = h_t + u_t: (n,) error of release t · u: a part of it that is known: its mean is zero, and maybe U = E|u|² is given
    mu = E[e] = E[h] · Sigma = Cov(h) · T: releases · m_t: mean of h over the releases before t
    q_t = U + |h_t|² + 2 <u_t, h_t − m_t>: its mean is E|e|², because u_t is independent of m_t, so <u_t, m_t> has mean zero

Where U is not given, q = |e|², and where nothing is known, u = 0. The more of the error is known, the less is left to
chance. The estimates, and why their standard errors are what they are (for any noise, correlated nodes included):

    mse       mean of q_t                             variance of the estimate   Var(q)/T
    bias2     mean of <h_t, h_s> over pairs t ≠ s                                4 mu'Sigma mu/T + 2 tr(Sigma²)/T(T−1)
    variance  mse − bias2                                                        Var(q − 2<mu, h>)/T + 2 tr(Sigma²)/T(T−1)

The pairs t ≠ s make bias2 unbiased: squaring the mean error instead would add tr(Sigma)/T to it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .closed_form import COLUMNS

_ROUNDING = np.array([1e-12, 1e-9, 1e-9])  # of the MSE: what is known altogether is still only known to rounding
_SEEN = 30  # so many events, and their scatter is that of what was seen
ESTIMATES = COLUMNS + [f"{c}_se" for c in COLUMNS]


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """<a, b> on one core: `a @ b` would wake a second one, and wait for it whenever that one is busy."""
    return float(np.einsum("i,i", a, b))


class Moments:
    """Running mean and variance of a number, or of each in an array (Welford's update, which does not cancel)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: float | np.ndarray = 0.0
        self._squares: float | np.ndarray = 0.0

    def add(self, value: float | np.ndarray) -> None:
        """Take in one more value."""
        self.count += 1
        step = value - self.mean
        self.mean = self.mean + step / self.count
        self._squares = self._squares + step * (value - self.mean)

    @property
    def variance(self) -> float | np.ndarray:
        """Unbiased estimate; NaN of fewer than two values."""
        return self._squares / (self.count - 1) if self.count > 1 else np.nan


class Rare(NamedTuple):
    """What is known of events that the releases may not show: it counts only if fewer than 30 of them are expected."""

    chance: float  #: how many such events a release has on average; 0 for what is known in any case
    along: float  #: 4 mu'Sigma mu
    trace: float  #: 2 tr(Sigma²)
    square: float  #: Var(q)


class ErrorStream:
    """Streaming sums of error vectors, and what follows from them.

    `dot` is the inner product behind every estimate. The plain one takes the whole vector as one group and gives numbers;
    one that sums over groups of entries (families of a level, say) gives an estimate for each group. If a part u of the
    errors is known, `known` is U, if that is known too, and `guess` stands for the mean of h until there is one. `rare` says
    what the variances are at least, where none of the releases may show what happens rarely.
    """

    def __init__(
        self,
        size: int,
        trials: int,
        dot: Callable[[np.ndarray, np.ndarray], float | np.ndarray] = dot,
        known: float | np.ndarray | None = None,
        guess: np.ndarray | None = None,
        rare: "Rare | None" = None,
    ) -> None:
        self.trials, self.seen, self._dot, self._known, self._guess, self._rare = trials, 0, dot, known, guess, rare
        self.sum = np.zeros(size)  # Σ h_t so far
        self.first: np.ndarray | None = None  # the first trial of a pair that is not full yet
        self.difference: np.ndarray | None = None  # h_t − h_{t−1} of the last full pair
        self.q, self.square = Moments(), Moments()  # q_t and |h_t|²
        # Along mu, as known from earlier trials: x = <h_t, mean so far>, over the second half, where that mean is good.
        self.x, self.centred, self.mean_noise = Moments(), Moments(), Moments()
        self.late = Moments()  # q over the second half
        self.trace = Moments()  # squares of <d, d'>/2 for differences d, d' of separate pairs: their mean is tr(Sigma²)

    def add(self, h: np.ndarray, u: np.ndarray | None = None) -> None:
        """Take in the error of one more trial, without its known part u; h is kept, so it must not change afterwards."""
        q = square = self._dot(h, h)
        if u is not None:
            rest = self._dot(u, u) if self._known is None else self._known - 2 * self._along_mean(u)
            q = square + 2 * self._dot(u, h) + rest
        self.square.add(square)
        self.q.add(q)
        if self.seen >= self.trials // 2:
            x = self._along_mean(h)
            self.x.add(x)
            self.centred.add(q - 2 * x)
            self.late.add(q)
            self.mean_noise.add(1 / self.seen)
        self.sum += h
        self.seen += 1
        if self.first is None:
            self.first = h
            return
        difference, self.first = h - self.first, None
        if self.difference is not None:
            self.trace.add((self._dot(difference, self.difference) / 2) ** 2)
        self.difference = difference

    def _along_mean(self, vector: np.ndarray) -> float | np.ndarray:
        """<vector, mean of h so far>."""
        if self.seen:
            return self._dot(vector, self.sum) / self.seen
        return 0.0 if self._guess is None else self._dot(vector, self._guess)

    def estimates(self) -> tuple[float | np.ndarray, ...]:
        """bias2, variance, mse and their standard errors, as in ESTIMATES."""
        t = self.trials
        mse = self.q.mean
        bias2 = (self._dot(self.sum, self.sum) - t * self.square.mean) / (t * (t - 1))
        # The mean so far is itself noisy: it adds tr(Sigma²)/seen to the variance of x, four times that to `centred`.
        trace = self.trace.mean if self.trace.count else np.nan
        noise = trace * self.mean_noise.mean
        pairs = 2 * trace / (t * (t - 1))
        bias2_var = 4 * np.maximum(self.x.variance - noise, 0.0) / t + pairs
        # Var(q) is known from all trials, what centring changes of it from the second half.
        centred = self.q.variance + self.centred.variance - self.late.variance
        variance_var = np.maximum(centred - 4 * noise, 0.0) / t + pairs
        square_var = self.q.variance / t
        if self._rare and self._rare.chance * t < _SEEN:
            bias2_var = np.maximum(bias2_var, self._rare.along / t + self._rare.trace / (t * (t - 1)))
            variance_var, square_var = (np.maximum(v, self._rare.square / t) for v in (variance_var, square_var))
        variances = zip((bias2_var, variance_var, square_var), _ROUNDING, strict=True)
        return bias2, mse - bias2, mse, *(np.maximum(var, (least * mse) ** 2) ** 0.5 for var, least in variances)
