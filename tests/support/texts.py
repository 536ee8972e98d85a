"""Tables as bytes: drawn as a CSV may be, spoilt as files get spoilt, and read again slowly, letter by letter.

Table: levels (names of columns, top first), count (a name), content (bytes) · paths: a node's keys, from the top
"""

import json
import re
from collections import namedtuple
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from math import isinf
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st
from support.laws import Spoilt, odd
from support.oracles import summed_paths
from support.strategies import maybe

from helpers.tables import tidy

NAMES = (
    "region", "store", "shelf", "level", "count", "released level", "released count", "Größe", "node", "year", "a b",
    "index",
)  # fmt: skip
KEYS = (
    "N", "S", "007", "7", "Süd", "a,b", 'say "x"', "two\nlines", "old\rmac", "nan", "NA", "-1", "1e5", "e\u0301", "é",
    "end ", "tab\there", "semi;colon", "0", "0.0", "None", "<b>", "+5 years", "日本", "a\u2028b", "x" * 300, "a", "a  b",
    "a b", "a\u200b",
)  # fmt: skip
ODD_KEYS = ("", " ", "\ufeff", "a\x00b", "\x1b[1m", "\u202ea", "=1+1", "@SUM(1)", "-f(1)")
COUNTS = ("0", "1", "3", "12", "250", "3.0", "0.0", "00012", "1234567", "20000000")
FRACTIONS = ("2.5", "0.5", "0.1", "0.001", "2.5e-05", "33.333333333333333333")
ODD_COUNTS = (
    "", "nan", "inf", "-inf", "-1", "-0", "1e400", "1e-400", "0x10", "1_000", "１２", "٣", "12,5", "9" * 25, "True",
    "1e15", "many", "9007199254740992", "9007199254740993", "9007199254740991", " 3", "3 ", "3\t", "--3", "1d5",
    "1e5e5", "1 000", "$5", "½", "²", "1j", "Infinity", "NULL", "1\x002", "#REF!", "9" * 5000, "3.0.0",
    "0b1", "1e", "e1", "+", ".", "1e3", "+4", "5.", ".5", "0e0", "12.000", "1.234", "12.125", "1E-3",
)  # fmt: skip
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
SECRETS = ("-987654321", "7654321.5")  # no refusal of a release may show them
TOKENS = (b"\x00", b'"', b",", b"\n", b"\r", b"\xff", b"\xef\xbb\xbf", b" ", b"-", b"9" * 30, b"9" * 5000)
NO_FILES = (b"", b" \n\n", b"\x00", b"\n", b"\xef\xbb\xbf", b"PK\x03\x04", b'"', b",", b",,\n,,\n")


Table = namedtuple("Table", "levels count columns rows content whole")  # whole: are all counts whole numbers?


@contextmanager
def folder(files):
    """A folder with files (or, for None, folders) in it, which is gone afterwards."""
    with TemporaryDirectory() as name:
        for file, content in files.items():
            path = Path(name, file)
            path.mkdir() if content is None else path.write_bytes(content)
        yield Path(name).resolve()


@st.composite
def tables(draw, odd_count=False):
    """A CSV of up to three levels: any order of columns, any separator, line end and quotes that are known.

    It is right, or with an odd count; a name may be odd then, too.
    """
    names = draw(st.lists(st.sampled_from(NAMES), min_size=4, max_size=4, unique=True))
    levels, count = names[: draw(st.integers(1, 3))], draw(st.sampled_from(["population", names[3]]))
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True))
    fractions = draw(maybe(15))
    counts = COUNTS + FRACTIONS if fractions else ("0",) if draw(maybe(20)) else COUNTS
    others = draw(st.sampled_from([[], [], ["note"], [""], ["", "remarks"], ["note", "remarks"]]))
    columns = draw(st.permutations([*levels, count, *others]))
    cells = {name: keys for name in levels} | {count: counts}
    row = st.tuples(*(st.sampled_from(cells.get(name, ["x", "", "a b"])) for name in columns)).map(list)
    rows = draw(st.lists(row, min_size=1, max_size=8))
    if odd_count:
        rows[draw(st.integers(0, len(rows) - 1))][columns.index(count)] = draw(st.sampled_from(ODD_COUNTS + SECRETS * 10))
        if draw(maybe(30)):
            rows[draw(st.integers(0, len(rows) - 1))][columns.index(levels[0])] = draw(st.sampled_from(ODD_KEYS))
    content = draw(written(columns, rows))
    return Table(tuple(levels), count, tuple(columns), tuple(map(tuple, rows)), content, not fractions)


@st.composite
def written(draw, columns, rows):
    """A table as the bytes of a CSV file, in one of the ways that all mean the same."""
    separator, end = draw(st.sampled_from(",,,;\t")), draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    quotes, space = draw(maybe(20)), " " if draw(maybe(25)) else ""

    def cell(text):
        awkward = quotes or text.startswith((" ", "\ufeff")) or any(letter in text for letter in f'{separator}"\r\n')
        return '"' + text.replace('"', '""') + '"' if awkward else text

    lines = [(separator + space).join(map(cell, row)) for row in [columns, *rows]]
    if draw(maybe(20)):
        lines.insert(draw(st.integers(1, len(lines))), "")
    mark, last = "\ufeff" if draw(maybe(25)) else "", "" if draw(maybe(33)) else end
    return (mark + end.join(lines) + last).encode()


@st.composite
def accidents(draw, content):
    """The bytes of a file after an accident: cut, flipped, mixed up, saved by another program."""
    one = lambda *options: draw(st.sampled_from(options))  # noqa: E731
    at, until, bit = (draw(st.integers(0, most)) for most in (len(content), len(content), 7))
    new = one(b"", draw(st.binary(min_size=1, max_size=6)), one(*TOKENS), one(*TOKENS), b"x" * 140_000)
    pasted = content[:at] + new + content[one(at, at, at + 1, until, len(content)) :]
    flipped = content[:at] + bytes(byte ^ 1 << bit for byte in content[at : at + 1]) + content[at + 1 :]
    other_encodings = [content.decode("latin-1").encode("utf-16"), content.decode("latin-1").encode()]
    return one(
        *[pasted] * 6, flipped, new, content[at:], content + content, one(*NO_FILES), *other_encodings,
        content.decode("utf-8", "replace").encode("latin-1", "replace"),
        content.replace(b"\n", one(b"\r", b"\r\n", b"\n\n", b"\n \n", b"", b"\n\r")),
        content.replace(b",", one(b";", b"\t", b", ", b",,", b"|", b"")),
        b"".join(draw(st.permutations(content.splitlines(keepends=True)))),
    )  # fmt: skip


def perhaps_spoilt(content):
    """The bytes as they are, or after an accident."""
    return st.just(content) | accidents(content).map(Spoilt)


NO_SPLITS = (b"[" * 100_000, b'{"a":' * 50_000, b"null", b"[]", b"1", b'"x"', b"\xff", b"9" * 5000)


def broken_splits(split):
    """The file of a split after an accident: a value replaced or lost, or its bytes spoilt."""
    content = st.sampled_from([None, 2]).map(lambda indent: json.dumps(split, indent=indent).encode())
    values = odd(split).map(lambda spoilt: json.dumps(spoilt, default=str).encode())
    return values | values | values | st.sampled_from(NO_SPLITS) | content.flatmap(accidents)


def parsed(content):
    """The columns of a CSV file and its number of rows, read letter by letter; a text that is no table fails."""
    text = content.decode("utf-8").removeprefix("\ufeff")
    first = re.search(r"[^\r\n]*[^\s][^\r\n]*", text)
    header, *rows = records(text[first.start() :], max(",;\t", key=first[0].count))
    assert not any(CONTROL.search(name.strip()) for name in header), "no name of a column"
    names = [*map(tidy, header)]
    assert len({*names} - {""}) == len([name for name in names if name]), "a name twice"
    assert all(len(row) == len(names) for row in rows), "ragged"
    return {name: [row[i] for row in rows] for i, name in enumerate(names) if name}, len(rows)


def records(text, separator):
    """Lists of cells: quotes hold separators and line ends, two of them are one; spaces before a cell are nothing."""
    cell = re.compile(rf' *+(?:"((?:[^"]|"")*+)"|(?!")([^{separator}\r\n]*))({separator}|[\r\n]|\Z)')
    at, found = 0, [[]]
    while at < len(text) or found[-1]:
        match = cell.match(text, at)
        assert match, "an open quote, or text after a quote"
        quoted, plain, end = match.groups()
        if match[0] != end or end == separator or found[-1]:
            found[-1].append(plain if quoted is None else quoted.replace('""', '"'))
        at = match.end()
        if end != separator and found[-1]:
            found.append([])
    return found[:-1]


def number(text):
    """The number that a text is, None if it is not in plain digits; blanks around it do not count."""
    text = tidy(text)
    if not re.fullmatch(r"\d+(\.\d+)?(e-\d+)?", text, re.ASCII) or isinf(float(text)):
        return None
    return Fraction(Decimal(text)) if float(text) else Fraction(0)  # a double knows nothing below 5e-324


def like_number(text):
    """Is a text a number in some form that programs write?"""
    form = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    return bool(re.fullmatch(form, tidy(text), re.ASCII)) and not isinf(float(tidy(text)))


def count_column(columns, levels, count):
    """The name of the column of counts, found as documented if none is given; all of it are counts."""
    if count is None:
        others = [name for name in columns if name not in levels]
        numbers = [name for name in others if all(map(like_number, columns[name]))]
        count = "population" if "population" in others else numbers[0]
        assert count == "population" or (len(numbers) == 1 and re.search("[^\\W\\d_]", count))
    texts = [*map(tidy, columns[count])]
    assert None not in map(number, texts), "no counts"
    dots = [text for text in texts if "." in text]
    assert not dots or not all(re.fullmatch(r"[1-9]\d?\d?\.\d\d\d", text) for text in dots), "thousands, perhaps"
    return count


def sums(columns, levels, count):
    """For each level, the count of every path, names in their one spelling; zero where there is no column of counts."""
    paths = [*zip(*(map(tidy, columns[level]) for level in levels), strict=True)]
    assert not any(CONTROL.search(name) or not name for path in paths for name in path), "no name of a node"
    values = map(number, columns[count]) if count is not None else [Fraction(0)] * len(paths)
    return summed_paths(paths, values, levels)


def nodes(header, rows, levels):
    """For each level, {path: what the last column says} of a table in long form, in its order; no node is there twice."""
    assert [*header[1:-1]] == [*levels] and len({*header}) == len(header) == len(levels) + 2
    found = [{} for _ in levels]
    for name, *path, value in rows:
        depth = levels.index(name) + 1
        assert path[depth:] == [""] * (len(levels) - depth) and tuple(path[:depth]) not in found[depth - 1], "a node twice"
        found[depth - 1][tuple(path[:depth])] = value
    return found
