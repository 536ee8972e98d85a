"""`allocate`: how to split a budget over the levels of a file."""

import argparse
import json
from functools import partial

import numpy as np
import pandas as pd

from ...mechanisms import LAPLACE
from .. import options
from ..options import COUNTS, DATA
from ..table import Table

ABOUT = "Recommend how to split a budget over the levels of a CSV file."
EXAMPLES = (
    f"{DATA} --total 1",
    f"{DATA} --total 1 --weights 1,1,5,1 --output split.json",
    f"{DATA.replace('.csv', '-2023.csv')} --tau 20000 --rule optimal --json",
)
NODES = """The budgets look at node counts alone: safe for confidential counts, if the
list of nodes is public itself, with every code that could occur, empty or not."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The table, the budget or the error, the rule, and where to write the split."""
    options.add_table_options(parser)
    options.add_total_option(parser)
    text = "instead of --total: keep the squared error, summed over all nodes and weighted, below this"
    parser.add_argument("--tau", type=partial(options.number, most=1e18), metavar="ERROR", help=text)
    options.add_rule_options(parser)
    options.add_json_option(parser)
    options.add_output_options(parser, "split (JSON)")


def run(args: argparse.Namespace) -> None:
    """Print the split as a table or as JSON, and write it to a file if asked to."""
    target = options.target(args, args.output)
    read = Table.read(args)
    levels, by_counts = options.levels_of(args, read), args.rule == "optimal"
    tree = read.tree(levels) if by_counts else read.nodes(levels)
    split = options.chosen_split(args, tree)
    if target:
        options.write_json(target, split.as_dict(), args.force)
    if args.json:
        print(json.dumps(split.as_dict(), indent=2))
        return
    eps = np.array(split.eps)
    table = pd.DataFrame({"level": levels, "nodes": tree.sizes, "budget": eps, "share": eps / eps.sum()})
    table["error at most"] = np.sqrt(LAPLACE.noise_variance(eps / args.rows_per_person))
    options.print_table(args, read, read.what_was_counted(levels) if by_counts else "counts not read", table)
    print(f"Total {split.total:g}, rule {split.rule}. The error is that of one count (root mean square).")
    print(NODES if split.by_nodes else COUNTS)
