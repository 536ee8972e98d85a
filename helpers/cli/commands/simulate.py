"""`simulate`: how large the errors of a release would be."""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ...allocation import uniform
from ...hierarchy import Hierarchy
from ...publishing.files import save_csv, write
from ...simulation import error_report, relative_errors
from .. import options
from ..options import COUNTS, DATA
from ..table import Table

ABOUT = "Report how large the errors of a release would be, over many simulated ones."
EXAMPLES = (
    f"{DATA} --total 1 --trials 50 --plot errors.svg",
    "patients.csv --budgets-from split.json --trials 50 --output report.csv",
)
FIGURES = (".svg", ".png", ".pdf")
REPORT = """expected: error of one count (root mean square), before children add up
measured: the same after it, over {trials} simulated releases, ± standard error
within 10%: nodes whose expected error is at most a tenth of their count
{confidential}"""
CONFIDENTIAL = "The report is computed from the counts: if they are confidential, so is it."


def add_options(parser: argparse.ArgumentParser) -> None:
    """The table, the budgets, how many releases of which noise, and where to write the report and its figure."""
    options.add_table_options(parser)
    options.add_total_option(parser)
    options.add_budgets_from_option(parser)
    options.add_rule_options(parser)
    add = parser.add_argument
    whole, figures = options.whole_number, ", ".join(FIGURES)
    add("--trials", type=partial(whole, least=4), default=200, help="simulated releases (default: %(default)s)")
    add("--seed", type=partial(whole, least=0), default=0, help="of the simulated noise (default: %(default)s)")
    add("--plot", type=_figure, metavar="FILE", help=f"draw the spread of errors in each level ({figures})")
    options.add_json_option(parser)
    options.add_output_options(parser, "report (CSV)")


def run(args: argparse.Namespace) -> None:
    """Print the report as a table or as JSON; write it, and a figure of it, if asked to."""
    target, plot = options.target(args, args.output), options.target(args, args.plot)
    if target and target == plot:
        raise ValueError(f"--output and --plot must be two files, got {args.output} for both")
    read = Table.read(args)
    split, levels = options.given_split(args), options.levels_of(args, read)
    tree = read.tree(levels)
    split = split or options.chosen_split(args, tree)
    noise = np.array(split.eps) / args.rows_per_person  # the noise of a level is that of so many rows
    save_figure = _error_figure(tree, split.rule, noise) if plot else None
    table = error_report(tree, noise, args.trials, args.seed).rename_axis("level").reset_index()
    table["budget"] = split.eps
    if target:
        write(target, partial(save_csv, table), args.force)
    if plot and save_figure:
        write(plot, save_figure, args.force)
    if args.json:
        found = {"trials": args.trials, "errors": table.to_dict("records"), "note": CONFIDENTIAL}
        print(json.dumps(split.as_dict() | found, indent=2))
        return
    options.print_table(args, read, read.what_was_counted(levels), table)
    if args.person:
        print(f"rows of persons beyond {args.rows_per_person}, left out: {read.left_out(levels):,}")
    print(REPORT.format(trials=args.trials, confidential=CONFIDENTIAL))
    if not split.by_nodes:
        print(COUNTS)


def _error_figure(tree: Hierarchy, rule: str, eps: np.ndarray) -> Callable[[Path], None]:
    """Draw the spread of relative errors, beside that of a uniform split; what is returned saves it."""
    from matplotlib import rc_context

    from ...figures.panels import spreads
    from ...figures.style import STYLE

    if not tree.counts[0].any():
        raise ValueError("--plot shows errors in percent of the counts, but all counts are zero")
    splits = {"uniform": uniform(tree, eps.sum()).eps, rule: eps}
    percent = {rule: [100 * r for r in relative_errors(tree, eps)] for rule, eps in splits.items()}
    levels = {level: {rule: values[i] for rule, values in percent.items()} for i, level in enumerate(tree.levels)}
    figure = spreads(levels, "expected error (% of the count)", mark=10)

    def save(path: Path) -> None:
        with rc_context(STYLE):  # which makes the same figure the same file
            figure.savefig(path, metadata={"CreationDate" if path.suffix == ".pdf" else "Date": None})

    return save


def _figure(text: str) -> str:
    if not text.endswith(FIGURES):
        raise argparse.ArgumentTypeError(f"must end in one of {', '.join(FIGURES)}, got {text!r}")
    return text
