"""Private releases: what they add up to, what they cost, what they refuse, and what they never show."""

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import trees

from helpers import (
    DISCRETE_LAPLACE,
    GAUSSIAN,
    Accountant,
    Hierarchy,
    cube_root,
    load_state,
    minimize_budget,
    minimize_error,
    private_release,
    uniform,
)
from helpers.exact_noise import Noise
from helpers.private import ADD_OR_REMOVE, CHANGE_PLACE, FILES, _budgets

FAMILY = Hierarchy.from_counts([[70_707], [30_303, 40_404]], [None, [0, 0]], levels=["state", "block"])


def released(tree=FAMILY, eps=(0.5, 0.5), budgets_from="policy", **options):
    return private_release(tree, eps, budgets_from=budgets_from, **options)


@settings(max_examples=25)
@given(trees(childless=False), st.sampled_from([ADD_OR_REMOVE, CHANGE_PLACE]), st.booleans())
def test_every_release_is_whole_and_not_negative(tree, neighbours, consistent):
    """Counts are int64 and not negative, one a node; if consistent, parents are the exact sums of their children."""
    found = released(tree, np.full(len(tree.levels), 0.5), neighbours=neighbours, consistent=consistent)
    assert [len(x) for x in found.counts] == tree.sizes.tolist()
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found.counts)
    for level in range(1, len(tree.levels) if consistent else 0):
        sums = np.zeros(tree.sizes[level - 1], dtype=np.int64)
        np.add.at(sums, tree.parents[level], found.counts[level])
        assert sums.tolist() == found.counts[level - 1].tolist()


def test_the_noise_has_the_scale_of_its_level():
    """Far from zero, a level's counts spread like discrete Laplace noise of the recorded scale (six standard errors)."""
    n = 20_000
    tree = Hierarchy.from_counts([[10**6] * n, [5 * 10**5] * 2 * n], [None, np.arange(2 * n) // 2])
    for neighbours in (ADD_OR_REMOVE, CHANGE_PLACE):
        found = released(tree, [0.4, 1.0], neighbours=neighbours, consistent=False)
        for counts, true, level in zip(found.counts, tree.counts, found.record["levels"], strict=True):
            alpha = np.exp(-1 / level["scale"])
            squares = (counts - true) ** 2
            variance = 2 * alpha / (1 - alpha) ** 2
            assert abs(squares.mean() - variance) < 6 * squares.std() / np.sqrt(len(squares))
            assert level["scale"] == pytest.approx(level["sensitivity"] / level["epsilon"], rel=1e-14)
            assert level["sensitivity"] == (1 if neighbours == ADD_OR_REMOVE else 2)


def test_a_single_top_is_no_secret_when_people_only_move():
    """If neighbours differ by a move, a total of one node is the same for both: it is released as it is, at no cost."""
    purse = Accountant(1)
    found = released(neighbours=CHANGE_PLACE, accountant=purse)
    top, below = found.record["levels"]
    assert found.counts[0].tolist() == FAMILY.counts[0].tolist() and (top["epsilon"], top["scale"]) == (0.0, 0.0)
    assert (below["sensitivity"], below["scale"], found.record["epsilon"], purse.spent) == (2, 4.0, 0.5, 0.5)


@given(st.lists(st.one_of(st.floats(1e-9, 100), st.integers(1, 10**6).map(lambda n: n / 1000)), min_size=1, max_size=6))
def test_budgets_lose_a_hair_and_never_gain(eps):
    """In all no more is spent than was asked for, but for the rounding of floats, and each level is within 1e-12 a level."""
    found = _budgets(np.array(eps))
    asked = [Fraction(repr(e)) for e in eps]
    assert sum(asked) - Fraction(1, 10**12) < sum(found) <= sum(asked) * (1 + Fraction(1, 10**14))
    assert all(abs(f - a) <= Fraction(len(eps), 10**12) + a / 10**13 for f, a in zip(found, asked, strict=True))
    assert all(Fraction(repr(float(f))) == f for f in found)  # so a record in decimals is exact


@pytest.mark.parametrize("total", [0.1, 0.3, 0.7, 1, 2.3])
def test_a_split_of_a_total_costs_that_total(total):
    """Levels that were split from a total fill an account of that total to the last digit."""
    tree = load_state("DE", "geography", levels=["state", "county", "tract"])
    for rule in (uniform, cube_root):
        purse = Accountant(total)
        found = released(tree, rule(tree, total), accountant=purse)
        assert (purse.spent, purse.left, found.record["epsilon"]) == (total, 0.0, total)


def test_nothing_is_drawn_when_the_account_refuses(monkeypatch):
    """An account with too little in it stops the release before any noise is drawn, and stays as it was."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    purse = Accountant(0.9)
    with pytest.raises(ValueError, match=r"eps must be at most 0\.9.*got 1\.0 for 'private release: state, block'"):
        released(accountant=purse)
    assert purse.entries == ()


def test_the_record_can_be_checked_by_a_reader():
    """The levels of the record add up to its ε, and each scale is enough for its ε, in exact decimals."""
    record = json.loads(json.dumps(released(load_state("DE", "geography"), cube_root(load_state("DE"), 1)).record))
    assert sum(Fraction(repr(level["epsilon"])) for level in record["levels"]) == Fraction(repr(record["epsilon"])) == 1
    for level in record["levels"]:
        assert level["sensitivity"] / Fraction(level["scale"]) <= Fraction(repr(level["epsilon"]))
    assert [level["nodes"] for level in record["levels"]] == [1, 262, 20198]
    assert record["neighbours"] == ADD_OR_REMOVE and record["budgets_from"] == "policy"
    assert record["software"]["opendp"] and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", record["date"])


def test_no_true_count_is_kept_or_shown():
    """Neither text, nor record, nor fields of a release hold a true count (all of them five digits, noise of scale 10⁵)."""
    found = released(eps=[1e-5, 1e-5])
    shown = repr(found) + str(found) + json.dumps(found.record)
    kept = np.concatenate(found.counts)
    for true in (70_707, 30_303, 40_404):
        assert str(true) not in shown and f"{true:,}" not in shown
    assert (kept != [70_707, 30_303, 40_404]).sum() >= 2  # each agrees by chance once in 10⁵
    assert not any(isinstance(value, Hierarchy) for value in vars(found).values())


REFUSED = {
    "these counts": ({"budgets_from": "these counts"}, "known without the counts.*'these counts'"),
    "these counts, with details": ({"budgets_from": "these counts: optimal"}, "known without the counts"),
    "an unknown source": ({"budgets_from": "a hunch"}, "budgets_from must be one of node counts, public data, policy"),
    "no source": ({"budgets_from": None}, "budgets_from must be one of"),
    "optimised here": ({"eps": minimize_error(FAMILY, 1)}, "minimises the error of these very counts"),
    "optimised here, weighted": ({"eps": minimize_error(FAMILY, 1, [1, 5])}, "minimises the error of these very counts"),
    "least budget here": ({"eps": minimize_budget(FAMILY, 50)}, "minimises the error of these very counts"),
    "unknown neighbours": ({"neighbours": "a household"}, "neighbours must be one of"),
    "too small a budget": ({"eps": [1e-10, 1]}, "eps must be at least 1e-09"),
    "one budget": ({"eps": [1]}, "eps must have one entry"),
    "not a tree": ({"tree": [[5], [2, 3]]}, "hierarchy must be a Hierarchy"),
    "not an account": ({"accountant": 1.0}, "accountant must be an Accountant"),
    "a childless node": (
        {"tree": Hierarchy.from_counts([[5, 0], [2, 3]], [None, [0, 0]])}, "each node above the lowest level a child, got 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_be_private_is_refused(change, words, monkeypatch):
    """Bad budgets, sources, neighbours and trees are refused in a sentence, before any noise is drawn."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    with pytest.raises((ValueError, TypeError), match=words):
        released(**change)


def test_fractions_are_refused_without_showing_them():
    """Counts that are not whole are refused, and the message does not tell which count it was."""
    tree = Hierarchy.from_counts([[7.25], [3.25, 4.0]], [None, [0, 0]])
    with pytest.raises(ValueError, match="whole numbers") as caught:
        released(tree)
    assert "25" not in str(caught.value)


def test_whole_floats_are_counts():
    """Counts that came as floats but are whole are released like any others."""
    assert released(Hierarchy.from_counts([[7.0], [3.0, 4.0]], [None, [0, 0]])).counts[0].dtype == np.int64


def test_splits_that_did_not_look_are_taken():
    """Node counts, an earlier census and bare numbers pass; so does the optimal split of another tree."""
    tree, other = load_state("DE", "geography", ["state", "tract"]), load_state("WY", "geography", ["state", "tract"])
    for eps in (uniform(tree, 1), cube_root(tree, 1), minimize_error(other, 1), [0.2, 0.8]):
        assert released(tree, eps, "public data: another state").record["budgets_from"] == "public data: another state"


def test_saving_writes_both_files_or_none(tmp_path, monkeypatch):
    """The table and the record are written together; if one fails, the folder is not there and nothing is left behind."""
    found = released()
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        found.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert sorted(path.name for path in found.save(tmp_path / "deep" / "out").iterdir()) == sorted(FILES)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_what_was_saved_is_what_was_released(tmp_path):
    """Read back, the table has the counts, labels and parents, and the record is the record."""
    tree = load_state("DE", "geography", ["state", "county"])
    found = released(tree)
    folder = found.save(tmp_path / "delaware")
    table = pd.read_csv(folder / "counts.csv", dtype={"label": str})
    assert table["count"].tolist() == np.concatenate(found.counts).tolist()
    assert table.label.tolist() == ["10", *tree.labels[1].tolist()] and table.parent.tolist()[1:] == [0, 0, 0]
    assert json.loads((folder / "record.json").read_text(encoding="utf-8")) == found.record


def test_a_release_is_not_overwritten_by_accident(tmp_path):
    """An existing folder is refused; with overwrite=True it is replaced, unless it holds anything else."""
    first, second = released(), released(eps=[1, 1])
    folder = first.save(tmp_path / "out")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        second.save(folder)
    assert json.loads((folder / "record.json").read_text(encoding="utf-8"))["epsilon"] == 1.0
    second.save(str(folder), overwrite=True)
    assert json.loads((folder / "record.json").read_text(encoding="utf-8"))["epsilon"] == 2.0
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="nothing else"):
        first.save(folder, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "notes.txt"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    """A folder is a path, and not below a file."""
    (tmp_path / "file").write_text("old")
    with pytest.raises(FileExistsError, match=r"folder must be in a folder, got .*, which would be below a file"):
        released().save(tmp_path / "file" / "out")
    for folder, error in ((None, TypeError), (b"out", TypeError), ("o\0ut", ValueError)):
        with pytest.raises(error, match="folder must be a path"):
            released().save(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_names_with_carriage_returns_are_saved(tmp_path):
    """A label is read back as it was, whatever line end is in it."""
    frame = pd.DataFrame({"a": ["x\ry", "z"], "population": [2, 3]})
    folder = released(Hierarchy.from_frame(frame, ["a"]), [1]).save(tmp_path / "out")
    assert pd.read_csv(folder / "counts.csv").label.tolist() == ["x\ry", "z"]


def test_budgets_of_another_guarantee_are_refused():
    """A split of ρ for Gaussian noise is no split of ε; one made on this very tree is caught, whatever its noise."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    with pytest.raises(ValueError, match="eps must be budgets ε of pure differential privacy, got budgets ρ"):
        private_release(tree, minimize_error(tree, 1, mechanism=GAUSSIAN), budgets_from="policy")
    with pytest.raises(ValueError, match="minimises the error of these very counts"):
        private_release(tree, minimize_error(tree, 1, mechanism=DISCRETE_LAPLACE), budgets_from="policy")
