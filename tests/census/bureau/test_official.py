"""The Bureau's files: known counts come back from made-up files in the official layouts, and every fault has a sentence."""

import tracemalloc
import zipfile

import numpy as np
import pytest
from support import official_files as files
from support.official_files import BLOCKS, HEADER, LINES, POPULATED, made_up, microdata, person, redistricting
from support.refusals import refusal

from helpers import Hierarchy, census, prior
from helpers.census import states
from helpers.census.bureau import downloads, official
from helpers.census.bureau import lines as layouts

YEARS = (2010, 2020)
KINDS = list(official.KINDS)
NO_BLOCKS = "must list blocks of it, got none: it is another file, or in another encoding"


def as_dict(table):
    return dict(zip(table.geoid, table.population.tolist(), strict=True))


def known(kind):
    """The blocks that such a file lists."""
    return BLOCKS if kind[0] == "official" else POPULATED


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_known_counts_come_back(kind, tmp_path):
    """Every block of a redistricting file, and every block with people of microdata, has the count that was written."""
    assert as_dict(official.read(made_up(tmp_path, kind), "Vermont", *kind)) == known(kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_blocks_come_in_the_order_of_their_codes(kind, tmp_path):
    """The order of the lines does not matter, and the table is in the form of the embedded ones."""
    turned = dict(reversed(BLOCKS.items()))
    table = official.read(made_up(tmp_path, kind, turned), "50", *kind)
    assert table.geoid.is_monotonic_increasing and table.geoid.is_unique
    assert table.dtypes.astype(str).to_dict() == census.blocks("DE").dtypes.astype(str).to_dict()


def test_every_state_has_its_address():
    """Folders of the Bureau have underscores, and a small "of"."""
    assert official.url("DC", "official", 2020).endswith("/District_of_Columbia/dc2020.pl.zip")
    assert official.url("new mexico", "official", 2010).endswith("/New_Mexico/nm2010.pl.zip")
    assert len({official.url(s, "official", y) for s in states.STATES for y in YEARS}) == 104
    assert official.url("WY", "ppmf", 2020) == official.url("VT", "ppmf", 2020)


def test_the_server_can_be_replaced(monkeypatch):
    """BOOK_CENSUS_URL names another server; none or an empty one means the Bureau's."""
    monkeypatch.delenv("BOOK_CENSUS_URL", raising=False)
    assert official.url("VT", "official", 2010).startswith("https://www2.census.gov/census_2010/")
    there = "http://127.0.0.1:1"
    for url, base in {f"{there}/MAX//": f"{there}/MAX", f"{there}/": there, "": "https://www2.census.gov"}.items():
        monkeypatch.setenv("BOOK_CENSUS_URL", url)
        assert official.url("VT", "official", 2010).startswith(f"{base}/census_2010/")


NO_SERVERS = [
    "www2.census.gov",
    "ftp://www2.census.gov",
    "file:///tmp",
    "http://",
    "http://[::1",
    "http://a:b",
    "https://:1",
    "x y",
]


@pytest.mark.parametrize("said", NO_SERVERS)
def test_a_server_has_an_address(said, monkeypatch):
    """What is none is refused before anything is asked."""
    monkeypatch.setenv("BOOK_CENSUS_URL", f" {said} ")
    words = f"BOOK_CENSUS_URL must be an address such as https://www2.census.gov, got {said.rstrip('/')!r}"
    assert refusal(official.blocks, "VT", "official", 2020) == words


# Faults in redistricting files


FAULTS = {
    "another count": (
        lambda y: redistricting(y).replace("301", "302", 1),
        "must add up to the whole state, got 301 people in its blocks and '302' in the row of the state",
    ),
    "no blocks": (lambda y: "\n".join(redistricting(y).splitlines()[:2]), NO_BLOCKS),
    "empty": (lambda y: "", NO_BLOCKS),
    "one endless line": (
        lambda y: "x" * (2 * layouts.PIECE + 5),
        f"must consist of lines, got {layouts.PIECE:,} bytes without an end of line",
    ),
}


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_redistricting_files_are_refused(fault, year, tmp_path):
    """Each fault has a sentence that names the file, the state and what was found; more of them are in test_lines."""
    text, words = FAULTS[fault]
    path = files.write_redistricting(tmp_path / "vt.zip", year, text(year))
    said = refusal(official.read, path, "VT", "official", year, by=ValueError)
    assert said == f"the {year} redistricting file of Vermont (vt.zip) {words}"


@pytest.mark.parametrize("year", YEARS)
def test_encodings(year, tmp_path):
    """UTF-16 is refused. UTF-8 does no harm to the name of a county, and is refused in that of a block, now longer."""
    path = tmp_path / "vt.zip"
    with pytest.raises(ValueError, match=r"encoding|97 fields|327 characters"):
        official.read(files.write_redistricting(path, year, encoding="utf-16"), "VT", "official", year)
    path = files.write_redistricting(path, year, encoding="utf-8")
    assert as_dict(official.read(path, "Vermont", "official", year)) == BLOCKS
    if year == 2010:
        text = redistricting(2010) + LINES[2010]("750", "500030001003998", 10, name="Block Ñ") + "\n"
        with pytest.raises(ValueError, match=r"its encoding was changed \(line 9\)"):
            official.read(files.write_redistricting(path, year, text, encoding="utf-8"), "VT", "official", year)


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
    content = files.write_redistricting(tmp_path / "vt.zip", 2020).read_bytes()
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


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_zips_are_packed_with_deflate(method, tmp_path):
    """Python unpacks other methods into memory as a whole, and their damage has errors of its own: neither is tried."""
    with zipfile.ZipFile(tmp_path / "vt.zip", "w", method) as archive:
        archive.writestr("vtgeo2020.pl", redistricting(2020).encode("latin-1"))
    damaged = bytearray((tmp_path / "vt.zip").read_bytes())
    damaged[60:70] = bytes(10)
    for content in (damaged, (tmp_path / "vt.zip").read_bytes()):
        assert said_of_zip(tmp_path, content) == f"must be packed with deflate, got method {method}"


def said_of_zip(folder, content):
    """What is said of the bytes of a zip, after its name."""
    (folder / "bad.zip").write_bytes(content)
    said = refusal(official.read, folder / "bad.zip", "VT", "official", 2020)
    return said.removeprefix("the 2020 redistricting file of Vermont (bad.zip) ")


def test_a_zip_unpacks_to_so_much_and_no_more(tmp_path, monkeypatch):
    """A text as long as the limit is read; of a longer one not a byte."""
    path, size = files.write_redistricting(tmp_path / "vt.zip", 2020), len(redistricting(2020))
    monkeypatch.setattr(official, "STATE_LIMIT", size)
    assert as_dict(official.read(path, "VT", "official", 2020)) == BLOCKS
    monkeypatch.setattr(official, "STATE_LIMIT", size - 1)
    monkeypatch.setattr(layouts, "pieces", None)
    assert said_of_zip(tmp_path, path.read_bytes()) == f"must have at most {size - 1:,} bytes of text, got {size:,}"


def test_zips_with_odd_fields_are_refused(tmp_path):
    """A name that is no text, a place beyond all places, a length beyond the end: a sentence, whatever Python raises."""
    with zipfile.ZipFile(tmp_path / "vt.zip", "w") as archive:
        archive.writestr("vtgeo2020.pl", redistricting(2020).encode("latin-1"))
    good = (tmp_path / "vt.zip").read_bytes()
    central = good.rindex(b"vtgeo2020.pl") - 46
    head, tail = good[:central], good[central + 46 + 12 :]

    def listed(place, new, name=b"vtgeo2020.pl", extra=b""):
        entry = bytearray(good[central : central + 46])
        entry[place : place + len(new)] = new
        entry[30:32] = len(extra).to_bytes(2, "little")
        end = bytearray(tail)
        end[12:16] = (46 + len(name) + len(extra)).to_bytes(4, "little")
        return said_of_zip(tmp_path, head + bytes(entry) + name + extra + bytes(end))

    damaged = "must be a whole zip, got a damaged one: "
    assert listed(9, b"\x08", b"vtgeo\xff\xff\xff\xff.pl").startswith(f"{damaged}'utf-8' codec can't decode byte 0xff")
    far = b"\x01\x00\x08\x00" + b"\xff" * 8  # in 64 bits, because it does not fit into 32
    assert listed(42, b"\xff" * 4, extra=far).startswith(f"{damaged}Python int too large")
    assert listed(20, b"\x00\x00\x10\x00" * 2) == f"{damaged}it ends too early"
    line = "a\x1b[2J\nb" + "c" * 200 + ".pl"
    assert listed(28, len(line).to_bytes(2, "little"), line.encode()) == (
        f"must be a zip with the member vtgeo2020.pl, got a?[2J?b{'c' * 113}"
    )


def test_a_zip_lists_few_members(tmp_path, monkeypatch):
    """A list that is longer than a piece is not read, because its members would fill the memory."""
    with zipfile.ZipFile(tmp_path / "vt.zip", "w") as archive:
        for i in range(1500):
            archive.writestr(zipfile.ZipInfo(f"{i:060}"), b"")
        archive.writestr("vtgeo2020.pl", redistricting(2020).encode("latin-1"))
    content, size = (tmp_path / "vt.zip").read_bytes(), 1500 * (46 + 60) + 46 + 12
    monkeypatch.setattr(layouts, "PIECE", size)
    assert as_dict(official.read(tmp_path / "vt.zip", "VT", "official", 2020)) == BLOCKS
    monkeypatch.setattr(layouts, "PIECE", size - 1)
    said = f"must be a whole zip, got a damaged one: its list of members has {size:,} bytes"
    assert said_of_zip(tmp_path, content) == said


def test_a_zip_of_another_state_is_refused(tmp_path):
    """The member of New Hampshire is not that of Vermont; the sentence says what is there instead."""
    path = files.write_redistricting(tmp_path / "nh2020.pl.zip", 2020, postal="nh")
    with pytest.raises(ValueError, match=r"with the member vtgeo2020\.pl, got nh000012020\.pl, nhgeo2020\.pl"):
        official.read(path, "VT", "official", 2020)


# Microdata


def test_microdata_faults_are_refused(tmp_path):
    """A missing column, another state's people under a state's name, nobody at all, and UTF-16."""
    for text, words in (
        (microdata(header=HEADER.replace("TABBLK,", "BLOCK,")), "must have one column TABBLK, got 'TABBLKST, TABBLKCOU"),
        (microdata() + person("060010001001000"), "must hold people of state '50' alone, got one of '06'"),
    ):
        path = files.write_microdata(tmp_path / "a.zip", {"50": text})
        assert words in refusal(official.read, path, "VT", "ppmf", 2020, by=ValueError)
    for content, words in (
        (microdata({"510010001001000": 3}).encode(), NO_BLOCKS),
        (HEADER.encode(), NO_BLOCKS),
        (b"", "must have one column TABBLKST, got ''"),
        (microdata().encode("utf-16"), "must have one column TABBLKST"),
    ):
        (tmp_path / "c.csv").write_bytes(content)
        assert words in refusal(official.read, tmp_path / "c.csv", "VT", "ppmf", 2010, by=ValueError)


# Memory


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_memory_is_that_of_the_blocks(kind, tmp_path, monkeypatch):
    """The peak is below twelve pieces and 200 bytes a block, however long the file: here it is more than twice that."""
    monkeypatch.setattr(layouts, "PIECE", 1 << 18)
    monkeypatch.setattr(layouts, "WAITING", 1 << 12)
    line = {2010: 501, 2020: 145}[kind[1]] if kind[0] == "official" else 43  # bytes, at the least
    rows = 16_000_000 // line // 20_000 * 20_000
    if kind[0] == "official":  # lines of other places
        text = redistricting(kind[1]) + rows * (LINES[kind[1]]("101", "500010001001000", 1) + "\n")
        path = files.write_redistricting(tmp_path / "large.zip", kind[1], text)
    else:
        path = files.write_large(tmp_path, kind, rows)
    tracemalloc.start()
    try:
        table = official.read(path, "VT", *kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    bound = 12 * layouts.PIECE + 200 * len(table)
    assert len(table) in (len(BLOCKS), 20_000) and peak < bound < rows * line / 2


# Downloads


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_blocks_are_those_of_the_file_at_the_states_address(kind, tmp_path, monkeypatch):
    """`blocks` asks for the state's own address, up to a limit, has what comes checked, and reads it as `read` does."""
    asked, path = [], made_up(tmp_path, kind)
    monkeypatch.setattr(downloads, "fetch", lambda url, check, limit: asked.append((url, limit, check(path))) or path)
    assert as_dict(official.blocks("Vermont", *kind)) == known(kind)
    assert asked == [(official.url("VT", *kind), 1 << 31 if kind[0] == "official" else 1 << 36, None)]


MEMBER = "(vt.zip) must be a zip with the member {}, got readme.txt"
CHECKS = {  # what is wrong with a new file, by kind
    ("official", 2020): MEMBER.format("vtgeo2020.pl"),
    ("official", 2010): MEMBER.format("vtgeo2010.pl"),
    ("ppmf", 2020): MEMBER.format("2020_ppmf_bystate/2020_ppmf_person_50.csv"),
    ("ppmf", 2010): "(vt.zip) must have one column TABBLKST, got 'PK",
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_new_files_are_checked_before_they_are_kept(kind, tmp_path, monkeypatch):
    """The check refuses what is no file of the Bureau, under the name that the file will have."""
    part = tmp_path / "vt.zip.part"
    with zipfile.ZipFile(part, "w") as archive:
        archive.writestr(zipfile.ZipInfo("readme.txt"), "nothing")  # of 1980: the time of day may hold an end of line
    monkeypatch.setattr(downloads, "fetch", lambda url, check, limit: check(part))
    said = refusal(official.blocks, "VT", *kind, by=ValueError)
    assert said.startswith(f"the {official.KINDS[kind].title} of Vermont {CHECKS[kind]}") and "Remove" not in said


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_check_reads_a_states_file_and_only_the_header_of_the_nations(kind, tmp_path, monkeypatch):
    """A fault deep inside is found by the check of a state's file; in the nation's, when it is read, with what to do."""
    bad = tmp_path / "bad"
    if kind[0] == "official":
        files.write_redistricting(bad, kind[1], redistricting(kind[1]).replace("301", "302", 1))
    elif kind[1] == 2020:
        files.write_microdata(bad, {"50": microdata() + "50,x\n"})
    else:
        bad.write_text(microdata() + "50,x\n")
    kept, read, header = [], [], layouts.header

    def fetch(url, check, limit):
        check(bad)
        kept.append(url)
        return bad

    monkeypatch.setattr(layouts, "PIECE", 200)
    monkeypatch.setattr(layouts, "header", lambda text: header(read.append(len(piece)) or piece for piece in text))
    monkeypatch.setattr(downloads, "fetch", fetch)
    said = refusal(official.blocks, "VT", *kind, by=ValueError)
    of_nation = kind[0] == "ppmf"
    assert len(kept) == of_nation
    assert said.endswith(f" (line 303). Remove {bad} to download it anew") == of_nation
    assert read[0] == 200 if of_nation else read == []


def test_a_zip_is_as_long_as_its_text(tmp_path, monkeypatch):
    """What the progress bar counts up to is the length of the text, not that of the zip."""
    sizes, pieces = [], layouts.pieces
    monkeypatch.setattr(layouts, "pieces", lambda stream, size: sizes.append(size) or pieces(stream, size))
    for kind in KINDS:
        official.read(made_up(tmp_path, kind), "VT", *kind)
    texts = [redistricting(2020), redistricting(2010), microdata(), HEADER + "\n" + person("510010001001000") + "\n"]
    texts[3] += microdata().partition("\n")[2]
    assert sizes == [len(text) for text in texts]


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
    from helpers.experiments import sweeps

    monkeypatch.setattr(sweeps, "load_state", lambda state: load_state(state, source="official"))
    table = experiments.prior_regret("VT", ["official", "ppmf"], [0.5, 1])
    assert list(table) == ["official", "ppmf"] and table.index.tolist() == [0.5, 1]
    assert np.abs(table.to_numpy()).max() < 1e-9  # percent; the made-up 2010 is the made-up 2020
