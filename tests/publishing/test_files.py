"""Files out: released counts as a table, and writing whole or not at all."""

import csv
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from support.refusals import refusal
from support.strategies import trees

from helpers import Hierarchy
from helpers.cli.sheet import Sheet
from helpers.publishing.files import check_target, long_form, save_csv, write


@given(trees())
def test_long_form_lists_every_node_with_its_path(tree):
    """Each level's rows are its counts in order, and the leaves' rows give the same tree again."""
    names = [np.array([f"{i:03}" for i in range(size)]) for size in tree.sizes]
    labelled = Hierarchy(tree.levels, tree.counts, tree.parents, tuple(names))
    table = long_form(labelled, tree.counts)
    for level, n in zip(tree.levels, tree.counts, strict=True):
        assert_array_equal(table[table["level"] == level]["count"], n)
    leaves = table[table["level"] == tree.levels[-1]]
    assert (leaves[list(tree.levels)] != "").all(axis=None)
    again = Hierarchy.from_frame(leaves, tree.levels, "count")
    np.testing.assert_allclose(again.counts[0].sum(), tree.counts[0].sum(), rtol=1e-9)


def test_long_form_is_one_table():
    """Levels lie below each other with one count of rows; a path is empty below its level; every level needs its counts."""
    frame = pd.DataFrame({"region": ["N", "N", "S"], "store": ["a", "b", "a"], "population": [2, 3, 4]})
    tree = Hierarchy.from_frame(frame, ["region", "store"])
    expected = {
        "level": ["region", "region", "store", "store", "store"], "region": ["N", "S", "N", "N", "S"],
        "store": ["", "", "a", "b", "a"], "count": [5, 4, 2, 3, 4],
    }  # fmt: skip
    table = long_form(tree, tree.counts)
    assert table.to_dict("list") == expected and table.index.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError):
        long_form(tree, tree.counts[:1])


def test_long_form_needs_names():
    """A tree without labels has no paths to list, and is refused in a sentence."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    sentence = "hierarchy must have labels, as one from Hierarchy.from_frame has, got one without"
    assert refusal(long_form, tree, tree.counts, by=ValueError) == sentence


ROOM = {  # names of two levels, and of the table's own columns beside them
    ("level", "count"): ("released level", "released count"),
    ("level", "released level"): ("released released level", "count"),
}


@pytest.mark.parametrize("levels, own", ROOM.items(), ids=["level, count", "level, released level"])
def test_long_form_has_room_for_awkward_names(levels, own):
    """No level loses its column, not even one that is called as the table's own column would be called then."""
    tree = Hierarchy.from_frame(pd.DataFrame([["a", "b", 3]], columns=[*levels, "n"]), levels, "n")
    table = long_form(tree, tree.counts)
    assert table.columns.tolist() == [own[0], *levels, own[1]] and table.iloc[:, 0].tolist() == [*levels]


@pytest.mark.parametrize("name", ["plain", "old\rmac", "two\nlines", 'say "x"', "a,b", "a\r\nb"])
def test_a_saved_table_is_read_back(tmp_path, name):
    """Whatever is in a name, also in that of a column, it comes back from the file; without need there are no quotes."""
    save_csv(pd.DataFrame({"a": [name, "b"], name: ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    with open(tmp_path / "t.csv", newline="") as file:
        assert [*csv.reader(file, strict=True)] == [["a", name, "n"], [name, "x", "1"], ["b", "y", "2"]]
    assert ('"' in (tmp_path / "t.csv").read_text()) == (name != "plain")


def test_a_saved_table_has_its_columns_and_no_others(tmp_path):
    """A carriage return in a column's name alone is enough for quotes."""
    save_csv(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,n\nx,1\ny,2\n"
    save_csv(pd.DataFrame({"old\rmac": ["x"], "n": [1]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'"old\rmac","n"\n"x",1\n'


@pytest.mark.parametrize("path", [None, 7, b"data.csv", ["data.csv"]], ids=str)
def test_what_is_no_path_is_refused(path):
    """A path is text or a Path."""
    for call in (Sheet.read, lambda path: check_target(path, force=True)):
        with pytest.raises(TypeError, match="path must be a path, as text or a Path, got "):
            call(path)


def test_a_target_is_checked(tmp_path):
    """A file that is there is not touched without force; folders and missing folders are refused."""
    file = tmp_path / "out.csv"
    assert check_target(file, force=False) == file.resolve()
    file.write_text("old")
    with pytest.raises(FileExistsError, match=r"out\.csv is there already; nothing was written"):
        check_target(file, force=False)
    assert check_target(file, force=True) == file.resolve()
    for path in (tmp_path, tmp_path / "no" / "out.csv", os.devnull):
        with pytest.raises(ValueError, match="folder"):
            check_target(path, force=True)


def test_a_link_is_written_through(tmp_path):
    """Writing to a link replaces the file that it leads to."""
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write(check_target(tmp_path / "link.csv", force=True), lambda new: new.write_text("new"), force=True)
    assert (tmp_path / "real.csv").read_text() == "new" and (tmp_path / "link.csv").is_symlink()


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_a_failing_write_leaves_the_old_file(tmp_path, error):
    """If writing fails half way, the old file is as it was and nothing is left beside it."""
    file = tmp_path / "out.csv"
    file.write_text("old")

    def fail(new):
        new.write_text("ha")
        raise error

    with pytest.raises(type(error)):
        write(file, fail, force=True)
    assert file.read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_without_force_a_new_file_is_not_overwritten(tmp_path):
    """Also if it appeared after the first look."""

    def save(new):
        new.write_text("ours")
        (tmp_path / "t.csv").write_text("theirs")

    with pytest.raises(FileExistsError, match="is there already; nothing was written"):
        write(tmp_path / "t.csv", save, force=False)
    assert (tmp_path / "t.csv").read_text() == "theirs" and [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    write(tmp_path / "t.csv", save, force=True)
    assert (tmp_path / "t.csv").read_text() == "ours"


def test_a_table_is_plain_text_whatever_its_name_ends_in(tmp_path):
    """What the name of a file looks like does not compress it: it would not be read back."""
    save_csv(pd.DataFrame({"a": ["x"], "n": [1]}), tmp_path / "t.csv.gz")
    assert (tmp_path / "t.csv.gz").read_bytes() == b"a,n\nx,1\n"
