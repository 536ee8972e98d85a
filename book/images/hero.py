"""Draw the figure of the README and the front page: Wyoming's budget of 1, split three ways."""

from pathlib import Path

import matplotlib.pyplot as plt

from helpers import cube_root, load_state, minimize_error, plots, uniform

wyoming = load_state("wyoming")
rules = {"uniform": uniform, "cube root": cube_root, "optimal": minimize_error}
figure = plots.budget_and_error({name: rule(wyoming, total=1) for name, rule in rules.items()})
with plt.rc_context(plots.STYLE):
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
