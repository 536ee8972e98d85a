"""The error of a release, level by level, measured over simulated ones; what is estimated and how is in `stream`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..allocation import Budgets, check_eps
from ..checks import Seed
from ..consistency.least_squares import gls
from ..consistency.methods import METHODS, Method, method_of
from ..consistency.projection import top_down
from ..hierarchy import Hierarchy, check_hierarchy, check_like
from ..mechanisms import Mechanism
from ..releasing import draw, measure, noise_variances
from .closed_form import expected_error, relative_errors
from .linear_fit import GlsFit, LinearFit
from .stream import ESTIMATES, ErrorStream, Rare

Parts = Iterable[tuple[np.ndarray, ...]]  # of each level, what its ErrorStream takes in
Once = Callable[[np.random.Generator], Parts]  # one release
Told = dict[str, Any]  # what an ErrorStream is told of a level's errors


def simulate(
    hierarchy: Hierarchy,
    eps: Budgets,
    trials: int,
    seed: Seed = None,
    consistent: bool | str | Callable = True,
    mechanism: Mechanism | None = None,
) -> pd.DataFrame:
    """Bias², variance and MSE of each level measured over `trials` releases, with standard errors (`bias2_se`, …).

    `bias2` is unbiased and may therefore come out slightly negative; of a few trials on a few nodes, so may `mse`. The same
    seed gives the same numbers. A run of more than a second shows a progress bar (the environment variable TQDM_DISABLE=1
    turns it off). With fewer than four trials the standard errors of `bias2` and `variance` cannot be told and are NaN.
    Where a bias is lost in the noise, `bias2_se` is cautious: up to 1.6 times too large, most for few nodes and few trials.
    Where a fit hardly ever meets zero, so are the others. `consistent` is as in `release`: comparing methods is a loop.

    What is known is not simulated. Of the paper's release, with its top-down fit, most of the error is known in closed form
    (see `LinearFit`), and of "gls" nearly all of it: a few dozen trials say what took millions. The top level of the paper's
    release, which is not fitted to anything, is known altogether. Of counts that are only clipped, no more is taken as known
    than that the noise itself has mean zero, so that the closed forms can be checked by it.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> simulate(tree, eps=[0.5, 0.5], trials=1000, seed=1).columns.tolist()
    ['bias2', 'variance', 'mse', 'bias2_se', 'variance_se', 'mse_se']
    """
    budgets, kind = check_eps(hierarchy, eps, mechanism, unmeasured=True)
    method = method_of(consistent)
    if method in _KNOWN and (budgets.all() or method is METHODS["gls"]):
        return _measured(hierarchy, *_KNOWN[method](hierarchy, budgets, kind), trials, seed)
    return _plain(hierarchy, lambda rng: draw(hierarchy, budgets, rng, method, kind), trials, seed)


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
    return _plain(hierarchy, lambda rng: [x.copy() for x in check_like("once()", once(rng), hierarchy)], trials, seed)


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
    n, error = hierarchy.sizes, np.sqrt(measured.mse.clip(lower=0) / hierarchy.sizes)  # of few trials, below zero by chance
    columns = {
        "nodes": n,
        "budget": check_eps(hierarchy, eps)[0],
        "expected": np.sqrt(expected_error(hierarchy, eps).mse / n),
        "measured": error,
        "±": (measured.mse_se / n / (2 * error)).fillna(0.0),  # of a root: d√x = dx / 2√x; of no error at all: 0/0
        "within 10%": [np.sum(r <= 0.1) for r in relative_errors(hierarchy, eps)] / n,
    }
    return pd.DataFrame(columns)


def _clipped(hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism) -> tuple[Once, list[Told]]:
    """Known of clipped counts: the noise has mean zero."""
    noisy = list[np.ndarray]()
    told: list[Told] = [{"rare": _of_clipping(n, e, mechanism)} for n, e in zip(hierarchy.floats, eps, strict=True)]

    def once(rng: np.random.Generator) -> Parts:
        clipped = draw(hierarchy, eps, rng, METHODS["clip"], mechanism, noisy)
        for x, y, n in zip(clipped, noisy, hierarchy.floats, strict=True):
            x -= y  # what clipping added
            y -= n  # the noise
        return zip(clipped, noisy, strict=True)

    return once, told


def _of_clipping(n: np.ndarray, eps: np.ndarray, mechanism: Mechanism) -> Rare:
    """Of what clipping adds, d = max(0, −N − X), all moments are known, and nodes are independent.

    E[d] is the bias b, and E[d²] = Var(X) − 2 N b − MSE, because max(−N, X) = X + d and d X = −N d − d² where d > 0.
    """
    b = mechanism.bias_unchecked(n, eps)
    square = mechanism.noise_variance(eps) - 2 * n * b - mechanism.mse_unchecked(n, eps)
    spread = np.maximum(square - b * b, 0.0)
    return Rare(0.0, float(4 * (b * b * spread).sum()), float(2 * (spread * spread).sum()), 0.0)


def _fitted_top_down(hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism) -> tuple[Once, list[Told]]:
    """Known of the paper's release: its linear fit."""
    fit, clipped = LinearFit(hierarchy, eps, mechanism), list[np.ndarray]()

    def once(rng: np.random.Generator) -> Parts:
        released = draw(hierarchy, eps, rng, METHODS["top_down"], mechanism, clipped)
        return _without(hierarchy, released, fit.errors(clipped))

    return once, _told(hierarchy, fit)


def _fitted_by_least_squares(hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism) -> tuple[Once, list[Told]]:
    """Known of least squares: all above the leaves, and the linear fit of those."""
    v = noise_variances(eps, mechanism)
    fit = GlsFit(hierarchy, eps, mechanism, v)

    def once(rng: np.random.Generator) -> Parts:
        noisy = measure(hierarchy, eps, rng, mechanism)
        estimates = gls(hierarchy, noisy, v / v[-1])
        return _without(hierarchy, top_down(hierarchy, estimates), fit.errors(estimates, noisy[-1]))

    return once, _told(hierarchy, fit)


_KNOWN: dict[Method, Callable[[Hierarchy, np.ndarray, Mechanism], tuple[Once, list[Told]]]] = {
    METHODS["clip"]: _clipped,
    METHODS["top_down"]: _fitted_top_down,
    METHODS["gls"]: _fitted_by_least_squares,
}


def _without(hierarchy: Hierarchy, released: list[np.ndarray], known: list[np.ndarray]) -> Parts:
    """The errors of a release without their known part, and that part."""
    for x, n, u in zip(released, hierarchy.floats, known, strict=True):
        x -= n
        x -= u
    return zip(released, known, strict=True)


def _told(hierarchy: Hierarchy, fit: LinearFit | GlsFit) -> list[Told]:
    """What is known of each level; and what there is at least, if fits hardly ever meet zero.

    A node whose linear fit has the deviation s meets zero about as often as Laplace noise of that deviation goes below −N.
    Beyond zero, that noise has a mean square of s², and a fourth moment of 6 s⁴; four times that for its part in 2 <u, h>.
    """
    out, chance = list[Told](), 0.0
    for level, (n, v, m) in enumerate(zip(hierarchy.floats, fit.variances, fit.means, strict=True)):
        deviations = np.divide(n, np.sqrt(v / 2), out=np.full_like(n, np.inf), where=v > 0)
        p = np.exp(-deviations) / 2
        if level == 0 and isinstance(fit, LinearFit):
            p[:] = 0.0  # the top is clipped, which is known, and never fitted
        chance += float(p.sum())
        along, trace, square = 4 * m * m * p * v, 2 * (p * v) ** 2, 24 * p * v**2
        rare = Rare(chance, float(along.sum()), float(trace.sum()), float(square.sum()))
        out.append({"known": v.sum(), "guess": m, "rare": rare})
    return out


def _plain(
    hierarchy: Hierarchy, once: Callable[[np.random.Generator], list[np.ndarray]], trials: int, seed: Seed
) -> pd.DataFrame:
    """The error of releases of which nothing is known; `once` gives arrays that may be changed."""

    def errors(rng: np.random.Generator) -> Parts:
        return [(np.subtract(x, n, out=x),) for x, n in zip(once(rng), hierarchy.floats, strict=True)]

    return _measured(hierarchy, errors, [{} for _ in hierarchy.levels], trials, seed)


def _measured(hierarchy: Hierarchy, once: Once, told: Sequence[Told], trials: int, seed: Seed) -> pd.DataFrame:
    """`trials` releases, level by level into streams; `told` is what each stream knows of its errors beforehand."""
    from tqdm import tqdm

    trials = checks.whole("trials", trials, least=2, most=checks.MOST_TRIALS)
    rng = checks.generator(seed)
    levels = [ErrorStream(len(n), trials, **known) for n, known in zip(hierarchy.counts, told, strict=True)]
    for _ in tqdm(range(trials), desc="releases", delay=1, leave=False):
        for level, parts in zip(levels, once(rng), strict=True):
            level.add(*parts)
    rows = [level.estimates() for level in levels]
    return pd.DataFrame(rows, index=list(hierarchy.levels), columns=ESTIMATES)
