"""A release as people see it: a table and a record in one folder, which is read back only if everything in it fits."""

import functools
import hashlib
import json
import locale
import operator
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from support.refusals import refusal
from support.strategies import trees

from helpers import Accountant, Hierarchy, PrivateRelease, load_state, private_release
from helpers.publishing import files, released
from helpers.publishing.released import ADD_OR_REMOVE, CHANGE_PLACE, COUNTS, FILES, RECORD, sensitivity

STORES = pd.DataFrame({"region": ["N", "N", "S"], "store": ["b", "a", "a"], "population": [20, 30, 40]})
NAMED = Hierarchy.from_frame(STORES, ["region", "store"])
BARE = Hierarchy.from_counts(NAMED.counts, NAMED.parents)


FLAT = Hierarchy.from_counts([[3, 4]], [None])


def release_of(tree=NAMED, eps=None, **options):
    eps = [0.5] * len(tree.levels) if eps is None else eps
    return private_release(tree, eps, **({"budgets_from": "policy"} | options))


def labelled(tree):
    """A tree with names, of which nodes of different parents share some."""
    names = [np.array([f"{i % 3:03}{'x' * (i // 3)}" for i in range(size)]) for size in tree.sizes]
    return Hierarchy(tree.levels, tree.counts, tree.parents, tuple(names))


def same(one, other):
    """Have two releases the same levels, counts, parents and labels (as texts)?"""
    assert one.levels == other.levels
    for mine, theirs in zip((*one.counts, *one.parents[1:]), (*other.counts, *other.parents[1:]), strict=True):
        assert_array_equal(mine, theirs)
    assert (one.labels is None) == (other.labels is None)
    for mine, theirs in zip(one.labels or (), other.labels or (), strict=True):
        assert [*map(str, mine)] == [*map(str, theirs)]


# ---- the table ----


def test_a_release_shows_its_sizes_and_its_cost():
    """The short form names the levels with their sizes, ε and the neighbours, and no count."""
    tree = Hierarchy.from_counts([[2000], [1] * 2000], [None, [0] * 2000], levels=["state", "block"])
    shown = "PrivateRelease(1 state, 2,000 block; ε = 1.0, neighbours: add or remove one person)"
    assert repr(release_of(tree)) == str(release_of(tree)) == shown


def test_the_table_lists_every_node_with_its_path():
    """Levels lie below each other; a path is a column a level, empty below its own; counts come last, whole."""
    found = release_of()
    expected = {
        "level": ["region", "region", "store", "store", "store"], "region": ["N", "S", "N", "N", "S"],
        "store": ["", "", "a", "b", "a"], "count": np.concatenate(found.counts).tolist(),
    }  # fmt: skip
    table = found.table()
    assert table.to_dict("list") == expected and [*table] == [*expected] and table.index.tolist() == [0, 1, 2, 3, 4]
    assert table["count"].dtype == np.int64


def test_a_table_without_names_has_positions():
    """Where nodes have no labels, they and their parents are known by their positions in their levels; the top has none."""
    found = release_of(BARE)
    rows = {"level": ["level 1"] * 2 + ["level 2"] * 3, "node": [0, 1, 0, 1, 2], "parent": [None, None, 0, 0, 1]}
    expected = pd.DataFrame(rows | {"count": np.concatenate(found.counts)}).astype({"parent": "Int64"})
    pd.testing.assert_frame_equal(found.table(), expected)


@settings(max_examples=25)
@given(trees(childless=False))
def test_the_leaves_of_the_table_are_the_tree_again(tree):
    """Each level's rows are its counts in order, and the leaves' rows give the released tree."""
    found = release_of(labelled(tree))
    table = found.table()
    for level, n in zip(tree.levels, found.counts, strict=True):
        assert_array_equal(table[table["level"] == level]["count"], n)
    leaves = table[table["level"] == tree.levels[-1]]
    assert (leaves[list(tree.levels)] != "").all(axis=None) and leaves["count"].sum() == found.counts[0].sum()
    for level, labels in zip(tree.levels, found.labels, strict=True):
        assert_array_equal(table[table["level"] == level][level], labels)


ROOM = {  # names of two levels, and of the table's own columns beside them
    ("level", "count"): ("released level", "released count"),
    ("level", "released level"): ("released released level", "count"),
}


@pytest.mark.parametrize("levels, own", ROOM.items(), ids=["level, count", "level, released level"])
def test_the_table_has_room_for_awkward_names(levels, own, tmp_path):
    """No level loses its column, not even one that is called as the table's own column would be called then."""
    tree = Hierarchy.from_frame(pd.DataFrame([["a", "b", 3]], columns=[*levels, "n"]), levels, "n")
    found = release_of(tree)
    table = found.table()
    assert table.columns.tolist() == [own[0], *levels, own[1]] and table.iloc[:, 0].tolist() == [*levels]
    same(PrivateRelease.read(found.save(tmp_path / "named")), found)
    bare = release_of(Hierarchy.from_counts(tree.counts, tree.parents, levels))
    assert bare.table().columns.tolist() == ["level", "node", "parent", "count"]
    same(PrivateRelease.read(bare.save(tmp_path / "bare")), bare)


def test_stretches_of_rows_make_no_difference(tmp_path, monkeypatch):
    """Rows are written a stretch at a time; the file and the table are the same whatever its length."""
    found = [release_of(tree) for tree in (NAMED, BARE)]
    whole = [(one.table(), (one.save(tmp_path / f"whole {i}") / COUNTS).read_bytes()) for i, one in enumerate(found)]
    monkeypatch.setattr(released, "_ROWS", 2)
    for i, one in enumerate(found):
        assert one.table().equals(whole[i][0]) and (one.save(tmp_path / f"{i}") / COUNTS).read_bytes() == whole[i][1]


# ---- saving ----


def test_what_was_saved_is_what_was_released(tmp_path):
    """The counts as CSV with their paths, the record as JSON, both in UTF-8, and the record knows the other file."""
    tree = load_state("DE", "geography", ["state", "county"])
    found = release_of(tree, budgets_from="policy: ε by vote")
    folder = found.save(str(tmp_path / "delaware"))
    assert folder == tmp_path / "delaware" and sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    top, *below = [n.tolist() for n in found.counts]
    rows = ["level,state,county,count", f"state,10,,{top[0]}"]
    rows += [f"county,10,{name},{n}" for name, n in zip(tree.labels[1], below[0], strict=True)]
    assert (folder / COUNTS).read_text(encoding="utf-8") == "\n".join([*rows, ""])
    text = (folder / RECORD).read_text(encoding="utf-8")
    counts = {"file": COUNTS, "rows": 4, "sha256": hashlib.sha256((folder / COUNTS).read_bytes()).hexdigest()}
    assert json.loads(text) == found.record | {"counts": counts} and "counts" not in found.record
    assert text.startswith('{\n  "released": ') and text.endswith("}\n") and '"policy: ε by vote"' in text


def test_counts_without_names_are_saved_with_positions(tmp_path):
    """Blank for the parent of the top."""
    found = release_of(BARE)
    lines = (found.save(tmp_path / "out") / COUNTS).read_text().splitlines()
    assert lines[:2] == ["level,node,parent,count", f"level 1,0,,{found.counts[0][0]}"]
    assert lines[-1] == f"level 2,2,1,{found.counts[1][2]}"


NAMES = [
    "plain",
    "old\rmac",
    "two\nlines",
    "a\r\nb",
    'say "x"',
    "a,b",
    "é",
    " blank ",
    "NA",
    "",
    "007",
    "1e5",
    "null\0",
    "#x",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_come_back_as_they_were(tmp_path, name):
    """Whatever is in the name of a node or of a level; quotes are there only if needed."""
    frame = pd.DataFrame({"top": ["t", "t"], name: [name, name + "z"], "population": [2, 3]})
    found = release_of(Hierarchy.from_frame(frame, ["top", name]))
    folder = found.save(tmp_path / "out")
    same(PrivateRelease.read(folder), found)
    text = (folder / COUNTS).read_bytes().decode()
    assert ('"' in text) == any(letter in name for letter in '\r\n",')
    assert "\r" not in name or text.count(f'"{name}",') == 4


def test_a_carriage_return_in_a_level_s_name_alone_is_enough_for_quotes(tmp_path):
    """Python's writer may leave it bare, and readers take it for the end of a line."""
    frame = pd.DataFrame({"old\rmac": ["x"], "population": [2]})
    assert (
        (release_of(Hierarchy.from_frame(frame, ["old\rmac"])).save(tmp_path / "out") / COUNTS)
        .read_bytes()
        .startswith(b'"level","old\rmac","count"\n"old\rmac","x",')
    )


def test_files_are_utf_8_wherever(tmp_path):
    """Names come back also where the system's own encoding is another."""
    frame = pd.DataFrame({"région": ["Zürich"], "population": [2]})
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        found = release_of(Hierarchy.from_frame(frame, ["région"]), budgets_from="policy: ε")
        same(PrivateRelease.read(found.save(tmp_path / "out")), found)
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    assert "Zürich" in (tmp_path / "out" / COUNTS).read_text(encoding="utf-8")


def test_saving_writes_both_files_or_none(tmp_path, monkeypatch):
    """The table and the record are written together; if one fails, the folder is not there and nothing is left behind."""
    found = release_of()
    for name in ("_sha256", "_write_record", "_heads"):
        with monkeypatch.context() as patch:
            patch.setattr(released, name, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                found.save(tmp_path / "out")
        assert [*tmp_path.iterdir()] == []
    found.save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_counts_never_stand_without_a_record(tmp_path, monkeypatch):
    """While they are written, a record on the disk beside them says that they are no release; such a folder is refused."""
    found, seen, columns = release_of(), [], PrivateRelease._columns
    synced, real = [], files.sync
    monkeypatch.setattr(released, "sync", lambda path: (synced.append(path.name), real(path)))

    def look(self):
        seen.append(json.loads((tmp_path / RECORD).read_text()))
        assert synced[:1] == [f"{RECORD}.new"] and tmp_path.name in synced
        yield from columns(self)

    monkeypatch.setattr(PrivateRelease, "_columns", look)
    found.write_into(tmp_path)
    unfinished = "unfinished: these counts are not a release, and their budget is spent"
    assert seen == [found.record | {"counts": unfinished}] and sorted(p.name for p in tmp_path.iterdir()) == sorted(FILES)
    (tmp_path / RECORD).write_text(json.dumps(seen[0]))
    assert refusal(PrivateRelease.read, tmp_path, by=ValueError) == FITS.format(tmp_path) + "it is unfinished"


def test_a_release_is_never_overwritten(tmp_path):
    """Whatever has the name, a release, an empty folder or a file, stays as it is."""
    folder = release_of().save(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("out", "empty", "file"):
        words = f"{tmp_path / name} is there already, and a release is never overwritten; nothing was written"
        assert refusal(release_of().save, tmp_path / name, by=FileExistsError) == words
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [*(tmp_path / "empty").iterdir()] == [] and (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "out"]


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    """A folder is a path, in a folder that is there, and not below a file."""
    (tmp_path / "file").write_text("old")
    for parent in ("file", "no"):
        words = f"{tmp_path / parent / 'out'} cannot be written: there is no folder {tmp_path / parent}"
        assert refusal(release_of().save, tmp_path / parent / "out", by=ValueError) == words
    for folder, error in ((None, TypeError), (b"out", TypeError), ("o\0ut", ValueError)):
        with pytest.raises(error, match="folder must be a path"):
            release_of().save(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# ---- reading ----

FITS = "{} must hold a release whose counts and record fit, but "


@settings(max_examples=25)
@given(trees(childless=False), st.booleans(), st.booleans(), st.sampled_from([ADD_OR_REMOVE, CHANGE_PLACE]))
def test_every_release_can_be_read(tmp_path_factory, tree, named, consistent, neighbours):
    """With names or without, whether its counts add up or not, what was saved comes back and fits."""
    found = release_of(labelled(tree) if named else tree, consistent=consistent, neighbours=neighbours, contributions=2)
    folder = found.save(tmp_path_factory.mktemp("saved") / "out")
    again = PrivateRelease.read(str(folder))
    same(again, found)
    assert {**again.record, "counts": None} == found.record | {"counts": None} and repr(again) == repr(found)
    assert again.table().equals(found.table())
    assert (
        again.save(folder.with_name("again"))
        and (folder.with_name("again") / COUNTS).read_bytes() == (folder / COUNTS).read_bytes()
    )


@pytest.fixture
def folder(tmp_path):
    """A saved release with names, booked in an account beside it."""
    purse = Accountant.open(tmp_path / "an.account", 5)
    purse.spend(1, "an earlier release")
    return release_of(accountant=purse).save(tmp_path / "out")


@pytest.fixture
def bare(tmp_path):
    """A saved release without names."""
    return release_of(BARE).save(tmp_path / "bare")


def change_record(folder, change):
    """Write the record anew with some of it changed; a value that is a function makes the new one from the old."""
    record = json.loads((folder / RECORD).read_text())
    for path, value in change.items():
        *above, last = (int(key) if key.isdigit() else key for key in path.split("."))
        inside = functools.reduce(operator.getitem, above, record)
        if value is None:
            del inside[last]
        else:
            inside[last] = value(inside[last]) if callable(value) else value
    (folder / RECORD).write_text(json.dumps(record))


def change_counts(folder, change):
    """Write the counts anew, and the record so that it names the new file."""
    text = change((folder / COUNTS).read_text())
    (folder / COUNTS).write_text(text)
    change_record(folder, {"counts.sha256": hashlib.sha256(text.encode()).hexdigest()})


def said(folder, account=None):
    """What does not fit."""
    words = refusal(PrivateRelease.read, folder, account, by=ValueError)
    assert words.startswith(FITS.format(folder))
    return words.removeprefix(FITS.format(folder))


ODD = "something in them is missing or of another kind"
ADD_UP = "the budgets of the levels do not add up to that of the record"
TOO_SMALL = "the noise at level 'store' is too small for its budget"
WRONG_ROWS = "the sensitivity at level 'region' is not that of so many rows a person"
RECORDS = {
    "a smaller cost": ({"epsilon": 0.9}, ADD_UP),
    "a cost that is a digit off": ({"epsilon": 1.0000000000000002}, ADD_UP),
    "a smaller cost of a level": ({"levels.0.epsilon": 0.4}, ADD_UP),
    "less noise": ({"levels.1.scale": 1.9999999999999998}, TOO_SMALL),
    "no noise": ({"levels.1.scale": 0.0}, TOO_SMALL),
    "a budget below zero": ({"levels.1.epsilon": -0.5, "levels.1.scale": -2.0, "epsilon": 0.0}, TOO_SMALL),
    "a smaller sensitivity": ({"levels.0.sensitivity": 0}, WRONG_ROWS),
    "a larger sensitivity": ({"levels.0.sensitivity": 2}, WRONG_ROWS),
    "more rows": ({"rows_per_person": 2}, WRONG_ROWS),
    "other neighbours": ({"neighbours": CHANGE_PLACE}, WRONG_ROWS),
    "no rows": ({"rows_per_person": 0, "levels.0.sensitivity": 0, "levels.1.sensitivity": 0}, ODD),
    "half a row": ({"rows_per_person": 0.5}, ODD),
    "unknown neighbours": ({"neighbours": "a household"}, ODD),
    "an origin that is no text": ({"budgets.origin": 7}, ODD),
    "another file": ({"counts.sha256": "0" * 64}, "counts.csv is not the file that the record was written for"),
    "more counts": ({"counts.rows": 6}, "the record says another number of counts"),
    "other levels": ({"levels.1.level": "shop"}, "counts.csv does not have the columns of these levels"),
    "a level more": (
        {"levels": lambda levels: [*levels, levels[0] | {"epsilon": 0.0, "level": "x"}]}, TOO_SMALL.replace("store", "x"),
    ),
    "more nodes": ({"levels.1.nodes": 4}, "counts.csv does not have the nodes that the record lists"),
    "other nodes": ({"levels.0.nodes": 3, "levels.1.nodes": 2}, "counts.csv does not have the nodes that the record lists"),
    "no nodes": ({"levels.0.nodes": 0, "levels.1.nodes": 5}, "counts.csv does not have the nodes that the record lists"),
    "no levels at all": ({"levels": [], "epsilon": 0.0}, "counts.csv does not have the columns of these levels"),
    "levels of another kind": ({"levels": "region, store"}, ODD),
    "an endless scale": ({"levels.0.scale": float("inf")}, ODD),
    "a scale in words": ({"levels.0.scale": "1/0"}, ODD),
    "a cost in words": ({"epsilon": "1.0"}, ODD),
    "nodes in words": ({"levels.0.nodes": "2"}, ODD),
    "counts of another kind": ({"counts": 7}, ODD),
    "consistent in words": ({"consistent": "yes"}, ODD),
    **{f"no {key}": ({key: None}, ODD) for key in (
        "epsilon", "levels", "counts", "counts.sha256", "counts.rows", "levels.0.scale", "levels.0.epsilon",
        "levels.0.sensitivity", "levels.0.nodes", "levels.0.level", "neighbours", "rows_per_person", "budgets.origin",
        "consistent",
    )},
}  # fmt: skip


@pytest.mark.parametrize("change, words", RECORDS.values(), ids=RECORDS)
def test_a_record_that_does_not_fit_is_refused(folder, change, words):
    """Whatever was changed in it, a sentence says which part does not fit which, as far as one can tell."""
    change_record(folder, change)
    assert said(folder) == words


NOT_LISTED = "counts.csv does not have the nodes that the record lists"
NO_COLUMNS = "counts.csv does not have the columns of these levels"
COUNTS_EDITED = {
    "a count that is larger": (lambda text: text[:-1] + "0000\n", "children do not add up to their parents"),
    "a count below zero": (lambda text: text.replace("region,N,,", "region,N,,-"), "a count is negative"),
    "a count in words": (lambda text: text[:-1] + "x\n", ODD),
    "half a count": (lambda text: text[:-1] + ".5\n", ODD),
    "a count beyond all numbers": (lambda text: text[:-1] + "0" * 30 + "\n", ODD),
    "a row less": (lambda text: text[: text[:-1].rindex("\n") + 1], NOT_LISTED),
    "a row twice": (lambda text: text + text.splitlines()[-1] + "\n", NOT_LISTED),
    "a row of another level": (lambda text: text.replace("store,S,", "shop,S,"), NOT_LISTED),
    "a node twice": (lambda text: text.replace("store,N,b", "store,N,a"), "counts.csv has a node twice"),
    "a parent twice": (lambda text: text.replace("region,S", "region,N"), "counts.csv has a node twice"),
    "a parent that is not there": (
        lambda text: text.replace("store,S,", "store,W,"), "counts.csv has a node whose parent is not there",
    ),
    "another header": (lambda text: text.replace("level,region", "level,area"), NO_COLUMNS),
    "columns in another order": (lambda text: text.replace("region,store", "store,region", 1), NO_COLUMNS),
    "no header": (lambda text: text.partition("\n")[2], NO_COLUMNS),
    "a column more": (lambda text: text.replace("\n", ",x\n"), NO_COLUMNS),
    "nothing": (lambda text: "", ODD),
    "a header alone": (lambda text: text.partition("\n")[0], NOT_LISTED),
    "a ragged row": (lambda text: text + "store,S,c,3,4,5\n", ODD),
}  # fmt: skip


@pytest.mark.parametrize("change, words", COUNTS_EDITED.values(), ids=COUNTS_EDITED)
def test_counts_that_do_not_fit_are_refused(folder, change, words):
    """A changed file is not that of the record; if the record is made to name it, a sentence says what else does not fit."""
    before = (folder / COUNTS).read_text()
    (folder / COUNTS).write_text(change(before))
    assert said(folder) == "counts.csv is not the file that the record was written for"
    (folder / COUNTS).write_text(before)
    change_counts(folder, change)
    assert said(folder) == words


BARE_EDITED = {
    "a parent that is not there": (",1,", ",7,", "counts.csv has a node whose parent is not there"),
    "a parent below zero": (",1,", ",-1,", "counts.csv has a node whose parent is not there"),
    "no parent": (",1,", ",,", "counts.csv has a node whose parent is not there"),
    "a node twice": ("level 2,2,", "level 2,1,", "counts.csv has a node twice"),
    "another header": ("node,parent", "parent,node", NO_COLUMNS),
}


@pytest.mark.parametrize("was, now, words", BARE_EDITED.values(), ids=BARE_EDITED)
def test_positions_that_do_not_fit_are_refused(bare, was, now, words):
    """Also where nodes have no names."""
    change_counts(bare, lambda text: now.join(text.rsplit(was, 1)))
    assert said(bare) == words


def test_rows_without_names_may_stand_in_any_order(bare):
    """A node is known by its position, which is written, not by its row."""
    found = PrivateRelease.read(bare)
    lines = (bare / COUNTS).read_text().splitlines()
    change_counts(bare, lambda text: "\n".join([*lines[:3], *lines[:2:-1], ""]))
    again = PrivateRelease.read(bare)
    assert again.counts[1].tolist() == found.counts[1].tolist()[::-1] and again.parents[1].tolist() == [1, 0, 0]


def test_counts_that_need_not_add_up_are_read(tmp_path):
    """If the record says so, parents may have other counts than their children; below zero none may be."""
    many = Hierarchy.from_frame(STORES.assign(population=10**6), ["region", "store"])
    found = release_of(many, [1e-3, 1e-3], consistent=False)
    folder = found.save(tmp_path / "out")
    same(PrivateRelease.read(folder), found)
    change_counts(folder, lambda text: text[:-1] + "0000\n")
    assert PrivateRelease.read(folder).counts[1][2] == found.counts[1][2] * 10_000
    change_record(folder, {"consistent": True})
    assert said(folder) == "children do not add up to their parents"


def test_what_is_no_release_is_refused(folder, tmp_path):
    """A folder without one of the files, a file, nothing at all; a record that is not JSON, or no record."""
    missing = "{} must be the folder of a release, with counts.csv and record.json in it, but is not"
    for path in (tmp_path, tmp_path / "no", folder / RECORD):
        assert refusal(PrivateRelease.read, path, by=ValueError) == missing.format(path)
    for name in FILES:
        shutil.copytree(folder, tmp_path / f"no {name}")
        (tmp_path / f"no {name}" / name).unlink()
        assert refusal(PrivateRelease.read, tmp_path / f"no {name}", by=ValueError) == missing.format(
            tmp_path / f"no {name}"
        )
    for text in (b"", b"{", b"[1]", b"7", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"):
        (folder / RECORD).write_bytes(text)
        words = f"{folder / RECORD} must be a record in JSON, but is not"
        assert refusal(PrivateRelease.read, folder, by=ValueError) == words
    assert refusal(PrivateRelease.read, 7, by=TypeError) == "folder must be a path, as text or a Path, got 7"


# ---- the account ----


def test_a_release_is_found_in_its_account(folder, tmp_path):
    """The line that the record names is there, is this release's, and has its budget."""
    purse = Accountant.open(tmp_path / "an.account")
    assert PrivateRelease.read(folder, purse).record["account"] == purse.receipt(2)
    purse.spend(0.5, "a later release")
    assert PrivateRelease.read(folder, account=purse).record["account"]["spent"] == 2.0
    purse = Accountant.open(tmp_path / "other.account", 5)
    for name, eps in (("large", 2), ("small", 0.5)):  # of two lines that cost different amounts, each has its own
        release_of(FLAT, [eps], accountant=purse).save(tmp_path / name)
        assert PrivateRelease.read(tmp_path / name, purse).record["epsilon"] == eps


RECEIPTS = {
    "a line that is not there": ({"account.line": 3}, "the account has no such line"),
    "a line before the first": ({"account.line": 0}, "the account has no such line"),
    "a line from the end": ({"account.line": -1}, "the account has no such line"),
    "an earlier line of the same budget": ({"account.line": 1}, "that line of the account is another release's"),
    "another seal": ({"account.seal": "0" * 64}, "that line of the account is another release's"),
    "another sum": ({"account.spent": 1.0}, "that line of the account is another release's"),
    "another account": ({"account.account": "0" * 16}, "the record names another account, or none"),
    "no account": ({"account": "none"}, "the record names another account, or none"),
    "nothing about an account": ({"account": None}, ODD),
    "a line in words": ({"account.line": "2"}, ODD),
    "half a line": ({"account.line": 1.5}, ODD),
    "no line": ({"account.line": None}, ODD),
    "another budget": (
        {"epsilon": 2.0, "levels.0.epsilon": 1.0, "levels.1.epsilon": 1.0}, "the account has no such line",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change, words", RECEIPTS.values(), ids=RECEIPTS)
def test_a_release_that_is_not_in_the_account_is_refused(folder, tmp_path, change, words):
    """By whoever has the account; without it, the record is taken at its word."""
    change_record(folder, change)
    PrivateRelease.read(folder)
    assert said(folder, Accountant.open(tmp_path / "an.account")) == words


def test_a_release_of_another_account_is_refused(folder, tmp_path):
    """With the same lines and the same total, it is still another; so is one that was put back and went on differently."""
    other = Accountant.open(tmp_path / "other.account", 5)
    old = Accountant.open(tmp_path / "old.account", 5)
    for purse in (other, old):
        purse.spend(1, "an earlier release")
    assert said(folder, other) == "the record names another account, or none"
    again = release_of(accountant=old).save(tmp_path / "again")
    (tmp_path / "old.account").unlink()
    assert said(again, Accountant.open(tmp_path / "old.account", 5)) == "the record names another account, or none"


def test_an_account_put_back_to_a_copy_shows(folder, tmp_path):
    """The line has the same number, words and budget as the lost one, and is another release's all the same."""
    place, copy = tmp_path / "people.account", tmp_path / "copy"
    Accountant.open(place, 5)
    shutil.copy(place, copy)
    Accountant.open(place).spend(1, "first")
    lost = release_of(accountant=Accountant.open(place)).save(tmp_path / "lost")
    shutil.copy(copy, place)
    Accountant.open(place).spend(1, "another first")
    kept = release_of(accountant=Accountant.open(place)).save(tmp_path / "kept")
    PrivateRelease.read(kept, Accountant.open(place))
    assert said(lost, Accountant.open(place)) == "that line of the account is another release's"


def test_an_edited_account_says_so_itself(folder, tmp_path, monkeypatch):
    """What is wrong with the account is not put down to the release."""
    purse = Accountant.open(tmp_path / "an.account")
    (tmp_path / "an.account").write_text("mine")
    assert "an.account must be an account that this program wrote" in refusal(
        PrivateRelease.read, folder, purse, by=ValueError
    )
    words = "account must be an Accountant or None, got 'an.account'"
    assert refusal(PrivateRelease.read, folder, "an.account", by=TypeError) == words


# ---- sensitivity ----


@pytest.mark.parametrize("rows", [1, 5])
def test_neighbours_move_a_level_by_so_much(rows):
    """A person more or less moves each of their rows by one; a move, by two, unless there is a single node to be in."""
    assert [sensitivity(ADD_OR_REMOVE, rows, nodes) for nodes in (1, 2, 9)] == [rows] * 3
    assert [sensitivity(CHANGE_PLACE, rows, nodes) for nodes in (1, 2, 9)] == [0, 2 * rows, 2 * rows]
