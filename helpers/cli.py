"""The command line, `python -m helpers`: a CSV in; a split, an error report or a private release out.

A release is private only if its budgets do not depend on the counts. So the default rule looks at the number of nodes alone,
`allocate` does not even read the counts for it, and `release` knows no rule that does.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from . import example
from .allocation import uniform
from .hierarchy import Hierarchy
from .options import DEFAULT_RULE, PROG, parser
from .report import error_report, relative_errors
from .splits import Split, choose
from .tables import Sheet, check_target, long_form, save_csv, write

NODES = """The budgets look at node counts alone: safe for confidential counts, if the
list of nodes is public itself, with every code that could occur, empty or not."""
COUNTS = """The budgets depend on counts, which must be public or earlier data. A split
chosen on confidential counts leaks: use --rule cube-root for those."""
REPORT = """expected: error of one count (root mean square), before children add up
measured: the same after it, over {trials} simulated releases, ± standard error
within 10%: nodes whose expected error is at most a tenth of their count
The report is computed from the counts: if they are confidential, so is it."""
PAID = """A second release of the same people is paid for on top of this one. The list
of nodes is published as it is: it must be public, empty nodes included."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for a bad file or argument, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name must not end the work
    args = parser(COMMANDS).parse_args(argv)
    try:
        args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _refused("interrupted; nothing further was written", code=130)
    except OSError as error:
        return _refused(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ValueError, TypeError, ImportError) as error:
        return _refused(str(error))
    return 0


def _refused(sentence: str, code: int = 2) -> int:
    print(f"{PROG}: {sentence}", file=sys.stderr)
    return code


def _example(args: argparse.Namespace) -> None:
    table = example.load_example(args.year)
    if args.output is None:
        print(table.to_csv(index=False), end="")
        return
    write(check_target(args.output, args.force), partial(save_csv, table), args.force)
    print(f"{args.output}: {len(table):,} rows of made-up patients; columns {', '.join(table)}")


def _allocate(args: argparse.Namespace) -> None:
    target = _target(args, args.output)
    sheet = Sheet.read(args.file)
    levels = _levels(args, sheet)
    count = sheet.count_column(levels, args.count) if args.rule == "optimal" else None
    tree = sheet.tree(levels, count) if count else sheet.nodes(levels)
    split = _split(args, tree, sheet)
    if target:
        _write_json(args, target, split.as_dict())
    if args.json:
        print(json.dumps(split.as_dict(), indent=2))
        return
    eps = np.array(split.eps)
    table = pd.DataFrame({"level": levels, "nodes": tree.sizes, "budget": eps, "share": eps / eps.sum()})
    table["error at most"] = np.sqrt(2) / eps
    _print_table(args, sheet, f"counts from the column {count}" if count else "counts not read", table)
    print(f"Total {split.total:g}, rule {split.rule}. The error is that of one count (root mean square).")
    print(NODES if split.chosen_on == "nodes" else COUNTS)


def _simulate(args: argparse.Namespace) -> None:
    target, plot = _target(args, args.output), _target(args, args.plot)
    if target and target == plot:
        raise ValueError(f"--output and --plot must be two files, got {args.output} for both")
    sheet = Sheet.read(args.file)
    split, levels = _given_split(args), _levels(args, sheet)
    count = sheet.count_column(levels, args.count)
    tree = sheet.tree(levels, count)
    split = split or _split(args, tree, sheet)
    save_figure = plot and _error_figure(tree, split)
    table = error_report(tree, split.eps, args.trials, args.seed).rename_axis("level").reset_index()
    if target:
        write(target, partial(save_csv, table), args.force)
    if plot:
        write(plot, save_figure, args.force)
    if args.json:
        print(json.dumps(split.as_dict() | {"trials": args.trials, "errors": table.to_dict("records")}, indent=2))
        return
    _print_table(args, sheet, f"counts from the column {count}", table)
    print(REPORT.format(trials=args.trials))
    if split.chosen_on == "counts":
        print(COUNTS)


def _release(args: argparse.Namespace) -> None:
    from .private import private_release

    target, record = _target(args, args.output), _target(args, f"{args.output}.record.json")
    sheet = Sheet.read(args.file)
    split, levels = _given_split(args), _levels(args, sheet)
    tree = sheet.tree(levels, sheet.count_column(levels, args.count), whole=True)
    split = split or _split(args, tree, sheet)
    if split.sha256 == sheet.sha256:
        raise ValueError(f"{args.budgets_from} was chosen on the counts of {args.file} itself, and would leak them")
    source = f"node counts: rule {split.rule}" if split.chosen_on == "nodes" else f"public data: rule {split.rule}"
    released = private_release(tree, split.eps, budgets_from=source)

    def save(new: Path) -> None:
        save_csv(long_form(tree, released.counts), new)
        # Before the counts take their place: a record without counts is harmless, counts without a record are not.
        _write_json(args, record, released.record)

    write(target, save, args.force)
    print(f"{args.output}: {tree.sizes.sum():,} noisy counts at {len(levels)} levels")
    print(f"{args.output}.record.json: what was spent, {split.total:g} in all, and on what")
    print(PAID)


def _target(args: argparse.Namespace, name: str | None) -> Path | None:
    """Where to write, if anywhere: looked at before any work is done, and never the file that is read."""
    if name is None:
        return None
    for read in (args.file, getattr(args, "budgets_from", None)):
        if read is not None and Path(name).resolve() == Path(read).resolve():
            raise ValueError(f"{name} is the file that is read; write to another one")
    return check_target(name, args.force)


def _levels(args: argparse.Namespace, sheet: Sheet) -> list[str]:
    """The level columns, from --levels or from the split; whoever gave none is told what there is."""
    if args.levels is None:
        names = ", ".join(sheet.columns)
        raise ValueError(f"name the level columns, top first, with --levels; the columns of {args.file} are {names}")
    return args.levels


def _given_split(args: argparse.Namespace) -> Split | None:
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


def _split(args: argparse.Namespace, tree: Hierarchy, sheet: Sheet) -> Split:
    tau = getattr(args, "tau", None)
    if (args.total is None) == (tau is None):
        raise ValueError("say what there is to split, with --total, or (allocate) which error to keep to, with --tau")
    return choose(tree, args.rule or DEFAULT_RULE, args.total, tau, args.weights, sheet.sha256)


def _error_figure(tree: Hierarchy, split: Split) -> Callable[[Path], None]:
    """Draw the spread of relative errors, beside that of a uniform split; what is returned saves it."""
    from matplotlib import rc_context

    from .panels import spreads
    from .plots import STYLE

    if not tree.counts[0].any():
        raise ValueError("--plot shows errors in percent of the counts, but all counts are zero")
    splits = {"uniform": uniform(tree, split.total).eps, split.rule: np.array(split.eps)}
    percent = {rule: [100 * r for r in relative_errors(tree, eps)] for rule, eps in splits.items()}
    levels = {level: {rule: values[i] for rule, values in percent.items()} for i, level in enumerate(tree.levels)}
    figure = spreads(levels, "expected error (% of the count)", mark=10)

    def save(path: Path) -> None:
        with rc_context(STYLE):  # which makes the same figure the same file
            figure.savefig(path, metadata={"CreationDate" if path.suffix == ".pdf" else "Date": None})

    return save


def _print_table(args: argparse.Namespace, sheet: Sheet, what: str, table: pd.DataFrame) -> None:
    shown = {"nodes": "{:,}".format, "budget": "{:.9g}".format, "share": "{:.1%}".format, "within 10%": "{:.0%}".format}
    text = table.to_string(index=False, formatters=shown, float_format="{:.3g}".format)
    print(f"{args.file}: {len(sheet.lines):,} rows, {what}\n\n{text}\n")
    for above, below in pairwise(table.itertuples()):
        if above.nodes == below.nodes:
            print(f"Each {above.level} has one {below.level} alone. Are the levels listed top first?")


def _write_json(args: argparse.Namespace, path: Path, values: dict) -> None:
    write(path, lambda new: new.write_text(json.dumps(values, indent=2) + "\n"), args.force)  # in ASCII


COMMANDS = {"example": _example, "allocate": _allocate, "simulate": _simulate, "release": _release}
