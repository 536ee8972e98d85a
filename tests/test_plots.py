"""Every figure draws what it gets. What holds for all of them is in test_figures.py."""

import matplotlib
import numpy as np
import pandas as pd

from helpers import Hierarchy, minimize_error, plots, release, uniform

matplotlib.use("agg")

BLOCKS = pd.DataFrame({"state": "VA", "tract": [1, 1, 2], "block": [1, 2, 1], "population": [3, 4, 5]})
TREE = Hierarchy.from_frame(BLOCKS, levels=["state", "tract", "block"])
X = np.linspace(-5, 10, 50)
FIGURES = {
    "tree": lambda: plots.tree(TREE),
    "privacy_loss": lambda: plots.privacy_loss(X, {"a": np.sin(X), "b": np.cos(X)}, eps=1.0),
    "clipped_density": lambda: plots.clipped_density(X, np.exp(-np.abs(X - 2)), 0.1, count=2),
    "curves": lambda: plots.curves(X, {"a": X**2}, "x", "y", points={"p": (X[:3], X[:3], 0.1)}, lines={"here": 1.0}),
    "curves, log": lambda: plots.curves(X + 6, {"a": X + 6}, "x", "y", log="xy"),
    "scatter": lambda: plots.scatter({"a": (X, X**2)}, "x", "y"),
    "z_scores": lambda: plots.z_scores({"mean": np.sin(X)}, "check"),
    "error_surface": lambda: plots.error_surface(
        *np.meshgrid(np.linspace(0.1, 1, 9), np.linspace(0.1, 1, 9)), np.add.outer(X[:9], X[:9]), 1.0, _two_levels()
    ),
    "nearest": lambda: plots.nearest(np.array([[5, 4], [1, 2.5]]), np.array([[3.5, 2.5], [2.25, 3.75]]), total=6),
    "stages": lambda: plots.stages(TREE, {"noisy": release(TREE, [1, 1, 1], seed=1)}),
    "budget_and_error": lambda: plots.budget_and_error({"even": uniform(TREE, 1), "best": minimize_error(TREE, 1)}),
}


def _two_levels():
    return minimize_error(Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]]), total=1)


def test_nodes_are_drawn_with_their_counts():
    "The tree shows each node's label and count."
    texts = {text.get_text() for text in plots.tree(TREE).axes[0].texts}
    assert texts == {"state VA\n12", "tract 1\n7", "tract 2\n5", "block 1\n3", "block 2\n4", "block 1\n5"}


def test_errors_are_released_minus_true():
    "A stage is drawn at released minus true, node by node from the top."
    released = [n + i for i, n in enumerate(TREE.floats)]
    (dots,) = [line for line in plots.stages(TREE, {"step": released}).axes[0].lines if line.get_label() == "step"]
    assert dots.get_xdata().tolist() == [0, 1, 1, 2, 2, 2]


def test_large_errors_are_shown_in_millions():
    "From ten million people² on, the axis of the error counts in millions and says so."
    for total, unit, people in ((1, 1, "(people²)"), (1e-4, 1e6, "(millions of people²)")):
        axis = plots.budget_and_error({"even": uniform(TREE, total)}).axes[1].xaxis
        assert people in axis.get_label_text() and axis.get_major_formatter()(3 * unit) == "3"


def test_trees_with_childless_nodes_are_drawn():
    """A node without children stands to the right of the leaves, wherever it is in its level."""
    for counts, parents in (([[5], [5, 0], [2, 3]], [0, 0]), ([[5], [0, 5], [2, 3]], [1, 1])):
        hierarchy = Hierarchy.from_counts(counts, [None, [0, 0], parents])
        places = plots._places(hierarchy)
        assert sorted(places[1]) == [0.5, 2.0] and places[1][parents[0]] == 0.5 and places[0].tolist() == [1.25]
        plots.tree(hierarchy)
