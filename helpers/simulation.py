"""The error of a release, level by level: in closed form, measured, and reported.

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
from numpy.typing import ArrayLike

from . import checks
from .allocation import Budgets, check_eps
from .checks import Seed
from .consistency.methods import method_of
from .hierarchy import Hierarchy, check_hierarchy, check_like
from .mechanisms import Mechanism
from .releasing import draw

COLUMNS = ["bias2", "variance", "mse"]
ESTIMATES = COLUMNS + [f"{c}_se" for c in COLUMNS]


def expected_error(hierarchy: Hierarchy, eps: Budgets, mechanism: Mechanism | None = None) -> pd.DataFrame:
    """Bias², variance and MSE of each level in closed form, before any consistency step, in people squared.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> expected_error(tree, eps=[0.5, 0.5]).round(3)
             bias2  variance     mse
    level 1  0.007     6.844   6.851
    level 2  0.185    10.641  10.826
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism)
    rows = []
    for n, e in zip(hierarchy.floats, budgets, strict=True):
        bias2, mse = kind.bias_unchecked(n, e) ** 2, kind.mse_unchecked(n, e)
        rows.append((bias2.sum(), (mse - bias2).sum(), mse.sum()))
    return pd.DataFrame(rows, index=list(hierarchy.levels), columns=COLUMNS)


def simulate(
    hierarchy: Hierarchy,
    eps: Budgets,
    trials: int,
    seed: Seed = None,
    consistent: bool | str | Callable = True,
    mechanism: Mechanism | None = None,
) -> pd.DataFrame:
    """Bias², variance and MSE of each level measured over `trials` releases, with standard errors (`bias2_se`, …).

    `bias2` is unbiased and may therefore come out slightly negative. The same seed gives the same numbers. A run of more
    than a second shows a progress bar (the environment variable TQDM_DISABLE=1 turns it off). With fewer than four trials
    the standard errors of `bias2` and `variance` cannot be told and are NaN. Where a level is a single node (or its errors
    move as one) and its bias is lost in the noise, `bias2_se` is cautious: up to 1.6 times too large. `consistent` is as in
    `release`, so comparing methods is a loop.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> simulate(tree, eps=[0.5, 0.5], trials=1000, seed=1).columns.tolist()
    ['bias2', 'variance', 'mse', 'bias2_se', 'variance_se', 'mse_se']
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism)
    method = method_of(consistent)
    return _measured(hierarchy, lambda rng: draw(hierarchy, budgets, rng, method, kind), trials, seed)


def simulate_with(
    hierarchy: Hierarchy, once: Callable[[np.random.Generator], Sequence[ArrayLike]], trials: int, seed: Seed = None
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


def relative_errors(hierarchy: Hierarchy, eps: Budgets) -> list[np.ndarray]:
    """√MSE(N, ε_l) / N for each node with N > 0, one array a level, before any consistency step.

    >>> tree = Hierarchy.from_counts([[100], [100, 0]], [None, [0, 0]])
    >>> [r.round(4).tolist() for r in relative_errors(tree, eps=[1, 0.5])]
    [[0.0141], [0.0283]]
    """
    budgets, mechanism = check_eps(hierarchy, eps)
    filled = [(n[n > 0], e) for n, e in zip(hierarchy.floats, budgets, strict=True)]
    return [np.sqrt(mechanism.mse_unchecked(n, e)) / n for n, e in filled]


def error_report(hierarchy: Hierarchy, eps: Budgets, trials: int, seed: Seed = None) -> pd.DataFrame:
    """A row a level: nodes, budget, the error of one count in closed form and measured, and how many are good to a tenth.

    `expected` is before children are made to add up, `measured` after it, over `trials` simulated releases, `±` its standard
    error. `within 10%` is the part of the nodes whose expected error is at most a tenth of their count (never, if empty).

    >>> tree = Hierarchy.from_counts([[100], [100, 0]], [None, [0, 0]])
    >>> error_report(tree, eps=[1, 0.5], trials=4, seed=1)[["nodes", "budget", "expected", "within 10%"]].round(2)
             nodes  budget  expected  within 10%
    level 1      1     1.0      1.41         1.0
    level 2      2     0.5      2.45         0.5
    """
    measured = simulate(hierarchy, eps, trials, seed)
    n, error = hierarchy.sizes, np.sqrt(measured.mse / hierarchy.sizes)
    columns = {
        "nodes": n,
        "budget": check_eps(hierarchy, eps)[0],
        "expected": np.sqrt(expected_error(hierarchy, eps).mse / n),
        "measured": error,
        "±": (measured.mse_se / n / (2 * error)).fillna(0.0),  # of a root: d√x = dx / 2√x; of no error at all: 0/0
        "within 10%": [np.sum(r <= 0.1) for r in relative_errors(hierarchy, eps)] / n,
    }
    return pd.DataFrame(columns)


def _measured(
    hierarchy: Hierarchy, once: Callable[[np.random.Generator], list[np.ndarray]], trials: int, seed: Seed
) -> pd.DataFrame:
    from tqdm import tqdm

    trials = checks.whole("trials", trials, least=2, most=checks.MOST_TRIALS)
    rng = checks.generator(seed)
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
        self.count = 0
        self.mean: float | np.ndarray = 0.0
        self._squares: float | np.ndarray = 0.0

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
        self.first: np.ndarray | None = None  # the first trial of a pair that is not full yet
        self.difference: np.ndarray | None = None  # e_t − e_{t−1} of the last full pair
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
        if self.first is None:
            self.first = e
            return
        difference, self.first = e - self.first, None
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
