"""The table that a command line names: a CSV file with its line numbers, or what is too large for that, by an engine.

A CSV file is read by `Sheet`, which knows the line of whatever is wrong with it. A Parquet file, and a CSV file beyond a
gigabyte, is added up by DuckDB, and only its leaves come here. Persons, bounds and lists of nodes are the same for both.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..hierarchy import Hierarchy
from ..tables import leaves, rows_beyond, tidy
from .hints import hints_of_counts, hints_of_nodes
from .sheet import Sheet, is_formula

LARGE = 1 << 30  # bytes of a CSV file beyond which DuckDB adds it up: it would take minutes here, and much memory
PEOPLE = "population"


@dataclass(frozen=True, eq=False)
class Table:
    """The table of a command line. Build one with `Table.read`."""

    args: argparse.Namespace
    sheet: Sheet | None  # None: a file for an engine

    @classmethod
    def read(cls, args: argparse.Namespace) -> "Table":
        """Read the CSV file that `args` names; a file for an engine is only remembered."""
        if args.person is not None and args.count is not None:
            raise ValueError("--person counts rows, one for each that a person has: leave out --count")
        if args.nodes is not None and _is_one_file(args.nodes, args.file):
            raise ValueError(f"--nodes must be a public list of its own, got {args.nodes}, which is the table itself")
        if is_for_an_engine(Path(args.file)):
            return cls(args, None)
        needed = None if args.levels is None or args.count is None else {*map(tidy, [*args.levels, args.count])}
        return cls(args, Sheet.read(args.file, needed))

    @property
    def rows(self) -> int | None:
        """How many rows were read, where that is known."""
        return None if self.sheet is None else self.sheet.rows

    def columns_shown(self, whose: str) -> str:
        """Which columns there are, for a sentence."""
        return f"{whose} are not read yet" if self.sheet is None else self.sheet.columns_shown(whose)

    def what_was_counted(self, levels: list[str]) -> str:
        """Where the counts come from, for people."""
        count = self._count(levels)
        return "each row counts one" if count is None else f"counts from the column {count}"

    def nodes(self, levels: list[str]) -> Hierarchy:
        """The tree with every count zero: of the public list, if there is one. Counts are not looked at."""
        if self.args.nodes is None and self.sheet is not None:
            return self.sheet.nodes(levels)
        if self.args.nodes is not None and not is_for_an_engine(Path(self.args.nodes)):
            return Sheet.read(self.args.nodes, {*map(tidy, levels)}).nodes(levels)
        listed = leaves(self.args.nodes or self.args.file, levels)
        return Hierarchy.from_frame(listed.assign(**{PEOPLE: 0}), [*map(tidy, levels)], PEOPLE)

    def tree(self, levels: list[str], whole: bool = False) -> Hierarchy:
        """The tree of the counts: of a column, or of the rows of persons, at most so many of each; on the public list."""
        count, person = self._count(levels), self.args.person
        if self.sheet is not None and person is None and self.args.nodes is None and count is not None:
            return self.sheet.tree(levels, count, whole)
        table = self.args.file if self.sheet is None else self.sheet.frame(levels, count, person, whole=True)
        most = self.args.rows_per_person if person is not None else 1
        found = leaves(table, levels, count=count, person=person, rows_per_person=most, nodes=self._listed(levels))
        return Hierarchy.from_frame(found, [*map(tidy, levels)], count or PEOPLE)

    def left_out(self, levels: list[str]) -> int:
        """How many rows of persons are beyond the bound. This is confidential, as the table is."""
        person = self.args.person
        table = self.args.file if self.sheet is None else self.sheet.frame(levels, person=person)
        return rows_beyond(table, person, self.args.rows_per_person)

    def check_names(self, tree: Hierarchy) -> None:
        """Refuse names that a spreadsheet would run when somebody opens the released table."""
        if self.sheet is not None and self.args.nodes is None:
            self.sheet.check_formulas(tree.levels)
        elif any(is_formula(str(name)) for names in (tree.levels, *(tree.labels or ())) for name in names):
            file = self.args.nodes or self.args.file
            raise ValueError(f"{file}: names must not begin like a formula, which a spreadsheet would run (not shown)")

    def hints(self, tree: Hierarchy) -> list[str]:
        """What looks as if the list of nodes came from the people; for the terminal of the data holder alone."""
        if self.args.nodes is not None:
            return []
        counted = self._count([*tree.levels]) is not None
        rows = int(tree.sizes[-1]) if self.rows is None else self.rows
        return [*hints_of_nodes(tree, rows, counted), *(hints_of_counts(tree, rows) if counted else [])]

    def spellings(self, levels: list[str]) -> int:
        """How many names are written in more than one way, where that is known."""
        return 0 if self.sheet is None else self.sheet.spellings(levels)

    def _count(self, levels: list[str]) -> str | None:
        if self.args.person is not None:
            return None
        if self.sheet is not None:
            return self.sheet.count_column(levels, self.args.count)
        if self.args.count is None:
            raise ValueError(f"{self.args.file}: name the column of counts with --count, or that of persons with --person")
        return self.args.count

    def _listed(self, levels: list[str]) -> pd.DataFrame | str | None:
        """The public list of leaves, as a table or as a file for an engine."""
        file = self.args.nodes
        if file is None or is_for_an_engine(Path(file)):
            return file
        return Sheet.read(file, {*map(tidy, levels)}).frame(levels)


def _is_one_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False  # a sentence is said when it is read


def is_for_an_engine(file: Path) -> bool:
    """Is it a Parquet file, or a CSV file that is too large to be read here?"""
    try:
        return file.suffix == ".parquet" or file.stat().st_size > LARGE
    except OSError:
        return False  # a sentence is said when it is read
