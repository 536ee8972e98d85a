"""Lines of the Census Bureau's files, turned into block codes and counts: the only file that knows their fields.

    piece: some MB of whole lines · fips: the two digits of the wanted state · code: a block's 15 digits as a whole number

Text is read piece by piece, and of a piece only numbers are kept. So memory does not grow with a file's length, only with
the number of blocks in the one state.

Layouts are those of the Bureau's technical documentation:

- *2020 Census State Redistricting Data (Public Law 94-171) Summary File: Technical Documentation* (2021), geographic header
  record: 97 fields between bars, named in this order by the Bureau's import script `pl_geohd_2020_dar.r`.
- *2010 Census Redistricting Data (Public Law 94-171) Summary File: Technical Documentation* (PL/10-2, 2011), geographic
  header record: fixed widths, the same as in *2010 Census Summary File 1: Technical Documentation*, figure 2-5.
- *2020 Census Privacy-Protected Microdata File* (2024), and the one of the *2010 Demonstration Data Products Suite*
  (2023-04-03): one row for each person under a header of names. A block without people has no row.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import IO

import numpy as np
import pandas as pd

PIECE = 1 << 22  # bytes read at a time
WAITING = 1 << 18  # people who may wait to be counted
# Places in the geographic header of 2020, counted in fields from 0, and of 2010, counted in bytes from 0.
SUMLEV, GEOCOMP, GEOCODE, POP100, FIELDS = 2, 4, 9, 90, 97
LEVEL_2010, COUNTY_2010, TRACT_2010, BLOCK_2010 = slice(8, 13), slice(27, 32), slice(54, 60), slice(61, 65)
POP100_2010 = slice(318, 327)
DIGITS = 9  # of a count, in both years
BLOCK, STATE = b"75000", b"04000"  # summary level and geographic component of a block and of the whole state
PERSON = {"TABBLKST": 10**13, "TABBLKCOU": 10**10, "TABTRACTCE": 10**4, "TABBLK": 1}  # column: its place in a code
MOST = (99, 999, 999_999, 9_999)
OLD_NAMES = {"TABTRACT": "TABTRACTCE"}  # in earlier versions of the microdata

Counts = tuple[np.ndarray, np.ndarray]  # (blocks,) codes in order, (blocks,) people


class BadFile(ValueError):
    """What is wrong with a file: the end of a sentence that begins with its title."""


def pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The text of a file of `size` bytes in pieces that end with a line, under a progress bar."""
    from tqdm import tqdm

    rest = b""
    with tqdm(total=size, desc="reading", unit="B", unit_scale=True, delay=1, leave=False) as bar:
        while piece := stream.read(PIECE):
            bar.update(len(piece))
            if len(piece) >= PIECE and piece.isspace():  # would only take time
                raise BadFile(f"must consist of lines with something in them, got {len(piece):,} bytes of blank ones")
            whole, end, tail = piece.rpartition(b"\n")
            if end:
                yield rest + whole + end
            elif len(rest) >= PIECE:
                raise BadFile(f"must consist of lines, got {len(rest):,} bytes without an end of line")
            rest = tail if end else rest + piece
        if rest:
            yield rest


# Redistricting files: a line for each place, and for each block among them.


def redistricting_2020(text: Iterable[bytes], fips: str) -> Counts:
    """Every block of a 2020 redistricting file and its people.

    >>> line = "PLST|XX|{}|00|00|000|00|1||{}" + 80 * "|" + "|{}" + 6 * "|"
    >>> text = "\\n".join([line.format("040", "56", 7), line.format("750", "560250002001033", 7)])
    >>> redistricting_2020([text.encode()], "56")
    (array([560250002001033]), array([7]))
    """
    return _redistricting(text, fips, _fields_2020)


def redistricting_2010(text: Iterable[bytes], fips: str) -> Counts:
    """Every block of a 2010 redistricting file and its people."""
    return _redistricting(text, fips, _fields_2010)


def _fields_2020(line: bytes) -> tuple[bytes, bytes, bytes]:
    if line.count(b"|") != FIELDS - 1:
        raise BadFile(f"must have {FIELDS} fields in each line, with bars between them, got {line.count(b'|') + 1}")
    first = line.split(b"|", GEOCODE + 1)
    return first[SUMLEV] + first[GEOCOMP], first[GEOCODE], line.rsplit(b"|", FIELDS - POP100)[1]


def _fields_2010(line: bytes) -> tuple[bytes, bytes, bytes]:
    if len(line) < POP100_2010.stop:
        raise BadFile(f"must have at least {POP100_2010.stop} characters in each line, got {len(line)}")
    level = line[LEVEL_2010]
    if level == BLOCK and not line.isascii():  # a letter of two bytes would move all that comes after it
        raise BadFile("must have plain letters alone in the lines of blocks, got others: its encoding was changed")
    return level, line[COUNTY_2010] + line[TRACT_2010] + line[BLOCK_2010], line[POP100_2010].lstrip(b" ")


def _redistricting(text: Iterable[bytes], fips: str, fields: Callable[[bytes], tuple[bytes, bytes, bytes]]) -> Counts:
    number, total, found = 0, None, [np.empty((0, 2), dtype=np.int64)]
    for piece in text:
        rows = []
        for line in piece.splitlines():
            number += 1
            if not line or line.isspace():
                continue
            try:
                level, code, people = fields(line)
                if level == BLOCK:
                    rows.append(_block(code, people, fips.encode()))
            except BadFile as error:
                raise BadFile(f"{error} (line {number:,})") from None
            total = people if level == STATE else total
        found.append(np.array(rows, dtype=np.int64).reshape(-1, 2))  # (blocks of the piece, 2)
    codes, people = np.concatenate(found).T
    order = np.argsort(codes)
    return _whole(codes[order], people[order], total)


def _block(code: bytes, people: bytes, fips: bytes) -> tuple[int, int]:
    if len(code) != 15 or not code.isdigit():
        raise BadFile(f"must know blocks by 15 digits, got {_shown(code)}")
    if code[:2] != fips:
        raise BadFile(f"must hold codes that begin with {_shown(fips)} alone, got {_shown(code)}: it is another state's")
    if not people.isdigit():
        raise BadFile(f"must hold whole counts of zero or more, got {_shown(people)}")
    if len(people) > DIGITS:
        raise BadFile(f"must hold counts of at most {DIGITS} digits, got {_shown(people)}")
    return int(code), int(people)


def _whole(codes: np.ndarray, people: np.ndarray, total: bytes | None) -> Counts:
    """Codes and people, if each block occurs once and their sum is what the row of the state says."""
    twice = codes[1:][codes[1:] == codes[:-1]]
    if len(twice):
        raise BadFile(f"must list each block once, got {twice[0]:015} more than once")
    if len(codes) and (total is None or not total.isdigit() or int(total[:19]) != people.sum()):
        row = "no row for the state" if total is None else f"{_shown(total)} in the row of the state"
        raise BadFile(f"must add up to the whole state, got {people.sum()} people in its blocks and {row}")
    return codes, people


def _shown(value: bytes) -> str:
    return repr(value[:20].decode("latin-1"))


# Microdata: a line for each person.


def microdata_of_state(text: Iterable[bytes], fips: str) -> Counts:
    """Every block with people in the microdata of one state, and how many there are.

    >>> text = b"TABBLKST,TABBLKCOU,TABTRACTCE,TABBLK,QAGE\\n56,025,000200,1033,4\\n56,025,000200,1033,36\\n"
    >>> microdata_of_state([text], "56")
    (array([560250002001033]), array([2]))
    """
    return _microdata(text, fips, others=False)


def microdata_of_nation(text: Iterable[bytes], fips: str) -> Counts:
    """Every block with people of one state in the microdata of all of them, and how many there are.

    All of it is read: nothing says that its rows are sorted by state, so they may not stop where they seem to.
    """
    return _microdata(text, fips, others=True)


def header(text: Iterator[bytes]) -> tuple[bytes, list[int], str, int]:
    """What follows the header in the first piece, the places of the columns in PERSON, what is between columns, and
    the number of the line that follows."""
    piece, start = next(text, b"").removeprefix(b"\xef\xbb\xbf"), 0
    while piece.startswith(b"#", start):  # remarks above the header
        start = piece.find(b"\n", start) + 1 or len(piece)
    number = 2 + piece.count(b"\n", 0, start)
    line, _, piece = piece[start:].partition(b"\n")
    if b"\r" in line.rstrip(b"\r"):
        raise BadFile("must have lines that end with a line feed, got a carriage return within its first line")
    separator = "|" if b"|" in line else ","
    names = [name.strip('" \r').upper() for name in line.decode("latin-1").split(separator)]
    names = [OLD_NAMES.get(name, name) for name in names]
    for column in PERSON:
        if names.count(column) != 1:
            raise BadFile(f"must have one column {column}, got {', '.join(names)[:200]!r} as its first line")
    return piece, [names.index(column) for column in PERSON], separator, number


def _microdata(text: Iterable[bytes], fips: str, others: bool) -> Counts:
    text = iter(text)
    first, places, separator, number = header(text)
    codes = people = np.empty(0, dtype=np.int64)
    waiting: list[np.ndarray] = []  # codes not yet counted; they are as soon as they are more than the blocks known
    for piece in chain([first], text):
        persons = _numbers(piece, places, separator, number)  # (rows, 4)
        number += piece.count(b"\n")
        own = persons[:, 0] == int(fips)
        if not others and not own.all():
            raise BadFile(f"must hold people of state {fips!r} alone, got one of '{persons[own.argmin(), 0]:02}'")
        waiting.append(persons[own] @ np.array(list(PERSON.values())))
        if sum(map(len, waiting)) > max(WAITING, len(codes)):
            codes, people, waiting = *_tally(codes, people, waiting), []
    return _tally(codes, people, waiting)


def _tally(codes: np.ndarray, people: np.ndarray, waiting: list[np.ndarray]) -> Counts:
    """Add one person for each waiting code."""
    known, place = np.unique(np.concatenate([codes, *waiting]), return_inverse=True)
    out = np.bincount(place[len(codes) :], minlength=len(known))
    out[place[: len(codes)]] += people
    return known, out


def _numbers(piece: bytes, places: list[int], separator: str, number: int) -> np.ndarray:
    """(rows, 4) the columns of PERSON as whole numbers; `number` is that of the first line."""
    form = {"sep": separator, "header": None, "usecols": places, "encoding": "latin-1", "low_memory": False}
    if not piece.strip():
        return np.empty((0, len(places)), dtype=np.int64)
    with suppress(ValueError, KeyError):  # the lines do not have the same columns
        persons = pd.read_csv(io.BytesIO(piece), **form)[places].to_numpy()
        if persons.dtype == np.int64 and not ((persons < 0) | (persons > MOST)).any():
            return persons
    raise BadFile(_first_bad(piece, places, separator, number))


def _first_bad(piece: bytes, places: list[int], separator: str, number: int) -> str:
    """Which line of a piece is wrong, and what is in it."""
    lines = piece.splitlines()
    for i, line in enumerate(lines):
        if not line.strip():
            continue
        cells = [*line.decode("latin-1").split(separator), *[""] * (max(places) + 1)]
        values = [cells[place].strip('" ') for place in places]
        if not all(v.isdecimal() and float(v) <= most for v, most in zip(values, MOST, strict=True)):
            got = ", ".join(f"{name} {value[:20]!r}" for name, value in zip(PERSON, values, strict=True))
            return f"must know blocks by whole numbers, got {got} (line {number + i:,})"
    return f"must have the same columns in each line, got others in one of lines {number:,} to {number + len(lines) - 1:,}"
