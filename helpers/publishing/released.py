"""A release as people see it: counts and the record of what they cost, in one folder that appears whole or not at all.

    counts.csv: one row a node, all levels below each other
    record.json: what was spent on what, and the SHA-256 of counts.csv

Nothing here knows a true count. `PrivateRelease.read` is the check of a folder: do counts and record fit?
"""

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..checks import fraction
from .accountant import Accountant, Entry, check_accountant, check_words
from .files import check_new_folder, new_folder, sync

COUNTS, RECORD = FILES = ("counts.csv", "record.json")
ADD_OR_REMOVE, CHANGE_PLACE = NEIGHBOURS = ("add or remove one person", "change one person's place")
_ROWS = 100_000  # written at a time
_UNFINISHED = "unfinished: these counts are not a release, and their budget is spent"
# What a record that was edited may lead to: no fact is missing from these errors but the sentence.
_BROKEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError)


def sensitivity(neighbours: str, rows: int, nodes: int) -> int:
    """The most that a neighbour moves the counts of a level of so many nodes, for a person who has up to so many rows.

    >>> sensitivity(ADD_OR_REMOVE, rows=3, nodes=10)
    3
    >>> [sensitivity(CHANGE_PLACE, rows=3, nodes=nodes) for nodes in (10, 1)]
    [6, 0]
    """
    if neighbours == ADD_OR_REMOVE:
        return rows
    return 2 * rows if nodes > 1 else 0  # each row may leave one node and come to another; a single node it cannot leave


@dataclass(frozen=True, eq=False, repr=False)
class PrivateRelease:
    """Released counts, the public geography they belong to, and the record of what they cost. No true count is kept."""

    levels: tuple[str, ...]
    counts: list[np.ndarray]
    parents: tuple[np.ndarray | None, ...]
    labels: tuple[np.ndarray, ...] | None
    record: dict[str, Any]

    def table(self) -> pd.DataFrame:
        """One row a node, top level first: its `level`, its path (a column a level, empty below its own) and its `count`.

        Nodes without labels have no path. They are known by `node` and `parent`, positions in their levels.
        """
        heads = _heads(self.levels, self.labels is not None)
        columns = [list(chain.from_iterable(parts)) for parts in zip(*self._columns(), strict=True)]
        table = pd.DataFrame(dict(zip(heads, columns, strict=True)))
        return table if self.labels is not None else table.astype({"parent": "Int64"})

    def save(self, folder: str | Path) -> Path:
        """Write `counts.csv` and `record.json` into a new folder: both or neither. A release is never overwritten."""
        place = check_new_folder(folder)
        with new_folder(place) as fresh:
            self.write_into(fresh)
        return place

    def write_into(self, folder: Path) -> None:
        """Fill a folder that is still to take its place; at no moment do counts stand there without a true record."""
        _write_record(folder, self.record | {"counts": _UNFINISHED})
        with open(folder / COUNTS, "x", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n", quoting=self._quoting())
            out.writerow(_heads(self.levels, self.labels is not None))
            for columns in self._columns():
                out.writerows(zip(*columns, strict=True))
        counts = {"file": COUNTS, "rows": sum(map(len, self.counts)), "sha256": _sha256(folder / COUNTS)}
        _write_record(folder, self.record | {"counts": counts})

    @classmethod
    def read(cls, folder: str | Path, account: Accountant | None = None) -> "PrivateRelease":
        """The release of a folder, if counts and record fit each other, and the account, if one is given."""
        place = checks.path("folder", folder)
        purse = check_accountant("account", account)
        entries = purse.entries if purse else ()  # an account that was edited says so itself
        record = _read_record(place)
        try:
            _check_record(record)
            release = _read_counts(place, record)
            if purse:
                _check_account(record, purse, entries)
        except _BROKEN as error:
            said = str(error) if isinstance(error, Misfit) else "something in them is missing or of another kind"
            raise ValueError(f"{folder} must hold a release whose counts and record fit, but {said}") from None
        return release

    def _columns(self) -> Iterator[list[list]]:
        """The columns of the table, in stretches of rows."""
        for level, counts in enumerate(self.counts):
            for start in range(0, len(counts), _ROWS):
                nodes = np.arange(start, min(start + _ROWS, len(counts)))
                many = len(nodes)
                places = [nodes.tolist(), self._parents(level, nodes)] if self.labels is None else self._path(level, nodes)
                yield [[self.levels[level]] * many, *places, counts[nodes].tolist()]

    def _parents(self, level: int, nodes: np.ndarray) -> list:
        parents = self.parents[level]
        return [None] * len(nodes) if parents is None else parents[nodes].tolist()

    def _path(self, level: int, nodes: np.ndarray) -> list[list]:
        """A column a level: the names of the nodes above these, and of themselves; blank below."""
        assert self.labels is not None
        path = [[""] * len(nodes) for _ in self.levels]
        for i in range(level, -1, -1):
            path[i] = list(map(str, self.labels[i][nodes].tolist()))
            parents = self.parents[i]
            nodes = nodes if parents is None else parents[nodes]
        return path

    def _quoting(self) -> Any:
        """With a carriage return in a name, which Python's writer may leave bare, all texts get quotes."""
        names = [str(name) for labels in self.labels or () for name in labels.tolist()] + [*self.levels]
        return csv.QUOTE_NONNUMERIC if any("\r" in name for name in names) else csv.QUOTE_MINIMAL

    def __repr__(self) -> str:
        sizes = ", ".join(f"{level['nodes']:,} {level['level']}" for level in self.record["levels"])
        return f"PrivateRelease({sizes}; ε = {self.record['epsilon']}, neighbours: {self.record['neighbours']})"


class Misfit(ValueError):
    """What does not fit in a folder that should hold a release."""


def _heads(levels: Sequence[str], named: bool) -> list[str]:
    """The header: where a level is called level or count, that column of ours gets another name."""
    if not named:
        return ["level", "node", "parent", "count"]
    return [_unlike(levels, "level"), *levels, _unlike(levels, "count")]


def _unlike(names: Sequence[str], head: str) -> str:
    while head in names:
        head = f"released {head}"
    return head


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write the record, on the disk and in one go: whoever is killed here leaves the old one or the new one."""
    new = folder / f"{RECORD}.new"
    new.write_bytes((json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode())
    sync(new)
    os.replace(new, folder / RECORD)
    sync(folder)  # counts that are written after this are on no disk without it


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_record(folder: Path) -> dict[str, Any]:
    if not folder.is_dir() or not all((folder / name).is_file() for name in FILES):
        raise ValueError(f"{folder} must be the folder of a release, with {COUNTS} and {RECORD} in it, but is not")
    try:
        record = json.loads((folder / RECORD).read_bytes())
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise ValueError(f"{folder / RECORD} must be a record in JSON, but is not")
    return record


def _check_record(record: dict[str, Any]) -> None:
    """The budgets of the levels add up to that of the whole, in decimals as they are printed, and each has noise enough."""
    neighbours = checks.one_of("neighbours", record["neighbours"], NEIGHBOURS)
    rows = checks.whole("rows_per_person", record["rows_per_person"], least=1)
    check_words("origin", record["budgets"]["origin"], "whether the budgets were checked")
    spent = [Fraction(repr(level["epsilon"])) for level in record["levels"]]
    if sum(spent) != Fraction(repr(record["epsilon"])):
        raise Misfit("the budgets of the levels do not add up to that of the record")
    for level, eps in zip(record["levels"], spent, strict=True):
        if level["sensitivity"] != sensitivity(neighbours, rows, level["nodes"]):
            raise Misfit(f"the sensitivity at level {level['level']!r} is not that of so many rows a person")
        if eps < 0 or eps * Fraction(level["scale"]) < level["sensitivity"]:
            raise Misfit(f"the noise at level {level['level']!r} is too small for its budget")


def _read_counts(folder: Path, record: dict[str, Any]) -> PrivateRelease:
    """The counts of a folder, if they are those that the record was written for and stand in its tree."""
    table = _read_table(folder / COUNTS, record["counts"])
    levels = tuple(level["level"] for level in record["levels"])
    named = list(table) == _heads(levels, named=True)
    if not named and list(table) != _heads(levels, named=False):
        raise Misfit(f"{COUNTS} does not have the columns of these levels")
    pieces = _pieces(table, record)
    labels = tuple(piece[level].to_numpy() for piece, level in zip(pieces, levels, strict=True)) if named else None
    links = _links(pieces, levels, named)
    counts = [piece.iloc[:, -1].to_numpy().astype(np.int64) for piece in pieces]
    if record["counts"]["rows"] != len(table):
        raise Misfit("the record says another number of counts")
    _check_counts(counts, links, checks.flag("consistent", record["consistent"]))
    return PrivateRelease(levels, counts, (None, *links), labels, record)


def _read_table(path: Path, said: Any) -> pd.DataFrame:
    """The file as texts, if it is the one that was said."""
    if said == _UNFINISHED:
        raise Misfit("it is unfinished")
    if _sha256(path) != said["sha256"]:
        raise Misfit(f"{path.name} is not the file that the record was written for")
    table = pd.read_csv(path, header=None, dtype=str, keep_default_na=False, encoding="utf-8")
    return table.set_axis(table.iloc[0].tolist(), axis=1).iloc[1:]  # names as they are, also if one is empty


def _pieces(table: pd.DataFrame, record: dict[str, Any]) -> list[pd.DataFrame]:
    """The rows of each level, if they are those levels, with as many nodes, that the record lists."""
    nodes = [level["nodes"] for level in record["levels"]]
    ends = np.cumsum(nodes)
    if len(table) == ends[-1]:
        pieces = [table.iloc[end - n : end] for end, n in zip(ends, nodes, strict=True)]
        if all({*piece.iloc[:, 0]} == {level["level"]} for piece, level in zip(pieces, record["levels"], strict=True)):
            return pieces
    raise Misfit(f"{COUNTS} does not have the nodes that the record lists")


def _links(pieces: list[pd.DataFrame], levels: Sequence[str], named: bool) -> list[np.ndarray]:
    """For each level below the top, (n,) where the parent of each node stands in the level above."""
    own = [[*levels[: i + 1]] if named else ["node"] for i in range(len(levels))]  # the columns that a node is known by
    if any(piece.duplicated(columns).any() for piece, columns in zip(pieces, own, strict=True)):
        raise Misfit(f"{COUNTS} has a node twice")
    links = []
    for (above, below), columns in zip(pairwise(pieces), own[:-1], strict=True):
        wanted = pd.MultiIndex.from_frame(below[columns if named else ["parent"]])
        links.append(pd.MultiIndex.from_frame(above[columns]).get_indexer(wanted))
    if any((link < 0).any() for link in links):
        raise Misfit(f"{COUNTS} has a node whose parent is not there")
    return links


def _check_counts(counts: list[np.ndarray], links: list[np.ndarray], consistent: bool) -> None:
    if any((count < 0).any() for count in counts):
        raise Misfit("a count is negative")
    for (above, below), link in zip(pairwise(counts), links, strict=True):
        sums = np.zeros_like(above)
        np.add.at(sums, link, below)
        if consistent and (sums != above).any():
            raise Misfit("children do not add up to their parents")


def _check_account(record: dict[str, Any], account: Accountant, entries: Sequence[Entry]) -> None:
    """The line of the account that the record names is the one that was booked for it, and has its budget.

    It is not, if the account was put back to an old copy and another release was booked since.
    """
    receipt = record["account"]
    if not isinstance(receipt, dict) or receipt["account"] != account.name:
        raise Misfit("the record names another account, or none")
    line = receipt["line"]
    if not 0 < line <= len(entries) or entries[line - 1].eps != fraction("epsilon", record["epsilon"]):
        raise Misfit("the account has no such line")
    if account.receipt(line) != receipt:
        raise Misfit("that line of the account is another release's")
