"""Every figure that the package draws, drawn once from little data: what holds for all of them is tested on these tables.

A row has the name of the function that draws it; what follows a comma tells several figures of one function apart.

    X: any numbers · T: total budgets
"""

from functools import partial

import numpy as np
import pandas as pd

from helpers import Hierarchy, expected_error, minimize_error, panels, plots, release, simulate, uniform
from helpers.experiments import budgets, compared_rules, over_levels, regret, sweep
from helpers.experiments.downstream import simulate_misallocation


def only(table: pd.DataFrame, value: str, level: str = "level") -> pd.DataFrame:
    """The rows of a table with one value in one level of its index."""
    return table[table.index.get_level_values(level) == value]


BLOCKS = pd.DataFrame({"state": "VA", "tract": [1, 1, 2], "block": [1, 2, 1], "population": [3, 4, 5]})
TREE = Hierarchy.from_frame(BLOCKS, levels=["state", "tract", "block"])
X = np.linspace(-5, 10, 50)
TWO_LEVELS = minimize_error(Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]]), total=1)
RULES = compared_rules(TREE, TREE)
T = np.array([1.0, 2.0, 3.0])
BUDGETS = budgets(RULES["optimal"], T)
EXPECTED = sweep(RULES, T, lambda eps: expected_error(TREE, eps))
MEASURED = pd.concat(
    {c: sweep(RULES, T, partial(simulate, TREE, trials=20, seed=1, consistent=c)) for c in (False, True)},
    names=["consistent"],
)
SHARES = sweep(RULES, T, lambda eps: simulate_misallocation(TREE, eps, 20, seed=1)).xs(0, level="node")

PLOTS = {
    "tree": lambda: plots.tree(TREE),
    "privacy_loss": lambda: plots.privacy_loss(X, {"a": np.sin(X), "b": np.cos(X)}, eps=1.0),
    "clipped_density": lambda: plots.clipped_density(X, np.exp(-np.abs(X - 2)), 0.1, count=2),
    "curves": lambda: plots.curves(X, {"a": X**2}, "x", "y", points={"p": (X[:3], X[:3], 0.1)}, lines={"here": 1.0}),
    "curves, log": lambda: plots.curves(X + 6, {"a": X + 6}, "x", "y", log="xy"),
    "scatter": lambda: plots.scatter({"a": (X, X**2)}, "x", "y"),
    "z_scores": lambda: plots.z_scores({"mean": np.sin(X)}, "check"),
    "error_surface": lambda: plots.error_surface(
        *np.meshgrid(np.linspace(0.1, 1, 9), np.linspace(0.1, 1, 9)), np.add.outer(X[:9], X[:9]), 1.0, TWO_LEVELS
    ),
    "nearest": lambda: plots.nearest(np.array([[5, 4], [1, 2.5]]), np.array([[3.5, 2.5], [2.25, 3.75]]), total=6),
    "stages": lambda: plots.stages(TREE, {"noisy": release(TREE, [1, 1, 1], seed=1)}),
    "budget_and_error": lambda: plots.budget_and_error({"even": uniform(TREE, 1), "best": minimize_error(TREE, 1)}),
}

PANELS = {
    "one_axis": lambda: panels.one_axis({"x": {"a": (T, T**2)}, "z": {"a": (T, -T)}}, "y"),
    "budget_by_level": lambda: panels.budget_by_level(T, BUDGETS, TREE.levels, "total budget ε"),
    "bias_and_variance": lambda: panels.bias_and_variance(over_levels(EXPECTED), over_levels(MEASURED)),
    "error_by_level": lambda: panels.error_by_level(EXPECTED, MEASURED, TREE.sizes),
    "error_by_level, one": lambda: panels.error_by_level(only(EXPECTED, "block"), only(MEASURED, "block"), [3]),
    "regrets": lambda: panels.regrets({"here": regret(TREE, RULES, T) + 1, "there": regret(TREE, RULES, T) + 2}),
    "regrets, one": lambda: panels.regrets({"here": regret(TREE, RULES, T) + 1}),
    "promised_and_kept": lambda: panels.promised_and_kept(T, BUDGETS, T / 2, TREE.levels, (T[:2], T[:2] / 2, T[:2] / 9)),
    "weights": lambda: panels.weights(T / 4, {"here": (BUDGETS, BUDGETS), "there": (BUDGETS, BUDGETS)}, TREE.levels),
    "weights, one": lambda: panels.weights(T / 4, {"here": (BUDGETS, BUDGETS)}, TREE.levels),
    "side_by_side": lambda: panels.side_by_side({"a": {"line": (T, T**2)}, "b": {"dots": (T, T, T / 9)}}, "x", "y", mark=1),
    "side_by_side, log": lambda: panels.side_by_side({"a": {"line": (T, T**2)}}, "x", "y", log=True),
    "misallocation": lambda: panels.misallocation(SHARES),
    "misallocation, one": lambda: panels.misallocation(only(SHARES, "log", "weight")),
    "spreads": lambda: panels.spreads({"group": {"a": T, "b": T**2}, "other": {"a": T}}, "ratio", mark=1.0),
    "clouds": lambda: panels.clouds({"here": {"a": (T, T**2)}, "there": {"a": (T, T)}}, "x", "y", {"here": (T, T)}),
    "ledger": lambda: panels.ledger({"Section 4": list(panels.VERDICTS), "Section 5": ["reproduced"]}),
}
