"""What `python -m helpers` can be asked, and how its --help says so. The tests run every example that is shown."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import nan

from . import verify
from .example import YEARS
from .splits import BY_NODES, RULES

PROG = "python -m helpers"
DEFAULT_RULE = "cube-root"
_DIGITS = 1000  # Python refuses to read numbers of more than some thousand digits
FIGURES = (".svg", ".png", ".pdf")
DATA = "patients.csv --levels region,hospital,ward,diagnosis"
EXAMPLES = {
    "example": ["--output patients.csv", "--year 2023 --output patients-2023.csv"],
    "allocate": [
        f"{DATA} --total 1",
        f"{DATA} --total 1 --weights 1,1,5,1 --output split.json",
        f"{DATA.replace('.csv', '-2023.csv')} --tau 20000 --rule optimal --json",
    ],
    "simulate": [
        f"{DATA} --total 1 --trials 50 --plot errors.svg",
        "patients.csv --budgets-from split.json --trials 50 --output report.csv",
    ],
    "release": [
        f"{DATA} --total 1 --output released.csv",
        "patients.csv --budgets-from split.json --output released.csv --force",
    ],
}
ABOUT = {
    "example": "Write a table of made-up hospital patients to try the other commands on.",
    "allocate": "Recommend how to split a budget over the levels of a CSV file.",
    "simulate": "Report how large the errors of a release would be, over many simulated ones.",
    "release": "Release the counts of a CSV file with exact noise; writes FILE and FILE.record.json.",
}
VERIFY = "Compare the census counts that ship with the package with the Bureau's own files, which are downloaded."
OUTPUT = {"example": "table", "allocate": "split (JSON)", "simulate": "report (CSV)", "release": "counts (CSV)"}


def parser(commands: Mapping[str, Callable[[argparse.Namespace], None]]) -> argparse.ArgumentParser:
    """The parser of the command line: a sub-command for each of ABOUT, whose function ends up as `run` in the result."""
    start = [f"{command} {lines[0]}" for command, lines in EXAMPLES.items()]
    text = "Split a privacy budget over the levels of your own table."
    whole = _described(partial(argparse.ArgumentParser, prog=PROG), text, start)
    subparsers = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command, text in ABOUT.items():
        lines = [f"{command} {line}" for line in EXAMPLES[command]]
        one = _described(partial(subparsers.add_parser, command, help=text), text, lines)
        one.set_defaults(run=commands[command])
        _add_options(one, command)
    # Its examples are apart, because they need a network.
    one = _described(partial(subparsers.add_parser, "verify", help=VERIFY), VERIFY, ["verify", "verify vermont"])
    one.set_defaults(run=verify.run)
    verify.add_options(one)
    return whole


def _described(make: Callable[..., argparse.ArgumentParser], text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    lines = "\n".join(f"  {PROG} {line}" for line in examples)
    codes = "exit codes: 0 success, 2 wrong usage or a bad file, 130 interrupted (Ctrl-C)"
    look = argparse.RawDescriptionHelpFormatter
    return make(description=text, epilog=f"examples:\n{lines}\n\n{codes}", formatter_class=look, allow_abbrev=False)


def _add_options(parser: argparse.ArgumentParser, command: str) -> None:
    add = parser.add_argument
    if command == "example":
        add("--year", type=int, choices=YEARS, default=YEARS[-1], help="which year (default: %(default)s)")
    else:
        add("file", help="CSV file with a header and one row a leaf")
        add("--levels", type=_names, metavar="A,B", help="columns that name the nodes, top level first")
        add("--count", metavar="NAME", help="column of counts (default: population, or the only column of numbers left)")
        _add_split_options(parser, command)
    if command == "simulate":
        add("--trials", type=partial(_whole, least=4), default=200, help="simulated releases (default: %(default)s)")
        add("--seed", type=partial(_whole, least=0), default=0, help="of the simulated noise (default: %(default)s)")
        add("--plot", type=_figure, metavar="FILE", help=f"draw the spread of errors in each level ({', '.join(FIGURES)})")
    if command in ("allocate", "simulate"):
        add("--json", action="store_true", help="print JSON instead of a table")
    add("--output", metavar="FILE", required=command == "release", help=f"write the {OUTPUT[command]} to a file")
    add("--force", action="store_true", help="overwrite files that are there already")


def _add_split_options(parser: argparse.ArgumentParser, command: str) -> None:
    add = parser.add_argument
    add("--total", type=_number, metavar="EPSILON", help="the whole privacy budget")
    if command == "allocate":
        text = "instead of --total: keep the squared error, summed over all nodes and weighted, below this"
        add("--tau", type=partial(_number, most=1e18), metavar="ERROR", help=text)
    else:
        add("--budgets-from", metavar="FILE", help="a split that allocate --output wrote, instead of --total")
    add("--weights", type=_weights, metavar="W,W", help="how much the error of each level matters (default: all the same)")
    rules = BY_NODES if command == "release" else RULES
    note = "" if command == "release" else "; optimal looks at the counts: for public or earlier data"
    text = f"{DEFAULT_RULE} (default) and uniform look at the number of nodes alone{note}"
    add("--rule", choices=rules, help=text)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"must be distinct column names with commas between them, got {text!r}")
    return names


def _number(text: str, most: float = 1e9) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not 1e-9 <= number <= most:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-9 to {most:g}, got {text!r}")
    return number


def _weights(text: str) -> list[float]:
    return [_number(part) for part in text.split(",")]


def _whole(text: str, least: int) -> int:
    if len(text) > _DIGITS:
        raise argparse.ArgumentTypeError(f"must be a whole number of at most {_DIGITS} digits, got {len(text)}")
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")
    return int(text)


def _figure(text: str) -> str:
    if not text.endswith(FIGURES):
        raise argparse.ArgumentTypeError(f"must end in one of {', '.join(FIGURES)}, got {text!r}")
    return text
