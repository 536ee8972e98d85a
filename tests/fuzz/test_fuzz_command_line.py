"""The command line: argument lists out of a grammar of all options, right or spoilt, on files that are right or spoilt.

Scene: what lies in a folder, and what is asked for there · Outcome: exit code, what was printed, what lies there then
"""

import argparse
import csv
import io
import json
import os
from collections import namedtuple
from contextlib import chdir, redirect_stderr, redirect_stdout
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from itertools import chain, pairwise
from math import isclose, isfinite, sqrt
from unittest import mock

import pandas as pd
from hypothesis import event
from hypothesis import strategies as st
from support import texts
from support.laws import law
from support.oracles import assert_budgets
from support.strategies import maybe, powers, splits

from helpers import Hierarchy, cli, example, load_example
from helpers.publishing.split import RULES
from helpers.tables import tidy

WAIT = "helpers.census.bureau.downloads.WAIT"  # seconds before a download is tried again
DATA, SPLIT, NODES, ACCOUNT = "data.csv", "split.json", "nodes.csv", "people.account"
FILES = ("file", "output", "plot", "budgets_from", "nodes", "account")
COMMANDS = {name: import_module(f"helpers.cli.commands.{name}") for name in cli.COMMANDS}
LEAVES_OUT = {"--budgets-from": {"--total", "--weights", "--rule"}, "--tau": {"--total"}}
BEYOND = ("beyond", "the", "list")  # a leaf that only the public list has
CHANCES = {  # in percent; of others: 50
    "file": 100, "what": 100, "--levels": 100, "--total": 100, "--trials": 100, "--tau": 30, "--weights": 30,
    "--budgets-from": 40, "--force": 30, "--plot": 1, "--help": 0, "--person": 0, "--nodes": 20, "--rows-per-person": 20,
    "--account": 30,
}  # fmt: skip
ODD_VALUES = (
    "", " ", "0", "-1", "nan", "inf", "1e400", "1e-400", "1e9", "1e-9", "1_0", "٣", "½", "x", "--", "-", "--total",
    "a,b", ",", "a,,b", "region", "1,1", "1,0", "1,x", "1,1,1,1,1", "optimal", "mine", "9" * 5000, "4",
    "3", "true", ".", "..", "no/such/folder/x.csv", DATA, f"./{DATA}", SPLIT, "x.svg", "x.png.txt", "é.csv",
    "\udcff.csv", "n" * 251, "n" * 300, "/dev/null", "a\nb", "2023", "2024", "2025", "wyoming", "{}", "%s", "%(prog)s",
    "$HOME", "~", "*", "@file",
)  # fmt: skip
ODD_TRIALS = ("3", "0", "-4", "4.0", "x", "", "4e0", "٥", "9" * 5000)
ODD_OPTIONS = ("--levle", "--tot", "-x", "--verbose", "extra", "--tau", "--json", "--help")
ODD_STATES = (*ODD_VALUES[:20], "wyomin", "WYY", "00", "57")  # the known states need a network


Scene = namedtuple("Scene", "files argv encoding right")  # the content of a folder is None; encoding: of the terminal
Outcome = namedtuple("Outcome", "code out err files")


# ---- what is asked for ----


@st.composite
def scenes(draw):
    """A command that is right, or with one or two things wrong about its arguments or files."""
    command = draw(st.sampled_from([*["allocate", "simulate", "release"] * 9, "example", "verify", "account"]))
    faults, odd = draw(st.sampled_from([0, 0, 1, 1, 1, 2])), draw(maybe(10))
    table = draw(texts.tables(odd_count=odd))
    argv, files = draw(asked_for(command, table))
    files = {DATA: table.content} | files
    for _ in range(faults):
        argv, files = draw(gone_wrong(command, argv, files))
    leaks = digest_of(table).encode() in files.get(SPLIT, b"")
    whole = table.whole or (command == "allocate" and argv.get("--rule") != "optimal")
    fits = table.whole and not leaks if command == "release" else "--nodes" not in argv or whole
    right = faults == 0 and not odd and command not in ("verify", "account") and fits
    pairs = [[name] * name.startswith("-") + [value] * (value is not None) for name, value in argv.items()]
    pairs = draw(st.permutations([["=".join(pair)] if draw(maybe(20)) else pair for pair in pairs]))
    twice = draw(st.sampled_from(pairs)) if pairs and not right and draw(maybe(5)) else []
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "ascii", "cp1252"]))
    return Scene(files, (command, *chain(*pairs, twice)), encoding, right)


def digest_of(table):
    """The digest of the counts of a table that is right; nothing of one that is not."""
    values = [texts.number(row[table.columns.index(table.count)]) for row in table.rows]
    if None in values:
        return "no digest"
    frame = pd.DataFrame([[tidy(row[table.columns.index(level)]) for level in table.levels] for row in table.rows])
    frame.columns = [*table.levels]
    whole = all(value.denominator == 1 for value in values)
    frame["counts of it"] = [int(value) if whole else float(value) for value in values]
    return Hierarchy.from_frame(frame, [*table.levels], "counts of it").digest


def parser_of(command):
    """The options of a command, with whatever text for a value, and none that is not given."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    COMMANDS[command].add_options(parser)
    for action in parser._actions:
        action.type = action.choices = action.default = None
    return parser


OPTIONS = {name: [(a.option_strings or [a.dest])[-1] for a in parser_of(name)._actions] for name in COMMANDS}


@st.composite
def asked_for(draw, command, table):
    """Options (of a flag, the value is None) and files of a right command."""
    digits = st.tuples(powers(-3, 3), st.integers(1, 12)).map(lambda drawn: f"{drawn[0]:.{drawn[1]}g}")
    weight = powers(-3, 3).map("{:.3g}".format)
    values = {
        "what": st.sampled_from(ODD_STATES), "--rows-per-person": st.integers(1, 9).map(str), "--total": digits | st.sampled_from(["1", "0.3", "1e-5", "1e9", "2.50"]),
        "--tau": powers(-3, 8).map("{:.4g}".format), "--weights": st.tuples(*[weight] * len(table.levels)).map(",".join),
        "--rule": st.sampled_from(RULES if command == "allocate" else RULES[:2]), "--trials": st.integers(4, 6).map(str),
        "--seed": (st.sampled_from([0, 1, 2**64]) | st.integers(0, 2**500)).map(str),
        "--plot": st.sampled_from(["out.svg", "out.png"]), "--year": st.sampled_from(example.YEARS).map(str),
    }  # fmt: skip
    output = {"allocate": "out.json", "release": "out"}.get(command, "out.csv")
    fixed = {"--levels": ",".join(table.levels), "--count": table.count, "--output": output, "--account": ACCOUNT}
    fixed |= {"file": ACCOUNT if command == "account" else DATA, "--budgets-from": SPLIT, "--json": None, "--force": None}
    fixed |= {"--nodes": NODES, "--budget": "1e9"}
    unclear = table.count != "population" and len(table.columns) > len(table.levels) + 1
    chances = CHANCES | ({"--count": 100} if unclear else {}) | ({"--output": 100} if command == "release" else {})
    if not any(texts.number(row[table.columns.index(table.count)]) for row in table.rows):
        chances["--plot"] = 0
    names = [name for name in OPTIONS[command] if draw(maybe(chances.get(name, 50)))]
    left_out = set().union(*(LEAVES_OUT.get(name, ()) for name in names))
    argv = {name: draw(values[name]) if name in values else fixed[name] for name in names if name not in left_out}
    if argv.get("--rule") == "uniform":
        argv.pop("--weights", None)
    if command == "release":
        argv |= {"--budget": "1e9"} if "--account" in argv else {}
        argv = {name: value for name, value in argv.items() if name != "--budget" or "--account" in argv}
    files = {NODES: listed(table)} if "--nodes" in argv else {}
    if "--budgets-from" not in argv:
        return argv, files
    if draw(maybe(50)):
        del argv["--levels"]
    split = draw(splits(table.levels))
    if split["chosen_on"] == "counts" and draw(maybe(30)):
        split["digest"] = digest_of(table) if digest_of(table) != "no digest" else split["digest"]
    return argv, files | {SPLIT: json.dumps(split).encode()}


def listed(table):
    """A public list of the leaves of a table, and of one more, as a CSV file."""
    rows = [[row[table.columns.index(level)] for level in table.levels] for row in table.rows]
    out = io.StringIO()
    csv.writer(out).writerows([table.levels, *rows, BEYOND[: len(table.levels)]])
    return out.getvalue().encode()


@st.composite
def gone_wrong(draw, command, argv, files):
    """One thing wrong: with an option, with the file, or with what lies in the folder."""
    one = lambda *options: draw(st.sampled_from(options))  # noqa: E731
    argv, files = dict(argv), dict(files)
    given, any_option, value = one(*argv, "--output"), one(*OPTIONS[command]), one(*ODD_VALUES)
    match one("lost", *["spoilt"] * 3, "added", "unknown", "trials", *["data"] * 3, "split", "in the way", "onto itself"):
        case "lost":
            argv.pop(given, None)
        case "spoilt" if given not in ("--trials", "--plot"):
            names = (argv.get(given) or "").split(",")
            near = one(names[::-1], [*names, names[0]], names[1:], [*names, "population"])
            argv[given] = one(value, value, ",".join(near))
        case "added" if any_option not in ("--trials", "--plot"):
            argv[any_option] = value
        case "unknown":
            argv[one(*ODD_OPTIONS)] = None
        case "trials":
            argv["--trials"] = one(*ODD_TRIALS)
        case "data":
            files[DATA] = draw(st.sampled_from([None, b""]) | texts.accidents(files.get(DATA) or b"x"))
        case "split" if SPLIT in files:
            files[SPLIT] = draw(texts.broken_splits(json.loads(files[SPLIT]))) if files[SPLIT][:1] == b"{" else b""
        case "split":
            files.pop(DATA, None)
        case "in the way":
            files[one("out.csv", "out.json", "out", "out.svg", ACCOUNT)] = one(b"old", None)
        case "onto itself":
            option = "--plot" if draw(maybe(3)) else "--output"
            argv |= {option: one(DATA, SPLIT, f"./{SPLIT}", "out.svg"), "--force": None}
    return argv, files


# ---- what happens ----


def run(scene):
    """Run a command in this process, in a folder with the files of the scene."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=scene.encoding, write_through=True) for _ in range(2)]
    with texts.folder(scene.files) as place, texts.folder({}) as cache, chdir(place):
        nothing_there = {"BOOK_CENSUS_URL": "http://127.0.0.1:1", "BOOK_CACHE": str(cache)}
        with mock.patch.dict(os.environ, nothing_there), mock.patch(WAIT, 0):
            with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
                try:
                    code = cli.main(scene.argv)
                except SystemExit as stop:  # argparse
                    code = stop.code
        printed = [stream.buffer.getvalue().decode(scene.encoding) for stream in streams]
        left = {str(path.relative_to(place)): path.read_bytes() if path.is_file() else None for path in place.rglob("*")}
        return Outcome(code, *printed, left)


@law(run, scene=scenes(), spoil=(), share=2)
def test_command_line(found, scene):
    """An answer has to be right, complete and where it was asked for; a refusal is one sentence, and changes nothing."""
    event(f"exit code {found.code}")
    assert "Traceback" not in found.err and not any(name.startswith(".") for name in found.files)
    if found.code == 2:
        assert not scene.right, "refused, though all was right"
        judge_refusal(found, scene)
        return
    notes = found.err.splitlines() if scene.argv[0] == "release" else []
    assert found.code == 0 and found.err == "".join(f"{line}\n" for line in notes), (found.code, found.err)
    assert all(line.startswith("note: ") for line in notes) and not any(n in found.err for n in texts.SECRETS)
    if "--help" in scene.argv:
        assert found.out.startswith("usage: ") and found.files == scene.files
        return
    asked = effective(scene.argv)
    targets = {asked[option] for option in ("output", "plot") if option in asked}
    if scene.argv[0] == "release":
        targets |= {f"{asked['output']}/{name}" for name in ("counts.csv", "record.json")}
        assert not targets & {*scene.files}, "a release was overwritten"
    read = {asked[option] for option in ("file", "budgets_from", "nodes") if option in asked}
    assert targets <= {*found.files} and not targets & read, "wrote over what was read"
    targets |= {asked["account"]} if scene.argv[0] == "release" and "account" in asked else set()
    assert asked.get("output", 0) != asked.get("plot", 1), "wrote twice to the same file"
    before, after = ({k: v for k, v in files.items() if k not in targets} for files in (scene.files, found.files))
    assert before == after, "another file has changed"
    assert "force" in asked or scene.argv[0] == "release" or not targets & {*scene.files}
    JUDGES[scene.argv[0]](found, scene, asked)


def judge_refusal(found, scene):
    assert found.out == "" and found.files == scene.files
    lines = found.err.strip().splitlines()
    assert found.err.endswith("\n") and lines and any(line.startswith("python -m helpers") for line in lines)
    assert "functools" not in found.err and "<function" not in found.err and "object at 0x" not in found.err
    if found.err.startswith("python -m helpers: "):
        assert len(found.err) > len("python -m helpers: ") + 15, "not a sentence"
    if scene.argv[0] == "release":
        assert not any(count.lstrip("-") in found.err for count in texts.SECRETS), "a refusal shows a count"


def effective(argv):
    """The options that count, of one that is given twice the last; names of files without the folder they are in."""
    asked = vars(parser_of(argv[0]).parse_args(argv[1:]))
    asked = {name: value for name, value in asked.items() if value not in (None, False)}
    return asked | {name: asked[name].removeprefix("./") for name in FILES if name in asked}


def slow_tree(scene, asked, levels, counted=True):
    """The nodes of each level and their counts, by the slow reading of the file."""
    listed = [] if "nodes" not in asked else [*zip(*named(scene.files[asked["nodes"]], levels), strict=True)]
    if listed and not counted:
        return texts.summed_paths(listed, [Fraction(0)] * len(listed), levels)
    columns, _ = texts.parsed(scene.files[asked["file"]])
    count = texts.count_column(columns, levels, asked.get("count")) if counted else None
    found = texts.sums(columns, levels, count)
    assert not listed or {*found[-1]} <= {*listed}, "a leaf that is not listed"
    empty = texts.summed_paths(listed, [Fraction(0)] * len(listed), levels) if listed else [{} for _ in levels]
    return [{path: nodes.get(path, 0) for path in sorted({*nodes, *more})} for nodes, more in zip(found, empty, strict=True)]


def named(content, levels):
    """The columns of the levels in a CSV file, in their one spelling."""
    columns, _ = texts.parsed(content)
    return [[*map(tidy, columns[level])] for level in levels]


def split_of(scene, asked):
    """Levels, and the budgets that a file gives them, if one does."""
    if "budgets_from" in asked:
        found = json.loads(scene.files[asked["budgets_from"]])
        assert all(isinstance(level, str) for level in found["levels"])
        return found["levels"], found["eps"]
    return [name.strip() for name in asked["levels"].split(",")], None


def judge_budgets(eps, asked, sizes):
    """Budgets are those of the rule, for the total or the tau that was asked for."""
    weights = asked["weights"].split(",") if "weights" in asked else None
    rows = int(asked.get("rows_per_person", 1))
    if "tau" in asked:  # of one row: those of a person are as many times as large
        eps = [e / rows for e in eps]
    assert_budgets(eps, sizes, asked.get("rule", "cube-root"), weights, asked.get("total"), asked.get("tau"))


def strict_json(text):
    return json.loads(text, parse_constant=lambda name: 1 / 0)


def judge_allocate(found, scene, asked):
    levels, _ = split_of(scene, asked)
    sizes = [len(nodes) for nodes in slow_tree(scene, asked, levels, counted=asked.get("rule") == "optimal")]
    printed = [found.out] if "json" in asked else []
    stored = [found.files[asked["output"]].decode()] if "output" in asked else []
    for values in map(strict_json, printed + stored):
        assert values["levels"] == levels and values["rule"] == asked.get("rule", "cube-root")
        assert (values["chosen_on"] == "counts") == (values["rule"] == "optimal") and len(values["digest"]) == 64
        assert values["total"] == float(sum(Decimal(repr(e)) for e in values["eps"]))
        judge_budgets(values["eps"], asked, sizes)
    assert printed or ("Total " in found.out and "budget" in found.out)


def judge_simulate(found, scene, asked):
    levels, eps = split_of(scene, asked)
    sizes = [len(nodes) for nodes in slow_tree(scene, asked, levels)]
    tables = []
    if "json" in asked:
        values = strict_json(found.out)
        assert values["levels"] == levels and values["trials"] == int(asked.get("trials", 200))
        tables.append(values["errors"])
    if "output" in asked:
        tables.append([*csv.DictReader(io.StringIO(found.files[asked["output"]].decode(), newline=""))])
    for rows in tables:
        assert [row["level"] for row in rows] == levels and [int(row["nodes"]) for row in rows] == sizes
        budgets = [float(row["budget"]) for row in rows]
        assert eps is None or budgets == [float(e) for e in eps]
        if eps is None:
            judge_budgets(budgets, asked, sizes)
        for row, e in zip(rows, budgets, strict=True):
            errors = [float(row[name]) for name in ("expected", "measured", "±")]
            assert all(isfinite(x) and x >= 0 for x in errors) and 0 <= float(row["within 10%"]) <= 1
            most = sqrt(2) * int(asked.get("rows_per_person", 1)) / e
            assert 0.4 * most <= errors[0] <= most * 1.000001
    if "plot" in asked:
        assert found.files[asked["plot"]].startswith((b"<?xml", b"\x89PNG", b"%PDF"))
    assert "json" in asked or "expected" in found.out


def judge_release(found, scene, asked):
    levels, eps = split_of(scene, asked)
    tree = slow_tree(scene, asked, levels)
    assert all(value.denominator == 1 for value in tree[-1].values()), "fractions were released"
    content, record = (
        found.files[f"{asked['output']}/counts.csv"],
        strict_json(found.files[f"{asked['output']}/record.json"]),
    )
    assert record["counts"]["sha256"] == sha256(content).hexdigest(), "counts and record do not fit"
    assert record["rows_per_person"] == int(asked.get("rows_per_person", 1))
    assert {level["sensitivity"] for level in record["levels"]} == {record["rows_per_person"]}
    if "budgets_from" in asked:
        said = strict_json(scene.files[asked["budgets_from"]])
        assert said["chosen_on"] == "counts" or record["budgets"]["origin"].startswith("declared"), "a forged split"
    assert ("account" in asked) == isinstance(record["account"], dict), "not booked"
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    released = texts.nodes(header, rows, levels)
    assert [{*nodes} for nodes in released] == [{*nodes} for nodes in tree], "not the nodes"
    released = [{path: int(value) for path, value in nodes.items()} for nodes in released]
    assert all(value >= 0 for nodes in released for value in nodes.values()), "negative"
    for above, below in pairwise(released):
        for path, value in above.items():
            assert value == sum(n for child, n in below.items() if child[:-1] == path), "children do not add up"
    spent = [level["epsilon"] for level in record["levels"]]
    if eps is None:
        eps = [total := Decimal(repr(float(asked["total"])))]
        if total > Decimal("1e-4") and total % Decimal("1e-12") == 0:  # a release knows no smaller steps
            judge_budgets(spent, asked, [len(nodes) for nodes in tree])
    assert isclose(record["epsilon"], sum(map(float, eps)), rel_tol=1e-7)
    assert isclose(record["epsilon"], sum(spent), rel_tol=1e-9)


def judge_example(found, scene, asked):
    text = found.files[asked["output"]].decode() if "output" in asked else found.out
    header, *rows = csv.reader(io.StringIO(text))
    expected = load_example(int(asked.get("year", example.YEARS[-1])))
    assert header == [*expected] and len(rows) == len(expected) and rows[-1] == [str(cell) for cell in expected.iloc[-1]]


def judge_account(found, scene, asked):
    raise AssertionError("no account lies there, and none may be made")


JUDGES = {name: globals()[f"judge_{name}"] for name in ("allocate", "simulate", "release", "example", "account")}
