"""Test a privacy claim from outside: a lower bound on ε from the outputs of two neighbouring inputs.

    p, q: chance of an event under the one input and under the other · α = 1 − confidence

Under ε-differential privacy p ≤ exp(ε) q for every event, so ε ≥ log(p/q). Count how often the event happens, take the
lower Clopper–Pearson limit of p and the upper one of q, each wrong with a chance of α/2 at most, and log(p/q) is a bound
that is above the true ε with a chance of α at most. The event is chosen on one half of the outputs and counted on the
other, so choosing it costs nothing.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks

_THRESHOLDS = 200  # how many thresholds are tried, spread evenly over the scores seen
_STRICT = 1e-3  # of many events the luckiest wins, so the choice asks for more evidence than the verdict: α · _STRICT

Sampler = Callable[[Any, int], ArrayLike]  # from an input and a number of trials to that many outputs


class Audit(NamedTuple):
    """What an audit found. `eps` is the bound; the rest is the evidence for it."""

    eps: float
    event: str
    hits: tuple[int, int]
    trials: int
    confidence: float

    def __repr__(self) -> str:
        first, second = self.hits
        evidence = f"{self.event}: {first:,} against {second:,} of {self.trials:,}"
        return f"Audit(ε ≥ {self.eps:.3f} at confidence {self.confidence}; {evidence})"


def audit(
    mechanism: Sampler,
    first: Any,
    second: Any,
    trials: int,
    score: Callable[[ArrayLike], ArrayLike] | None = None,
    confidence: float = 0.95,
) -> Audit:
    """A number that is at most the ε of `mechanism`, except with a chance of 1 − confidence.

    `mechanism(input, trials)` returns that many independent outputs, one for each entry of an array (or row of a table).
    `score` turns them into one number each, large where the inputs should be easiest to tell apart; by default an output is
    its own score, and an event that was chosen beforehand is a score of True and False. The events tried are "the score is
    at least c" and "at most c", in favour of either input. A bound below the claim proves nothing: another event, or more
    trials, might give a larger one.

    >>> rng = np.random.default_rng(1)
    >>> def halved(n, trials):  # claims ε = 1 and draws noise for ε = 2
    ...     return n + rng.laplace(scale=0.5, size=trials)
    >>> 1 < audit(halved, 0, 1, trials=20_000).eps < 2
    True
    """
    trials = checks.whole("trials", trials, least=20, most=checks.MOST_TRIALS)
    alpha = 1 - _confidence(confidence)
    a, b = (_scores(mechanism, value, trials, score) for value in (first, second))
    half = trials // 2
    sign, c, swap = _choose(a[:half], b[:half], alpha)
    hits = int((sign * a[half:] >= c).sum()), int((sign * b[half:] >= c).sum())
    p, q = hits[::-1] if swap else hits
    tested = trials - half
    bound = _bound(p, q, tested, alpha)
    return Audit(float(bound), f"score {'≥' if sign > 0 else '≤'} {sign * c:.4g}", hits, tested, confidence)


def _choose(a: np.ndarray, b: np.ndarray, alpha: float) -> tuple[int, float, bool]:
    """(sign, c, swap) of the event sign·score ≥ c with the largest bound; `swap` if it speaks for the second input."""
    candidates = []
    for sign in (1, -1):
        x, y = np.sort(sign * a), np.sort(sign * b)
        pool = np.sort(np.concatenate([x, y]))
        grid = np.unique(pool[np.linspace(0, len(pool) - 1, _THRESHOLDS).astype(int)])
        above = [len(z) - np.searchsorted(z, grid) for z in (x, y)]
        for swap, (p, q) in enumerate((above, above[::-1])):
            bounds = _bound(p, q, len(a), alpha * _STRICT)
            best = int(bounds.argmax())
            candidates.append((bounds[best], sign, grid[best], bool(swap)))
    return max(candidates)[1:]


def _bound(p: int | np.ndarray, q: int | np.ndarray, trials: int, alpha: float) -> np.ndarray:
    """max(0, log(lower limit of p / upper limit of q)) from hits, Clopper–Pearson limits at 1 − α/2 each."""
    from scipy.stats import beta

    # No hit at all, or nothing but hits, has no such limit. One a little inside serves: the bound is zero either way.
    low = beta.ppf(alpha / 2, np.maximum(p, 1), trials - p + 1)
    high = beta.ppf(1 - alpha / 2, q + 1, np.maximum(trials - q, 1))
    return np.log(np.maximum(low / high, 1.0))


def _scores(mechanism: Sampler, value: Any, trials: int, score: Callable | None) -> np.ndarray:
    outputs = mechanism(value, trials)
    scores = np.asarray(outputs if score is None else score(outputs))
    scores = checks.numbers("score", scores.astype(np.int8) if scores.dtype == bool else scores)
    if scores.shape != (trials,):
        raise ValueError(f"score must be one number for each of the {trials} outputs, got shape {scores.shape}")
    return scores


def _confidence(value: float) -> float:
    if checks.positive("confidence", value) >= 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {value}")
    return float(value)
