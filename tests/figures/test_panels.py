"""The figures of the experiments: who gets which colour, and what is a point, a line or an arrow.

What holds for every figure is in test_figures.py.
"""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from support.drawn import BUDGETS, EXPECTED, MEASURED, PANELS, TREE, T

from helpers import panels
from helpers.experiments import over_levels
from helpers.figures.style import BLUE, GREEN, LEVEL_COLOURS, ORANGE, RED

matplotlib.use("agg")


def lines(panel, **look):
    """The lines of a panel that have the look asked for, such as marker="v"."""
    return [line for line in panel.lines if all(getattr(line, f"get_{name}")() == value for name, value in look.items())]


def points(y, se, rule="optimal", consistent=True):
    """What `_points` draws at x = 1, 2, …: the panel, its lines of points and its lines of arrows."""
    figure, panel = plt.subplots()
    table = pd.DataFrame({"bias2": y, "bias2_se": se}, np.arange(1.0, len(y) + 1))
    panels._points(panel, table, "bias2", rule, consistent)
    plt.close(figure)
    return panel, lines(panel, marker="o" if rule == "optimal" else "s"), lines(panel, marker="v")


def test_what_is_lost_in_the_noise_is_an_arrow():
    """A value above two standard errors is a point with a bar of two; any other is an arrow down from its upper end."""
    panel, (dots,), (arrows,) = points(y=[5.0, 2.0, 1.9, -0.5, 2.1], se=[1.0, 1.0, 1.0, 1.0, 1.0])
    assert dots.get_ydata().tolist() == [5.0, 2.1]
    assert arrows.get_ydata().tolist() == [4.0, 3.9, 1.5]  # two standard errors are not more than two standard errors
    assert [round(x) for x in dots.get_xdata()] == [1, 5] and [round(x) for x in arrows.get_xdata()] == [2, 3, 4]
    (container,) = panel.containers
    (bars,) = container[2]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, [[3.0, 7.0], [0.1, 4.1]], atol=1e-12)  # one sum and one difference


@pytest.mark.parametrize("y, kinds", [([9.0, 8.0], (2, 0)), ([0.1, -0.1], (0, 2))])
def test_all_points_or_all_arrows_can_be_drawn(y, kinds):
    """Nothing has to be in the noise, and everything may be."""
    _, (dots,), (arrows,) = points(y, [1.0, 1.0])
    assert (len(dots.get_xdata()), len(arrows.get_xdata())) == kinds


@pytest.mark.parametrize("rule, colour", [("uniform", RED), ("optimal", BLUE), ("cube root", GREEN)])
def test_points_are_filled_with_the_consistency_step_and_hollow_without(rule, colour):
    """The colour says which rule, the filling whether counts are consistent; the two stand side by side."""
    without, with_step = (points([5.0, 0.0], [1.0, 1.0], rule, consistent) for consistent in (False, True))
    for (_, (dots,), (arrows,)), face in ((without, "white"), (with_step, colour)):
        for drawn in (dots, arrows):
            assert same_color(drawn.get_color(), colour) and same_color(drawn.get_markerfacecolor(), face)
    assert without[1][0].get_xdata() < 1 < with_step[1][0].get_xdata()
    labels = [panel.get_legend_handles_labels()[1] for panel, *_ in (without, with_step)]
    assert labels == [[f"{rule}, without consistency"], [f"{rule}, with consistency"]]


def test_lines_have_the_colour_and_the_dash_of_their_rule():
    """Closed forms are red and dashed for uniform, blue and solid for optimal, at the values they are given."""
    table = over_levels(EXPECTED)
    for panel, column in zip(PANELS["bias_and_variance"]().axes, ("bias2", "variance"), strict=True):
        for rule, colour, dash in (("uniform", RED, "--"), ("optimal", BLUE, "-")):
            (line,) = lines(panel, label=f"{rule}, closed form")
            assert line.get_color() == colour and line.get_linestyle() == dash
            assert line.get_ydata().tolist() == table[column][rule].tolist() and line.get_xdata().tolist() == T.tolist()


def test_errors_by_level_are_per_node():
    """In the panel of a level, closed forms and points are the level's error over the number of its nodes."""
    figure = PANELS["error_by_level"]()
    for panel, level, size in zip(figure.axes, TREE.levels, TREE.sizes, strict=True):
        expected = EXPECTED.mse.xs(level, level="level")
        (line,) = lines(panel, label="uniform, closed form")
        np.testing.assert_allclose(line.get_ydata(), expected["uniform"] / size, rtol=1e-15)  # one division
        drawn = [y for marker in "so" for line in lines(panel, marker=marker) for y in line.get_ydata()]
        measured = MEASURED.xs(level, level="level")
        seen = measured.mse > 2 * measured.mse_se
        np.testing.assert_allclose(sorted(drawn), sorted(measured.mse[seen] / size), rtol=1e-15)
        assert [text.get_text() for text in panel.texts] == [f"{level}\n{size} {'node' if size == 1 else 'nodes'}"]


def test_rules_keep_their_colours_in_any_order():
    """Known rules have their own look wherever they stand; the others share what is left, and no two look the same."""
    tables = {"": pd.DataFrame({rule: T for rule in ("mine", "uniform", "cube root", "yours")}, T)}
    looks = {line.get_label(): (line.get_color(), line.get_linestyle()) for line in panels.regrets(tables).axes[0].lines}
    assert looks["uniform"] == (RED, "--") and looks["cube root"] == (GREEN, ":")
    assert looks["mine"] == (BLUE, "-") and looks["yours"] == (ORANGE, "-.")
    assert list(looks) == ["mine", "uniform", "cube root", "yours"]


def test_stacked_budgets_and_their_shares():
    """On the left the levels' budgets add up to the total, on the right each is its part, in the level's colour."""
    stacked, shares = PANELS["budget_by_level"]().axes
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in stacked.collections]
    np.testing.assert_allclose(tops, BUDGETS.cumsum(axis=1)[-1], rtol=1e-12)  # the largest total is the last: three terms
    for line, colour, budget in zip(shares.lines, LEVEL_COLOURS, BUDGETS.T, strict=False):
        assert line.get_color() == colour
        np.testing.assert_allclose(line.get_ydata(), budget / T, rtol=1e-12)  # optimal spends the total
    assert len(shares.lines) == 3


def test_promises_are_drawn_beside_what_was_kept():
    """The error panel has the promise at one, the closed form, and points with bars of two standard errors."""
    error = PANELS["promised_and_kept"]().axes[1]
    (promise,), (kept,) = lines(error, label="as promised"), lines(error, label="closed form")
    assert set(promise.get_ydata()) == {1} and kept.get_ydata().tolist() == [0.5, 1.0, 1.5]
    (container,) = error.containers
    ends = [segment[:, 1] for segment in container[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[0.5 - 2 / 9, 0.5 + 2 / 9], [1 - 4 / 9, 1 + 4 / 9]], rtol=1e-12)


def test_weights_show_levels_and_their_sum():
    """The black line is the sum of the levels' lines, and equal weights are marked at one third of three levels."""
    error, budget = PANELS["weights, one"]().axes
    (total,) = lines(error, label="all levels")
    levels = [line for name in TREE.levels for line in lines(error, label=name)]
    np.testing.assert_allclose(total.get_ydata(), sum(line.get_ydata() for line in levels), rtol=1e-14)  # three terms
    assert [line.get_color() for line in levels] == list(LEVEL_COLOURS[:3])
    for panel in (error, budget):
        (mark,) = lines(panel, label="equal weights")
        assert mark.get_xdata() == [1 / 3, 1 / 3]


def test_misallocation_lines_join_points_only():
    """Points have bars of two standard errors; an estimate below zero, which a log axis has no place for, is a gap."""
    index = pd.MultiIndex.from_product([["optimal"], [1.0, 2.0, 3.0], ["log"]], names=["rule", "total", "weight"])
    table = pd.DataFrame({"bias2": [9.0, -1.0, 7.0], "bias2_se": 1.0, "variance": 5.0, "variance_se": 1.0}, index)
    upper, lower = panels.misallocation(table).axes
    (line,) = lines(upper, marker="o", linestyle="-")
    np.testing.assert_array_equal(np.asarray(line.get_ydata(), float), [9.0, np.nan, 7.0])
    (bars,) = upper.containers
    np.testing.assert_array_equal(bars[2][0].get_segments()[0][:, 1], [7.0, 11.0])
    assert lines(lower, marker="o", linestyle="-")[0].get_ydata().tolist() == [5.0, 5.0, 5.0]
    assert not lines(upper, marker="v") and not lines(lower, marker="v")
    assert upper.get_yscale() == lower.get_yscale() == "log"


def test_boxes_hold_what_they_get():
    """Each box has its median line at the median of its values and the colour of its place; the mark is a line across."""
    left, right = PANELS["spreads"]().axes
    medians = [line.get_ydata()[0] for line in lines(left, color="black", linewidth=2)]
    assert medians == [2.0, 4.0]
    assert all(same_color(box.get_facecolor()[:3], c) for box, c in zip(left.patches, LEVEL_COLOURS[:2], strict=True))
    assert [text.get_text() for text in left.get_xticklabels()] == ["a", "b"]
    assert any(set(line.get_ydata()) == {1.0} for line in right.lines)


def test_a_ledger_has_a_square_for_each_claim():
    """Row by row, each verdict is a square in its colour, with a mark for those who see no colours."""
    (axes,) = PANELS["ledger"]().axes
    colours = [matplotlib.colors.to_hex(square.get_facecolor()) for square in axes.patches]
    assert colours == [c.lower() for c in (GREEN, ORANGE, RED, GREEN)]
    assert [text.get_text() for text in axes.texts] == ["✓", "~", "✗", "✓"]
    assert [(int(square.get_x()), int(square.get_y())) for square in axes.patches] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Section 4", "Section 5"]
    assert axes.yaxis_inverted()  # the first part of the paper is at the top
