"""Whom the consistency step helps: the bias of leaves, before and after it, one group of leaves beside another.

b: (n,) bias of a leaf once its count is clipped, in closed form · a: (n,) its bias after the top-down fit, measured
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from .. import checks
from ..allocation import Budgets, check_eps
from ..checks import Seed
from ..consistency.methods import METHODS
from ..hierarchy import Hierarchy, check_hierarchy
from ..releasing import draw
from ..simulation import LinearFit
from ..simulation.stream import ErrorStream, Moments


def leaf_bias(
    hierarchy: Hierarchy, eps: Budgets, groups: Mapping[str, np.ndarray], trials: int, seed: Seed = None
) -> pd.DataFrame:
    """For each group of leaves, an (n,) mask: mean of b, and of a; sum of b², and of a²; the standard errors of both of a.

    As in `simulate`, only what is left of the error beside the linear fit is simulated (see `LinearFit`).

    >>> tree = Hierarchy.from_counts([[50], [0, 0, 0, 50]], [None, [0] * 4])
    >>> small = tree.counts[1] < 5
    >>> leaf_bias(tree, [1, 1], {"small": small, "large": ~small}, 400, seed=1)[["mean", "mean_after"]].round(1)
           mean  mean_after
    small   0.5         0.3
    large   0.0        -0.9
    """
    check_hierarchy(hierarchy)
    budgets, mechanism = check_eps(hierarchy, eps)
    trials = checks.whole("trials", trials, least=4, most=checks.MOST_TRIALS)
    rng, n = checks.generator(seed), hierarchy.floats[-1]
    if not isinstance(groups, Mapping) or not groups:
        raise ValueError(f"groups must map at least one name to a mask of the leaves, got {groups!r}")
    masks = {name: np.asarray(mask) for name, mask in groups.items()}
    for name, mask in masks.items():
        if mask.dtype != bool or mask.shape != n.shape or not mask.any():
            raise ValueError(f"groups[{name!r}] must be a mask of {n.size} leaves that takes in one of them at least")
    fit, before = LinearFit(hierarchy, budgets, mechanism), list[np.ndarray]()
    streams = {name: ErrorStream(int(mask.sum()), trials) for name, mask in masks.items()}
    means = {name: Moments() for name in masks}
    for _ in range(trials):
        rest = draw(hierarchy, budgets, rng, METHODS["top_down"], mechanism, before)[-1] - n - fit.errors(before)[-1]
        for name, mask in masks.items():
            streams[name].add(rest[mask])
            means[name].add(rest[mask].mean())
    b = mechanism.bias_unchecked(n, budgets[-1])
    rows = {name: _row(b[mask], streams[name], means[name]) for name, mask in masks.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(b: np.ndarray, stream: ErrorStream, mean: Moments) -> dict[str, float]:
    bias2, _, _, bias2_se, *_ = stream.estimates()
    after = {"mean_after": mean.mean, "mean_se": np.sqrt(mean.variance / mean.count)}
    squares = {"bias2": np.sum(b * b), "bias2_after": bias2, "bias2_se": bias2_se}
    return {name: float(value) for name, value in ({"mean": b.mean()} | after | squares).items()}
