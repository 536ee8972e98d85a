"""What holds for every figure of the book: labelled, in style, without a title, and shown once.

The figures are the rows of the tables in tests/support/drawn.py.
"""

import re

import matplotlib
import matplotlib.pyplot as plt
import pytest
from support.drawn import PANELS, PLOTS

from helpers import panels, plots
from helpers.figures.style import STYLE

matplotlib.use("agg")
pytestmark = pytest.mark.filterwarnings("ignore:No contour levels")

TABLES = {plots: PLOTS, panels: PANELS}
FIGURES = {f"{module.__name__}.{name}": draw for module, table in TABLES.items() for name, draw in table.items()}
NUMBER = re.compile(r"−?[\d.,]+[k%]?|\$.+\$")  # as on a tick: −2.5, 30%, 4k or a power of ten


@pytest.fixture(params=FIGURES, name="figure")
def drawn(request):
    plt.close("all")
    return FIGURES[request.param]()


def test_a_figure_is_shown_once_and_has_no_title(figure):
    """A figure is returned closed, without a title inside, on the book's opaque background."""
    assert plt.get_fignums() == []
    assert all(axes.get_title() == "" for axes in figure.axes) and figure.get_suptitle() == ""
    for drawn in (figure, *figure.axes):
        assert drawn.get_facecolor() == matplotlib.colors.to_rgba(STYLE["figure.facecolor"])
    figure.canvas.draw()


def test_axes_are_labelled(figure):
    """An axis that shows numbers says what they are; up the side, the first panel of a row may speak for the others."""
    figure.canvas.draw()
    for axes in figure.axes:
        if axes.axison and shows_numbers(axes.xaxis):
            assert axes.get_xlabel() != ""
        if axes.axison and shows_numbers(axes.yaxis):
            place = axes.get_subplotspec()  # none for a colour bar, which has to speak for itself
            row = [other for other in figure.axes if place and other.get_subplotspec().rowspan == place.rowspan]
            assert axes.get_ylabel() != "" or row[0].get_ylabel() != ""


def shows_numbers(axis):
    """Is a number written along the axis? Names (a state, a level) speak for themselves."""
    shown = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
    return axis.get_visible() and any(map(NUMBER.fullmatch, shown))


@pytest.mark.parametrize("module", TABLES, ids=lambda module: module.__name__)
def test_every_figure_is_tested(module):
    """The module's table has a row for each of its public drawing functions, and for nothing else."""
    drawing = [f for f in vars(module).values() if hasattr(f, "__wrapped__") and f.__module__ == module.__name__]
    public = {function.__name__ for function in drawing if not function.__name__.startswith("_")}
    assert public == {name.partition(",")[0] for name in TABLES[module]}


@pytest.mark.parametrize("name", FIGURES)
def test_drawing_leaves_the_readers_style_alone(name):
    """The style is for the book's own figures; what the reader set stays set."""
    before = dict(matplotlib.rcParams)
    FIGURES[name]()
    assert dict(matplotlib.rcParams) == before
