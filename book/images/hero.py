"""Draw the figure of the README and the front page: Wyoming's budget of 1, split three ways, and the error of each."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from manuscript import ROOT

from helpers import cube_root, load_state, minimize_error, uniform
from helpers.figures.style import BLUE, LEVEL_COLOURS, RED, STYLE

RULES: dict[str, Callable] = {"equal shares": uniform, "cube-root rule": cube_root, "best split": minimize_error}


def draw() -> plt.Figure:
    wyoming = load_state("wyoming")
    splits = {name: rule(wyoming, total=1) for name, rule in RULES.items()}
    best = splits["best split"]
    rows = np.arange(len(splits))[::-1]
    figure, (budget, error) = plt.subplots(1, 2, figsize=(7.0, 2.5), sharey=True, layout="constrained")
    for row, (name, split) in zip(rows, splits.items(), strict=True):
        left = 0.0
        for level, size, share, colour in zip(wyoming.levels, wyoming.sizes, split.eps, LEVEL_COLOURS, strict=False):
            budget.barh(row, share, 0.66, left=left, color=colour)
            if name == "equal shares":  # the widest pieces carry the names
                words = {"state": "1 state", "tract": f"{size}\ntracts", "block": f"{size:,}\nblocks"}[level]
                colour_of_words = "white" if level == "block" else "black"
                budget.text(left + share / 2, row, words, ha="center", va="center", color=colour_of_words, fontsize=9.5)
            left += share
        worst = name == "equal shares"
        error.barh(row, split.mse / best.mse, 0.66, color=RED if worst else BLUE)
        times = split.mse / best.mse
        words = f"{times:.1f} ×" if worst else "1 ×" if split is best else f"{times:.4f} ×"
        error.text(times + 0.08, row, words, va="center", weight="bold", fontsize=15)
    budget.set_yticks(rows, list(splits))
    budget.tick_params(axis="y", length=0, labelsize=12)
    budget.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    budget.set(xlabel="who gets the budget", xlim=(0, 1))
    error.set(xlabel="error (best split = 1)", xlim=(0, 6))
    for axes in (budget, error):
        axes.grid(axis="y", visible=False)
    return figure


if __name__ == "__main__":
    with plt.rc_context(STYLE):
        draw().savefig(ROOT / "book" / "images" / "hero.svg", metadata={"Date": None})
