"""`example`: a table to try the other commands on."""

import argparse
from functools import partial

from ...example import YEARS, load_example
from ...publishing.files import check_target, save_csv, write
from ..options import add_output_options

ABOUT = "Write a table of made-up hospital patients to try the other commands on."
EXAMPLES = ("--output patients.csv", "--year 2023 --output patients-2023.csv")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which year, and where to write it."""
    text = "which year (default: %(default)s)"
    parser.add_argument("--year", type=int, choices=YEARS, default=YEARS[-1], help=text)
    add_output_options(parser, "table")


def run(args: argparse.Namespace) -> None:
    """Print the table, or write it to a file."""
    table = load_example(args.year)
    if args.output is None:
        print(table.to_csv(index=False), end="")
        return
    write(check_target(args.output, args.force), partial(save_csv, table), args.force)
    print(f"{args.output}: {len(table):,} rows of made-up patients; columns {', '.join(table)}")
