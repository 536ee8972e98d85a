"""Numbers in the text equal the numbers that the code computes.

A computed number in a chapter's text is followed by an invisible comment with the expression behind it:

    saves 13%<!--= 100 * (1 - best.mse / even.mse) --> of the error

The expression is evaluated at that place of the chapter, with the names the cells above have defined, and rounded to as many
digits as the text shows. Readers see "saves 13% of the error", on the site and in Jupyter. Measured numbers in a figure's
caption or alt text, where no comment can stand, are bound in the cell's metadata: "numbers": {"0.18": "atom"}.
"""

import re
from decimal import Decimal
from pathlib import Path

import matplotlib
import nbformat
import pytest

import helpers

ROOT = Path(__file__).parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# A number, perhaps with a unit behind it (13%, 4.6 times), and the comment that binds it.
BOUND = re.compile(r"(?P<number>[−-]?\d[\d,]*(?:\.\d+)?)\s?[^\d\s<]*<!--=\s*(?P<expression>.+?)\s*-->", re.DOTALL)
# A share or a factor in running text is always a result, so it must be bound. Code, math and links are not text.
CLAIM = re.compile(r"\d[\d,.]*\s?(?:%|×|times\b)(?!<!--=)")
NOT_TEXT = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


def shown(number: str, value: float) -> bool:
    """Does the text's number equal the value, rounded to the digits that the text shows?"""
    number = number.replace(",", "").replace("−", "-")
    digits = len(number.partition(".")[2])
    return Decimal(number) == round(Decimal(float(value)), digits)


def about_figure(cell) -> str:
    """Caption and alt text of a cell's figure."""
    figure = cell.metadata["mystnb"]
    return figure["figure"]["caption"] + " " + figure["image"]["alt"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_numbers_in_the_text_are_computed(path):
    "Each bound number in the text is what its expression gives at that place of the chapter."
    matplotlib.use("agg")
    names = {name: getattr(helpers, name) for name in helpers.__all__}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{path.name}", "exec"), names)
            for number, expression in cell.metadata.get("numbers", {}).items():
                value = eval(expression, names)
                assert number in about_figure(cell), f"{path.name}: {number} is bound, but not in caption or alt text"
                assert shown(number, value), f"{path.name}: a figure's text says {number}, {expression} is {value}"
            continue
        for found in BOUND.finditer(cell.source):
            value = eval(found["expression"], names)
            assert shown(found["number"], value), f"{path.name} says {found[0]}, computed {value}"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_binding_is_read(path):
    "Each comment that binds a number follows one, so that none is passed over."
    for cell in nbformat.read(path, as_version=4).cells:
        assert len(BOUND.findall(cell.source)) == cell.source.count("<!--="), cell.source


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_shares_and_factors_are_bound(path):
    "A percentage or a factor in the text is followed by the expression behind it."
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            loose = CLAIM.search(NOT_TEXT.sub("", cell.source))
            assert loose is None, f"{path.name}: {loose[0]!r} is not bound to a computation"


@pytest.mark.parametrize(
    ("number", "value", "same"),
    [("13", 13.4, True), ("13", 13.6, False), ("0.18", 0.1839, True), ("20,975", 20975, True), ("−1.5", -1.52, True)],
)
def test_rounding_of_shown_numbers(number, value, same):
    "A number agrees with a value exactly when rounding the value to its digits gives it."
    assert shown(number, value) is same


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_text_is_lost_in_a_gate(path):
    "Text inside a gate's own fence would be dropped from the page; it belongs after the fence."
    gate = re.compile(r"^(`{3,})\{(?:solution|exercise)-(?:start|end)\}[^\n]*\n(.*?)^\1", re.DOTALL | re.MULTILINE)
    for cell in nbformat.read(path, as_version=4).cells:
        for found in gate.finditer(cell.source):
            assert all(line.startswith(":") or not line for line in found[2].splitlines()), found[0]
