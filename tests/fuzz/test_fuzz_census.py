"""Where counts come from: the Bureau's files, names of states, the trees that are loaded, the example; and the claims."""

import hashlib
import io
import os
import zipfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from support import texts
from support.laws import Spoilt, law
from support.official_files import BLOCKS as VERMONT
from support.official_files import HEADER, microdata, person, redistricting, write_microdata, write_redistricting
from support.oracles import summed_paths

from helpers import census, claims, load_example
from helpers.census import states, trees
from helpers.census.bureau import lines, official
from helpers.example import LEVELS, YEARS

NETWORK = "helpers.census.bureau.downloads._download"

# ---- the Bureau's files ----

CODES = st.builds(
    "50{:03}{:06}{:04}".format,
    st.integers(0, 2), st.integers(0, 2), st.sampled_from([1000, 1001, 2999, 9]) | st.integers(0, 9999),
)  # fmt: skip
BLOCKS = st.dictionaries(CODES, st.sampled_from([0, 1, 2, 12, 25]), min_size=1, max_size=6)


def text_of(drawn):
    """The text of a file of a kind, as it should be, after an accident, or with an odd count or code in it."""
    (source, year), blocks = drawn["kind"], drawn["blocks"]
    if source == "official":
        content = redistricting(year, blocks).encode("latin-1")
    elif year == 2020:
        content = microdata(blocks).encode()
    else:
        content = f"{HEADER}\n{person('510010001001000')}\n{microdata(blocks).partition(chr(10))[2]}".encode()
    return texts.perhaps_spoilt(content) | odd_lines(content).map(Spoilt)


@st.composite
def odd_lines(draw, content):
    """A file with something odd in one of its lines."""
    lines = content.split(b"\n")
    line = lines[at := draw(st.integers(0, len(lines) - 1))]
    where = draw(st.integers(0, len(line)))
    old = draw(st.sampled_from([b"25", b"12", b"50", b"75", b"04", b"00", b"0", b"1", b"|", b",", b" "]))
    token = draw(st.sampled_from(texts.ODD_COUNTS + texts.SECRETS)).encode("utf-8", "replace")
    changed = [line.replace(old, token, 1), line[:where] + token + line[where:], line[:where] + token]
    return b"\n".join([*lines[:at], draw(st.sampled_from(changed)), *lines[at + 1 :]])


def file_of(drawn):
    """The bytes of the file itself, with the text in a zip if that is the kind; the zip may be spoilt, or packed oddly."""
    (source, year), text = drawn["kind"], drawn["text"]
    if (source, year) == ("ppmf", 2010):
        return st.just(text)
    path = io.BytesIO()
    write_redistricting(path, year, text.decode("latin-1")) if source == "official" else write_microdata(path, {"50": text})
    packed = st.sampled_from([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]).map(lambda method: repacked(path, method))
    return st.just(path.getvalue()) | texts.perhaps_spoilt(path.getvalue()) | packed.flatmap(texts.accidents).map(Spoilt)


def repacked(zipped, method):
    """The bytes of a zip whose members are packed in another way."""
    with zipfile.ZipFile(zipped) as old, zipfile.ZipFile(path := io.BytesIO(), "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return path.getvalue()


OF_FILES = {
    "kind": st.sampled_from([*official.KINDS]),
    "blocks": BLOCKS.map(lambda blocks: blocks | {"500990000010001": 1}),
    "text": text_of,
    "content": file_of,
}


def read_official(kind, blocks, text, content):
    """Read a file of the Bureau with these bytes."""
    with texts.folder({"vt.zip": content}) as place:
        return official.read(place / "vt.zip", "VT", *kind)


@law(read_official, pool=OF_FILES, words=("of Vermont (vt.zip) must",), spoil=())
def test_official_read(found, kind, text, content):
    """The counts are those of a slow reading."""
    got = dict(zip(found.geoid, found.population.tolist(), strict=True))
    assert len(got) == len(found) and [*got] == sorted(got) and all(len(code) == 15 and code.isdigit() for code in got)
    judge_counts(got, kind, text if zipfile.is_zipfile(io.BytesIO(content)) else content)


@cache
def kept():
    """A file as it is kept, and its record."""
    write_redistricting(path := io.BytesIO(), 2020)
    return path.getvalue(), f"{hashlib.sha256(path.getvalue()).hexdigest()}  vt2020.pl.zip\n".encode()


def read_kept(record):
    """Read a file that was downloaded before, with these bytes as its record."""
    files = {"vt2020.pl.zip": kept()[0], "vt2020.pl.zip.sha256": record}
    with texts.folder(files) as place, mock.patch.dict(os.environ, {"BOOK_CACHE": str(place)}):
        return official.blocks("VT", "official", 2020)


@law(read_kept, record=st.deferred(lambda: texts.perhaps_spoilt(kept()[1])), words=("must",), spoil=())
def test_records_of_checksums(found, record):
    """The file is read if its record begins with its checksum, or is blank."""
    assert dict(zip(found.geoid, found.population.tolist(), strict=True)) == VERMONT
    assert record.strip(b"\0 \t\r\n").lower()[:64] in (kept()[1][:64], b"")


def read_records(kind, blocks, text, at):
    """Read lines of the Bureau, in two pieces."""
    cut = text.find(b"\n", at) + 1 or len(text)
    return official.KINDS[kind].counts([piece for piece in (text[:cut], text[cut:]) if piece], "50")


@law(read_records, pool=OF_FILES, at=st.integers(0, 3000), words=("must",), promised=(lines.BadFile,), spoil=())
def test_records(found, kind, text):
    """The counts are those of a slow reading, wherever the lines were cut."""
    judge_counts({f"{code:015}": n for code, n in zip(*map(np.ndarray.tolist, found), strict=True)}, kind, text)


def judge_counts(got, kind, text):
    assert all(n >= 0 for n in got.values())
    if b'"' not in text:  # quotes may hide whatever is between them
        assert got == (slow_redistricting(text, kind[1]) if kind[0] == "official" else slow_microdata(text))


def slow_redistricting(text, year):
    """The blocks of a redistricting file, line by line; they add up to the row of the state."""
    found, total = {}, None
    for line in filter(bytes.strip, text.splitlines()):
        letters = line.decode("latin-1")
        if year == 2020:
            fields = letters.split("|")
            assert len(fields) == 97
            level, code, people = fields[2] + fields[4], fields[9], fields[90]
        else:
            level, people = letters[8:11] + letters[11:13], letters[318:327].lstrip(" ")
            code = letters[27:32] + letters[54:60] + letters[61:65]
        if level == "75000":
            assert code not in found and len(code) == 15 and code.startswith("50") and (code + people).isdigit()
            found[code] = int(people)
        elif level == "04000":
            total = people
    assert not found or int(total) == sum(found.values())
    return found


def slow_microdata(text):
    """The blocks with people of microdata, row by row."""
    lines = [line for line in text.decode("latin-1").removeprefix("ï»¿").replace("\r", "\n").split("\n") if line.strip()]
    while lines[0].startswith("#"):
        lines.pop(0)
    separator = "|" if "|" in lines[0] else ","
    names = [name.strip().upper() for name in lines[0].split(separator)]
    places = [names.index(name) for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")]
    found = {}
    for line in lines[1:]:
        cells = line.split(separator)
        code = "".join(f"{int(cells[place]):0{width}}" for place, width in zip(places, (2, 3, 6, 4), strict=True))
        assert len(code) == 15
        if code.startswith("50"):
            found[code] = found.get(code, 0) + 1
    return found


# ---- states and trees ----


def names_of(state):
    """The ways to write a state."""
    postal, fips = states.STATES[state]
    return [state, postal, fips, postal.lower(), states.title(state), state.upper(), f" {state} "]


@law(states.state_name, state=st.sampled_from([*states.STATES]).flatmap(lambda name: st.sampled_from(names_of(name))))
def test_state_name(found, state):
    """A state is known by its name, postal code or FIPS code, whatever the case."""
    wanted = str(state).strip().lower().replace(" ", "_")
    assert wanted in (found, states.STATES[found][0].lower(), states.STATES[found][1])


@law(states.embedded_name, state=st.sampled_from([name for state in states.EMBEDDED for name in names_of(state)]))
def test_embedded_name(found, state):
    """The states that ship are three, known by the same names."""
    test_state_name.judge(found, state)
    assert found in ("wyoming", "new_mexico", "delaware")


CHAINS = st.sets(st.sampled_from(census.LEVELS), min_size=1).map(lambda some: sorted(some, key=census.LEVELS.index))


@law(census.check_levels, levels=CHAINS)
def test_check_levels(found, levels):
    """What is accepted is the list itself, or the one name, and it is a chain."""
    assert found == ([levels] if isinstance(levels, str) else [*levels])
    places = [census.LEVELS.index(level) for level in found]
    assert places and places == sorted({*places})


NO_STATES = ["", "VTT", "57", "0", 0, None, 50.0, b"VT", ["VT"], "vermont\n1", "new  york", "Vermont, USA"]


@cache
def downloads():
    """A folder with the redistricting and microdata files of a made-up Vermont, as if downloaded before."""
    place = Path(mkdtemp())
    for year in (2010, 2020):
        write_redistricting(place / f"vt{year}.pl.zip", year)
    write_microdata(place / "2020_ppmf_bystate.zip", {"50": microdata()})
    (place / "2023-04-03-ppmf_p.csv").write_text(microdata())
    return str(place)


def offline(load):
    """A function that loads counts, without a network: only the files of Vermont are there."""

    def call(state, tree, levels, source):
        there = {"BOOK_CACHE": downloads(), "BOOK_CENSUS_URL": "http://127.0.0.1:1"}
        with mock.patch.dict(os.environ, there), mock.patch(NETWORK, side_effect=ValueError("state is not downloaded")):
            return load(state, tree, levels, source)

    return call


def state_for(drawn):
    right = st.just("DE") if drawn["source"] == "embedded" else st.sampled_from(["VT", "50", "vermont", "Vermont"])
    return st.one_of(*[right] * 8, st.sampled_from(NO_STATES).map(Spoilt))


OF_LOADING = {
    "source": st.sampled_from([*["official", "ppmf"] * 10, "embedded"]),
    "state": state_for,
    "tree": lambda drawn: st.sampled_from(census.TREES[:2] if drawn["source"] == "ppmf" else census.TREES),
    "levels": lambda drawn: st.just(["state", "county"]) if drawn["source"] == "embedded" else CHAINS,
}


@law(offline(trees.load_state), pool=OF_LOADING, spoil={"source", "tree", "levels"})
def test_load_state(found, tree, levels, source):
    """The nodes are the distinct codes of the blocks that the tree keeps, and everybody is in every level."""
    levels = [levels] if isinstance(levels, str) else [*levels]
    assert [*found.levels] == levels and len({int(n.sum()) for n in found.counts}) == 1
    if source == "embedded":
        return
    kept = {code: n for code, n in VERMONT.items() if n or tree == "geography"}
    spans = {"state": (0, 2), "county": (2, 5), "tract": (5, 11), "block group": (11, 12), "block": (11, 15)}
    paths = [tuple(code[0 if tree != "published" else spans[x][0] : spans[x][1]] for x in levels) for code in kept]
    for counts, nodes in zip(found.counts, summed_paths(paths, kept.values(), levels), strict=True):
        assert counts.tolist() == [nodes[path] for path in sorted(nodes)]


test_prior = law(offline(trees.prior), pool=OF_LOADING, spoil={"source", "tree", "levels"})(test_load_state.judge)
NO_NATIONS = [["state", "country"], ["country", "nation"], [], ["country", "country"], "states", ["Country"]]


@law(trees.load_nation, levels=st.sampled_from([["country", "state"], *map(Spoilt, NO_NATIONS * 8)]), spoil=())
def test_load_nation(found, levels):
    """Everybody is in every level."""
    assert [*found.levels] == [*levels] and {int(n.sum()) for n in found.counts} == {331_449_281}


# ---- the example and the claims ----


@law(load_example, year=st.sampled_from(YEARS))
def test_load_example(found, year):
    """A table of its own, with the keys as text."""
    assert [*found] == [*LEVELS, "patients"] and found.patients.min() >= 0 and int(year) in YEARS
    assert all(isinstance(code, str) and len(code) == 3 for code in found.hospital[:5])


SOME_CLAIMS = st.lists(st.sampled_from(claims.load()), unique_by=id)


@law(claims.by_part, claims=SOME_CLAIMS, spoil=())
def test_by_part(found, claims):
    """Each claim is in its part once, in order."""
    assert [c for part in found.values() for c in part] == sorted(claims, key=lambda c: [*found].index(c.part))
    assert all(c.part == part for part, own in found.items() for c in own)


@law(claims.as_markdown, claims=SOME_CLAIMS, spoil=())
def test_as_markdown(found, claims):
    """Each claim is an entry with its verdict and its words; no binding is left in it."""
    assert found.count("- **") == len(claims) and "<!--" not in found
    assert all(claim.says in found and claim.verdict in found for claim in claims)
