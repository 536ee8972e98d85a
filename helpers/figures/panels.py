"""The figures of the experiments: several pictures side by side, in the book's style. Nothing is computed here.

Rules keep their colour through the book (uniform red, optimal blue), levels keep theirs (state, tract, block). Lines are
closed forms, points are measured, and their bars are two standard errors. A measured Bias² that two standard errors do not
tell from zero is an arrow down from its upper end: on a log axis there is no zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..checks import Numbers
from ..experiments import claims
from .style import BLUE, COLOURS, DASHES, GREEN, GREY, LEVEL_COLOURS, ORANGE, PURPLE, RED, SKY, in_style

RULE_COLOURS = {"uniform": RED, "optimal": BLUE, "cube root": GREEN}
RULE_DASHES = {"uniform": "--", "optimal": "-", "cube root": ":"}
NAMES = {"bias2": "Bias² (people²)", "variance": "variance (people²)", "mse": "MSE (people²)"}
VERDICTS = dict(zip(claims.VERDICTS, (GREEN, ORANGE, RED), strict=True))


@in_style
def budget_by_level(x: np.ndarray, eps: np.ndarray, levels: Sequence[str], xlabel: str) -> Figure:
    """Left, the budgets eps (k, L) of the levels, stacked, over x; right, their shares of the total."""
    figure, (stacked, shares) = plt.subplots(1, 2, figsize=(7.6, 3.3), layout="constrained")
    colours = LEVEL_COLOURS[: len(levels)]
    stacked.stackplot(x, eps.T, colors=colours, labels=levels, edgecolor="white", linewidth=0.6)
    stacked.set(xlabel=xlabel, ylabel="budget ε, stacked", xlim=(min(x), max(x)), ylim=(0, None))
    for level, colour, share in zip(levels, colours, (eps / eps.sum(axis=1, keepdims=True)).T, strict=True):
        shares.plot(x, share, color=colour)
        shares.annotate(f"{level} {share[-1]:.1%}", (x[-1], share[-1]), (-4, 6), textcoords="offset points", ha="right")
    shares.set(xlabel=xlabel, ylabel="share of the budget", xlim=(min(x), max(x)), ylim=(0, 1))
    shares.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.legend(loc="outside upper left", ncols=6)
    return figure


@in_style
def bias_and_variance(expected: pd.DataFrame, measured: pd.DataFrame) -> Figure:
    """Bias² and variance of the whole tree over the budget: `expected`, by (rule, total), as lines, `measured` as points.

    Points are indexed by (consistent, rule, total): hollow without the consistency step, filled with it.
    """
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained")
    for panel, column in zip(axes, ("bias2", "variance"), strict=True):
        for rule, line in expected.groupby(level="rule", sort=False):
            _line(panel, line.droplevel("rule")[column], rule, f"{rule}, closed form")
        for (consistent, rule), points in measured.groupby(level=["consistent", "rule"], sort=False):
            _points(panel, points.droplevel(["consistent", "rule"]), column, rule, consistent)
        panel.set(xlabel="total budget ε", ylabel=NAMES[column], yscale="log")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


@in_style
def error_by_level(expected: pd.DataFrame, measured: pd.DataFrame, sizes: Numbers) -> Figure:
    """MSE per node of each level over the budget: `expected`, by (rule, total, level), as lines, `measured` as points."""
    levels = expected.index.unique("level")
    figure, axes = plt.subplots(1, len(levels), figsize=(9.2, 3.4), sharey=True, layout="constrained")
    axes = np.atleast_1d(axes)
    for panel, level, size in zip(axes, levels, sizes, strict=True):
        for rule, line in expected.xs(level, level="level").groupby(level="rule", sort=False):
            _line(panel, line.droplevel("rule").mse / size, rule, f"{rule}, closed form")
        points = measured.xs(level, level="level")[["mse", "mse_se"]] / size
        for (consistent, rule), table in points.groupby(level=["consistent", "rule"], sort=False):
            _points(panel, table.droplevel(["consistent", "rule"]), "mse", rule, consistent)
        _corner(panel, f"{level}\n{size:,} {'node' if size == 1 else 'nodes'}")
        panel.set(xlabel="total budget ε", yscale="log")
    axes[0].set_ylabel("MSE per node (people²)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


@in_style
def regrets(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Extra error in percent of each rule (column) over the total (row), a panel for each table."""
    figure, axes = plt.subplots(1, len(tables), figsize=(3.4 + 2.6 * len(tables), 3.3), sharey=True, layout="constrained")
    for panel, (name, table) in zip(np.atleast_1d(axes), tables.items(), strict=True):
        for rule, (colour, dash) in _looks(table).items():
            panel.plot(table.index, table[rule], dash, color=colour, label=rule)
        _corner(panel, name if len(tables) > 1 else "", x=0.03, y=0.06)
        panel.set(xlabel="total budget ε", yscale="log")
    np.atleast_1d(axes)[0].set_ylabel("extra error (percent)")
    figure.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


@in_style
def promised_and_kept(tau: np.ndarray, eps: np.ndarray, kept: np.ndarray, levels: Sequence[str], points: tuple) -> Figure:
    """Program (2): left, the budgets eps (k, L) that targets tau need; right, error of the truth over tau, `kept`.

    `points` are the measured (tau, error over tau, standard error).
    """
    figure, (budget, error) = plt.subplots(1, 2, figsize=(7.6, 3.5), layout="constrained")
    colours = LEVEL_COLOURS[: len(levels)]
    budget.stackplot(tau, eps.T, colors=colours, labels=levels, edgecolor="white", linewidth=0.6)
    budget.set(ylabel="budget ε, stacked", xlim=(min(tau), max(tau)), ylim=(0, None))
    error.axhline(1, color=GREY, linewidth=1.2, linestyle="--", label="as promised")
    error.plot(tau, kept, color=BLUE, label="closed form")
    x, y, se = points
    error.errorbar(x, y, 2 * np.asarray(se), fmt="o", color=BLUE, mfc="white", capsize=3, label="measured")
    error.set(ylabel="error in 2020 / τ")
    for panel in (budget, error):
        panel.set_xlabel("error allowed, τ (people²)")
        panel.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def weights(w: np.ndarray, states: Mapping[str, tuple[np.ndarray, np.ndarray]], levels: Sequence[str]) -> Figure:
    """A row a state: error (k, L) of the levels, and their sum, over the weight w of the lowest; beside them budgets."""
    figure, grid = plt.subplots(len(states), 2, figsize=(8.4, 2.9 * len(states)), sharex=True, layout="constrained")
    grid = np.atleast_2d(grid)
    for (error, budget), (name, (mse, eps)) in zip(grid, states.items(), strict=True):
        error.plot(w, mse.sum(axis=1), color="black", linewidth=2.6, label="all levels")
        for level, colour, y, e in zip(levels, LEVEL_COLOURS, mse.T, eps.T, strict=False):
            error.plot(w, y, color=colour, label=level)
            budget.plot(w, e, color=colour)
        for panel in (error, budget):
            panel.axvline(1 / len(levels), color=GREY, linestyle=":", linewidth=1.4, label="equal weights")
        _corner(error, name, x=0.5)
        _corner(budget, name, x=0.5, y=0.5)
        error.set(yscale="log", ylabel="MSE (people²)")
        budget.set(ylabel="budget ε", ylim=(0, None))
    for panel in grid[-1]:
        panel.set_xlabel(f"weight of the {levels[-1]}s, w₃")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=5)
    return figure


@in_style
def side_by_side(
    parts: Mapping[str, Mapping[str, tuple]], xlabel: str, ylabel: str, log: bool = False, mark: float | None = None
) -> Figure:
    """A panel for each part: named curves (x, y) and measured points (x, y, standard error), joined if there is no curve."""
    size = (1.2 + 2.8 * len(parts), 3.5)
    figure, axes = plt.subplots(1, len(parts), figsize=size, sharey=log, squeeze=False, layout="constrained")
    for panel, (part, series) in zip(axes[0], parts.items(), strict=True):
        joined = "-" if all(len(one) == 3 for one in series.values()) else ""
        for (name, (x, y, *se)), colour, dash, marker in zip(series.items(), COLOURS, DASHES, "osD^vP", strict=False):
            if se:
                look = {"color": colour, "mfc": "white", "linewidth": 1, "capsize": 3}
                panel.errorbar(x, y, 2 * se[0], fmt=marker + joined, label=name, **look)
            else:
                panel.plot(x, y, dash, color=colour, label=name)
        if mark is not None:
            panel.axhline(mark, color=GREY, linestyle=":", linewidth=1.4)
        _corner(panel, part, x=0.5)
        panel.set(xlabel=xlabel, yscale="log" if log else "linear")
    axes[0, 0].set_ylabel(ylabel)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


@in_style
def one_axis(parts: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]], ylabel: str, log: str = "") -> Figure:
    """Panels side by side with one y axis: each is named by its x label and holds named curves (x, y)."""
    figure, row = plt.subplots(1, len(parts), figsize=(7.6, 3.0), sharey=True, squeeze=False, layout="constrained")
    scale = {name: "log" if name in log else "linear" for name in "xy"}
    for panel, (xlabel, series) in zip(row[0], parts.items(), strict=True):
        for (name, (x, y)), colour, dash in zip(series.items(), COLOURS, DASHES, strict=False):
            panel.plot(x, y, dash, color=colour, label=name)
        panel.set(xlabel=xlabel, xscale=scale["x"], yscale=scale["y"])
    row[0, 0].set_ylabel(ylabel)
    figure.legend(*row[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


@in_style
def misallocation(table: pd.DataFrame) -> Figure:
    """Bias² and variance of a misallocation by (rule, total, weight): two rows, a column for each weight function.

    A bar that reaches the floor cannot be told from zero; an estimate below zero is left out.
    """
    functions = table.index.unique("weight")
    shared: dict[str, Any] = {"sharex": True, "sharey": "row", "squeeze": False}
    figure, grid = plt.subplots(2, len(functions), figsize=(8.8, 5.2), layout="constrained", **shared)
    for row, column in zip(grid, ("bias2", "variance"), strict=True):
        for panel, function in zip(row, functions, strict=True):
            for rule, points in table.xs(function, level="weight").groupby(level="rule", sort=False):
                points = points.droplevel("rule")
                y, bar = points[column].where(points[column] > 0), 2 * points[f"{column}_se"]
                look: dict[str, Any] = {"color": RULE_COLOURS[rule], "markersize": 5.5, "capsize": 2, "linewidth": 1.2}
                marker = "o" if rule == "optimal" else "s"
                panel.errorbar(points.index, y, bar, fmt=marker, linestyle=RULE_DASHES[rule], label=rule, **look)
            _corner(panel, function)
            panel.set_yscale("log")
        row[0].set_ylabel({"bias2": "Bias²", "variance": "variance"}[column] + " (points²)")
    for panel in grid[-1]:
        panel.set_xlabel("total budget ε")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=4)
    return figure


@in_style
def spreads(groups: Mapping[str, Mapping[str, np.ndarray]], ylabel: str, mark: float | None = None) -> Figure:
    """How values spread over many cases: for each group a panel, in it a box (5%, quartiles, 95%) for each name."""
    figure, axes = plt.subplots(1, len(groups), figsize=(8.8, 3.6), sharey=True, layout="constrained")
    for panel, (group, cases) in zip(np.atleast_1d(axes), groups.items(), strict=True):
        boxes = panel.boxplot(
            list(cases.values()), tick_labels=list(cases), whis=(5, 95), showfliers=False, patch_artist=True, widths=0.6
        )
        for box, colour in zip(boxes["boxes"], LEVEL_COLOURS, strict=False):
            box.set(facecolor=colour, alpha=0.75)
        for median in boxes["medians"]:
            median.set(color="black", linewidth=2)
        if mark is not None:
            panel.axhline(mark, color=GREY, linestyle=":", linewidth=1.4)
        panel.grid(axis="x", visible=False)
        panel.set(xlabel=group, yscale="log")
        _plain_numbers(panel)
    np.atleast_1d(axes)[0].set_ylabel(ylabel)
    return figure


@in_style
def clouds(
    parts: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]],
    xlabel: str,
    ylabel: str,
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    mark: float = 1.0,
) -> Figure:
    """Named clouds of points (x, y), a panel for each part, some with a curve; `mark` is a level to compare with."""
    figure, axes = plt.subplots(1, len(parts), figsize=(8.8, 3.7), sharey=True, layout="constrained")
    for panel, (part, named) in zip(np.atleast_1d(axes), parts.items(), strict=True):
        panel.axhline(mark, color=GREY, linestyle=":", linewidth=1.4)
        for (name, (x, y)), colour, marker in zip(named.items(), (BLUE, ORANGE, GREEN), "osD", strict=False):
            panel.plot(x, y, marker, color=colour, markersize=3.2, alpha=0.55, markeredgecolor="none", label=name)
        if part in curves:
            panel.plot(*curves[part], "--", color="black", linewidth=1.6)
        _corner(panel, part)
        panel.set(xlabel=xlabel, yscale="log")
        _plain_numbers(panel)
    np.atleast_1d(axes)[0].set_ylabel(ylabel)
    figure.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, markerscale=2)
    return figure


@in_style
def ledger(verdicts: Mapping[str, Sequence[str]]) -> Figure:
    """One square for each claim, a row for each part of the paper, coloured by its verdict."""
    columns = max(map(len, verdicts.values()))
    figure, axes = plt.subplots(figsize=(7.6, 0.6 + 6.2 / columns * len(verdicts)), layout="constrained")  # squares
    for y, found in enumerate(verdicts.values()):
        for x, verdict in enumerate(found):
            axes.add_patch(plt.Rectangle((x + 0.06, y + 0.1), 0.84, 0.8, color=VERDICTS[verdict]))
            axes.text(x + 0.48, y + 0.48, claims.MARKS[verdict], ha="center", va="center", color="white", weight="bold")
    axes.set(xlim=(0, columns), ylim=(len(verdicts), 0), aspect="equal")
    axes.set_yticks(np.arange(len(verdicts)) + 0.5, list(verdicts))
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in VERDICTS.values()]
    figure.legend(handles, list(VERDICTS), loc="outside upper left", ncols=3)
    return figure


def _looks(rules: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and dash of each rule: its own if it has one in this book, and else the next that is free."""
    own = {rule: (RULE_COLOURS[rule], RULE_DASHES[rule]) for rule in rules if rule in RULE_COLOURS}
    looks = zip((BLUE, GREEN, ORANGE, RED, PURPLE, SKY), ("-", ":", "-.", "--", "-", "--"), strict=True)
    free = (look for look in looks if look not in own.values())
    return {rule: own[rule] if rule in own else next(free) for rule in rules}


def _line(panel: Axes, y: pd.Series, rule: str, label: str) -> None:
    panel.plot(y.index, y, RULE_DASHES[rule], color=RULE_COLOURS[rule], label=label)


def _points(panel: Axes, table: pd.DataFrame, column: str, rule: str, consistent: bool) -> None:
    """Measured points over the total, with bars; arrows where the value is lost in the noise."""
    shift, fill, label = (0.025, RULE_COLOURS[rule], "with") if consistent else (-0.025, "white", "without")
    x, y, bar = table.index + shift, table[column], 2 * table[f"{column}_se"]
    seen = y > bar
    look: dict[str, Any] = {"color": RULE_COLOURS[rule], "mfc": fill, "markersize": 5.5}
    marker = "o" if rule == "optimal" else "s"
    panel.errorbar(x[seen], y[seen], bar[seen], fmt=marker, capsize=2, label=f"{rule}, {label} consistency", **look)
    panel.plot(x[~seen], (y + bar)[~seen], "v", **look)


def _plain_numbers(panel: Axes) -> None:
    """Label a log axis 1, 2, 3, 4, 6, 10 instead of powers of ten."""
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.yaxis.set_minor_formatter(plt.LogFormatter(minor_thresholds=(2, 0.4)))


def _corner(panel: Axes, text: str, x: float = 0.97, y: float = 0.95) -> None:
    across, up = "right" if x > 0.6 else "center" if x > 0.4 else "left", "top" if y > 0.6 else "center"
    panel.text(x, y, text, transform=panel.transAxes, weight="bold", color="#333333", ha=across, va=up)
