"""Numbers in the text equal the numbers that the code computes.

A computed number in a chapter's text is followed by an invisible comment with the expression behind it:

    saves 13%<!--= 100 * (1 - best.mse / even.mse) --> of the error

The expression is evaluated at that place of the chapter, with the names the cells above have defined, and rounded to as many
digits as the text shows. Readers see "saves 13% of the error", on the site and in Jupyter. Measured numbers in a figure's
caption or alt text, where no comment can stand, are bound in the cell's metadata: "numbers": {"0.18": "atom"}.

The ledger of claims (helpers/data/claims.toml) is held to the same: its numbers and verdicts are evaluated at the end of the
chapter that each claim names.
"""

import re
from decimal import Decimal

import matplotlib
import pytest
from manuscript import CHAPTERS, EXERCISE, MARK, ROOT, prose, read_notebook

import helpers
from helpers import claims

PAGES = sorted((ROOT / "book").rglob("*.md"))
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


def wrong_numbers(text: str, names: dict) -> list[str]:
    """The bound numbers of a text that are not what their expressions give."""
    found = [(match[0], match["number"], eval(match["expression"], names)) for match in BOUND.finditer(text)]
    return [f"{whole}: computed {value}" for whole, number, value in found if not shown(number, value)]


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda path: path.stem, name="run")
def run_chapter(request):
    """A chapter executed from the top: its path, the names it leaves behind, and the numbers that were wrong on the way."""
    matplotlib.use("agg")
    names = {name: getattr(helpers, name) for name in helpers.__all__}
    wrong = []
    for cell in read_notebook(request.param).cells:
        if cell.cell_type == "markdown":
            wrong += wrong_numbers(cell.source, names)
            continue
        exec(compile(cell.source, f"{request.param.name}", "exec"), names)
        for number, expression in cell.metadata.get("numbers", {}).items():
            value, figure = eval(expression, names), cell.metadata["mystnb"]
            if number not in figure["figure"]["caption"] + " " + figure["image"]["alt"] or not shown(number, value):
                wrong.append(f"caption or alt text: {number}, {expression} is {value}")
    return request.param, names, wrong


def test_numbers_in_the_text_are_computed(run):
    "Each bound number in the text is what its expression gives at that place of the chapter."
    _, _, wrong = run
    assert not wrong, "\n".join(wrong)


def test_claims_have_the_verdict_of_their_evidence(run):
    "The numbers of each claim are what its chapter computes, and its verdict is the one that the evidence gives."
    path, names, _ = run
    wrong = []
    for claim in [claim for claim in claims.load() if claim.chapter == path.stem]:
        wrong += [f"{claim.id}: {number}" for number in wrong_numbers(f"{claim.measured} {claim.reasoning}", names)]
        verdict = claim.found_verdict(names)
        if verdict != claim.verdict:
            wrong.append(f"{claim.id}: the file says {claim.verdict!r}, the evidence {verdict!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_numbers_on_the_other_pages_are_computed(path):
    "Pages outside the chapters bind their numbers too; helpers' public names are at hand there."
    text = path.read_text(encoding="utf-8")
    assert not wrong_numbers(text, {name: getattr(helpers, name) for name in helpers.__all__})
    assert len(BOUND.findall(text)) == text.count("<!--=")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_binding_is_read(path):
    "Each comment that binds a number follows one, so that none is passed over."
    for cell in read_notebook(path).cells:
        assert len(BOUND.findall(cell.source)) == cell.source.count("<!--="), cell.source


@pytest.mark.parametrize("claim", claims.load(), ids=lambda claim: claim.id)
def test_every_binding_of_a_claim_is_read(claim):
    "Each comment that binds a number of a claim follows one, and its chapter is among those executed."
    for text in (claim.measured, claim.reasoning):
        assert len(BOUND.findall(text)) == text.count("<!--=")
    assert claim.chapter in [path.stem for path in CHAPTERS]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_shares_and_factors_are_bound(path):
    "A percentage or a factor in the text is followed by the expression behind it."
    for cell in read_notebook(path).cells:
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
    for cell in read_notebook(path).cells:
        for found in gate.finditer(cell.source):
            assert all(line.startswith(":") or not line for line in found[2].splitlines()), found[0]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_exercises_say_how_hard_they_are(path):
    "Each exercise has a title, and begins with its difficulty and its minutes."
    text = prose(read_notebook(path))
    found = list(EXERCISE.finditer(text))
    assert len(found) == len(re.findall(r"\{exercise(?:-start)?\}", text)) >= 4
    behind_options = [re.sub(r"^(:.*\n|\n)+", "", one["text"]) for one in found]
    assert [text for text in behind_options if not MARK.match(text)] == []
    assert all(one["title"].strip() for one in found)
