"""`release`: the counts of a file with exact noise, and a record of what they cost."""

import argparse
from pathlib import Path

from ...publishing.files import long_form, save_csv, write
from ...publishing.publish import private_release
from ...publishing.split import BY_NODES
from .. import options
from ..options import DATA
from ..sheet import Sheet

ABOUT = "Release the counts of a CSV file with exact noise; writes FILE and FILE.record.json."
EXAMPLES = (
    f"{DATA} --total 1 --output released.csv",
    "patients.csv --budgets-from split.json --output released.csv --force",
)
PAID = """A second release of the same people is paid for on top of this one. The list
of nodes is published as it is: it must be public, empty nodes included."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The table, the budgets (by no rule that looks at the counts), and where to write the counts."""
    options.add_table_options(parser)
    options.add_total_option(parser)
    options.add_budgets_from_option(parser)
    options.add_rule_options(parser, tuple(BY_NODES))
    options.add_output_options(parser, "counts (CSV)", required=True)


def run(args: argparse.Namespace) -> None:
    """Draw the noise, and write the counts and their record."""
    target, record = (options.sure_target(args, name) for name in (args.output, f"{args.output}.record.json"))
    sheet = Sheet.read(args.file)
    split, levels = options.given_split(args), options.levels_of(args, sheet)
    tree = sheet.tree(levels, sheet.count_column(levels, args.count), whole=True)
    split = split or options.chosen_split(args, tree, sheet)
    if split.sha256 and split.sha256 == options.checksum(args.file):
        raise ValueError(f"{args.budgets_from} was chosen on the counts of {args.file} itself, and would leak them")
    source = f"node counts: rule {split.rule}" if split.chosen_on == "nodes" else f"public data: rule {split.rule}"
    released = private_release(tree, split.eps, budgets_from=source)

    def save(new: Path) -> None:
        save_csv(long_form(tree, released.counts), new)
        # Before the counts take their place: a record without counts is harmless, counts without a record are not.
        options.write_json(record, released.record, args.force)

    write(target, save, args.force)
    print(f"{args.output}: {tree.sizes.sum():,} noisy counts at {len(levels)} levels")
    print(f"{args.output}.record.json: what was spent, {split.total:g} in all, and on what")
    print(PAID)
