"""Every figure draws what it gets. What holds for all of them is in test_figures.py."""

import matplotlib
import numpy as np
import pytest
from support.drawn import TREE

from helpers import Hierarchy, plots, uniform

matplotlib.use("agg")


def test_nodes_are_drawn_with_their_counts():
    "The tree shows each node's label and count."
    texts = {text.get_text() for text in plots.tree(TREE).axes[0].texts}
    assert texts == {"state VA\n12", "tract 1\n7", "tract 2\n5", "block 1\n3", "block 2\n4", "block 1\n5"}


def test_errors_are_released_minus_true():
    "A stage is drawn at released minus true, node by node from the top."
    released = [n + i for i, n in enumerate(TREE.floats)]
    (dots,) = [line for line in plots.stages(TREE, {"step": released}).axes[0].lines if line.get_label() == "step"]
    assert dots.get_xdata().tolist() == [0, 1, 1, 2, 2, 2]


def test_measured_losses_have_bars_of_two_standard_errors():
    """Points are drawn where they were measured, beside the lines, with their errors."""
    points = {"measured": (np.array([1.0, 2.0]), np.array([0.5, -0.5]), np.array([0.1, 0.2]))}
    axes = plots.privacy_loss(np.array([1.0, 2.0]), {"exact": np.zeros(2)}, eps=1.0, points=points).axes[0]
    [(dots, _, [bars])] = axes.containers
    assert dots.get_xydata().tolist() == [[1, 0.5], [2, -0.5]]
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], [[0.3, 0.7], [-0.9, -0.1]])
    assert {text.get_text() for text in axes.figure.legends[0].texts} >= {"exact", "measured"}


def test_stages_need_names():
    "A tree without labels has no names to write beside its stages, and is refused."
    with pytest.raises(ValueError, match=r"^hierarchy must have labels, as Hierarchy.from_frame gives them, got none$"):
        plots.stages(Hierarchy.from_counts([[5]], [None]), {})


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
