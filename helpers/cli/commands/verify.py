"""`verify`: do the counts of a release fit its record? And do the census counts that ship agree with the Bureau's own?"""

import argparse
from pathlib import Path

from ...publishing.accountant import Accountant
from ...publishing.released import PrivateRelease

ABOUT = "Check that the counts and the record of a release fit; or compare the census counts that ship with the Bureau's."
EXAMPLES = ("released", "released --account patients.account", "", "vermont")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Folders of releases, or names of states."""
    text = "folders of releases; or names, postal or FIPS codes of states (default: the three whose blocks ship with codes)"
    parser.add_argument("what", nargs="*", metavar="WHAT", help=text)
    parser.add_argument("--account", metavar="FILE", help="also look the releases up in their account")


def run(args: argparse.Namespace) -> None:
    """Say of each release that it fits; and for each state how many counts were compared, and which differ."""
    releases = [name for name in args.what if Path(name).exists()]
    purse = None if args.account is None else Accountant.open(args.account)
    for folder in releases:
        _verify_release(folder, purse)
    states = [name for name in args.what if name not in releases]
    if states or not args.what:
        _verify_states(states)


def _verify_release(folder: str, purse: Accountant | None) -> None:
    record = PrivateRelease.read(folder, purse).record
    booked = " and the account" if purse else ""
    cost = f"ε = {record['epsilon']:g}, {record['neighbours']} with at most {record['rows_per_person']:,} rows"
    origin = f"budgets {record['budgets']['origin']}"
    print(f"{folder}: {record['counts']['rows']:,} counts fit the record{booked}; {cost}; {origin}")


def _verify_states(names: list[str]) -> None:
    from ...census.states import EMBEDDED  # here, because --help needs none of it

    wrong = [state for state in names or EMBEDDED if not _agrees(state)]
    if wrong:
        raise ValueError(f"the embedded counts of {', '.join(wrong)} differ from the official ones, as listed above")


def _agrees(state: str) -> bool:
    from ...census import states
    from ...census.bureau import verify

    table = verify.compare(state)
    wrong = verify.differ(table)
    for year, rows in table.groupby("year"):
        count = int(wrong[table.year == year].sum())
        print(f"{states.title(states.state_name(state))}, {year}: {len(rows):,} counts compared, {count:,} differ")
    if wrong.any():
        print(table[wrong].astype("string").fillna("-").to_string(index=False, max_rows=20))
    return not wrong.any()
