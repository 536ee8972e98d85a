"""What several commands share: options of the table, of the split and of files, how text is read, what is printed."""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import nan
from pathlib import Path

import pandas as pd

from ..hierarchy import Hierarchy
from ..publishing.files import check_target, leftovers, write
from ..publishing.split import MOST_ROWS, RULES, Split, choose
from .streams import note
from .table import Table

DEFAULT_RULE = "cube-root"
DATA = "patients.csv --levels region,hospital,ward,diagnosis"  # of every example
COUNTS = """The budgets depend on counts, which must be public or earlier data. A split
chosen on confidential counts leaks: use --rule cube-root for those."""
_DIGITS = 1000  # Python refuses to read numbers of more than some thousand digits


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """The table, which of its columns are what, the public list of nodes, and how many rows a person may have."""
    add = parser.add_argument
    add("file", help="CSV file with a header and one row a leaf")
    add("--levels", type=_names, metavar="A,B", help="columns that name the nodes, top level first")
    add("--count", metavar="NAME", help="column of counts (default: population, or the only column of numbers left)")
    add("--nodes", metavar="FILE", help="public table of all leaves: those without a row count zero, others are refused")
    text = "the most rows that one person has (default: 1); noise grows with it"
    add("--rows-per-person", type=partial(whole_number, least=1, most=MOST_ROWS), default=1, metavar="K", help=text)
    text = "column that names the person of each row: rows are counted, at most K of each person"
    add("--person", metavar="NAME", help=text)


def add_total_option(parser: argparse.ArgumentParser) -> None:
    """The budget to split."""
    parser.add_argument("--total", type=number, metavar="EPSILON", help="the whole privacy budget")


def add_budgets_from_option(parser: argparse.ArgumentParser) -> None:
    """A split from a file, instead of a total."""
    text = "a split that allocate --output wrote, instead of --total"
    parser.add_argument("--budgets-from", metavar="FILE", help=text)


def add_rule_options(parser: argparse.ArgumentParser, rules: Sequence[str] = RULES) -> None:
    """How to split the budget, by one of the rules."""
    note = "; optimal looks at the counts: for public or earlier data" if "optimal" in rules else ""
    text = f"{DEFAULT_RULE} (default) and uniform look at the number of nodes alone{note}"
    add = parser.add_argument
    add("--weights", type=_weights, metavar="W,W", help="how much the error of each level matters (default: all the same)")
    add("--rule", choices=rules, help=text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Another form of what is printed."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_output_options(parser: argparse.ArgumentParser, what: str, required: bool = False) -> None:
    """Where to write, and whether over an old file."""
    parser.add_argument("--output", metavar="FILE", required=required, help=f"write the {what} to a file")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there already")


def target(args: argparse.Namespace, name: str | None) -> Path | None:
    """Where to write, if anywhere: looked at before any work is done, and never the file that is read."""
    return None if name is None else sure_target(args, name)


def sure_target(args: argparse.Namespace, name: str) -> Path:
    """Where to write a file that is asked for."""
    for read in (args.file, getattr(args, "budgets_from", None)):
        if read is not None and Path(name).resolve() == Path(read).resolve():
            raise ValueError(f"{name} is the file that is read; write to another one")
    place = check_target(name, args.force)
    report_leftovers(place)
    return place


def report_leftovers(*places: Path) -> None:
    """Tell of what killed runs left beside the places where something is to be written."""
    for found in sorted({found for place in places for found in leftovers(place)}):
        unfinished = "was left unfinished, may be confidential, and what it drew may be paid for"
        note(f"note: {found} {unfinished}: remove it, unless it is being written now")


def levels_of(args: argparse.Namespace, table: Table) -> list[str]:
    """The level columns, from --levels or from the split; whoever gave none is told what there is."""
    if args.levels is None:
        shown = table.columns_shown(f"the columns of {args.file}")
        raise ValueError(f"name the level columns, top first, with --levels; {shown}")
    return args.levels


def given_split(args: argparse.Namespace) -> Split | None:
    """The split of --budgets-from, which says the levels too."""
    if args.budgets_from is None:
        return None
    if (args.total, args.weights, args.rule) != (None, None, None):
        raise ValueError("--budgets-from brings all budgets along: leave out --total, --weights and --rule")
    split = Split.read(args.budgets_from)
    if args.levels not in (None, list(split.levels)):
        raise ValueError(f"--levels must be those of {args.budgets_from}, {','.join(split.levels)}, or be left out")
    args.levels = list(split.levels)
    return split


def chosen_split(args: argparse.Namespace, tree: Hierarchy) -> Split:
    """The split that --total (or --tau), --rule and --weights ask for."""
    tau = getattr(args, "tau", None)
    if args.total is not None and tau is not None:
        raise ValueError("say either what there is to split, with --total, or which error to keep to, with --tau")
    if args.total is None and tau is None:
        raise ValueError("say what there is to split, with --total, or (allocate) which error to keep to, with --tau")
    return choose(tree, args.rule or DEFAULT_RULE, args.total, tau, args.weights, args.rows_per_person)


def write_json(path: Path, values: dict, force: bool) -> None:
    """Write values as JSON, in ASCII."""
    write(path, lambda new: new.write_text(json.dumps(values, indent=2) + "\n"), force)


def print_table(args: argparse.Namespace, read: Table, what: str, table: pd.DataFrame) -> None:
    """A row a level, under a line that says what was read; a question, if the levels look upside down.

    How many rows there are is said only if each is a leaf: the list of leaves is public, the number of people's rows is not.
    """
    shown = {"nodes": "{:,}".format, "budget": "{:.9g}".format, "share": "{:.1%}".format, "within 10%": "{:.0%}".format}
    text = table.to_string(index=False, formatters=shown, float_format="{:.3g}".format)
    rows = f"{read.rows:,} rows, " if read.rows == table.nodes.iloc[-1] else ""
    print(f"{args.file}: {rows}{what}\n\n{text}\n")
    for above, below in pairwise(table.itertuples()):
        if above.nodes == below.nodes:
            print(f"Each {above.level} has one {below.level} alone. Are the levels listed top first?")


def number(text: str, most: float = 1e9) -> float:
    """A number from 1e-9 to `most`."""
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 1e-9 <= value <= most:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-9 to {most:g}, got {text!r}")
    return value


def whole_number(text: str, least: int, most: int | None = None) -> int:
    """A whole number of at least `least` and, if given, at most `most`."""
    if len(text) > _DIGITS:
        raise argparse.ArgumentTypeError(f"must be a whole number of at most {_DIGITS} digits, got {len(text)}")
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")
    if most is not None and int(text) > most:
        raise argparse.ArgumentTypeError(f"must be a whole number of at most {most:,}, got {text!r}")
    return int(text)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"must be distinct column names with commas between them, got {text!r}")
    return names


def _weights(text: str) -> list[float]:
    return [number(part) for part in text.split(",")]
