"""What reads and writes files: tables, splits, the Bureau's files, names of states; and the command line."""

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from official_files import HEADER, microdata, person, redistricting, write_microdata, write_redistricting

from helpers import Hierarchy, census, claims, hierarchy, load_example, official, private_release, records, splits, states
from helpers.example import LEVELS, YEARS
from helpers.tables import Sheet, check_target, long_form, write

from . import command_line, texts
from .machine import Draw, Target

NONE = frozenset()
CLOSED = "http://127.0.0.1:1"  # a server that is not there: nothing here needs a network


@contextmanager
def folder(**files: bytes | None) -> Iterator[Path]:
    """A folder with files (or, for None, folders) in it, which is gone afterwards; `_` in a name stands for a dot."""
    place = Path(tempfile.mkdtemp())
    try:
        for name, content in files.items():
            path = place / name.replace("_", ".")
            path.mkdir() if content is None else path.write_bytes(content)
        yield place
    finally:
        shutil.rmtree(place)


def maybe_spoilt(draw: Draw, content: bytes, chance: float = 0.6) -> bytes:
    """The bytes as they are, or after an accident."""
    if draw.random() > chance:
        return content
    draw.spoilt = True
    return texts.spoilt(draw, content)


# Tables


def a_table(draw: Draw, _: dict) -> texts.Table:
    odd = draw.random() < 0.3
    draw.spoilt |= odd
    return texts.table(draw, odd)


def its_content(draw: Draw, drawn: dict) -> bytes:
    return maybe_spoilt(draw, drawn["table"].content)


def read_sheet(table: texts.Table, content: bytes) -> Sheet:
    """Read a file with these bytes."""
    with folder(data_csv=content) as place:
        return Sheet.read(place / "data.csv")


def check_sheet(found: Sheet, table: texts.Table, content: bytes) -> None:
    """The columns are those of a slow reading, and of a right file those that were written."""
    columns, rows = texts.parsed(content)
    assert {name: [*values] for name, values in found.columns.items()} == columns and len(found.lines) == rows
    assert found.sha256 == hashlib.sha256(content).hexdigest() and [*found.lines] == sorted({*found.lines})
    if content == table.content:
        assert columns == {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns) if name}


def read_tree(table: texts.Table, content: bytes, levels: list[str], count: str | None, whole: bool) -> Hierarchy:
    """The tree of a file; for None, the count column that is found."""
    sheet = read_sheet(table, content)
    return sheet.tree(levels, sheet.count_column(levels, count), whole)


def read_nodes(table: texts.Table, content: bytes, levels: list[str]) -> Hierarchy:
    """The nodes of a file."""
    return read_sheet(table, content).nodes(levels)


def its_levels(draw: Draw, drawn: dict) -> list[str]:
    levels = [*drawn["table"].levels]
    if draw.random() < 0.85:
        return levels
    draw.spoilt = True
    odd = [levels[::-1], [*levels, "note"], [*levels, levels[0]], ["x"], [], [""], [" "], levels[1:], ["population"]]
    return draw.choice(odd)


def its_count(draw: Draw, drawn: dict) -> str | None:
    if draw.random() < 0.85:
        return drawn["table"].count
    draw.spoilt = True
    return draw.choice([None, "note", "x", "", drawn["table"].levels[0]])


def to_be_whole(draw: Draw, drawn: dict) -> bool:
    whole = draw.random() < 0.5
    draw.spoilt |= whole and not drawn["table"].whole
    return whole


def check_tree(found: Hierarchy, table: texts.Table, content: bytes, levels: list, count: str | None, whole: bool) -> None:
    """Every path of the file is a node, its count the sum of its rows."""
    columns, _ = texts.parsed(content)
    if count is None:
        others = [name for name in columns if name not in levels]
        numbers = [name for name in others if None not in map(texts.number, columns[name])]
        count = "population" if "population" in others else numbers[0]
        assert count == "population" or len(numbers) == 1
    assert all(n is not None and n >= 0 and (n.denominator == 1 or not whole) for n in map(texts.number, columns[count]))
    check_nodes(found, table, content, levels, count)


def check_nodes(found: Hierarchy, table: texts.Table, content: bytes, levels: list[str], count: str | None = None) -> None:
    """The nodes are those of the file, in order, with the sums of their rows, or none."""
    columns, _ = texts.parsed(content)
    expected = texts.sums(columns, levels, count)
    rows = long_form(found, found.counts)
    heads = [name for name in rows.columns if name not in levels]
    assert [*rows.columns] == [heads[0], *levels, heads[1]] and found.levels == tuple(levels)
    for depth, nodes in enumerate(expected, start=1):
        own = rows[rows[heads[0]] == levels[depth - 1]]
        paths = [*zip(*(own[level] for level in levels[:depth]), strict=True)]
        assert paths == sorted(nodes), "not the nodes"
        for path, value in zip(paths, own[heads[1]], strict=True):
            exact = nodes[path]
            assert value == exact if exact.denominator == 1 and found.counts[0].dtype.kind == "i" else isclose(value, exact)


# Writing


def old_files(draw: Draw, _: dict) -> dict[str, bytes | None]:
    return {name: draw.choice([b"old", b"", None]) for name in draw.sample(["out_csv", "x", "link"], draw.randint(0, 2))}


def a_name(draw: Draw, drawn: dict) -> str:
    name = draw.choice(["out.csv", "out.csv", "x", "link", ".", "..", "", "no/out.csv", "x/out.csv", "n" * 240, "é", "a\nb"])
    draw.spoilt |= name in (".", "..", "") or "/" in name or name.replace(".", "_") in drawn["files"]
    return name


def target_checked(files: dict, name: str, force: bool) -> tuple[str, set[str], set[str]]:
    """Where a file may be written, below the folder."""
    with folder(**files) as place:
        found = check_target(place / name, force)
        return str(found.relative_to(place.resolve())), {path.name for path in place.iterdir()}, {*os.listdir(place)}


def check_checked(found: tuple, files: dict, name: str, force: bool) -> None:
    """A target is a new file in a folder that is there, or a file that may be overwritten."""
    path, before, after = found
    old = {key.replace("_", "."): content for key, content in files.items()}
    assert path == name and before == after == {*old}
    assert name not in old or (old[name] is not None and force)


def bytes_to_write(draw: Draw, _: dict) -> list[bytes]:
    return [bytes(draw.randrange(256) for _ in range(draw.randint(0, 9))) for _ in range(draw.randint(0, 4))]


def written(old: bytes | None, parts: list[bytes], fails: bool) -> dict[str, bytes]:
    """What lies in a folder after a file was written into it, or writing failed half way."""

    def save(path: Path) -> None:
        path.write_bytes(b"".join(parts))
        if fails:
            raise OSError("no room")

    with folder(**{} if old is None else {"out_csv": old}) as place:
        try:
            write(place / "out.csv", save, force=True)
        except OSError as error:
            assert fails and str(error) == "no room"
        return {path.name: path.read_bytes() for path in place.iterdir()}


def check_written(found: dict, old: bytes | None, parts: list[bytes], fails: bool) -> None:
    """The new file is there whole, or the old one is as it was, and nothing else is there."""
    content = old if fails else b"".join(parts)
    assert found == ({} if content is None else {"out.csv": content})


@cache
def a_release() -> Any:
    tree = Hierarchy.from_frame(pd.DataFrame({"a": ["x\ry", "é"], "b": ['"', ","], "population": [2, 3]}), ["a", "b"])
    return private_release(tree, [1, 1], budgets_from="policy")


def saved(files: dict, name: Any, overwrite: bool) -> dict[str, dict[str, bytes]]:
    """What lies in the folders after a release was saved in one of them."""
    with folder(**files) as place:
        if (place / "x").is_dir():
            a_release().save(place / "x" / "before")
            (place / "x" / "before").rename(place / "before")
            (place / "x").rmdir()
            (place / "before").rename(place / "x")
        a_release().save(place / name if isinstance(name, str | Path) else name, overwrite)
        return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def check_saved(found: dict, files: dict, name: str, overwrite: bool) -> None:
    """Both files of the release are in the folder, whole; no other file has changed."""
    released = a_release()
    assert json.loads(found.pop(f"{name}/record.json")) == released.record
    table = pd.read_csv(io.BytesIO(found.pop(f"{name}/counts.csv")), dtype={"label": str})
    assert table["count"].tolist() == released.table()["count"].tolist() and table.label.tolist() == ["x\ry", "é", '"', ","]
    old = {key.replace("_", "."): content for key, content in files.items() if content is not None}
    found = {path: content for path, content in found.items() if not path.startswith("x/")}
    assert found == {path: content for path, content in old.items() if path != name}
    assert name not in {key.replace("_", ".") for key in files} or overwrite


# Splits


def split_content(draw: Draw, _: dict) -> bytes:
    right = command_line.split(draw, tuple(draw.sample(texts.NAMES, draw.randint(1, 3))))
    if draw.random() < 0.4:
        return json.dumps(right).encode()
    draw.spoilt = True
    return command_line.spoilt_split(draw, right)


def read_split(content: bytes) -> splits.Split:
    """Read a split from a file with these bytes."""
    with folder(split_json=content) as place:
        return splits.Split.read(place / "split.json")


def check_split(found: splits.Split, content: bytes) -> None:
    """A split is what the file says, and could have been written by allocate."""
    said = json.loads(content)
    assert [*found.levels] == said["levels"] and all(isinstance(level, str) for level in found.levels)
    assert [*found.eps] == said["eps"]
    assert (found.rule, found.chosen_on, found.sha256) == (said["rule"], said["chosen_on"], said["sha256"])
    assert found.sha256 is None or isinstance(found.sha256, str)
    assert found.total == float(sum(Decimal(repr(e)) for e in found.eps)) and np.isfinite(found.total)


def small_tree(draw: Draw, _: dict) -> Hierarchy:
    sizes, parents = [draw.randint(1, 3)], [None]
    for _ in range(draw.randint(0, 2)):
        parents.append(sorted([*range(sizes[-1]), *(draw.randrange(sizes[-1]) for _ in range(draw.randint(0, 4)))]))
        sizes.append(len(parents[-1]))
    counts = [np.array([draw.choice([0, 1, 7, 1000, 10**8]) for _ in range(sizes[-1])])]
    for parent, size in zip(parents[:0:-1], sizes[-2::-1], strict=True):
        counts.insert(0, np.bincount(parent, counts[0], size).astype(np.int64))
    return Hierarchy.from_counts(counts, parents)


def some_weights(draw: Draw, drawn: dict) -> list[float] | None:
    if drawn["rule"] == "uniform" or draw.random() < 0.5:
        return None
    return [draw.power(-4, 4) for _ in drawn["tree"].levels]


def check_chosen(found: splits.Split, tree: Hierarchy, rule: str, total: Any, tau: Any, weights: Any, sha256: Any) -> None:
    """Budgets add up to the total in decimals, or keep to tau and to nothing much below it; the source is remembered."""
    assert found.levels == tree.levels and found.rule == rule and all(e > 0 for e in found.eps)
    assert (found.chosen_on, found.sha256) == (("counts", sha256) if rule == "optimal" else ("nodes", None))
    if total is not None:
        summed, asked = sum(Decimal(repr(e)) for e in found.eps), Decimal(repr(float(total)))
        assert summed == asked or (len(asked.as_tuple().digits) > 14 and isclose(summed, asked, rel_tol=1e-15))
    elif rule != "optimal":
        w = np.ones(len(tree.levels)) if weights is None else np.asarray(weights, dtype=float)
        worst = np.sum(2 * w * tree.sizes / np.square(found.eps))
        assert worst <= float(tau) * (1 + 1e-12) and isclose(worst, float(tau), rel_tol=1e-4)


# The Bureau's files


def some_blocks(draw: Draw, _: dict) -> dict[str, int]:
    codes = {f"50{draw.randrange(3):03}{draw.randrange(3):06}{draw.choice([1000, 1001, 2999, 9, draw.randrange(10**4)]):04}"
             for _ in range(draw.randint(1, 6))}  # fmt: skip
    return {code: draw.choice([0, 1, 2, 12, 25]) for code in codes} | {"500990000010001": 1}


def of_kind(draw: Draw, _: dict) -> tuple[str, int]:
    return draw.choice([*official.KINDS])


def text_of(draw: Draw, drawn: dict) -> bytes:
    """The text of a file of a kind, in a third of the cases as it should be, or with an odd count or code in it."""
    (source, year), blocks = drawn["kind"], drawn["blocks"]
    if source == "official":
        content = redistricting(year, blocks).encode("latin-1")
    elif year == 2020:
        content = microdata(blocks).encode()
    else:
        content = f"{HEADER}\n{person('510010001001000')}\n{microdata(blocks).partition(chr(10))[2]}".encode()
    if draw.random() < 0.25:
        draw.spoilt = True
        lines = content.split(b"\n")
        line = lines[at := draw.randrange(len(lines))]
        where = draw.randint(0, len(line))
        old = draw.choice([b"25", b"12", b"50", b"75", b"04", b"00", b"0", b"1", b"|", b",", b" "])
        token = draw.choice(texts.ODD_COUNTS).encode("utf-8", "replace")
        lines[at] = draw.choice([line.replace(old, token, 1), line[:where] + token + line[where:], line[:where] + token])
        return b"\n".join(lines)
    return maybe_spoilt(draw, content, 0.5)


def file_of(draw: Draw, drawn: dict) -> bytes:
    """The bytes of the file itself, with the text in a zip if that is the kind; the zip may be spoilt too."""
    (source, year), text = drawn["kind"], drawn["text"]
    if (source, year) == ("ppmf", 2010):
        return text
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "vt.zip"
        if source == "official":
            write_redistricting(path, year, text.decode("latin-1"))
        else:
            write_microdata(path, {"50": text})
        return maybe_spoilt(draw, path.read_bytes(), 0.3)


def read_official(kind: tuple, blocks: dict, text: bytes, content: bytes) -> pd.DataFrame:
    """Read a file of the Bureau with these bytes."""
    with folder(vt_zip=content) as place:
        return official.read(place / "vt.zip", "VT", *kind)


def check_official(found: pd.DataFrame, kind: tuple, blocks: dict, text: bytes, content: bytes) -> None:
    """The counts are those of a slow reading, and of a right file those that were written."""
    got = dict(zip(found.geoid, found.population.tolist(), strict=True))
    assert len(got) == len(found) and [*got] == sorted(got) and all(len(code) == 15 and code.isdigit() for code in got)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        text = content
    check_counts(got, kind, text)


def read_records(kind: tuple, blocks: dict, text: bytes, at: int) -> tuple:
    """Read lines of the Bureau, in two pieces."""
    cut = text.find(b"\n", at) + 1 or len(text)
    return official.KINDS[kind].counts([piece for piece in (text[:cut], text[cut:]) if piece], "50")


def check_records(found: tuple, kind: tuple, blocks: dict, text: bytes, at: int) -> None:
    """The counts are those of a slow reading."""
    check_counts({f"{code:015}": n for code, n in zip(*map(np.ndarray.tolist, found), strict=True)}, kind, text)


def check_counts(got: dict[str, int], kind: tuple, text: bytes) -> None:
    assert all(n >= 0 for n in got.values())
    if b'"' not in text:  # quotes may hide whatever is between them
        assert got == (slow_redistricting(text, kind[1]) if kind[0] == "official" else slow_microdata(text))


def slow_redistricting(text: bytes, year: int) -> dict[str, int]:
    """The blocks of a redistricting file, line by line; they add up to the row of the state."""
    found, total = {}, None
    for line in filter(bytes.strip, text.splitlines()):
        if year == 2020:
            fields = line.decode("latin-1").split("|")
            assert len(fields) == 97
            level, code, people = fields[2] + fields[4], fields[9], fields[90]
        else:
            letters = line.decode("latin-1")
            level, people = letters[8:11] + letters[11:13], letters[318:327].lstrip(" ")
            code = letters[27:32] + letters[54:60] + letters[61:65]
        if level == "75000":
            assert code not in found and len(code) == 15 and code.startswith("50") and (code + people).isdigit()
            found[code] = int(people)
        elif level == "04000":
            total = people
    assert not found or int(total) == sum(found.values())
    return found


def slow_microdata(text: bytes) -> dict[str, int]:
    """The blocks with people of microdata, row by row."""
    lines = [line for line in text.decode("latin-1").removeprefix("ï»¿").replace("\r", "\n").split("\n") if line.strip()]
    while lines[0].startswith("#"):
        lines.pop(0)
    separator = "|" if "|" in lines[0] else ","
    names = [name.strip().upper() for name in lines[0].split(separator)]
    places = [names.index(name) for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")]
    found: dict[str, int] = {}
    for line in lines[1:]:
        cells = line.split(separator)
        code = "".join(f"{int(cells[place]):0{width}}" for place, width in zip(places, (2, 3, 6, 4), strict=True))
        assert len(code) == 15
        if code.startswith("50"):
            found[code] = found.get(code, 0) + 1
    return found


# States and trees


def a_state(draw: Draw, _: dict) -> str:
    name = draw.choice([*states.STATES])
    postal, fips = states.STATES[name]
    return draw.choice([name, postal, fips, postal.lower(), states.title(name), name.upper(), f" {name} "])


def check_state(found: str, state: Any) -> None:
    """A state is known by its name, postal code or FIPS code, whatever the case."""
    wanted = str(state).strip().lower().replace(" ", "_")
    assert wanted in (found, states.STATES[found][0].lower(), states.STATES[found][1])


def embedded(draw: Draw, _: dict) -> str:
    return draw.choice([draw.choice([*names]) for names in ((name, *states.STATES[name]) for name in states.EMBEDDED)])


def check_embedded(found: str, state: Any) -> None:
    """The states that ship are three."""
    check_state(found, state)
    assert found in ("wyoming", "new_mexico", "delaware")


def chain(known: tuple[str, ...]) -> Callable[[Draw, dict], list[str]]:
    """Levels out of the known ones, top first."""
    return lambda draw, _: [level for level in known if draw.random() < 0.5] or [known[0]]


def check_chain(found: list[str], levels: Any) -> None:
    """What is accepted is the list itself, or the one name, and it is a chain."""
    assert found == ([levels] if isinstance(levels, str) else [*levels])
    places = [census.LEVELS.index(level) for level in found]
    assert places and places == sorted({*places})


@cache
def downloads() -> str:
    """A folder with the redistricting and microdata files of a made-up Vermont, as if downloaded before."""
    place = Path(tempfile.mkdtemp())
    for year in (2010, 2020):
        write_redistricting(place / f"vt{year}.pl.zip", year, redistricting(year, VERMONT))
    write_microdata(place / "2020_ppmf_bystate.zip", {"50": microdata(VERMONT)})
    (place / "2023-04-03-ppmf_p.csv").write_text(microdata(VERMONT))
    return str(place)


VERMONT = {"500010001001000": 12, "500010001001001": 0, "500010001002000": 9, "500010002001000": 7, "500030001001000": 31}


def offline(load: Callable) -> Callable:
    """A function that loads counts, without a network: only the files of Vermont are there."""

    def call(state: Any, tree: Any, levels: Any, source: Any) -> Hierarchy:
        with mock.patch.dict(os.environ, {"BOOK_CACHE": downloads(), "BOOK_CENSUS_URL": CLOSED}):
            with mock.patch("helpers.downloads._download", side_effect=ValueError("state is not downloaded")):
                return load(state, tree, levels, source)

    return call


def a_source(draw: Draw, _: dict) -> str:
    return draw.choices(["official", "ppmf", "embedded"], [10, 10, 1])[0]


def state_for(draw: Draw, drawn: dict) -> Any:
    if draw.random() < 0.1:
        draw.spoilt = True
        return draw.choice(["", "VTT", "57", "0", 0, None, 50.0, b"VT", ["VT"], "vermont\n1", "new  york", "Vermont, USA"])
    return draw.choice(["VT", "50", "vermont", "Vermont"]) if drawn["source"] != "embedded" else "DE"


def a_kind_of_tree(draw: Draw, drawn: dict) -> str:
    return draw.choice(census.TREES[:2] if drawn["source"] == "ppmf" else census.TREES)


def levels_of(draw: Draw, drawn: dict) -> list[str]:
    return ["state", "county"] if drawn["source"] == "embedded" else chain(census.LEVELS)(draw, drawn)


def check_loaded(found: Hierarchy, state: Any, tree: Any, levels: Any, source: Any) -> None:
    """The nodes are the distinct codes of the blocks that the tree keeps, and everybody is in every level."""
    levels = [levels] if isinstance(levels, str) else [*levels]
    assert [*found.levels] == levels and len({int(n.sum()) for n in found.counts}) == 1
    if source == "embedded":
        return
    kept = {code: n for code, n in VERMONT.items() if n or tree == "geography"}
    spans = {"state": (0, 2), "county": (2, 5), "tract": (5, 11), "block group": (11, 12), "block": (11, 15)}
    paths = [tuple(code[0 if tree != "published" else spans[x][0] : spans[x][1]] for x in levels) for code in kept]
    for depth in range(len(levels)):
        nodes: dict[tuple, int] = {}
        for path, n in zip(paths, kept.values(), strict=True):
            nodes[path[: depth + 1]] = nodes.get(path[: depth + 1], 0) + n
        assert found.counts[depth].tolist() == [nodes[path] for path in sorted(nodes)]


def nation_levels(draw: Draw, _: dict) -> list[str]:
    if draw.random() < 0.01:
        return ["country", "state"]
    draw.spoilt = True
    return draw.choice([["state", "country"], ["country", "nation"], [], ["country", "country"], "states", ["Country"]])


def check_nation(found: Hierarchy, levels: Any) -> None:
    """Everybody is in every level."""
    assert [*found.levels] == [*levels] and {int(n.sum()) for n in found.counts} == {331_449_281}


# The example and the claims


def check_example(found: pd.DataFrame, year: Any) -> None:
    """A table of its own, with the keys as text."""
    assert [*found] == [*LEVELS, "patients"] and found.patients.min() >= 0 and int(year) in YEARS
    assert all(isinstance(code, str) and len(code) == 3 for code in found.hospital[:5])


def some_claims(draw: Draw, _: dict) -> list[claims.Claim]:
    known = claims.load() if draw.random() < 0.01 else CLAIMS
    return draw.sample(known, draw.randint(0, len(known)))


CLAIMS = claims.load()


def check_parts(found: dict, claims: list) -> None:
    """Each claim is in its part once, in order."""
    assert [c for part in found.values() for c in part] == sorted(claims, key=lambda c: [*found].index(c.part))
    assert all(c.part == part for part, own in found.items() for c in own)


def check_markdown(found: str, claims: list) -> None:
    """Each claim is an entry with its verdict and its words; no binding is left in it."""
    assert found.count("- **") == len(claims) and "<!--" not in found
    assert all(claim.says in found and claim.verdict in found for claim in claims)


TARGETS: dict[str, Target] = dict(command_line.TARGETS) | {
    "Sheet.read": Target(read_sheet, {"table": a_table, "content": its_content}, check_sheet, ("data.csv",), spoil=NONE),
    "Sheet.tree": Target(
        read_tree,
        {"table": a_table, "content": its_content, "levels": its_levels, "count": its_count, "whole": to_be_whole},
        check_tree, ("data.csv",), spoil=NONE,
    ),
    "Sheet.nodes": Target(
        read_nodes, {"table": a_table, "content": its_content, "levels": its_levels}, check_nodes, ("data.csv",), spoil=NONE
    ),
    "check_target": Target(
        target_checked, {"files": old_files, "name": a_name, "force": lambda draw, _: draw.random() < 0.5}, check_checked,
        ("must be", "cannot be written", "is there already"), spoil=NONE,
    ),
    "write": Target(
        written,
        {
            "old": lambda draw, _: draw.choice([None, b"old"]), "parts": bytes_to_write,
            "fails": lambda draw, _: draw.random() < 0.3,
        },
        check_written, spoil=NONE,
    ),
    "PrivateRelease.save": Target(
        saved, {"files": old_files, "name": a_name, "overwrite": lambda draw, _: draw.random() < 0.5}, check_saved,
        ("folder",), promised=(ValueError, TypeError, FileExistsError), flat=frozenset({"name"}), spoil=frozenset({"name"}),
    ),
    "Split.read": Target(read_split, {"content": split_content}, check_split, ("split.json",), spoil=NONE),
    "choose": Target(
        splits.choose,
        {
            "tree": small_tree, "rule": lambda draw, _: draw.choice(splits.RULES),
            "total": lambda draw, _: draw.choice([None, float(f"{draw.power(-4, 4):.12g}")]),
            "tau": lambda draw, drawn: None if drawn["total"] is not None else draw.power(-2, 8),
            "weights": some_weights, "sha256": lambda draw, _: draw.choice([None, "ab"]),
        },
        check_chosen, ("hierarchy",), flat=frozenset({"rule"}),
        spoil=frozenset({"tree", "rule", "total", "tau", "weights"}),
    ),
    "official.read": Target(
        read_official, {"kind": of_kind, "blocks": some_blocks, "text": text_of, "content": file_of}, check_official,
        ("of Vermont (vt.zip) must",), spoil=NONE,
    ),
    "records": Target(
        read_records,
        {"kind": of_kind, "blocks": some_blocks, "text": text_of, "at": lambda draw, _: draw.randint(0, 3000)},
        check_records, ("must",), promised=(records.BadFile,), spoil=NONE,
    ),
    "state_name": Target(states.state_name, {"state": a_state}, check_state, flat=frozenset({"state"})),
    "embedded_name": Target(states.embedded_name, {"state": embedded}, check_embedded, flat=frozenset({"state"})),
    "check_levels": Target(census.check_levels, {"levels": chain(census.LEVELS)}, check_chain, flat=frozenset({"levels"})),
    "load_state": Target(
        offline(hierarchy.load_state),
        {"source": a_source, "state": state_for, "tree": a_kind_of_tree, "levels": levels_of},
        check_loaded, flat=frozenset({"source", "tree", "levels"}), spoil=frozenset({"source", "tree", "levels"}),
    ),
    "prior": Target(
        offline(hierarchy.prior), {"source": a_source, "state": state_for, "tree": a_kind_of_tree, "levels": levels_of},
        check_loaded, flat=frozenset({"source", "tree", "levels"}), spoil=frozenset({"source", "tree", "levels"}),
    ),
    "load_nation": Target(hierarchy.load_nation, {"levels": nation_levels}, check_nation, spoil=NONE),
    "load_example": Target(
        load_example, {"year": lambda draw, _: draw.choice(YEARS)}, check_example, flat=frozenset({"year"})
    ),
    "by_part": Target(claims.by_part, {"claims": some_claims}, check_parts, spoil=NONE),
    "as_markdown": Target(claims.as_markdown, {"claims": some_claims}, check_markdown, spoil=NONE),
}  # fmt: skip
