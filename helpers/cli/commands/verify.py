"""`verify`: do the census counts that ship agree with the Bureau's own files?"""

import argparse

ABOUT = "Compare the census counts that ship with the package with the Bureau's own files, which are downloaded."
EXAMPLES = ("", "vermont")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Names of states."""
    text = "names, postal or FIPS codes (default: the three whose blocks ship with their codes)"
    parser.add_argument("states", nargs="*", metavar="STATE", help=text)


def run(args: argparse.Namespace) -> None:
    """Say for each state how many counts were compared, and which differ."""
    from ...census.states import EMBEDDED  # here, because --help needs none of it

    wrong = [state for state in args.states or EMBEDDED if not _agrees(state)]
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
