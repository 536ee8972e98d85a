"""What reads and writes files of people's own: tables, targets, releases, splits."""

import hashlib
import io
import json
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isclose
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from support import texts
from support.laws import NO_NUMBERS, Spoilt, law, odd
from support.oracles import assert_budgets
from support.strategies import per_level, powers, splits, trees

from helpers import Accountant, Hierarchy, PrivateRelease, private_release
from helpers.allocation import Source
from helpers.cli.sheet import Sheet
from helpers.publishing.files import check_target, write
from helpers.publishing.split import RULES, Split, choose

FLAGS = st.booleans()


# ---- tables ----


def mostly(right, odd):
    """The right value, or now and then one of the others."""
    return st.one_of(*[st.just(right)] * 5, st.sampled_from(odd).map(Spoilt))


def levels_of(drawn):
    """Mostly the levels of the table; else something near them."""
    right = [*drawn["table"].levels]
    odd = [right[::-1], [*right, "note"], [*right, right[0]], ["x"], [], [""], [" "], right[1:], ["population"]]
    return mostly(right, odd)


OF_TABLES = {  # of tables with fractions, whole counts are too much asked
    "table": texts.tables() | texts.tables() | texts.tables(odd_count=True).map(Spoilt),
    "content": lambda drawn: texts.perhaps_spoilt(drawn["table"].content),
    "levels": levels_of,
    "count": lambda drawn: mostly(drawn["table"].count, [None, "note", "x", "", drawn["table"].levels[0]]),
    "whole": lambda drawn: FLAGS.map(lambda whole: Spoilt(whole) if whole and not drawn["table"].whole else whole),
}


def read_sheet(table, content):
    """Read a file with these bytes."""
    with texts.folder({"data.csv": content}) as place:
        return Sheet.read(place / "data.csv")


def read_tree(table, content, levels, count, whole):
    """The tree of a file; for None, the count column that is found."""
    sheet = read_sheet(table, content)
    return sheet.tree(levels, sheet.count_column(levels, count), whole)


@law(read_sheet, pool=OF_TABLES, words=("data.csv",), spoil=())
def test_sheet_read(found, table, content):
    """The columns are those of a slow reading, and of a right file those that were written."""
    columns, rows = texts.parsed(content)
    cells = {name: [column.texts[code] for code in column.codes] for name, column in found.kept.items()}
    assert cells == columns and found.columns == tuple(columns) and found.rows == rows
    assert [*found.lines] == sorted({*found.lines})
    if content == table.content:
        assert columns == {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns) if name}


@law(read_tree, pool=OF_TABLES, words=("data.csv",), spoil=())
def test_sheet_tree(found, content, levels, count, whole):
    """Every path of the file is a node, its count the sum of its rows."""
    columns, _ = texts.parsed(content)
    count = texts.count_column(columns, levels, count)
    assert not whole or all(texts.number(text).denominator == 1 for text in columns[count])
    judge_nodes(found, content, levels, count)


def read_nodes(table, content, levels):
    """The nodes of a file."""
    return read_sheet(table, content).nodes(levels)


@law(read_nodes, pool=OF_TABLES, words=("data.csv",), spoil=())
def test_sheet_nodes(found, content, levels):
    """The nodes are those of the file, with nobody in them."""
    judge_nodes(found, content, levels, None)


def judge_nodes(found, content, levels, count):
    """The nodes are those of the file, in order, with the sums of their rows, or none."""
    columns, _ = texts.parsed(content)
    rows = PrivateRelease(found.levels, [*found.counts], found.parents, found.labels, {}).table()
    assert found.levels == tuple(levels)
    for got, nodes in zip(
        texts.nodes([*rows], rows.to_numpy().tolist(), levels), texts.sums(columns, levels, count), strict=True
    ):
        assert [*got] == sorted(nodes), "not the nodes"
        for path, value in got.items():
            right = nodes[path]
            assert value == right if right.denominator == 1 and found.counts[0].dtype.kind == "i" else isclose(value, right)


# ---- writing ----

OLD_FILES = st.dictionaries(st.sampled_from(["out.csv", "x", "link"]), st.sampled_from([b"old", b"", None]), max_size=2)
TARGETS = ["out.csv", "out.csv", "x", "link", ".", "..", "", "no/out.csv", "x/out.csv", "n" * 240, "é", "a\nb"]


def name_of(drawn):
    """Where to write: wrong if it is no name of a file, or that of one that is there."""
    wrong = lambda name: name in (".", "..", "") or "/" in name or name in drawn["files"]  # noqa: E731
    return st.sampled_from(TARGETS).map(lambda name: Spoilt(name) if wrong(name) else name)


def target_checked(files, name, force):
    """Where a file may be written, below the folder, and what lies there then."""
    with texts.folder(files) as place:
        return str(check_target(place / name, force).relative_to(place)), {path.name for path in place.iterdir()}


@law(
    target_checked, files=OLD_FILES, name=name_of, force=FLAGS, spoil=(),
    words=("must be", "cannot be written", "is there already"), promised=(ValueError, TypeError, FileExistsError),
)  # fmt: skip
def test_check_target(found, files, name, force):
    """A target is a new file in a folder that is there, or a file that may be overwritten."""
    assert found == (name, {*files})
    assert name not in files or (files[name] is not None and force)


def written(old, new, fails):
    """What lies in a folder after a file was written into it, or writing failed half way."""

    def save(path):
        path.write_bytes(new)
        if fails:
            raise OSError("no room")

    with texts.folder({} if old is None else {"out.csv": old}) as place:
        try:
            write(place / "out.csv", save, force=True)
        except OSError as error:
            assert fails and str(error) == "no room"
        return {path.name: path.read_bytes() for path in place.iterdir()}


@law(written, old=st.sampled_from([None, b"old"]), new=st.binary(max_size=30), fails=FLAGS, spoil=())
def test_write(found, old, new, fails):
    """The new file is there whole, or the old one is as it was, and nothing else is there."""
    content = old if fails else new
    assert found == ({} if content is None else {"out.csv": content})


@cache
def a_release():
    tree = Hierarchy.from_frame(pd.DataFrame({"a": ["x\ry", "é"], "b": ['"', ","], "population": [2, 3]}), ["a", "b"])
    return private_release(tree, [1, 1], budgets_from="policy")


def saved(files, name):
    """What lies in the folders after a release was saved in one of them."""
    with texts.folder(files) as place:
        a_release().save(place / name if isinstance(name, str | Path) else name)
        return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@law(
    saved, files=OLD_FILES, name=name_of, spoil={"name"}, promised=(ValueError, TypeError, FileExistsError),
    words=("folder", "must be", "cannot be written", "is there already"),
)  # fmt: skip
def test_privaterelease_save(found, files, name):
    """Both files of the release are in the folder, whole, and name each other; no other file has changed."""
    released = a_release()
    content, record = found.pop(f"{name}/counts.csv"), json.loads(found.pop(f"{name}/record.json"))
    assert record.pop("counts") == {"file": "counts.csv", "rows": 4, "sha256": hashlib.sha256(content).hexdigest()}
    assert record == released.record
    table = pd.read_csv(io.BytesIO(content), dtype={"a": str, "b": str}, keep_default_na=False)
    assert table.to_dict("list") == released.table().to_dict("list")
    assert found == {path: content for path, content in files.items() if content is not None} and name not in files


@cache
def a_folder():
    """The files of a saved release and of its account, as bytes."""
    with texts.folder({}) as place:
        purse = Accountant.open(place / "an.account", 3)
        purse.spend(0.5, "an earlier release")
        tree = Hierarchy.from_frame(pd.DataFrame({"a": ["x", "é"], "b": ["y", "y"], "population": [20, 30]}), ["a", "b"])
        private_release(tree, [0.5, 1], budgets_from="policy", accountant=purse).save(place / "out")
        return {name: (place / name).read_bytes() for name in ("an.account", "out/record.json", "out/counts.csv")}


@st.composite
def records(draw):
    """The bytes of the record, as it is or with something in it spoilt."""
    content = a_folder()["out/record.json"]
    right = json.loads(content)
    spoilt = odd(right) | st.sampled_from([*right]).flatmap(
        lambda key: odd(right[key]).map(lambda value: right | {key: value})
    )
    values = spoilt.map(lambda value: json.dumps(value, default=str).encode())
    return draw(st.just(content) | (values | values | values | texts.accidents(content)).map(Spoilt))


def read_release(record, counts, account):
    """Read a release from files with these bytes, and look it up in the account."""
    with texts.folder({"an.account": account, "out": None, "out/record.json": record, "out/counts.csv": counts}) as place:
        return PrivateRelease.read(place / "out", Accountant.open(place / "an.account"))


@law(
    read_release, record=records(), counts=st.just(a_folder()["out/counts.csv"]), spoil=(), share=2,
    account=st.just(a_folder()["an.account"]), words=("out",),
)  # fmt: skip
def test_privaterelease_read(found, record, counts):
    """A record that is taken has the budgets and the noise of the right one, and the counts are those that were saved."""
    right, said = json.loads(a_folder()["out/record.json"]), json.loads(record)
    for key in ("epsilon", "levels", "neighbours", "rows_per_person", "consistent", "account"):
        assert said[key] == right[key], key
    assert found.table().to_csv(index=False) == counts.decode() and found.record == said


@law(
    read_release, record=st.just(a_folder()["out/record.json"]), spoil=(), words=("out",),
    account=st.just(a_folder()["an.account"]),
    counts=st.just(a_folder()["out/counts.csv"]) | texts.accidents(a_folder()["out/counts.csv"]).map(Spoilt),
)  # fmt: skip
def test_privaterelease_read_counts(found, counts):
    """Counts that are taken are those that the record was written for, to the last byte."""
    assert counts == a_folder()["out/counts.csv"] and found.counts[0].sum() == found.counts[1].sum()


def read_account(account):
    """The lines of an account in a file with these bytes, and the file afterwards."""
    with texts.folder({"an.account": account}) as place:
        return Accountant.open(place / "an.account").entries, (place / "an.account").read_bytes()


@law(
    read_account, account=st.just(a_folder()["an.account"]) | texts.accidents(a_folder()["an.account"]).map(Spoilt),
    spoil=(), words=("an.account",), promised=(ValueError, TypeError, OSError), share=2,
)  # fmt: skip
def test_accountant_open(found, account):
    """Of a spoilt account, either a sentence is told, or every line is still what it was; looking changes nothing."""
    earlier, released = found[0]
    assert earlier == ("an earlier release", Fraction(1, 2)) and released.eps == Fraction(3, 2) and found[1] == account


# ---- splits ----


@st.composite
def split_files(draw):
    """The bytes of a split, as it should be or not."""
    right = draw(splits(draw(st.lists(st.sampled_from(texts.NAMES), min_size=1, max_size=3, unique=True))))
    return draw(st.just(json.dumps(right).encode()) | texts.broken_splits(right).map(Spoilt))


def read_split(content):
    """Read a split from a file with these bytes."""
    with texts.folder({"split.json": content}) as place:
        return Split.read(place / "split.json")


@law(read_split, content=split_files(), words=("split.json",), spoil=())
def test_split_read(found, content):
    """A split is what the file says, and could have been written by allocate."""
    said = json.loads(content)
    assert [*found.levels] == said["levels"] and all(isinstance(level, str) for level in found.levels)
    assert [*found.eps] == said["eps"]
    assert (found.rule, *found.chosen_on) == (said["rule"], said["chosen_on"], said["digest"])
    assert found.by_nodes == (found.rule != "optimal") and len(found.chosen_on.digest) == 64
    assert said["weights"] is None if found.weights is None else [*found.weights] == said["weights"]
    assert found.total == said["total"] == float(sum(Decimal(repr(e)) for e in found.eps)) and np.isfinite(found.total)


@law(
    choose,
    tree=trees(childless=False), rule=st.sampled_from(RULES),
    total=st.none() | powers(-4, 4).map(lambda total: float(f"{total:.12g}")),
    tau=lambda drawn: st.none() if drawn["total"] is not None else powers(-2, 8),
    weights=lambda drawn: st.none() if drawn["rule"] == "uniform" else st.none() | per_level(drawn["tree"], -4, 4),
    rows_per_person=st.integers(1, 9), words=("hierarchy",), no_numbers=NO_NUMBERS - {"tree"},
)  # fmt: skip
def test_choose(found, tree, rule, total, tau, weights, rows_per_person):
    """Budgets add up to the total in decimals, or keep to tau and to nothing much below it; the source is remembered."""
    assert found.levels == tree.levels and found.rule == rule
    assert found.chosen_on == (Source.counts(tree) if rule == "optimal" else Source.nodes(tree))
    assert found.weights is None if weights is None else np.array_equal(found.weights, weights)
    if total is not None:
        assert_budgets(found.eps, tree.sizes, rule, weights, total, tau)
    else:  # the same noise, for a person who is in so many rows
        assert_budgets(np.divide(found.eps, rows_per_person), tree.sizes, rule, weights, total, tau)
    assert rule == "optimal" or found.follows_from(tree)
