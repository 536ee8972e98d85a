"""Tables as bytes: drawn as a CSV may be, spoilt as files get spoilt, and read again slowly, letter by letter.

    Table: levels (names of columns, top first), count (a name), content (bytes) · paths: a node's keys, from the top
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isinf
from random import Random

NAMES = (
    "region", "store", "shelf", "level", "count", "released level", "released count", "Größe", "node", "year", "a b",
    "index",
)  # fmt: skip
KEYS = (
    "N", "S", "007", "7", "Süd", "a,b", 'say "x"', "two\nlines", "old\rmac", "nan", "NA", "-1", "1e5", "e\u0301", "é",
    "end ", "tab\there", "semi;colon", "0", "0.0", "None", "<b>", "=1+1", "日本", "\ufeff", "a\u2028b", "x" * 300,
    "a\x00b", "a\x00c", "a",
)  # fmt: skip
COUNTS = ("0", "1", "3", "12", "250", "3.0", "1e3", "+4", "5.", "0e0", "8e0", "00012", "1234567", "20000000")
FRACTIONS = ("2.5", ".5", "0.1", "1e-3", "33.333333333333333333")
ODD_COUNTS = (
    "", "nan", "inf", "-inf", "-1", "-0", "1e400", "1e-400", "0x10", "1_000", "１２", "٣", "12,5", "9" * 25, "True",
    "1e15", "many", "9007199254740992", "9007199254740993", "9007199254740991", " 3", "3 ", "3\t", "--3", "1d5",
    "1e5e5", "1 000", "$5", "½", "²", "1j", "Infinity", "NULL", "1\x002", "#REF!", "9" * 5000, "-987654321",
    "7654321.5", "3.0.0", "0b1", "1e", "e1", "+", ".",
)  # fmt: skip


class Bad(Exception):
    """A text that is no table."""


@dataclass(frozen=True)
class Table:
    """A file and what was written into it."""

    levels: tuple[str, ...]
    count: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    content: bytes
    whole: bool  # are all counts whole numbers?

    def __repr__(self) -> str:
        return f"{self.content!r}, levels {self.levels}, count {self.count!r}"


def table(draw: Random, odd_counts: bool = False) -> Table:
    """A right CSV of up to three levels: any order of columns, any separator, line end and quotes that are known."""
    names = draw.sample(NAMES, 4)
    levels, count = names[: draw.randint(1, 3)], draw.choice(["population", names[3]])
    keys = draw.sample(KEYS, draw.randint(1, 4))
    fractions = draw.random() < 0.15
    counts = COUNTS + FRACTIONS if fractions else draw.choice([COUNTS, COUNTS, COUNTS, COUNTS, ("0",)])
    columns = [*levels, count, *draw.sample(["note", "", "remarks"], draw.choice([0, 0, 1, 2]))]
    draw.shuffle(columns)
    rows = []
    for _ in range(draw.randint(1, 8)):
        cells = {name: draw.choice(keys) for name in levels} | {count: draw.choice(counts)}
        rows.append([cells.get(name, draw.choice(["x", "", "a b"])) for name in columns])
    if odd_counts:
        draw.choice(rows)[columns.index(count)] = draw.choice(ODD_COUNTS)
    return Table(tuple(levels), count, tuple(columns), tuple(map(tuple, rows)), written(draw, columns, rows), not fractions)


def written(draw: Random, columns: list[str], rows: list[list[str]]) -> bytes:
    """A table as the bytes of a CSV file, in one of the ways that all mean the same."""
    separator, quotes, end = draw.choice(",,,;\t"), draw.random() < 0.2, draw.choice(["\n", "\n", "\r\n", "\r"])
    space = draw.choice(["", "", "", " "])

    def cell(text: str) -> str:
        awkward = quotes or text.startswith((" ", "\ufeff")) or any(letter in text for letter in f'{separator}"\r\n')
        return '"' + text.replace('"', '""') + '"' if awkward else text

    lines = [(separator + space).join(map(cell, row)) for row in [columns, *rows]]
    if draw.random() < 0.2:
        lines.insert(draw.randint(1, len(lines)), "")
    text = end.join(lines) + draw.choice([end, end, ""])
    return draw.choice(["", "", "", "\ufeff"]).encode() + text.encode()


def spoilt(draw: Random, content: bytes) -> bytes:
    """The bytes of a file after an accident: cut, flipped, mixed up, saved by another program."""
    at, until = sorted(draw.randint(0, len(content)) for _ in range(2))
    some = bytes(draw.randrange(256) for _ in range(draw.randint(1, 6)))
    token = draw.choice([b"\x00", b'"', b",", b"\n", b"\r", b"\xff", b"\xef\xbb\xbf", b" ", b"-", b"9" * 30, b"9" * 5000])
    other = bytes([content[at] ^ 1 << draw.randrange(8)]) if at < len(content) else b""
    text = content.decode("latin-1")
    return draw.choice([
        lambda: content[:at],
        lambda: content[at:],
        lambda: content[:at] + content[until:],
        lambda: content[:until] + content[at:],
        lambda: content[:at] + some + content[at:],
        lambda: content[:at] + token + content[at:],
        lambda: content[:at] + token + content[at + 1 :],
        lambda: content[:at] + other + content[at + 1 :],
        lambda: some,
        lambda: draw.choice([b"", b" \n\n", b"\x00", b"\n", b"\xef\xbb\xbf", b"PK\x03\x04", b'"', b",", b",,\n,,\n"]),
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-8"),
        lambda: content.decode("utf-8", "replace").encode("latin-1", "replace"),
        lambda: content.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b"\n \n", b"", b"\n\r"])),
        lambda: content.replace(b",", draw.choice([b";", b"\t", b", ", b",,", b"|", b""])),
        lambda: b"".join(draw.sample(lines := content.splitlines(keepends=True), len(lines))),
        lambda: content + content,
        lambda: content[:at] + b"x" * 140_000 + content[at:],
    ])()  # fmt: skip


def parsed(content: bytes) -> tuple[dict[str, list[str]], int]:
    """The columns of a CSV file and its number of rows, read letter by letter."""
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Bad("not UTF-8") from None
    first = next(filter(str.strip, re.split("[\r\n]", text)), "")
    separator = max(",;\t", key=first.count)
    header, *rows = [*records(text, separator)] or [[]]
    names = [name.strip() for name in header]
    if not text.strip() or len({*names} - {""}) < len([name for name in names if name]):
        raise Bad("no header")
    rows = [row for row in rows if row]
    if any(len(row) != len(names) for row in rows):
        raise Bad("ragged")
    return {name: [row[i] for row in rows] for i, name in enumerate(names) if name}, len(rows)


def records(text: str, separator: str) -> Iterator[list[str]]:
    """Lists of cells: quotes hold separators and line ends, two of them are one; spaces before a cell are nothing."""
    row, cell, state = [], "", "before"
    for letter in [*text, None]:
        ends = letter in ("\r", "\n", None)
        if state == "quoted":
            if letter is None:
                raise Bad("open quote")
            state, cell = ("closed", cell) if letter == '"' else ("quoted", cell + letter)
        elif state == "closed" and letter == '"':
            state, cell = "quoted", cell + letter
        elif ends:
            if state != "before":
                yield [*row, cell]
            row, cell, state = [], "", "before"
        elif letter == separator:
            row, cell, state = [*row, cell], "", "start"
        elif state == "closed":
            raise Bad("text after a quote")
        elif letter == '"' and state in ("before", "start", "space"):
            state = "quoted"
        elif letter == " " and state in ("before", "start", "space"):
            state = "space"
        else:
            state, cell = "plain", cell + letter


def number(text: str) -> Fraction | None:
    """The number that a text is, None if it is none or too large for a double; blanks around it do not count."""
    if not re.fullmatch(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", text, re.ASCII) or isinf(float(text)):
        return None
    return Fraction(Decimal(text.strip())) if float(text) else Fraction(0)  # a double knows nothing below 5e-324


def sums(columns: dict[str, list[str]], levels: list[str], count: str | None) -> list[dict[tuple[str, ...], Fraction]]:
    """For each level, the count of every path, without blanks around names; zero where there is no column of counts."""
    out = []
    for depth in range(1, len(levels) + 1):
        paths = zip(*(map(str.strip, columns[level]) for level in levels[:depth]), strict=True)
        values = [number(text) for text in columns[count]] if count is not None else None
        found: dict[tuple[str, ...], Fraction] = {}
        for i, path in enumerate(paths):
            found[path] = found.get(path, Fraction(0)) + (values[i] if values else 0)
        out.append(found)
    return out
