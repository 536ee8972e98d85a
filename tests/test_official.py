"""The Bureau's files: known counts come back from made-up files in the official layouts, and every fault has a sentence."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from official_files import (
    BLOCKS,
    HEADER,
    LINES,
    microdata,
    person,
    redistricting,
    write_large,
    write_microdata,
    write_redistricting,
)

from helpers import Hierarchy, census, official, prior, records, states

YEARS = (2010, 2020)
KINDS = list(official.KINDS)
POPULATED = {code: n for code, n in BLOCKS.items() if n}


def made_up(folder, kind, blocks=BLOCKS):
    """A small file of one of the four kinds, with Vermont in it."""
    source, year = kind
    if source == "official":
        return write_redistricting(folder / "vt.zip", year, redistricting(year, blocks))
    if year == 2020:
        return write_microdata(folder / "ppmf.zip", {"50": microdata(blocks), "51": microdata({"510010001001000": 3})})
    path = folder / "ppmf.csv"
    path.write_text(HEADER + "\n" + person("510010001001000") + "\n" + microdata(blocks).partition("\n")[2])
    return path


def found(path, kind):
    table = official.read(path, "Vermont", *kind)
    return dict(zip(table.geoid, table.population.tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_known_counts_come_back(kind, tmp_path):
    """Every block of a redistricting file, and every block with people of microdata, has the count that was written."""
    assert found(made_up(tmp_path, kind), kind) == (BLOCKS if kind[0] == "official" else POPULATED)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_blocks_come_in_the_order_of_their_codes(kind, tmp_path):
    """The order of the lines does not matter, and the table is in the form of the embedded ones."""
    turned = dict(reversed(BLOCKS.items()))
    table = official.read(made_up(tmp_path, kind, turned), "50", *kind)
    assert table.geoid.is_monotonic_increasing and table.geoid.is_unique
    assert table.dtypes.astype(str).to_dict() == census.blocks("DE").dtypes.astype(str).to_dict()


@given(
    st.dictionaries(st.integers(0, 10**13 - 1).map("50{:013}".format), st.integers(0, 50), min_size=1),
    st.integers(10, 3000),
)
def test_pieces_do_not_matter(blocks, size):
    """Wherever a text is cut into pieces, the counts are the same; so they are however many people wait to be counted."""
    for year, read in ((2010, records.redistricting_2010), (2020, records.redistricting_2020)):
        codes, people = read(cut(redistricting(year, blocks), size), "50")
        assert dict(zip(map("{:015}".format, codes.tolist()), people.tolist(), strict=True)) == blocks
    populated = {code: n for code, n in blocks.items() if n}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "WAITING", size // 50)
        codes, people = records.microdata_of_nation(cut(microdata(blocks), max(size, 150)), "50")
    assert dict(zip(map("{:015}".format, codes.tolist()), people.tolist(), strict=True)) == populated


def cut(text, size):
    """A text in pieces of whole lines, each of at least so many bytes."""
    piece = b""
    for line in io.BytesIO(text.encode("latin-1")):
        piece += line
        if len(piece) >= size:
            yield piece
            piece = b""
    yield piece


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=20), st.integers(30, 100))
def test_pieces_are_the_text(lines, size):
    """Together the pieces are the text, and all but the last end with a line, however much is read at a time."""
    text = b"\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "PIECE", size)
        found = list(records.pieces(io.BytesIO(text), len(text)))
        halves = list(records.pieces(Halting(text), len(text)))
    assert b"".join(found) == b"".join(halves) == text
    assert all(piece.endswith(b"\n") for piece in [*found[:-1], *halves[:-1]])


class Halting(io.BytesIO):
    """A stream that gives seven bytes at a time, as a zip may."""

    def read(self, size):
        return super().read(7)


def test_layouts_are_those_of_the_documentation():
    """The places of the fields, counted from 1 as the documentation does."""
    assert (records.SUMLEV + 1, records.GEOCODE + 1, records.POP100 + 1, records.FIELDS) == (3, 10, 91, 97)
    places = [records.LEVEL_2010, records.COUNTY_2010, records.TRACT_2010, records.BLOCK_2010, records.POP100_2010]
    assert [(p.start + 1, p.stop - p.start) for p in places] == [(9, 5), (28, 5), (55, 6), (62, 4), (319, 9)]


def test_every_state_has_its_address():
    """52 states, with distinct codes; folders of the Bureau have underscores, and a small "of"."""
    assert len(states.STATES) == 52 and len({code for codes in states.STATES.values() for code in codes}) == 104
    assert official.url("DC", "official", 2020).endswith("/District_of_Columbia/dc2020.pl.zip")
    assert official.url("new mexico", "official", 2010).endswith("/New_Mexico/nm2010.pl.zip")
    assert len({official.url(s, "official", y) for s in states.STATES for y in YEARS}) == 104
    assert official.url("WY", "ppmf", 2020) == official.url("VT", "ppmf", 2020)


def test_the_server_can_be_replaced(monkeypatch):
    """BOOK_CENSUS_URL names another server; an empty one means the Bureau's."""
    monkeypatch.setenv("BOOK_CENSUS_URL", "http://127.0.0.1:1/")
    assert official.url("VT", "official", 2010).startswith("http://127.0.0.1:1/census_2010/")
    monkeypatch.setenv("BOOK_CENSUS_URL", "")
    assert official.url("VT", "official", 2010).startswith("https://www2.census.gov/census_2010/")


# Faults in redistricting files


def edited(year, old, new):
    text = redistricting(year)
    assert old in text
    return text.replace(old, new, 1)


def bad_count(year, count):
    """A file where the block with 250 people has another count."""
    line = LINES[year]("750", "500010001002000", 250)
    width = {2010: 9, 2020: 0}[year]
    return edited(year, line, line.replace(f"{250:{width}}", f"{count:>{width}}", 1))


def twice(year):
    return redistricting(year) + LINES[year]("750", "500010001001000", 0) + "\n"


FAULTS = {
    "not a number": (lambda y: bad_count(y, "2x0"), "whole counts of zero or more, got '2x0' (line 5)"),
    "negative": (lambda y: bad_count(y, "-250"), "whole counts of zero or more, got '-250' (line 5)"),
    "a fraction": (lambda y: bad_count(y, "2.5"), "whole counts of zero or more, got '2.5' (line 5)"),
    "an endless count": (lambda y: bad_count(y, "9" * 5000), "at most 9 digits, got '999999|people in its blocks"),
    "no count": (lambda y: bad_count(y, ""), "whole counts of zero or more, got '' (line 5)"),
    "another count": (lambda y: bad_count(y, "251"), "got 302 people in its blocks and '301' in the row of the state"),
    "a block twice": (twice, "list each block once, got 500010001001000 more than once"),
    "a block missing": (
        lambda y: "\n".join(redistricting(y).splitlines()[:-2]),
        "got 269 people in its blocks and '301' in the row of the state",
    ),
    "no state row": (lambda y: "\n".join(redistricting(y).splitlines()[1:]), "no row for the state"),
    "no blocks": (lambda y: "\n".join(redistricting(y).splitlines()[:2]), "must list blocks of it, got none"),
    "empty": (lambda y: "", "must list blocks of it, got none"),
    "another state": (lambda y: redistricting(y, {"510010001001000": 3}), "got '510010001001000': it is another state's"),
    "a web page": (lambda y: "<html>\n<p>not here</p>\n</html>", "in each line, with bars|characters in each line"),
    "one endless line": (lambda y: "x" * (2 * records.PIECE + 5), "must consist of lines"),
}


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_redistricting_files_are_refused(fault, year, tmp_path):
    """Each fault has a sentence that names the file, the state and what was found."""
    text, words = FAULTS[fault]
    path = write_redistricting(tmp_path / "vt.zip", year, text(year))
    with pytest.raises(ValueError) as error:
        official.read(path, "VT", "official", year)
    assert str(error.value).startswith(f"the {year} redistricting file of Vermont (vt.zip) must ")
    assert any(word in str(error.value) for word in words.split("|"))


def test_a_missing_column_is_refused(tmp_path):
    """A line of 2020 with a field too few, and one of 2010 that ends too early."""
    text = edited(2020, "||", "|")
    with pytest.raises(ValueError, match=r"must have 97 fields .* got 96 \(line 1\)"):
        official.read(write_redistricting(tmp_path / "a.zip", 2020, text), "VT", "official", 2020)
    text = "\n".join(line[:320] for line in redistricting(2010).splitlines())
    with pytest.raises(ValueError, match=r"at least 327 characters .* got 320 \(line 1\)"):
        official.read(write_redistricting(tmp_path / "b.zip", 2010, text), "VT", "official", 2010)


@pytest.mark.parametrize("year", YEARS)
def test_encodings(year, tmp_path):
    """UTF-16 is refused. UTF-8 does no harm to the name of a county, and is refused in that of a block, now longer."""
    path = tmp_path / "vt.zip"
    with pytest.raises(ValueError, match=r"encoding|97 fields|327 characters"):
        official.read(write_redistricting(path, year, encoding="utf-16"), "VT", "official", year)
    assert found(write_redistricting(path, year, encoding="utf-8"), ("official", year)) == BLOCKS
    if year == 2010:
        text = redistricting(2010) + LINES[2010]("750", "500030001003998", 10, name="Block Ñ") + "\n"
        with pytest.raises(ValueError, match=r"its encoding was changed \(line 9\)"):
            official.read(write_redistricting(path, year, text, encoding="utf-8"), "VT", "official", year)


@pytest.mark.parametrize("end", ["\r\n", "\n\n"], ids=["Windows", "blank lines"])
@pytest.mark.parametrize("year", YEARS)
def test_ends_of_lines_do_not_matter(year, end, tmp_path):
    """Lines may end as on Windows, and blank lines are no lines."""
    path = write_redistricting(tmp_path / "vt.zip", year, redistricting(year).replace("\n", end))
    assert found(path, ("official", year)) == BLOCKS


# Faults in zips


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != ("ppmf", 2010)], ids=str)
def test_faulty_zips_are_refused(kind, tmp_path):
    """No zip, a truncated one, one with a flipped byte, and one without the member: a sentence each."""
    content = made_up(tmp_path, kind).read_bytes()
    flipped = bytearray(content)
    flipped[content.index(b"geo" if kind[0] == "official" else b"_50.csv") + 40] ^= 0xFF
    for damaged in (b"", b"<html>", content[: len(content) // 2], content[:-30], bytes(flipped)):
        path = tmp_path / "damaged.zip"
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"of Vermont \(damaged\.zip\) must be a whole zip, got a damaged one: ."):
            official.read(path, "VT", *kind)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(ValueError, match=r"must be a zip with the member .*50|vtgeo.*, got readme\.txt"):
        official.read(tmp_path / "other.zip", "VT", *kind)


def test_zips_that_point_elsewhere_are_refused(tmp_path):
    """A zip that lost its beginning, and one that is encrypted: a sentence; a file that is not there: the system's own."""
    content = write_redistricting(tmp_path / "vt.zip", 2020).read_bytes()
    first, central = content.index(b"vtgeo2020.pl") - 30, content.rindex(b"vtgeo2020.pl") - 46
    locked = bytearray(content)
    locked[first + 6] |= 1  # the flag of an encrypted member, in both places
    locked[central + 8] |= 1
    for damaged in (content[200:], bytes(locked)):
        (tmp_path / "bad.zip").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"of Vermont \(bad\.zip\) must be a whole zip, got a damaged one: ."):
            official.read(tmp_path / "bad.zip", "VT", "official", 2020)
    with pytest.raises(FileNotFoundError):
        official.read(tmp_path / "none.zip", "VT", "official", 2020)
    with pytest.raises(TypeError, match="path must be a path"):
        official.read(7, "VT", "official", 2020)


def test_a_zip_of_another_state_is_refused(tmp_path):
    """The member of New Hampshire is not that of Vermont; the sentence says what is there instead."""
    path = write_redistricting(tmp_path / "nh2020.pl.zip", 2020, postal="nh")
    with pytest.raises(ValueError, match=r"with the member vtgeo2020\.pl, got nh000012020\.pl, nhgeo2020\.pl"):
        official.read(path, "VT", "official", 2020)


# Microdata


def test_microdata_takes_other_headers(tmp_path):
    """Older names, quotes, remarks, a byte-order mark, bars and other orders of columns change nothing."""
    rows = microdata().splitlines()[1:]
    turned = "TABBLK,TABTRACTCE,QAGE,TABBLKCOU,TABBLKST\n" + "".join(
        ",".join(row.split(",")[i] for i in (4, 2, 9, 1, 0)) + "\n" for row in rows
    )
    texts = [
        microdata(header=HEADER.replace("TABTRACTCE", "TABTRACT")),
        "\ufeff" + microdata(),
        "# made up\n# twice\n" + microdata().replace(",", "|"),
        microdata().replace("TABBLKST", '"TABBLKST"').replace("50,001", '"50","001"').lower(),
        turned,
    ]
    for text in texts:
        path = tmp_path / "p.csv"
        path.write_text(text, encoding="utf-8")
        assert found(path, ("ppmf", 2010)) == POPULATED


BAD_PEOPLE = {
    "a word": ("50,x01,000100,1,1000,3", r"TABBLKST '50', TABBLKCOU 'x01', .*\(line 3\)"),
    "negative": ("50,-01,000100,1,1000,3", r"TABBLKCOU '-01', .*\(line 3\)"),
    "missing": ("50,,000100,1,1000,3", r"TABBLKCOU '', .*\(line 3\)"),
    "too long": ("50,001,0001000,1,10000,3", r"TABBLK '10000' \(line 3\)"),
    "beyond integers": ("50,001,000100,1," + "9" * 30 + ",3", r"TABBLK '9999.* \(line 3\)"),
    "too short": ("50,001", r"TABTRACTCE '', TABBLK '' \(line 3\)"),
    "an exponent": ("50,1e2,000100,1,1000,3", r"TABBLKCOU '1e2', .*\(line 3\)"),
    "a decimal": ("50,1.0,000100,1,1000,3", r"TABBLKCOU '1.0', .*\(line 3\)"),
    "endless": ("50,001,000100,1," + "9" * 5000 + ",3", r"TABBLK '9999.* \(line 3\)"),
}


@pytest.mark.parametrize("fault", BAD_PEOPLE)
def test_faulty_people_are_refused(fault, tmp_path):
    """A person in no block is refused, with the line."""
    row, words = BAD_PEOPLE[fault]
    path = tmp_path / "p.csv"
    path.write_text("\n".join([HEADER, person("500010001001000"), row, person("500010001001000")]))
    with pytest.raises(ValueError, match="microdata file of Vermont .*must .*" + words):
        official.read(path, "VT", "ppmf", 2010)


def test_the_first_person_is_not_lost(tmp_path):
    """A first row that is too short is refused, and so is one that a carriage return makes a part of the header."""
    path, rows = tmp_path / "p.csv", person("500010001001000") + "\n"
    short, swallowed = f"{HEADER}\n50,001\n{rows}", f"{HEADER}\r{rows}{rows}"
    for text, words in ((short, r"\(line 2\)"), (swallowed, "carriage return within its first line")):
        path.write_bytes(text.encode())
        with pytest.raises(ValueError, match="microdata file of Vermont .*must .*" + words):
            official.read(path, "VT", "ppmf", 2010)


def test_microdata_faults_are_refused(tmp_path):
    """A missing column, another state's people under a state's name, nobody at all, and UTF-16."""
    path = write_microdata(tmp_path / "a.zip", {"50": microdata(header=HEADER.replace("TABBLK,", "BLOCK,"))})
    with pytest.raises(ValueError, match="must have one column TABBLK, got 'TABBLKST, TABBLKCOU"):
        official.read(path, "VT", "ppmf", 2020)
    path = write_microdata(tmp_path / "b.zip", {"50": microdata() + person("060010001001000")})
    with pytest.raises(ValueError, match="must hold people of state '50' alone, got one of '06'"):
        official.read(path, "VT", "ppmf", 2020)
    for text in (microdata({"510010001001000": 3}).encode(), HEADER.encode(), b""):
        (tmp_path / "c.csv").write_bytes(text)
        with pytest.raises(ValueError, match=r"must list blocks of it, got none|must have one column TABBLKST, got ''"):
            official.read(tmp_path / "c.csv", "VT", "ppmf", 2010)
    (tmp_path / "d.csv").write_bytes(microdata().encode("utf-16"))
    with pytest.raises(ValueError, match="must have one column TABBLKST"):
        official.read(tmp_path / "d.csv", "VT", "ppmf", 2010)


# Memory


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_memory_is_that_of_the_blocks(kind, tmp_path, monkeypatch):
    """The peak is below twelve pieces and 200 bytes a block, however long the file: here it is more than twice that."""
    monkeypatch.setattr(records, "PIECE", 1 << 18)
    monkeypatch.setattr(records, "WAITING", 1 << 12)
    line = {2010: 501, 2020: 145}[kind[1]] if kind[0] == "official" else 43  # bytes, at the least
    rows = 16_000_000 // line // 20_000 * 20_000
    if kind[0] == "official":  # lines of other places
        text = redistricting(kind[1]) + rows * (LINES[kind[1]]("101", "500010001001000", 1) + "\n")
        path = write_redistricting(tmp_path / "large.zip", kind[1], text)
    else:
        path = write_large(tmp_path, kind, rows)
    tracemalloc.start()
    try:
        table = official.read(path, "VT", *kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    bound = 12 * records.PIECE + 200 * len(table)
    assert len(table) in (len(BLOCKS), 20_000) and peak < bound < rows * line / 2


# Trees


@pytest.fixture
def downloaded(tmp_path, monkeypatch):
    """`official.blocks` that reads made-up files instead of the Bureau's."""

    def blocks(state, source, year):
        folder = tmp_path / f"{source}{year}"
        folder.mkdir(exist_ok=True)
        return official.read(made_up(folder, (source, year)), state, source, year)

    monkeypatch.setattr(official, "blocks", blocks)


@pytest.mark.parametrize("source", official.SOURCES)
def test_trees_of_any_state(source, downloaded):
    """`load_state` and `prior` of a state that does not ship are the trees of its official blocks."""
    from helpers import load_state

    for load in (load_state, prior):
        tree = load("vermont", source=source)
        assert tree.levels == ("state", "tract", "block") and tree.counts[0].tolist() == [301]
        assert tree.sizes.tolist() == [1, 2, 4]  # without the county, two of the five blocks with people become one
        assert load("VT", "populated", ["county", "block"], source=source).counts[0].tolist() == [269, 32]
        assert load("VT", "populated", ["tract"], source=source).sizes.tolist() == [3]


def test_only_redistricting_files_know_empty_blocks(downloaded):
    """The tree `geography` has all blocks from the redistricting files, and is refused from the microdata."""
    assert prior("VT", "geography", source="official").sizes.tolist() == [1, 3, 6]
    with pytest.raises(ValueError, match=r"tree must be published or populated with source 'ppmf'.*got 'geography'"):
        prior("VT", "geography", source="ppmf")


def test_the_default_does_not_see_downloads(downloaded):
    """What was downloaded changes no default: the prior of Wyoming stays, and Vermont has none."""
    assert repr(prior("WY")) == "Hierarchy(1 state, 100 tract, 21,125 block; total 563,626)"
    with pytest.raises(ValueError, match="whose counts ship with the package, got 'Vermont': source=\"official\" downloads"):
        prior("Vermont")
    assert isinstance(prior("Vermont", source="official"), Hierarchy)


@pytest.mark.parametrize("call", [census.blocks, prior, lambda s, source: official.blocks(s, source, 2020)])
def test_unknown_sources_are_refused(call):
    """A source that does not exist is refused before anything is downloaded."""
    with pytest.raises(ValueError, match=r"source must be one of .*official, ppmf, got 'web'"):
        call("WY", source="web")
    with pytest.raises(ValueError, match=r"state must be .* got 'Atlantis'"):
        call("Atlantis", source="official")


def test_years_are_those_of_a_census():
    """There is no census of 2015."""
    with pytest.raises(ValueError, match="year must be 2010 or 2020, got 2015"):
        official.url("VT", "official", 2015)


def test_prior_regret_compares_priors(downloaded, monkeypatch):
    """With the same tree as both priors the regrets are the same, and with the truth itself there is none."""
    from helpers import experiments, load_state

    monkeypatch.setattr(experiments, "load_state", lambda state: load_state(state, source="official"))
    table = experiments.prior_regret("VT", ["official", "ppmf"], [0.5, 1])
    assert list(table) == ["official", "ppmf"] and table.index.tolist() == [0.5, 1]
    assert np.abs(table.to_numpy()).max() < 1e-9  # percent; the made-up 2010 is the made-up 2020
