"""The ledger of claims: a well-formed file, links that lead somewhere, and verdicts that follow from evidence.

That the evidence still gives the verdicts in the file is tested in test_prose.py, where the chapters are executed.
"""

import dataclasses
import re

import pytest
from manuscript import ROOT

from helpers import claims

LEDGER = claims.load()


def test_ids_are_distinct_and_fields_filled():
    "Each claim has a name of its own, a place in the paper, a finding, reasons, and a condition; if qualified, another."
    assert len({claim.id for claim in LEDGER}) == len(LEDGER)
    for claim in LEDGER:
        assert all(isinstance(value, str) and value.strip() for value in vars(claim).values()), claim.id
        assert claim.verdict in claims.VERDICTS, claim.id
        assert (claim.qualified != "False") == (claim.verdict == claims.VERDICTS[1]), claim.id


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_the_cell_is_in_the_chapter(claim):
    "The label a claim points to stands in the chapter it names, so that its link leads to the evidence."
    text = (ROOT / "notebooks" / f"{claim.chapter}.ipynb").read_text(encoding="utf-8")
    label = re.escape(claim.cell)
    assert re.search(rf'"name": "{label}"|:label: {label}\\n|\({label}\)=', text)


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_a_condition_asks_something(claim):
    "No condition is a constant: it uses at least one name that the chapter computes or the package provides."
    for condition in (claim.holds, claim.qualified):
        if condition != "False":
            assert compile(condition, claim.id, "eval").co_names


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_an_entry_can_be_skimmed(claim):
    "A claim is a sentence or two, a finding a short paragraph, and the reasons are given: the page stays readable."
    says, measured, why = (re.sub("<!--=.*?-->", "", text) for text in (claim.says, claim.measured, claim.reasoning))
    assert len(says) < 250 and len(measured) < 800 and 40 < len(why) < 800
    assert "\n" not in says + measured + why  # a paragraph each, or the list breaks


@pytest.mark.parametrize("holds, partly, verdict", [(True, True, 0), (True, False, 0), (False, True, 1), (False, False, 2)])
def test_the_verdict_follows_from_the_two_conditions(holds, partly, verdict):
    "As stated, with a qualification, or not at all; evidence is evaluated on a copy, so a chapter's names stay."
    names = {"a": holds, "b": partly}
    assert dataclasses.replace(LEDGER[0], holds="a", qualified="b").found_verdict(names) == claims.VERDICTS[verdict]
    assert names == {"a": holds, "b": partly}


def test_parts_keep_all_claims_in_order():
    "Grouping by part loses nothing and changes no order within a part; parts stand in the order of their first claims."
    parts = claims.by_part(LEDGER)
    assert sorted(claim.id for rows in parts.values() for claim in rows) == sorted(claim.id for claim in LEDGER)
    for part, rows in parts.items():
        assert rows == [claim for claim in LEDGER if claim.part == part]
    first, second = LEDGER[0], dataclasses.replace(LEDGER[0], part="another")
    assert claims.by_part([second, first, second]) == {"another": [second, second], first.part: [first]}
    assert list(claims.by_part([second, first])) == ["another", first.part]


def test_markdown_shows_every_claim_without_its_bindings():
    "The text has each claim's sentence, verdict, reasons and link, and no expression."
    text = claims.as_markdown(LEDGER)
    assert "<!--" not in text
    for claim in LEDGER:
        assert claim.says in text and f"](#{claim.cell})" in text
        assert claims.as_markdown([claim]).count("<details>") == claims.as_markdown([claim]).count("</details>") == 1
    for verdict, mark in claims.MARKS.items():
        assert text.count(f"- **{mark} ") == text.count(f"<summary>Why {verdict}</summary>")
        assert text.count(f"- **{mark} ") == sum(claim.verdict == verdict for claim in LEDGER)


def test_markdown_in_full():
    "Mark, claim, place, link and finding stand where a reader expects them, and the reasons are folded under the verdict."
    found, why = "It is 4.6<!--= a\n+ b --> or 5<!--= c -->.", "It is more than 4<!--= a -->."
    fields = {"id": "x", "part": "P", "where": "Table 1", "says": "It is so.", "measured": found, "reasoning": why}
    for verdict, mark in zip(claims.VERDICTS, "✓~✗", strict=True):
        claim = claims.Claim(chapter="12-y", cell="fig-y", verdict=verdict, holds="a", **fields)
        entry = f"- **{mark} It is so.**\n  (Table 1; [chapter 12](#fig-y))\n\n  It is 4.6 or 5.\n\n"
        entry += f"  <details><summary>Why {verdict}</summary>\n\n  It is more than 4.\n\n  </details>"
        assert claims.as_markdown([claim]) == entry
        assert claims.as_markdown([claim, claim]) == f"{entry}\n\n{entry}"


def test_the_ledger_is_read_as_written():
    "All claims of the file, in its order, signs beyond ASCII included."
    text = (ROOT / "helpers" / "data" / "claims.toml").read_text(encoding="utf-8")
    ledger = claims.load()
    assert [claim.id for claim in ledger] == re.findall(r'^id = "(.+)"$', text, re.MULTILINE)
    assert "noise Lap(1/ε) on each count" in ledger[1].says
