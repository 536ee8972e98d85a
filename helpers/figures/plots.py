"""Pictures of one thing, one function a figure, in the book's style. Nothing is computed: functions draw what they get."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..allocation import Allocation
from ..hierarchy import Hierarchy
from .style import BLUE, COLOURS, DASHES, GREEN, GREY, LEVEL_COLOURS, ORANGE, PURPLE, RED, SKY, in_style


@in_style
def tree(hierarchy: Hierarchy) -> Figure:
    """A small tree, top down: each node with its label and its count."""
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    places = _places(hierarchy)
    depth = len(hierarchy.levels)
    for level, (counts, xs) in enumerate(zip(hierarchy.counts, places, strict=True)):
        y, colour = depth - level, LEVEL_COLOURS[level]
        for node, (count, x) in enumerate(zip(counts, xs, strict=True)):
            if level:
                above = places[level - 1][hierarchy.links[level - 1][node]]
                axes.plot([above, x], [y + 0.78, y + 0.22], color=GREY, linewidth=1.2, zorder=1)
            label = "" if hierarchy.labels is None else f" {hierarchy.labels[level][node]}"
            box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": colour, "linewidth": 2}
            axes.text(x, y, f"{hierarchy.levels[level]}{label}\n{count:,}", ha="center", va="center", bbox=box)
    axes.set(xlim=(-0.6, len(places[-1]) - 0.4), ylim=(0.5, depth + 0.5))
    axes.axis("off")
    return figure


@in_style
def privacy_loss(
    outputs: np.ndarray,
    losses: Mapping[str, np.ndarray],
    eps: float,
    unit: str = "released count",
    points: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> Figure:
    """The privacy loss ln(p(z|D)/p(z|D′)) over outputs z, one line for each mechanism, between the bounds ±ε.

    `points` are measured: output, loss, standard error."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    axes.axhspan(-eps, eps, color=SKY, alpha=0.18, label=f"allowed: −ε to ε (ε = {eps:g})")
    for (name, loss), colour, dash in zip(losses.items(), (BLUE, RED, GREEN), ("-", "--", ":"), strict=False):
        axes.plot(outputs, loss, dash, color=colour, label=name)
    for (name, (x, loss, se)), colour, marker in zip((points or {}).items(), (ORANGE, PURPLE), "os", strict=False):
        axes.errorbar(x, loss, 2 * se, fmt=marker, color=colour, mfc="white", capsize=3, label=name)  # two standard errors
    axes.set(xlabel=unit, ylabel="privacy loss (natural log)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def clipped_density(outputs: np.ndarray, density: np.ndarray, atom: float, count: float) -> Figure:
    """The density of a noisy count: what lies below zero is moved onto zero, as an atom."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    below = outputs < 0
    axes.plot(outputs, density, color=GREY, linewidth=1, linestyle="--", label="before clipping")
    axes.fill_between(outputs[below], density[below], color=RED, alpha=0.35, label="mass below zero…")
    axes.plot(outputs[~below], density[~below], color=BLUE, label="after clipping")
    # The atom is a probability, the curve a density: the stem has an axis of its own.
    mass = axes.twinx()
    mass.plot([0, 0], [0, atom], color=RED, linewidth=3)
    mass.plot(0, atom, "o", color=RED, label=f"…is moved onto zero: probability {atom:.2f}")
    mass.set(ylim=(0, 1), ylabel="probability of exactly zero")
    mass.spines["right"].set_visible(True)
    mass.grid(False)
    axes.axvline(count, color=GREEN, linewidth=1.2, label=f"true count {count:g}")
    axes.set(xlabel="released count (people)", ylabel="density (per person)", ylim=(0, None))
    figure.legend(loc="outside upper left", ncols=2)
    return figure


@in_style
def curves(
    x: np.ndarray,
    series: Mapping[str, np.ndarray],
    xlabel: str,
    ylabel: str,
    log: str = "",
    points: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray | float]] | None = None,
    lines: Mapping[str, float] | None = None,
) -> Figure:
    """Named curves over x; `log` is "x", "y" or "xy"; `points` are measured (x, y, standard error); `lines` are vertical."""
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (name, y), colour, dash in zip(series.items(), COLOURS, DASHES, strict=False):
        axes.plot(x, y, dash, color=colour, label=name)
    for (name, (px, py, se)), colour, marker in zip((points or {}).items(), COLOURS, "osD^v", strict=False):
        # Two standard errors; hollow points, so that a curve shows through.
        axes.errorbar(px, py, 2 * np.asarray(se), fmt=marker, color=colour, mfc="white", capsize=3, label=name)
    for (name, where), colour in zip((lines or {}).items(), (GREY, PURPLE, GREEN), strict=False):
        axes.axvline(where, color=colour, linewidth=1.2, linestyle=":", label=name)
    scale = {name: "log" if name in log else "linear" for name in "xy"}
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=scale["x"], yscale=scale["y"])
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def scatter(clouds: Mapping[str, tuple[np.ndarray, np.ndarray]], xlabel: str, ylabel: str, log: str = "") -> Figure:
    """Named clouds of points (x, y); `log` is "x", "y" or "xy"."""
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (name, (x, y)), colour, marker in zip(clouds.items(), COLOURS, "osD^v", strict=False):
        axes.plot(x, y, marker, color=colour, markersize=5, alpha=0.75, markeredgecolor="none", label=name)
    scale = {name: "log" if name in log else "linear" for name in "xy"}
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=scale["x"], yscale=scale["y"])
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def z_scores(groups: Mapping[str, np.ndarray], xlabel: str) -> Figure:
    """Measured minus predicted, in standard errors: one dot a check, with the band where 95% should lie."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    axes.axhspan(-1.96, 1.96, color=SKY, alpha=0.18, label="95% of a standard normal")
    for (name, z), colour, marker in zip(groups.items(), (BLUE, RED, GREEN), "osD", strict=False):
        axes.plot(np.arange(len(z)), z, marker, color=colour, label=name)
    axes.axhline(0, color=GREY, linewidth=1.2)
    axes.set(xlabel=xlabel, ylabel="difference in\nstandard errors", ylim=(-5, 5))
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def nearest(points: np.ndarray, projected: np.ndarray, total: float) -> Figure:
    """Pairs of noisy counts, each with an arrow to its nearest pair that is not negative and adds up to the total."""
    figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
    axes.plot([0, total], [total, 0], color=GREEN, linewidth=4, alpha=0.5, label=f"not negative, sum {total:g}")
    for start, end in zip(points, projected, strict=True):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 4, "shrinkB": 4})
    axes.plot(*points.T, "s", color=ORANGE, label="noisy")
    axes.plot(*projected.T, "o", color=BLUE, label="nearest")
    axes.set(xlabel="first block (people)", ylabel="second block (people)", aspect="equal")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def error_surface(first: np.ndarray, second: np.ndarray, error: np.ndarray, total: float, best: Allocation) -> Figure:
    """Contours of the error over the budgets of two levels, the line that `total` can pay for, and the best point on it."""
    figure, axes = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    heights = best.mse * 2.0 ** np.arange(-2, 5)
    lines = axes.contour(first, second, error, heights, colors=GREY, linewidths=1)
    axes.clabel(lines, fmt=lambda height: f"{height:,.0f}", fontsize=9)
    axes.plot([0, total], [total, 0], color=ORANGE, label=f"a total of {total:g}")
    axes.plot([0, total], [0, total], ":", color=GREY, linewidth=1, label="the same for both")
    axes.plot(*best.eps, "o", color=BLUE, markersize=9, label="best split")
    axes.set(xlabel=f"ε of the {best.levels[0]}", ylabel=f"ε of the {best.levels[1]}")
    axes.set(xlim=(first.min(), first.max()), ylim=(second.min(), second.max()), aspect="equal")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def stages(hierarchy: Hierarchy, steps: Mapping[str, Sequence[np.ndarray]]) -> Figure:
    """How far each node of a small tree is from its true count after each step of a release."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    names = [f"{level} {path}" for level, paths in zip(hierarchy.levels, _paths(hierarchy), strict=True) for path in paths]
    rows = np.arange(len(names))[::-1]
    true = np.concatenate(hierarchy.counts)
    looks = zip((ORANGE, SKY, BLUE), ("x", "s", "o"), (0.2, 0.0, -0.2), strict=True)
    for (step, levels), (colour, marker, shift) in zip(steps.items(), looks, strict=False):
        axes.plot(np.concatenate(levels) - true, rows + shift, marker, color=colour, markersize=8, label=step)
    axes.axvline(0, color=GREY, linewidth=1.2)
    axes.set_yticks(rows, names)
    axes.set(xlabel="error: released minus true (people)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def budget_and_error(allocations: Mapping[str, Allocation]) -> Figure:
    """Left, how each rule splits the budget over the levels; right, the expected squared error each split leads to."""
    figure, (budget, error) = plt.subplots(1, 2, figsize=(7.6, 2.7), sharey=True, layout="constrained")
    names = list(allocations)
    rows = np.arange(len(names))[::-1]
    _stack(budget, rows, [a.eps / a.total for a in allocations.values()], next(iter(allocations.values())).levels)
    _stack(error, rows, [a.mse_by_level for a in allocations.values()], None)
    budget.set_yticks(rows, names)
    budget.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    unit, people = (1e6, "millions of people²") if max(a.mse for a in allocations.values()) >= 1e7 else (1, "people²")
    error.xaxis.set_major_formatter(lambda value, _: f"{value / unit:,.0f}")
    error.xaxis.set_major_locator(plt.MaxNLocator(4))
    budget.set(xlabel="share of the privacy budget", xlim=(0, 1))
    error.set(xlabel=f"total expected squared error ({people})")
    for axes in (budget, error):
        axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper left", ncols=6)
    return figure


def _stack(axes: Axes, rows: np.ndarray, values: Sequence[np.ndarray], names: Sequence[str] | None) -> None:
    """Horizontal bars, one a row, made of one piece for each level."""
    table = np.array(values)  # (rows, levels)
    left = np.cumsum(table, axis=1) - table
    for level in range(table.shape[1]):
        label = names[level] if names else None
        axes.barh(rows, table[:, level], 0.62, left=left[:, level], color=LEVEL_COLOURS[level], label=label)


def _paths(hierarchy: Hierarchy) -> list[list[str]]:
    """Each node's labels from below the top down to its own, such as 100/1."""
    labels = hierarchy.labels
    if labels is None:
        raise ValueError("hierarchy must have labels, as Hierarchy.from_frame gives them, got none")
    paths = [[str(label) for label in labels[0]]]
    for level in range(1, len(hierarchy.levels)):
        above = [paths[-1][p] + "/" if level > 1 else "" for p in hierarchy.links[level - 1]]
        paths.append([f"{prefix}{label}" for prefix, label in zip(above, labels[level], strict=True)])
    return paths


def _places(hierarchy: Hierarchy) -> list[np.ndarray]:
    """Horizontal places: leaves side by side, each parent in the middle of its children, the childless on the right."""
    places = [np.arange(hierarchy.sizes[-1], dtype=float)]
    for parents, size in zip(hierarchy.links[::-1], hierarchy.sizes[-2::-1], strict=True):
        children = np.bincount(parents, minlength=size)
        place = np.bincount(parents, weights=places[0], minlength=size) / np.maximum(children, 1)
        place[children == 0] = hierarchy.sizes[-1] + np.arange((children == 0).sum())
        places.insert(0, place)
    return places
