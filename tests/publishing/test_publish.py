"""Private releases: what they add up to, what they cost, what they refuse, and what they never show."""

import json
import re
import tempfile
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refusal
from support.strategies import trees

import helpers
from helpers import Accountant, Hierarchy, cube_root, load_state, minimize_budget, minimize_error, private_release, uniform
from helpers.mechanisms import DISCRETE_LAPLACE, GAUSSIAN
from helpers.publishing.exact_noise import Noise, opendp_version
from helpers.publishing.publish import ADD_OR_REMOVE, CHANGE_PLACE, FILES, _budgets

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


@pytest.mark.parametrize("consistent", [True, False])
def test_an_empty_node_may_come_out_empty(consistent):
    """At ε = 40 the noise is zero but once in 10¹⁷: the counts come back as they were, none of them raised."""
    tree = Hierarchy.from_counts([[5], [5, 0]], [None, [0, 0]])
    assert [n.tolist() for n in released(tree, [40, 40], consistent=consistent).counts] == [[5], [5, 0]]


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
    slack = min(sum(asked) / 10**14, Fraction(1, 2 * 10**12))
    assert sum(asked) - Fraction(1, 10**12) < sum(found) <= sum(asked) + slack
    assert all(abs(f - a) <= Fraction(len(eps), 10**12) + a / 10**13 for f, a in zip(found, asked, strict=True))
    assert all(Fraction(repr(float(f))) == f for f in found)  # so a record in decimals is exact


@pytest.mark.parametrize("total", [0.1, 0.3, 0.7, 1, 2.3, 50, 100, 700])
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


LOOKED = (
    "budgets_from must be a source that is known without the counts: budgets that depend on them change the scale "
    "of the noise from one neighbour to the other, and the privacy loss is then not bounded by their sum. "
    "Split by node counts (cube_root) or on public data, got "
)
OPTIMAL = LOOKED + "an Allocation that minimises the error of these very counts"
UNKNOWN = "budgets_from must be one of node counts, public data, policy, got "
NO_CHILD = (
    "hierarchy must give each node above the lowest level a child, got {} without: "
    "nobody can be there, so leave them out of the geography, or list the places below them"
)
NOT_WHOLE = "hierarchy must hold whole numbers up to 2**40, got another (not shown) at level "
REFUSED = {
    "these counts": ({"budgets_from": "these counts"}, LOOKED + "'these counts'"),
    "these counts, with details": ({"budgets_from": "these counts : optimal"}, LOOKED + "'these counts : optimal'"),
    "an unknown source": ({"budgets_from": "a hunch: mine"}, UNKNOWN + "'a hunch'"),
    "no source": ({"budgets_from": None}, UNKNOWN + "None"),
    "a source that is no text": ({"budgets_from": 7}, UNKNOWN + "7"),
    "a missing source": ({"budgets_from": pd.NA}, UNKNOWN + "<NA>"),
    "neither consistent nor not": ({"consistent": "no"}, "consistent must be True or False, got 'no'"),
    "optimised here": ({"eps": minimize_error(FAMILY, 1)}, OPTIMAL),
    "optimised here, weighted": ({"eps": minimize_error(FAMILY, 1, [1, 5])}, OPTIMAL),
    "least budget here": ({"eps": minimize_budget(FAMILY, 50)}, OPTIMAL),
    "unknown neighbours": (
        {"neighbours": "a household"},
        "neighbours must be one of add or remove one person, change one person's place, got 'a household'",
    ),
    "too small a budget": ({"eps": [1e-10, 1]}, "eps must be at least 1e-09 at each level, got 1e-10"),
    "one budget": ({"eps": [1]}, "eps must have one entry for each of the 2 levels (state, block), got 1"),
    "not a tree": (
        {"tree": [[5], [2, 3]]}, "hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got list",
    ),
    "not an account": ({"accountant": 1.0}, "accountant must be an Accountant or None, got 1.0"),
    "a childless node": (
        {"tree": Hierarchy.from_counts([[5, 0], [2, 3]], [None, [0, 0]])}, NO_CHILD.format("1 of level 1"),
    ),
    "childless nodes further down": (
        {"tree": Hierarchy.from_counts([[5], [5, 0, 0], [2, 3]], [None, [0] * 3, [0] * 2]), "eps": [1, 1, 1]},
        NO_CHILD.format("2 of level 2"),
    ),
    "a fraction": ({"tree": Hierarchy.from_counts([[7], [3.25, 3.75]], [None, [0, 0]])}, NOT_WHOLE + "'level 2'"),
    "too many people": ({"tree": Hierarchy.from_counts([[2**40 + 1], [2**40, 1]], [None, [0, 0]])}, NOT_WHOLE + "'level 1'"),
    "another guarantee": (
        {"eps": minimize_error(FAMILY, 1, mechanism=GAUSSIAN)},
        "eps must be budgets ε of pure differential privacy, got budgets ρ for Gaussian noise",
    ),
    "optimised here for other noise": ({"eps": minimize_error(FAMILY, 1, mechanism=DISCRETE_LAPLACE)}, OPTIMAL),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_be_private_is_refused(change, words, monkeypatch):
    """Bad budgets, sources, neighbours and trees are refused in a sentence that shows no count, before noise is drawn."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    assert refusal(released, **change, by=(ValueError, TypeError)) == words


def test_the_limits_themselves_are_allowed():
    """A budget of 1e-9 and a count of 2**40 are the least and the most that are taken."""
    tree = Hierarchy.from_counts([[2**40], [2**40, 0]], [None, [0, 0]])
    assert released(tree, [1e-9, 1]).record["levels"][0]["scale"] == pytest.approx(1e9, rel=1e-14)


STEPS = [  # budgets, and how many steps of 1e-12 each of them then has
    ([1 / 3] * 3, [333_333_333_334, 333_333_333_333, 333_333_333_333]),
    ([1 / 6, 2 / 3, 1 / 6], [166_666_666_666, 666_666_666_668, 166_666_666_666]),
    ([2000.0], [2000 * 10**12]), ([2000.0000000000002], [2000 * 10**12]),
    ([2000.0000000000005], [2000 * 10**12 + 1]), ([2000.0000000000007], [2000 * 10**12 + 1]),
]  # fmt: skip


@pytest.mark.parametrize("eps, steps", STEPS)
def test_budgets_are_whole_steps(eps, steps):
    """What cutting leaves goes to the largest, the first of equals; above 50 a float may be half a step off: the nearest."""
    assert [int(e * 10**12) for e in _budgets(np.array(eps))] == steps


def test_whole_floats_are_counts():
    """Counts that came as floats but are whole are released like any others."""
    assert released(Hierarchy.from_counts([[7.0], [3.0, 4.0]], [None, [0, 0]])).counts[0].dtype == np.int64


def test_splits_that_did_not_look_are_taken():
    """Node counts, an earlier census and bare numbers pass; so does the optimal split of another tree."""
    tree, other = load_state("DE", "geography", ["state", "tract"]), load_state("WY", "geography", ["state", "tract"])
    for eps in (uniform(tree, 1), cube_root(tree, 1), minimize_error(other, 1), [0.2, 0.8]):
        assert released(tree, eps, "public data: another state").record["budgets_from"] == "public data: another state"


def test_only_an_optimum_of_this_very_tree_is_taken_for_one():
    """A single level has nothing to split, and errors that are tiny, or near, are not yet those of this tree."""
    lone = Hierarchy.from_counts([[3, 4]], [None])
    assert released(lone, minimize_error(lone, 1)).record["epsilon"] == 1.0
    assert (
        refusal(released, lone, minimize_budget(lone, 4), by=ValueError) == OPTIMAL
    )  # here the total depends on the counts
    again = Hierarchy.from_counts(FAMILY.counts, FAMILY.parents)
    assert refusal(released, FAMILY, minimize_error(again, 1), by=ValueError) == OPTIMAL  # another object, the same counts
    empty, near = (Hierarchy.from_counts([[sum(n)], n], [None, [0, 0]]) for n in ([70_707, 0], [28, 36]))
    for other, total in [(empty, 1), (empty, 1e5), (near, 1)]:  # errors of 1e-10 people squared; errors within a millionth
        assert released(eps=minimize_error(other, total)).record["epsilon"] == pytest.approx(total)


def test_a_rule_may_be_the_optimum():
    """Where all counts are large, node counts give the best split, and so does last year: neither looked at these."""
    old, new = (Hierarchy.from_counts([[sum(n)], n], [None, [0, 0]]) for n in ([4000, 6000], [4200, 6800]))
    for eps in (cube_root(new, 1), minimize_error(old, 1)):
        assert eps.kkt_spread < 1e-14 or eps.optimised_on is old
        assert released(new, eps, "public data").record["epsilon"] == 1.0


def test_what_costs_nothing_is_not_charged():
    """Where neighbours differ by a move and every level is one node, all is known: no noise, no cost, no entry."""
    purse = Accountant(1)
    found = released(Hierarchy.from_counts([[5], [5]], [None, [0]]), neighbours=CHANGE_PLACE, accountant=purse)
    assert [n.tolist() for n in found.counts] == [[5], [5]]
    assert (found.record["epsilon"], purse.entries) == (0.0, ())


def test_the_account_says_what_was_released():
    """A release is one line of the account: its levels by name, and its whole budget."""
    purse = Accountant(1)
    released(accountant=purse)
    assert purse.entries == (("private release: state, block", Fraction(1)),)


def test_the_record_in_full():
    """Every word of the record is meant for its reader: for both kinds of neighbours, and with and without consistency."""
    before = datetime.now(UTC).replace(microsecond=0)
    first = released(eps=[0.5, 0.25]).record
    second = released(eps=[0.5, 0.25], budgets_from="policy: by vote", neighbours=CHANGE_PLACE, consistent=False).record
    for record in (first, second):
        assert before <= datetime.fromisoformat(record.pop("date")) <= datetime.now(UTC)
    assert first == {
        "released": "the number of people in every node of every level; the list of nodes is taken as public",
        "epsilon": 0.75,
        "levels": [
            {"level": "state", "nodes": 1, "epsilon": 0.5, "sensitivity": 1, "scale": 2.0},
            {"level": "block", "nodes": 2, "epsilon": 0.25, "sensitivity": 1, "scale": 4.0},
        ],
        "neighbours": "add or remove one person",
        "composition": "parallel within a level, sequential over levels: the epsilons of the levels add up",
        "budgets_from": "policy",
        "mechanism": "discrete Laplace on int64 (OpenDP make_laplace), P(k) proportional to exp(-|k|/scale)",
        "post_processing": "nearest whole numbers, not negative, children summing to parents, top down",
        "software": {"opendp": opendp_version(), "helpers": helpers.__version__},
    }
    assert second == first | {
        "epsilon": 0.25,
        "levels": [
            {"level": "state", "nodes": 1, "epsilon": 0.0, "sensitivity": 0, "scale": 0.0},
            {"level": "block", "nodes": 2, "epsilon": 0.25, "sensitivity": 2, "scale": 8.0},
        ],
        "neighbours": "change one person's place",
        "budgets_from": "policy: by vote",
        "post_processing": "clipped at zero",
    }


def test_a_release_shows_its_sizes_and_its_cost():
    """The short form names the levels with their sizes, ε and the neighbours, and no count."""
    tree = Hierarchy.from_counts([[2000], [1] * 2000], [None, [0] * 2000], levels=["state", "block"])
    assert repr(released(tree)) == "PrivateRelease(1 state, 2,000 block; ε = 1.0, neighbours: add or remove one person)"


def test_the_table_has_a_row_for_each_node():
    """Level, position, parent, label and count of each node; the top has no parent, and labels may be missing."""
    leaves = pd.DataFrame({"county": ["b", "a", "a"], "block": [7, 8, 9], "population": [1, 2, 3]})
    tree = Hierarchy.from_frame(leaves, ["county", "block"])
    found = released(tree)
    rows = {"level": ["county"] * 2 + ["block"] * 3, "node": [0, 1, 0, 1, 2], "parent": [None, None, 0, 0, 1]}
    rows |= {"label": ["a", "b", "8", "9", "7"], "count": np.concatenate(found.counts)}
    pd.testing.assert_frame_equal(found.table(), pd.DataFrame(rows).astype({"parent": "Int64"}))
    bare = released(Hierarchy.from_counts(tree.counts, tree.parents)).table()
    assert bare.label.tolist() == [""] * 5 and bare.level.tolist() == ["level 1"] * 2 + ["level 2"] * 3


def test_saving_writes_both_files_or_none(tmp_path, monkeypatch):
    """The table and the record are written together; if one fails, the folder is not there and nothing is left behind."""
    found = released()
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        found.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "another disc"))  # a renaming must not leave its own
    assert sorted(path.name for path in found.save(tmp_path / "rather" / "deep" / "out").iterdir()) == sorted(FILES)
    assert [path.name for path in (tmp_path / "rather" / "deep").iterdir()] == ["out"]


def test_what_was_saved_is_what_was_released(tmp_path):
    """Read back, the table has the counts, labels and parents, and the record is the record."""
    tree = load_state("DE", "geography", ["state", "county"])
    found = released(tree, budgets_from="policy: ε by vote")
    folder = found.save(str(tmp_path / "delaware"))
    assert folder == tmp_path / "delaware"
    table = pd.read_csv(folder / "counts.csv", dtype={"label": str})
    assert table["count"].tolist() == np.concatenate(found.counts).tolist()
    assert table.label.tolist() == ["10", *tree.labels[1].tolist()] and table.parent.tolist()[1:] == [0, 0, 0]
    lines = (folder / "counts.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["level,node,parent,label,count", f"state,0,,10,{found.counts[0][0]}"]
    text = (folder / "record.json").read_text(encoding="utf-8")
    assert json.loads(text) == found.record
    assert text.startswith('{\n  "released": ') and text.endswith("}\n") and '"policy: ε by vote"' in text


def cost_of(folder):
    """The whole budget of the release that is saved there."""
    return json.loads((folder / "record.json").read_text(encoding="utf-8"))["epsilon"]


def test_a_release_is_not_overwritten_by_accident(tmp_path):
    """An existing folder is refused; with overwrite=True it is replaced, unless it holds anything else."""
    first, second = released(), released(eps=[1, 1])
    folder = first.save(tmp_path / "out")
    words = f"folder must be new (overwrite=True replaces a release), got {str(folder)!r}, which exists"
    assert refusal(second.save, folder, by=FileExistsError) == words and cost_of(folder) == 1.0
    second.save(str(folder), overwrite=True)
    assert cost_of(folder) == 2.0
    (folder / "notes.txt").write_text("mine")
    for place in (folder, folder / "notes.txt"):
        words = f"folder must hold a release and nothing else to be overwritten, got {str(place)!r}"
        assert refusal(first.save, place, overwrite=True, by=FileExistsError) == words
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "notes.txt"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    """A folder is a path, and not below a file."""
    (tmp_path / "file").write_text("old")
    below = tmp_path / "file" / "out"
    words = f"folder must be in a folder, got {str(below)!r}, which would be below a file"
    assert refusal(released().save, below, by=FileExistsError) == words
    for folder, error in ((None, TypeError), (b"out", TypeError), ("o\0ut", ValueError)):
        with pytest.raises(error, match="folder must be a path"):
            released().save(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_names_with_carriage_returns_are_saved(tmp_path):
    """A label is read back as it was, whatever line end is in it."""
    frame = pd.DataFrame({"a": ["x\ry", "z"], "population": [2, 3]})
    folder = released(Hierarchy.from_frame(frame, ["a"]), [1]).save(tmp_path / "out")
    assert pd.read_csv(folder / "counts.csv").label.tolist() == ["x\ry", "z"]


LAST = {"a new one": (False, PermissionError), "another": (True, PermissionError), "Ctrl-C": (True, KeyboardInterrupt)}


@pytest.mark.parametrize("before, error", LAST.values(), ids=LAST)
def test_a_release_that_cannot_be_put_in_place_changes_nothing(before, error, tmp_path, monkeypatch):
    """Whatever stops the last renaming, an earlier release is back where it was, and nothing else is left behind."""
    folder, rename = tmp_path / "out", Path.rename
    old = (released().save(folder) / "record.json").read_bytes() if before else None

    def fail(path, target):
        if path.name == "fresh":
            raise error("not today")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    assert refusal(released(eps=[1, 1]).save, folder, overwrite=True, by=error) == "not today"
    assert list(tmp_path.iterdir()) == [folder] * before
    assert not before or (folder / "record.json").read_bytes() == old
