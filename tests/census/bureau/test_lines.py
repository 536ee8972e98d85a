"""Lines of the Bureau's files: known counts come back from made-up texts in the official layouts, every fault is named."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.official_files import BLOCKS, HEADER, LINES, POPULATED, microdata, person, redistricting
from support.refusals import refusal

from helpers.census.bureau import lines as layouts

YEARS = (2010, 2020)
READ = {2010: layouts.redistricting_2010, 2020: layouts.redistricting_2020}
ROW = person("500010001001000") + "\n"


def as_dict(counts):
    codes, people = counts
    assert codes.dtype == people.dtype == np.int64 and (np.diff(codes) > 0).all()
    return dict(zip(map("{:015}".format, codes.tolist()), people.tolist(), strict=True))


def blocks_of(year, text):
    """The counts of a redistricting file of Vermont that comes in one piece."""
    return as_dict(READ[year]([text.encode("latin-1")], "50"))


def fault_of(read, pieces, state="50"):
    """What is wrong with a text."""
    return refusal(read, pieces, state, by=layouts.BadFile)


# Pieces


@given(
    st.dictionaries(st.integers(0, 10**13 - 1).map("50{:013}".format), st.integers(0, 50), min_size=1),
    st.integers(10, 3000),
)
def test_pieces_do_not_matter(blocks, size):
    """Wherever a text is cut into pieces, the counts are the same; so they are however many people wait to be counted."""
    for year, read in READ.items():
        assert as_dict(read(cut(redistricting(year, blocks), size), "50")) == blocks
    populated = {code: n for code, n in blocks.items() if n}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "WAITING", size // 50)
        assert as_dict(layouts.microdata_of_nation(cut(microdata(blocks), max(size, 150)), "50")) == populated


def cut(text, size):
    """A text in pieces of whole lines, each of at least so many bytes."""
    piece = b""
    for line in io.BytesIO(text.encode("latin-1")):
        piece += line
        if len(piece) >= size:
            yield piece
            piece = b""
    yield piece


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"") + b"."), max_size=20), st.integers(31, 100))
def test_pieces_are_the_text(lines, size):
    """Together the pieces are the text, and all but the last end with a line, however much is read at a time."""
    text = b"\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "PIECE", size)
        found = list(layouts.pieces(io.BytesIO(text), len(text)))
        halves = list(layouts.pieces(Halting(text), len(text)))
    assert b"".join(found) == b"".join(halves) == text
    assert all(piece.endswith(b"\n") for piece in [*found[:-1], *halves[:-1]])


class Halting(io.BytesIO):
    """A stream that gives seven bytes at a time, as a zip may."""

    def read(self, size):
        return super().read(7)


def test_a_piece_has_as_many_lines_as_were_read(monkeypatch):
    """All whole lines of what is read at a time make one piece, and the rest begins the next."""
    monkeypatch.setattr(layouts, "PIECE", 5)
    assert list(layouts.pieces(io.BytesIO(b"a\nb\ncde\nf"), 10)) == [b"a\nb\n", b"cde\n", b"f"]


def test_a_line_may_be_a_piece_long_and_no_longer(monkeypatch):
    """One piece without an end of line waits for the next one; what then still has none is refused."""
    monkeypatch.setattr(layouts, "PIECE", 1000)
    text = b"a\n" + b"x" * 1998 + b"\n" + b"y" * 999
    assert list(layouts.pieces(io.BytesIO(text), len(text))) == [b"a\n", b"x" * 1998 + b"\n", b"y" * 999]
    text = b"a" * 999 + b"\n" + b"x" * 2000 + b"\n"
    said = refusal(list, layouts.pieces(io.BytesIO(text), len(text)), by=layouts.BadFile)
    assert said == "must consist of lines, got 1,000 bytes without an end of line"


def test_a_piece_of_blank_lines_is_refused(monkeypatch):
    """A file of line ends ends with its first piece; blank lines that do not fill one are nobody's fault."""
    monkeypatch.setattr(layouts, "PIECE", 1000)
    stream = io.BytesIO(b"\r\n" * 10_000)
    said = refusal(list, layouts.pieces(stream, 20_000), by=layouts.BadFile)
    assert said == "must consist of lines with something in them, got 1,000 bytes of blank ones" and stream.tell() == 1000
    for text in (b"\n" * 999, b"\n" * 999 + b"a\n" + b" \n" * 499):
        assert b"".join(layouts.pieces(io.BytesIO(text), len(text))) == text


def test_blank_lines_cost_nothing(monkeypatch):
    """Fields are looked for only in lines with something in them; the lines are still counted."""
    seen, fields = [], layouts._fields_2020
    monkeypatch.setattr(layouts, "_fields_2020", lambda line: seen.append(line) or fields(line))
    assert fault_of(layouts.redistricting_2020, [b"\n" * 5000 + b" \t\r\n" * 5 + b"x\n"]).endswith(", got 1 (line 5,006)")
    assert seen == [b"x"]


def test_the_progress_bar_counts_bytes(monkeypatch):
    """After a second it shows which part of all bytes was read; it is gone at the end, and a quick reading has none."""
    monkeypatch.setattr(layouts, "PIECE", 500)
    text = b"abcd\n" * 400
    assert bar_of(monkeypatch, text, step=0.1) == ""
    shown = bar_of(monkeypatch, text, step=0.6)
    assert [part.split("|")[0] for part in shown.split("\r") if part.strip()] == [
        "reading:  50%", "reading:  75%", "reading: 100%",
    ]  # fmt: skip
    assert "| 1.00k/2.00k [" in shown and "B/s]" in shown and shown.endswith("\r")


def bar_of(monkeypatch, text, step):
    """What the bar writes while a text is read by a clock that goes on by `step` seconds with each look at it."""
    import tqdm

    screen, ticks = io.StringIO(), iter(np.arange(1000) * step)

    class Shown(tqdm.std.tqdm):
        def __init__(self, *args, **options):
            super().__init__(*args, disable=False, file=screen, ncols=80, **options)

    monkeypatch.setattr(tqdm.std, "time", lambda: float(next(ticks)))
    with monkeypatch.context() as patch:
        patch.setattr(tqdm, "tqdm", Shown)
        assert b"".join(layouts.pieces(io.BytesIO(text), len(text))) == text
    return screen.getvalue()


# Redistricting files


def test_layouts_are_those_of_the_documentation():
    """The places of the fields, counted from 1 as the documentation does."""
    assert [layouts.SUMLEV + 1, layouts.GEOCODE + 1, layouts.POP100 + 1, layouts.FIELDS] == [3, 10, 91, 97]
    names = ("LEVEL", "COUNTY", "TRACT", "BLOCK", "POP100")
    places = [getattr(layouts, f"{name}_2010") for name in names]
    assert [(p.start + 1, p.stop - p.start) for p in places] == [(9, 5), (28, 5), (55, 6), (62, 4), (319, 9)]


@pytest.mark.parametrize("year", YEARS)
def test_blocks_come_in_the_order_of_their_codes(year):
    """The order of the lines does not matter."""
    assert blocks_of(year, redistricting(year, dict(reversed(BLOCKS.items())))) == BLOCKS


@pytest.mark.parametrize("year", YEARS)
def test_only_blocks_count(year):
    """A part of a block (another geographic component) and a place of another level are no block, whatever they hold."""
    block, part = LINES[year]("750", "500010001001000", 9), LINES[year]("750", "500010001001000", 9)
    part = part.replace("|00|00|", "|00|01|") if year == 2020 else part[:11] + "01" + part[13:]
    lines = [LINES[year]("040", "50", 9), part, LINES[year]("740", "500010001001", "none"), block]
    assert blocks_of(year, "\n".join(lines)) == {"500010001001000": 9}


@pytest.mark.parametrize("year", YEARS)
def test_a_text_without_blocks_has_none(year):
    """No line, and lines of other places alone, give no block; the caller says that this is wrong."""
    county = LINES[year]("050", "50001", 5).encode()
    for text in ([], [b""], [b"\n\r\n"], [county]):
        assert as_dict(READ[year](text, "50")) == {}


def edited(year, old, new):
    text = redistricting(year)
    assert old in text
    return text.replace(old, new, 1)


def bad_count(year, count):
    """A file where the block with 250 people has another count."""
    line = LINES[year]("750", "500010001002000", 250)
    width = {2010: 9, 2020: 0}[year]
    return edited(year, line, line.replace(f"{250:{width}}", f"{count:>{width}}", 1))


def bad_code(year, code):
    """A file with one more block, of that code, on line 9."""
    return redistricting(year) + LINES[year]("750", code, 0) + "\n"


def lines(year, *which):
    return "\n".join(redistricting(year).splitlines()[slice(*which)])


SUM = "must add up to the whole state, got {} people in its blocks and {}"
TWICE = "must list each block once, got {} more than once"
NO_COUNTS = {
    "not a number": "2x0", "negative": "-250", "a letter before it": "X250", "a tab before it": "\t250",
    "a fraction": "2.5", "no count": "",
}  # fmt: skip
FAULTS = {
    name: (lambda y, count=count: bad_count(y, count), f"must hold whole counts of zero or more, got {count!r} (line 5)")
    for name, count in NO_COUNTS.items()
} | {
    "another count": (lambda y: bad_count(y, "251"), SUM.format(302, "'301' in the row of the state")),
    "a block twice": (lambda y: bad_code(y, "500010001001000"), TWICE.format("500010001001000")),
    "another block twice": (lambda y: bad_code(y, "500030001001000"), TWICE.format("500030001001000")),
    "a block missing": (lambda y: lines(y, None, -2), SUM.format(269, "'301' in the row of the state")),
    "no state row": (lambda y: lines(y, 1, None), SUM.format(301, "no row for the state")),
    "a state without a count": (
        lambda y: edited(y, LINES[y]("040", "50", 301), LINES[y]("040", "50", "many")),
        SUM.format(301, "'many' in the row of the state"),
    ),
    "another state": (
        lambda y: redistricting(y, {"510010001001000": 3}),
        "must hold codes that begin with '50' alone, got '510010001001000': it is another state's (line 3)",
    ),
    "no number of a block": (
        lambda y: bad_code(y, "50001000100x000"),
        "must know blocks by 15 digits, got '50001000100x000' (line 9)",
    ),
}


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_redistricting_files_are_refused(fault, year):
    """Each fault has a sentence that says what was found, and where, also when the text comes in pieces."""
    text, words = FAULTS[fault]
    for size in (1, 10**6):
        assert fault_of(READ[year], cut(text(year), size)) == words


FIELDS = "must have 97 fields in each line, with bars between them, got "
LETTERS = "must have at least 327 characters in each line, got "
CODES = "must know blocks by 15 digits, got "
FAULTY_LINES = [
    (2020, "<p>not here</p>", FIELDS + "1 (line 1)"),
    (2020, edited(2020, "||", "|"), FIELDS + "96 (line 1)"),
    (2020, edited(2020, "||", "|||"), FIELDS + "98 (line 1)"),
    (2020, bad_code(2020, "5" * 16), f"{CODES}'{'5' * 16}' (line 9)"),
    (2020, bad_code(2020, "5" * 14), f"{CODES}'{'5' * 14}' (line 9)"),
    (2020, bad_code(2020, "é" * 25), f"{CODES}'{'é' * 20}' (line 9)"),
    (2010, "<p>not here</p>", LETTERS + "15 (line 1)"),
    (2010, lines(2010, 1)[:326], LETTERS + "326 (line 1)"),
    (
        2010,
        redistricting(2010) + LINES[2010]("750", "500030001003998", 0, name="Block Ñ"),
        "must have plain letters alone in the lines of blocks, got others: its encoding was changed (line 9)",
    ),
    (2010, bad_code(2010, "500010001") + "\n" * 2000, CODES + "'500010001      ' (line 9)"),
    (2020, "\n" * 2000 + "|", FIELDS + "2 (line 2,001)"),
]


@pytest.mark.parametrize("year, text, words", FAULTY_LINES)
def test_faulty_lines_are_refused(year, text, words):
    """Too few or too many fields or characters, codes that are none, and letters of two bytes, with the line."""
    assert fault_of(READ[year], [text.encode("latin-1")]) == words


def test_lines_of_2010_may_end_after_the_count():
    """What comes after POP100 is not read, so it may be missing."""
    assert blocks_of(2010, "\n".join(line[:327] for line in redistricting(2010).splitlines())) == BLOCKS


@pytest.mark.parametrize("end", ["\r\n", "\n\n", "\n  \n"], ids=["Windows", "empty lines", "blank lines"])
@pytest.mark.parametrize("year", YEARS)
def test_ends_of_lines_do_not_matter(year, end):
    """Lines may end as on Windows, and blank lines are no lines."""
    assert blocks_of(year, redistricting(year).replace("\n", end)) == BLOCKS


# Microdata


def both(text):
    """What the two readers of microdata find, which is the same in the file of one state."""
    found = as_dict(layouts.microdata_of_nation([text.encode("latin-1")], "50"))
    assert as_dict(layouts.microdata_of_state([text.encode("latin-1")], "50")) == found
    return found


def test_microdata_takes_other_headers():
    """Older names, quotes, remarks, a byte-order mark, bars, small letters and other orders of columns change nothing."""
    rows = microdata().splitlines()[1:]
    turned = [",".join(row.split(",")[i] for i in (4, 2, 9, 1, 0)) for row in rows]
    texts = [
        microdata(),
        microdata(header=HEADER.replace("TABTRACTCE", "TABTRACT")),
        "\ufeff".encode().decode("latin-1") + microdata(),
        "# made up, with | and ,\n#\n" + microdata().replace(",", "|"),
        microdata().replace("TABBLKST", '"TABBLKST"').replace("50,001", '"50","001"').lower(),
        microdata(header=HEADER.replace(",", " , ")),
        microdata().replace("\n", "\r\n"),
        microdata(header="TABBLKST,TABBLKCOU,TABTRACTCE,TABBLKGRPCE,TABBLK" + 7 * ",Ä" + ",É"),
        "\n".join(["TABBLK,TABTRACTCE,QAGE,TABBLKCOU,TABBLKST", *turned]),
    ]
    for text in texts:
        assert both(text) == POPULATED


def test_a_header_is_what_comes_before_the_people():
    """The rest of its piece, the places of the four columns, and what is between columns; no further piece is touched."""
    text = iter([b"# a remark\nTABBLK|x|TABTRACT|tabblkcou|TABBLKST\r\n1|2|3|4|5\n", b"more"])
    assert layouts.header(text) == (b"1|2|3|4|5\n", [4, 3, 2, 0], "|", 3)
    assert list(text) == [b"more"]
    assert layouts.header(iter([HEADER.encode()])) == (b"", [0, 1, 2, 4], ",", 2)


class Copied(bytes):
    """A text that counts how many of its bytes are copied."""

    copied = 0

    def removeprefix(self, prefix):
        return self

    def __getitem__(self, place):
        return Copied.noted(super().__getitem__(place))

    def partition(self, separator):
        before, found, after = super().partition(separator)
        return before, found, Copied.noted(after)

    @classmethod
    def noted(cls, text):
        cls.copied += len(text)
        return cls(text)


def test_remarks_are_passed_in_one_go(monkeypatch):
    """However many lines of remarks there are, no byte is copied more than twice: not once for each line above it."""
    monkeypatch.setattr(Copied, "copied", 0)
    text = Copied(b"#\n" * 1000 + HEADER.encode() + b"\n" + ROW.encode())
    assert layouts.header(iter([text])) == (ROW.encode(), [0, 1, 2, 4], ",", 1002)
    assert 0 < Copied.copied <= 2 * len(text)


NO_BLOCK = HEADER.replace("TABBLK,", "BLOCK,")
HEADERS = [
    ([], "TABBLKST", ""), ([b""], "TABBLKST", ""), ([b"# a remark alone"], "TABBLKST", ""),
    ([b"a;b\nTABBLKST"], "TABBLKST", "A;B"), ([NO_BLOCK.encode()], "TABBLK", NO_BLOCK.replace(",", ", ")),
    ([b"TABBLKST,TABBLKST"], "TABBLKST", "TABBLKST, TABBLKST"), ([b"x" * 300], "TABBLKST", "X" * 200),
    (["é".encode("latin-1")], "TABBLKST", "É"),
]  # fmt: skip


@pytest.mark.parametrize("text, column, got", HEADERS)
def test_headers_without_the_columns_are_refused(text, column, got):
    """The sentence says which column is not there once, and shows the beginning of what is there."""
    said = refusal(layouts.header, iter(text), by=layouts.BadFile)
    assert said == f"must have one column {column}, got {got!r} as its first line"


def test_microdata_of_the_nation_holds_other_states():
    """People elsewhere are left out; under the name of one state they are refused."""
    text = (microdata() + person("060010001001000") + "\n" + person("510010001001000")).encode()
    for state, people in {"50": POPULATED, "06": {"060010001001000": 1}, "56": {}}.items():
        assert as_dict(layouts.microdata_of_nation([text], state)) == people
    for state, other in (("50", "06"), ("06", "50")):
        said = f"must hold people of state '{state}' alone, got one of '{other}'"
        assert fault_of(layouts.microdata_of_state, [text], state) == said
    assert as_dict(layouts.microdata_of_state([HEADER.encode()], "50")) == {}


def test_the_largest_and_smallest_codes_are_counted():
    """Each of the four columns may be as large as its digits allow, and zero."""
    most = {"500000000000000": 2, "509999999999999": 1}
    assert both(microdata(most)) == most


BAD_PEOPLE = {  # a row, and what it says of state, county, tract and block
    "a word": ("50,x01,000100,1,1000,3", "50", "x01", "000100", "1000"),
    "a letter": ("50,X01,000100,1,1000,3", "50", "X01", "000100", "1000"),
    "negative": ("50,-01,000100,1,1000,3", "50", "-01", "000100", "1000"),
    "missing": ("50,,000100,1,1000,3", "50", "", "000100", "1000"),
    "quoted": ('50,"", "1" ,1,1000,3', "50", "", "1", "1000"),
    "too large a state": ("100,001,000100,1,1000,3", "100", "001", "000100", "1000"),
    "too large a county": ("50,1000,000100,1,1000,3", "50", "1000", "000100", "1000"),
    "too large a tract": ("50,001,1000000,1,1000,3", "50", "001", "1000000", "1000"),
    "too large a block": ("50,001,000100,1,10000,3", "50", "001", "000100", "10000"),
    "beyond integers": (f"50,001,000100,1,{'9' * 30},3", "50", "001", "000100", "9" * 20),
    "zeros in front of the right digits":
        (f"50,001,000100,1,{'9' * 10}{'0' * 20}1000,3", "50", "001", "000100", "9" * 10 + "0" * 10),
    "an exponent": ("50,1e2,000100,1,1000,3", "50", "1e2", "000100", "1000"),
    "a decimal": ("50,1.0,000100,1,1000,3", "50", "1.0", "000100", "1000"),
    "endless": (f"50,001,000100,1,{'9' * 5000},3", "50", "001", "000100", "9" * 20),
    "too short": ("50,001", "50", "001", "", ""),
    "empty": (",", "", "", "", ""),
    "letters": ("é" * 25, "é" * 20, "", "", ""),
}  # fmt: skip


def no_block(state, county, tract, block, line):
    """What is said of a row that names no block."""
    row = f"TABBLKST {state!r}, TABBLKCOU {county!r}, TABTRACTCE {tract!r}, TABBLK {block!r}"
    return f"must know blocks by whole numbers, got {row} (line {line})"


@pytest.mark.parametrize("fault", BAD_PEOPLE)
def test_faulty_people_are_refused(fault):
    """A person in no block is refused, with the line, which is the first of several faulty ones."""
    row, *codes = BAD_PEOPLE[fault]
    good = person("509990001001000")
    for last in ("", "x"):
        for separator in ",|":
            text = "\n".join([HEADER, good, row, good, last]).replace(",", separator).encode("latin-1")
            assert fault_of(layouts.microdata_of_nation, [text]) == no_block(*codes, 3)


RETURN = "must have lines that end with a line feed, got a carriage return within its first line"
OPENED = ROW.replace(",3,", ',"3,', 1)  # no cell is wrong by itself, but there are no columns
FAULTY_PIECES = {  # pieces of a text, and what is wrong with it
    "the first person too short": ([f"{HEADER}\n50,001\n{ROW}"], no_block("50", "001", "", "", 2)),
    "the first person in no block": ([f"{HEADER}\n50,001,000100,1\n{ROW}"], no_block("50", "001", "000100", "", 2)),
    "the first person in the header": ([f"{HEADER}\r{ROW}{ROW}"], RETURN),
    "a blank in the header": ([f"{HEADER}\r \n{ROW}"], RETURN),
    "a letter in the header": ([f"{HEADER}\rX\n{ROW}"], RETURN),
    "below two pieces": ([f"{HEADER}\n{999 * ROW}", 999 * ROW, f"{ROW}50,x\n"], no_block("50", "x", "", "", "2,001")),
    "below remarks and blank lines":
        ([f"# one\n# two\n{HEADER}\n\n{ROW}", f"\n{ROW[:-1]}\r\n\r\n\n50,x\n"], no_block("50", "x", "", "", 10)),
    "quotes that are never closed": (
        [f"{HEADER}\n{1000 * ROW}", ROW + OPENED],
        "must have the same columns in each line, got others in one of lines 1,002 to 1,003",
    ),
}  # fmt: skip


@pytest.mark.parametrize("pieces, words", FAULTY_PIECES.values(), ids=FAULTY_PIECES)
def test_faults_are_named_with_their_line(pieces, words):
    """The first person is not lost; lines are counted as an editor counts them, over all pieces, with a comma."""
    assert fault_of(layouts.microdata_of_state, [piece.encode() for piece in pieces]) == words


def test_a_count_has_nine_digits_at_most():
    """The largest is taken; more digits than a count can have are not read as a number."""
    most = {"500010001001000": 999_999_999}
    for year in YEARS:
        assert blocks_of(year, redistricting(year, most)) == most
    for digits in (10, 5000):
        said = fault_of(READ[2020], [bad_count(2020, "9" * digits).encode()])
        assert said == f"must hold counts of at most 9 digits, got '{'9' * min(digits, 20)}' (line 5)"


def test_few_people_wait_to_be_counted(monkeypatch):
    """They are counted as soon as more wait than WAITING and than there are blocks, so no more than a piece above that."""
    waited, tally = [], layouts._tally

    def spy(codes, people, waiting):
        waited.append((len(codes), [len(codes) for codes in waiting]))
        return tally(codes, people, waiting)

    monkeypatch.setattr(layouts, "_tally", spy)
    monkeypatch.setattr(layouts, "WAITING", 2)
    rows = [person(f"5000100010010{i:02}") + "\n" for i in range(7)]
    groups = [(rows[0], rows[0]), (rows[1],), *zip(rows, strict=True), (rows[0], rows[1])]
    text = [HEADER.encode() + b"\n", *("".join(group).encode() for group in groups)]
    codes, people = layouts.microdata_of_state(text, "50")
    assert people.tolist() == [4, 3, 1, 1, 1, 1, 1] and len(codes) == 7
    assert waited == [(0, [0, 2, 1]), (2, [1, 1, 1]), (3, [1, 1, 1, 1]), (7, [2])]
