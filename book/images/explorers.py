"""Draw what stands in for the explorers in print and where there is no JavaScript: one function a picture."""

import io
import re
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from manuscript import ROOT

from helpers import Hierarchy, cube_root, expected_error, load_state, minimize_error, plots, top_down, uniform
from helpers.allocation import Allocation
from helpers.figures.style import STYLE

SCRIPTS = ROOT / "book" / "explore" / "static" / "explorers"
RULES: dict[str, Callable[..., Allocation]] = {"optimal": minimize_error, "cube root": cube_root, "uniform": uniform}


def split() -> plt.Figure:
    """Wyoming at ε = 1 by the three rules, and as the page cuts the reader's own bar at first."""
    tree = load_state("wyoming")
    eps = np.array([0.2, 0.3, 0.5])
    yours = Allocation(tree.levels, eps, expected_error(tree, eps).mse.to_numpy(), np.nan)
    return plots.budget_and_error({name: rule(tree, total=1) for name, rule in RULES.items()} | {"20, 30, 50%": yours})


def own_tree() -> plt.Figure:
    """The page's example at ε = 1, by the three rules."""
    [text] = re.findall(r"EXAMPLE = `(.*?)`", (SCRIPTS / "own-tree.js").read_text(encoding="utf-8"), re.DOTALL)
    tree = Hierarchy.from_frame(pd.read_csv(io.StringIO(text)), ["network", "hospital", "ward"], "patients")
    return plots.budget_and_error({name: rule(tree, total=1) for name, rule in RULES.items()})


def one_count() -> plt.Figure:
    """Two people at ε = 0.5: what the page shows at first."""
    count, eps = 2, 0.5
    outputs = np.linspace(-8, 20, 1401)
    return plots.clipped_density(outputs, eps / 2 * np.exp(-eps * np.abs(outputs - count)), np.exp(-eps * count) / 2, count)


def watch() -> plt.Figure:
    """A tenth of the Virginia tree, where clipping is at work: one release, step by step."""
    blocks = [[100, 1, 12], [100, 2, 8], [100, 3, 10], [200, 1, 9], [200, 2, 6]]
    frame = pd.DataFrame(blocks, columns=["tract", "block", "population"]).assign(state="VA")
    hamlet = Hierarchy.from_frame(frame, levels=["state", "tract", "block"])
    rng = np.random.default_rng(5)
    noisy = [n + rng.laplace(scale=6, size=len(n)) for n in hamlet.counts]  # ε = 0.5 in three equal parts
    clipped = [np.maximum(0, x) for x in noisy]
    return plots.stages(hamlet, {"noisy": noisy, "clipped": clipped, "final": top_down(hamlet, clipped)})


FIGURES = {"split": split, "own-tree": own_tree, "one-count": one_count, "watch": watch}

if __name__ == "__main__":
    for name, draw in FIGURES.items():
        with plt.rc_context(STYLE):
            draw().savefig(ROOT / "book" / "images" / f"explorer-{name}.svg", metadata={"Date": None})
