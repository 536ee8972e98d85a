"""`account`: what was spent on these people so far, on what, and what is left."""

import argparse
import json

from ...publishing.accountant import Accountant
from .. import options

ABOUT = "Print an account: what was spent so far, on what, and what is left."
EXAMPLES = ("patients.account", "patients.account --json")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The file of the account."""
    parser.add_argument("file", help="an account that release --account opened")
    options.add_json_option(parser)


def run(args: argparse.Namespace) -> None:
    """Print the lines of the account as a table or as JSON."""
    purse = Accountant.open(args.file)
    lines = purse.lines()
    if args.json:
        print(json.dumps({"total": purse.total, "left": purse.left, "lines": lines.to_dict("records")}, indent=2))
        return
    if len(lines):
        print(lines.to_string(float_format="{:.9g}".format), end="\n\n")
    print(f"{args.file}: {purse.spent:g} of {purse.total:g} spent, {purse.left:g} left")
