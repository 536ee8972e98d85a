"""`release`: the counts of a table with exact noise, and a record of what they cost, in a folder of their own."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...checks import fraction
from ...publishing.accountant import Accountant
from ...publishing.files import check_new_folder, new_folder
from ...publishing.publish import PROMISED, WITH_THE_COUNTS, Prepared, prepare
from ...publishing.released import PrivateRelease
from ...publishing.split import BY_NODES
from .. import options
from ..options import DATA
from ..streams import ignore_interrupts, note, tell
from ..table import Table

ABOUT = "Release the counts of a table with exact noise; writes a new folder with the counts and their record."
EXAMPLES = (
    f"{DATA} --total 1 --account patients.account --budget 3 --output released",
    "patients.csv --budgets-from split.json --account patients.account --output released-again",
)
UNCOUNTED = """Nothing is keeping count. A second release of the same people is paid for on
top of this one: --account FILE --budget TOTAL adds up what is spent."""
NODES = """The list of nodes is published as it is: it must be public, empty nodes
included. --nodes FILE takes it from a public file instead of the counts."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The table, the budgets (by no rule that looks at the counts), the account, and the folder to write."""
    options.add_table_options(parser)
    options.add_total_option(parser)
    options.add_budgets_from_option(parser)
    options.add_rule_options(parser, tuple(BY_NODES))
    add = parser.add_argument
    add("--account", metavar="FILE", help="book the release in this account, before anything is drawn")
    add("--budget", type=options.number, metavar="TOTAL", help="all that may ever be spent: opens a new account")
    add("--output", metavar="FOLDER", required=True, help="write counts and record to a new folder")


def run(args: argparse.Namespace) -> None:
    """Check everything, book the release, draw the noise, and write counts and record: both or neither."""
    place = check_new_folder(args.output)
    _check_account(args, place)
    options.report_leftovers(place, *([] if args.account is None else [Path(args.account).resolve()]))
    read = Table.read(args)
    split, levels = options.given_split(args), options.levels_of(args, read)
    tree = read.tree(levels, whole=True)
    read.check_names(tree)
    split = split or options.chosen_split(args, tree)
    bound = f"the column {args.person}: rows of a person beyond it were left out" if args.person else PROMISED
    listed = "a public list of their own" if args.nodes else WITH_THE_COUNTS
    plan = prepare(tree, split, contributions=args.rows_per_person, bounded_by=bound, nodes_from=listed)
    for hint in read.hints(tree):  # for the data holder, who sees the counts anyway
        note(f"note: {hint}")
    with _told_if_booked(args.account), new_folder(place) as fresh:  # before anything is spent: may it be written at all?
        released = plan.draw(_account(args, plan))
        released.write_into(fresh)
        ignore_interrupts()
    tell(_summary(args, released, read.spellings(levels)))


def _check_account(args: argparse.Namespace, place: Path) -> None:
    if args.account is None and args.budget is not None:
        raise ValueError("--budget is the total of an account: name its file with --account")
    if args.account is not None and Path(args.account).resolve() == place:
        raise ValueError(f"--account must be a file apart from the release, got {args.account} for both")
    if args.account is not None and Path(args.account).exists():
        Accountant.open(args.account, args.budget)  # refused now rather than after a long table


def _account(args: argparse.Namespace, plan: Prepared) -> Accountant | None:
    """The account to charge; a new one is opened only for a release that fits into it."""
    if args.account is None:
        return None
    if args.budget is not None and not Path(args.account).exists() and plan.epsilon > fraction("--budget", args.budget):
        raise ValueError(f"--budget must be at least what this release spends, {float(plan.epsilon):g}, got {args.budget:g}")
    return Accountant.open(args.account, args.budget)


@contextmanager
def _told_if_booked(account: str | None) -> Iterator[None]:
    """If the work ends in an error after the release was booked, say that it stays booked."""
    before = _booked(account)
    try:
        yield
    except BaseException:
        if _booked(account) > before:
            note("note: the release was booked, and stays so: what it drew is thrown away")
        raise


def _booked(account: str | None) -> int:
    """How many lines the account has; none if it is not there, or cannot be read."""
    with suppress(OSError, ValueError):
        return len(Accountant.open(account).entries) if account is not None else 0
    return 0


def _summary(args: argparse.Namespace, released: PrivateRelease, spellings: int) -> list[str]:
    record, many = released.record, sum(map(len, released.counts))
    lines = [f"{args.output}: {many:,} noisy counts at {len(released.levels)} levels, and the record of what they cost"]
    receipt = record["account"]
    if isinstance(receipt, dict):
        spent = f"{receipt['spent']:g} of {receipt['total']:g} spent"
        lines += [f"{args.account}: line {receipt['line']}, {record['epsilon']:g} for this release; {spent}"]
    else:
        lines += [f"Spent: {record['epsilon']:g}.", UNCOUNTED]
    if spellings:
        lines += [f"{spellings:,} names were written in more than one way; each is one node."]
    return lines if args.nodes else [*lines, NODES]
