"""The one style of the book's figures: colours, line styles, and a decorator that draws in it.

Figures have an opaque light background, so that they read the same in light and in dark mode, and no title: the caption
in the text says what to see. Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

if TYPE_CHECKING:  # newer than the oldest Matplotlib that will do
    from matplotlib.typing import RcKeyType

P = ParamSpec("P")

BLUE, ORANGE, GREEN, SKY, RED, PURPLE, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#AA4499", "#6b6b6b",
)  # fmt: skip
COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY)
DASHES = ("-", "--", "-.", ":", "-", "--")
LEVEL_COLOURS = (SKY, ORANGE, BLUE, GREEN, RED, PURPLE)

STYLE: "dict[RcKeyType, Any]" = {
    "figure.facecolor": "#fdfcf9",
    "axes.facecolor": "#fdfcf9",
    "savefig.facecolor": "#fdfcf9",
    "figure.dpi": 130,
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "grid.color": "#e4e1d8",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "svg.hashsalt": "where to spend epsilon",  # the same figure is the same file
}


def in_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the book's style, and close the figure so that a notebook shows it once."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with plt.rc_context(STYLE):
            figure = draw(*args, **kwargs)
            plt.close(figure)
            return figure

    return styled
