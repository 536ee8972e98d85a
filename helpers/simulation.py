"""The error of a release, level by level: in closed form, and measured.

    e_t: (n,) error of a level in trial t · mu = E[e], its bias vector · Sigma = Cov(e) · T: trials
    bias2 = |mu|² · variance = tr Sigma · mse = bias2 + variance, all in people squared, summed over the level's nodes

Nothing grows with T: a level keeps its running sum of errors, two more vectors, and a few numbers. What is estimated, and
why the standard errors are what they are (exact for any noise, correlated nodes included; q = |e|²):

    mse       mean of q_t                                variance of the estimate   Var(q)/T
    bias2     mean of <e_t, e_u> over pairs t ≠ u                                   4 mu'Sigma mu/T + 2 tr(Sigma²)/T(T−1)
    variance  mse − bias2                                                           Var(|e−mu|²)/T + 2 tr(Sigma²)/T(T−1)

The pairs t ≠ u make bias2 unbiased: squaring the mean error instead would add variance/T to it.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from . import checks
from .allocation import Allocation
from .hierarchy import Hierarchy, check_hierarchy, check_like
from .mechanisms import Mechanism
from .release import Seed, check_eps, draw, generator

COLUMNS = ["bias2", "variance", "mse"]
ESTIMATES = COLUMNS + [f"{c}_se" for c in COLUMNS]


def expected_error(
    hierarchy: Hierarchy, eps: Sequence[float] | Allocation, mechanism: Mechanism | None = None
) -> pd.DataFrame:
    """Bias², variance and MSE of each level in closed form, before any consistency step, in people squared.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> expected_error(tree, eps=[0.5, 0.5]).round(3)
             bias2  variance     mse
    level 1  0.007     6.844   6.851
    level 2  0.185    10.641  10.826
    """
    eps, kind = check_eps(hierarchy, eps, mechanism)
    rows = [
        (np.sum(kind.bias(n, e) ** 2), np.sum(kind.variance(n, e)), np.sum(kind.mse(n, e)))
        for n, e in zip(hierarchy.counts, eps, strict=True)
    ]
    return pd.DataFrame(rows, index=list(hierarchy.levels), columns=COLUMNS)


def simulate(
    hierarchy: Hierarchy,
    eps: Sequence[float] | Allocation,
    trials: int,
    seed: Seed = None,
    consistent: bool = True,
    mechanism: Mechanism | None = None,
) -> pd.DataFrame:
    """Bias², variance and MSE of each level measured over `trials` releases, with standard errors (`bias2_se`, …).

    `bias2` is unbiased and may therefore come out slightly negative. The same seed gives the same numbers. A run of more
    than a second shows a progress bar (the environment variable TQDM_DISABLE=1 turns it off). With fewer than four trials
    the standard errors of `bias2` and `variance` cannot be told and are NaN. Where a level is a single node (or its errors
    move as one) and its bias is lost in the noise, `bias2_se` is cautious: up to 1.6 times too large.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> simulate(tree, eps=[0.5, 0.5], trials=1000, seed=1).columns.tolist()
    ['bias2', 'variance', 'mse', 'bias2_se', 'variance_se', 'mse_se']
    """
    eps, mechanism = check_eps(hierarchy, eps, mechanism)
    checks.flag("consistent", consistent)
    return _measured(hierarchy, lambda rng: draw(hierarchy, eps, rng, consistent, mechanism), trials, seed)


def simulate_with(
    hierarchy: Hierarchy, once: Callable[[np.random.Generator], Sequence[np.ndarray]], trials: int, seed: Seed = None
) -> pd.DataFrame:
    """`simulate` for a release of your own: `once` takes a random generator and returns one array of counts a level.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> def dice(rng):
    ...     return [n + rng.integers(-3, 4, n.size) for n in tree.counts]
    >>> simulate_with(tree, dice, trials=400, seed=1).mse.round(0)  # (9 + 4 + 1 + 0 + 1 + 4 + 9)/7 = 4 a node
    level 1    4.0
    level 2    8.0
    Name: mse, dtype: float64
    """
    check_hierarchy(hierarchy)
    if not callable(once):
        raise TypeError(f"once must be a function from a random generator to one array a level, got {once!r}")
    # Copies, because the errors are computed in place and `once` may hand out arrays that it keeps.
    return _measured(hierarchy, lambda rng: [x.copy() for x in check_like("once()", once(rng), hierarchy)], trials, seed)


def _measured(
    hierarchy: Hierarchy, once: Callable[[np.random.Generator], list[np.ndarray]], trials: int, seed: Seed
) -> pd.DataFrame:
    from tqdm import tqdm

    trials = checks.whole("trials", trials, least=2, most=checks.MOST_TRIALS)
    rng = generator(seed)
    levels = [ErrorStream(len(n), trials) for n in hierarchy.counts]
    for _ in tqdm(range(trials), desc="releases", delay=1, leave=False):
        for level, noisy, true in zip(levels, once(rng), hierarchy.floats, strict=True):
            level.add(np.subtract(noisy, true, out=noisy))
    rows = [level.estimates() for level in levels]
    return pd.DataFrame(rows, index=list(hierarchy.levels), columns=ESTIMATES)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """<a, b> on one core: `a @ b` would wake a second one, and wait for it whenever that one is busy."""
    return float(np.einsum("i,i", a, b))


class _Moments:
    """Running mean and variance of a number, or of each in an array (Welford's update, which does not cancel)."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float | np.ndarray) -> None:
        self.count += 1
        step = value - self.mean
        self.mean = self.mean + step / self.count
        self._squares = self._squares + step * (value - self.mean)

    @property
    def variance(self) -> float | np.ndarray:
        return self._squares / (self.count - 1) if self.count > 1 else np.nan


class ErrorStream:
    """Streaming sums of error vectors, and what follows from them.

    `dot` is the inner product behind every estimate. The plain one takes the whole vector as one group and gives numbers;
    one that sums over groups of entries (families of a level, say) gives an estimate for each group.
    """

    def __init__(self, size: int, trials: int, dot: Callable[[np.ndarray, np.ndarray], float | np.ndarray] = _dot) -> None:
        self.trials, self.seen, self._dot = trials, 0, dot
        self.sum = np.zeros(size)  # Σ e_t so far
        self.first = self.difference = None  # the first trial of a pair; e_t − e_{t−1} of the last full pair
        self.q = _Moments()
        # Along mu, as known from earlier trials: x = <e_t, mean so far>, over the second half, where that mean is good.
        self.x, self.centred, self.mean_noise = _Moments(), _Moments(), _Moments()
        self.trace = _Moments()  # squares of <d, d'>/2 for differences d, d' of separate pairs: their mean is tr(Sigma²)

    def add(self, e: np.ndarray) -> None:
        """Take in the error vector of one more trial; it is kept, so it must not change afterwards."""
        q = self._dot(e, e)
        self.q.add(q)
        if self.seen >= self.trials // 2:
            x = self._dot(e, self.sum) / self.seen
            self.x.add(x)
            self.centred.add(q - 2 * x)
            self.mean_noise.add(1 / self.seen)
        self.sum += e
        self.seen += 1
        if self.seen % 2:
            self.first = e
            return
        difference = e - self.first
        if self.difference is not None:
            self.trace.add((self._dot(difference, self.difference) / 2) ** 2)
        self.difference = difference

    def estimates(self) -> tuple[float | np.ndarray, ...]:
        """bias2, variance, mse and their standard errors, as in ESTIMATES."""
        t = self.trials
        mse = self.q.mean
        bias2 = (self._dot(self.sum, self.sum) - t * mse) / (t * (t - 1))
        # The mean so far is itself noisy: it adds tr(Sigma²)/seen to the variance of x, four times that to `centred`.
        trace = self.trace.mean if self.trace.count else np.nan
        noise = trace * self.mean_noise.mean
        pairs = 2 * trace / (t * (t - 1))
        bias2_var = 4 * np.maximum(self.x.variance - noise, 0.0) / t + pairs
        variance_var = np.maximum(self.centred.variance - 4 * noise, 0.0) / t + pairs
        return bias2, mse - bias2, mse, bias2_var**0.5, variance_var**0.5, (self.q.variance / t) ** 0.5
