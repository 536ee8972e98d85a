"""The command line: argument lists out of a grammar of all options, right or spoilt, on files that are right or spoilt.

    Scene: what lies in a folder, and what is asked for there · Outcome: exit code, what was printed, what lies there then
"""

import csv
import io
import json
import os
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from math import isclose, isfinite, sqrt
from pathlib import Path
from unittest import mock

from helpers import cli, example, load_example
from helpers.splits import RULES

from . import texts
from .machine import Draw, Target

DATA, SPLIT, OLD = "data.csv", "split.json", b"old"
FLAGS = {"--json", "--force", "--help"}
TAKES = {  # options of each command, but for --trials and --plot, which take long
    "allocate": ["--levels", "--count", "--total", "--tau", "--weights", "--rule", "--output", "--json", "--force"],
    "simulate": ["--levels", "--count", "--total", "--weights", "--rule", "--seed", "--output", "--json", "--force",
                 "--budgets-from"],
    "release": ["--levels", "--count", "--total", "--weights", "--rule", "--output", "--force", "--budgets-from"],
    "example": ["--year", "--output", "--force"],
    "verify": [],
}  # fmt: skip
ODD_VALUES = (
    "", " ", "0", "-1", "nan", "inf", "1e400", "1e-400", "1e9", "1e-9", "1_0", "٣", "½", "x", "--", "-", "--total",
    "a,b", ",", "a,,b", "region", "1,1", "1,0", "1,x", "1,1,1,1,1", "optimal", "mine", "9" * 5000, "4",
    "3", "true", ".", "..", "no/such/folder/x.csv", DATA, f"./{DATA}", SPLIT, "x.svg", "x.png.txt", "é.csv",
    "\udcff.csv", "n" * 251, "n" * 300, "/dev/null", "a\nb", "2023", "2024", "2025", "wyoming", "{}", "%s", "%(prog)s",
    "$HOME", "~", "*", "@file",
)  # fmt: skip
ODD_JSON = (None, True, "", "ab", 0, -1, 7, 1e308, 1e-300, 1e-9, float("nan"), float("inf"), [], {}, 10**400)


@dataclass(frozen=True)
class Scene:
    """Files by name (a folder's content is None), the arguments, the encoding of the terminal, and whether all is right."""

    files: dict[str, bytes | None]
    argv: tuple[str, ...]
    encoding: str
    right: bool


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str
    files: dict[str, bytes | None]


def scene(draw: Draw, _: dict) -> Scene:
    """A command that is right, or with one or two things wrong about its arguments or files."""
    command = draw.choices([*TAKES], weights=[10, 8, 8, 1, 1])[0]
    odd = draw.random() < 0.1
    table = texts.table(draw, odd)
    argv, files = DRAWN[command](draw, table)
    files = {DATA: table.content} | files
    faults = draw.choice([0, 0, 1, 1, 1, 2])
    for _ in range(faults):
        argv, files = _spoilt(draw, command, argv, files)
    leaks = sha256(table.content).hexdigest().encode() in files.get(SPLIT, b"")
    right = faults == 0 and not odd and command != "verify" and (command != "release" or (table.whole and not leaks))
    argv = (command, *_in_any_order(draw, argv, right))
    return Scene(files, argv, draw.choice(["utf-8", "utf-8", "ascii", "cp1252"]), right)


def _common(draw: Draw, table: texts.Table) -> dict:
    argv = {"": DATA, "--levels": ",".join(table.levels)}
    numbers = [name for name in table.columns if name not in table.levels]
    if draw.random() < 0.5 or (table.count != "population" and len(numbers) > 1):
        argv["--count"] = table.count
    return argv


def _amount(draw: Draw, table: texts.Table, rules: tuple[str, ...]) -> dict:
    argv = {"--total": draw.choice([f"{draw.power(-3, 3):.{draw.randint(1, 12)}g}", "1", "0.3", "1e-5", "1e9", "2.50"])}
    if draw.random() < 0.5:
        argv["--rule"] = draw.choice(rules)
    if argv.get("--rule") != "uniform" and draw.random() < 0.3:
        argv["--weights"] = ",".join(f"{draw.power(-3, 3):.3g}" for _ in table.levels)
    return argv


def _allocate(draw: Draw, table: texts.Table) -> tuple[dict, dict]:
    argv = _common(draw, table) | _amount(draw, table, RULES)
    if draw.random() < 0.3:
        del argv["--total"]
        argv["--tau"] = f"{draw.power(-3, 8):.4g}"
    return argv | _json(draw) | _output(draw, "out.json", 0.5), {}


def _simulate(draw: Draw, table: texts.Table) -> tuple[dict, dict]:
    argv = _common(draw, table) | {"--trials": str(draw.randint(4, 6))} | _json(draw) | _output(draw, "out.csv", 0.5)
    if draw.random() < 0.5:
        argv["--seed"] = str(draw.choice([0, 1, 2**64, draw.getrandbits(500)]))
    if draw.random() < 0.01 and any(texts.number(row[table.columns.index(table.count)]) for row in table.rows):
        argv["--plot"] = draw.choice(["out.svg", "out.png"])
    return _with_split(draw, table, argv)


def _release(draw: Draw, table: texts.Table) -> tuple[dict, dict]:
    return _with_split(draw, table, _common(draw, table) | _output(draw, "out.csv", 1))


def _with_split(draw: Draw, table: texts.Table, argv: dict) -> tuple[dict, dict]:
    if draw.random() < 0.6:
        return argv | _amount(draw, table, RULES[:2]), {}
    if draw.random() < 0.5:
        del argv["--levels"]
    found = split(draw, table.levels)
    if found["sha256"] and draw.random() < 0.3:
        found["sha256"] = sha256(table.content).hexdigest()
    return argv | {"--budgets-from": SPLIT}, {SPLIT: json.dumps(found).encode()}


def split(draw: Draw, levels: tuple[str, ...]) -> dict:
    """A split of some budget over the levels, as allocate writes it."""
    eps = [float(f"{draw.power(-3, 3):.6g}") for _ in levels]
    rule = draw.choice(RULES)
    source = ("counts", f"{draw.getrandbits(256):064x}") if rule == "optimal" else ("nodes", None)
    total = float(sum(Decimal(repr(e)) for e in eps))
    return {"levels": [*levels], "eps": eps, "rule": rule, "chosen_on": source[0], "sha256": source[1], "total": total}


def _example(draw: Draw, table: texts.Table) -> tuple[dict, dict]:
    argv = {"--year": str(draw.choice(example.YEARS))} if draw.random() < 0.5 else {}
    return argv | _output(draw, "out.csv", 0.5), {}


def _verify(draw: Draw, table: texts.Table) -> tuple[dict, dict]:
    return {"": draw.choice([*ODD_VALUES[:20], "wyomin", "WYY", "00", "57"])}, {}  # the known states need a network


DRAWN = {"allocate": _allocate, "simulate": _simulate, "release": _release, "example": _example, "verify": _verify}


def _json(draw: Draw) -> dict:
    return {"--json": None} if draw.random() < 0.5 else {}


def _output(draw: Draw, name: str, chance: float) -> dict:
    return {"--output": name} | ({"--force": None} if draw.random() < 0.3 else {}) if draw.random() < chance else {}


def _spoilt(draw: Draw, command: str, argv: dict, files: dict) -> tuple[dict, dict]:
    """One thing wrong: with an option, with the file, or with what lies in the folder."""
    argv, files = dict(argv), dict(files)
    if not argv:
        return {"--year": draw.choice(ODD_VALUES)}, files
    option = draw.choice([*argv])
    known = TAKES[command] or ["--levels"]
    match draw.randrange(13):
        case 0:
            del argv[option]
        case 1 | 2 if option not in ("--trials", "--plot"):
            argv[option] = draw.choice(ODD_VALUES)
        case 3:
            argv[draw.choice(known)] = draw.choice(ODD_VALUES)
        case 4:
            argv[draw.choice(["--levle", "--tot", "-x", "--verbose", "extra", "--tau", "--json", "--help"])] = None
        case 5:
            argv["--trials"] = draw.choice(["3", "0", "-4", "4.0", "x", "", "4e0", "٥", "9" * 5000])
        case 6:
            files[DATA] = draw.choice([None, b"", texts.spoilt(draw, files.get(DATA) or b"x")])
        case 7 | 8:
            files[DATA] = texts.spoilt(draw, files.get(DATA) or b"x")
        case 9:
            if SPLIT in files:
                files[SPLIT] = spoilt_split(draw, json.loads(files[SPLIT])) if files[SPLIT][:1] == b"{" else b""
            else:
                files.pop(DATA, None)
        case 10:
            name = draw.choice(["out.csv", "out.json", "out.csv.record.json", "out.svg"])
            files[name] = draw.choice([OLD, None])
        case 11 if "--levels" in argv and argv["--levels"] is not None:
            names = argv["--levels"].split(",")
            argv["--levels"] = ",".join(draw.choice([names[::-1], [*names, names[0]], names[1:], [*names, "population"]]))
        case 12:
            option = draw.choice(["--output", "--plot"] if draw.random() < 0.05 else ["--output"])
            argv |= {option: draw.choice([DATA, SPLIT, f"./{SPLIT}", "out.svg"]), "--force": None}
    return argv, files


def spoilt_split(draw: Draw, found: dict) -> bytes:
    """A split file after an accident: a value replaced or lost, or its bytes spoilt."""
    key = draw.choice([*found])
    match draw.randrange(5):
        case 0:
            del found[key]
        case 1 | 2:
            found[key] = draw.choice([*ODD_JSON, [1], ["a"], [[]], {"a": 1}])
        case 3 if isinstance(found[key], list):
            at = draw.randrange(len(found[key]))
            found[key][at] = draw.choice(ODD_JSON)
        case 3:
            return draw.choice([b"[" * 100_000, b'{"a":' * 50_000, b"null", b"[]", b"1", b'"x"', b"\xff", b"9" * 5000])
        case 4:
            return texts.spoilt(draw, json.dumps(found, indent=draw.choice([None, 2])).encode())
    return json.dumps(found).encode()


def _in_any_order(draw: Draw, argv: dict, right: bool) -> list[str]:
    pairs = []
    for name, value in argv.items():
        if name == "":
            pairs.append([value])
        elif value is None:
            pairs.append([name])
        else:
            pairs.append([f"{name}={value}"] if draw.random() < 0.2 else [name, value])
    draw.shuffle(pairs)
    if pairs and not right and draw.random() < 0.05:
        pairs.append(draw.choice(pairs))
    return [part for pair in pairs for part in pair]


def run(scene: Scene) -> Outcome:
    """Run a command in this process, in a folder with the files of the scene."""
    folder, cache, back = Path(tempfile.mkdtemp()), tempfile.mkdtemp(), os.getcwd()
    nothing_there = {"BOOK_CENSUS_URL": "http://127.0.0.1:1", "BOOK_CACHE": cache}
    try:
        for name, content in scene.files.items():
            (folder / name).mkdir() if content is None else (folder / name).write_bytes(content)
        os.chdir(folder)
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=scene.encoding, write_through=True) for _ in range(2)]
        no_network = mock.patch.dict(os.environ, nothing_there), mock.patch("helpers.downloads.WAIT", 0)
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]), no_network[0], no_network[1]:
            try:
                code = cli.main(scene.argv)
            except SystemExit as stop:  # argparse
                code = stop.code
        printed = [stream.buffer.getvalue().decode(scene.encoding) for stream in streams]
        left = {path.name: None if path.is_dir() else path.read_bytes() for path in folder.iterdir()}
        return Outcome(code, *printed, left)
    finally:
        os.chdir(back)
        shutil.rmtree(folder)
        shutil.rmtree(cache)


def judge(found: Outcome, scene: Scene) -> bool:
    """An answer has to be right, complete and where it was asked for; a refusal is one sentence, and changes nothing."""
    assert "Traceback" not in found.err and not any(name.startswith(".") for name in found.files)
    if found.code == 2:
        assert not scene.right, "refused, though all was right"
        _judge_refusal(found, scene)
        return False
    assert found.code == 0 and found.err == "", (found.code, found.err)
    asked = effective(scene.argv)
    if "--help" in asked:
        assert found.out.startswith("usage: ") and found.files == scene.files
        return True
    targets = {str(asked[option]).removeprefix("./") for option in ("--output", "--plot") if option in asked}
    targets |= {f"{name}.record.json" for name in targets} if scene.argv[0] == "release" else set()
    read = {str(asked[option]).removeprefix("./") for option in ("file", "--budgets-from") if option in asked}
    assert targets <= {*found.files} and not targets & read, "wrote over what was read"
    assert asked.get("--output", 0) != asked.get("--plot", 1), "wrote twice to the same file"
    before, after = ({k: v for k, v in files.items() if k not in targets} for files in (scene.files, found.files))
    assert before == after, "another file has changed"
    assert "--force" in asked or not targets & {*scene.files}
    JUDGES[scene.argv[0]](found, scene, asked)
    return True


def _judge_refusal(found: Outcome, scene: Scene) -> None:
    assert found.out == "" and found.files == scene.files
    lines = found.err.strip().splitlines()
    assert found.err.endswith("\n") and lines and any(line.startswith("python -m helpers") for line in lines)
    assert "functools" not in found.err and "<function" not in found.err and "object at 0x" not in found.err
    if found.err.startswith("python -m helpers: "):
        assert len(found.err) > len("python -m helpers: ") + 15, "not a sentence"
    if scene.argv[0] == "release":
        assert "987654321" not in found.err and "7654321.5" not in found.err, "a refusal shows a count"


def effective(argv: tuple[str, ...]) -> dict[str, str | None]:
    """The options that count: of one that is given twice, the last."""
    asked, rest = {}, [*argv[1:]]
    while rest:
        name, equals, value = (word := rest.pop(0)).partition("=")
        if not word.startswith("--"):
            asked["file"] = word
        else:
            asked[name] = value if equals else None if name in FLAGS else rest.pop(0)
    return asked


def _tree(scene: Scene, asked: dict, levels: list[str], count: bool) -> list[dict]:
    """The nodes of each level and their counts, by the slow reading of the file."""
    columns, _ = texts.parsed(scene.files[asked["file"].removeprefix("./")])
    name = asked.get("--count")
    if count and name is None:
        others = [column for column in columns if column not in levels]
        numbers = [column for column in others if None not in map(texts.number, columns[column])]
        name = "population" if "population" in others else numbers[0]
    if count:
        assert all(value is not None and value >= 0 for value in map(texts.number, columns[name])), "no counts"
    return texts.sums(columns, levels, name if count else None)


def _split_of(scene: Scene, asked: dict) -> tuple[list[str], list[float] | None]:
    if "--budgets-from" in asked:
        found = json.loads(scene.files[asked["--budgets-from"].removeprefix("./")])
        assert all(isinstance(level, str) for level in found["levels"])
        return found["levels"], found["eps"]
    return [name.strip() for name in asked["--levels"].split(",")], None


def _judge_budgets(eps: list[float], asked: dict, sizes: list[int]) -> None:
    """Budgets add up to the total, or keep to tau; those of rules on nodes are in the rule's proportions."""
    assert all(isinstance(e, float) and isfinite(e) and e > 0 for e in eps) and len(eps) == len(sizes)
    rule = asked.get("--rule", "cube-root")
    weights = [float(w) for w in asked["--weights"].split(",")] if "--weights" in asked else [1.0] * len(sizes)
    shares = [(w * n) ** (1 / 3) if rule == "cube-root" else 1 for w, n in zip(weights, sizes, strict=True)]
    if rule != "optimal":
        for e, share in zip(eps, shares, strict=True):
            assert isclose(e / sum(eps), share / sum(shares), rel_tol=3e-5 * len(eps)), "not the rule's proportions"
    if "--total" in asked:
        assert sum(Decimal(repr(e)) for e in eps) == Decimal(repr(float(asked["--total"]))), "not the total"
    elif rule != "optimal":
        worst = sum(2 * w * n / e**2 for w, n, e in zip(weights, sizes, eps, strict=True))
        assert isclose(worst, float(asked["--tau"]), rel_tol=3e-5) and worst <= float(asked["--tau"]), "does not keep to tau"


def _judge_allocate(found: Outcome, scene: Scene, asked: dict) -> None:
    levels, _ = _split_of(scene, asked)
    sizes = [len(nodes) for nodes in _tree(scene, asked, levels, asked.get("--rule") == "optimal")]
    printed = [found.out] if "--json" in asked else []
    stored = [found.files[asked["--output"].removeprefix("./")].decode()] if "--output" in asked else []
    for text in printed + stored:
        values = json.loads(text, parse_constant=lambda name: 1 / 0)
        assert values["levels"] == levels and values["rule"] == asked.get("--rule", "cube-root")
        assert (values["chosen_on"] == "counts") == (values["rule"] == "optimal") == (values["sha256"] is not None)
        assert values["total"] == float(sum(Decimal(repr(e)) for e in values["eps"]))
        _judge_budgets(values["eps"], asked, sizes)
    assert printed or ("Total " in found.out and "budget" in found.out)


def _judge_simulate(found: Outcome, scene: Scene, asked: dict) -> None:
    levels, eps = _split_of(scene, asked)
    sizes = [len(nodes) for nodes in _tree(scene, asked, levels, True)]
    tables = []
    if "--json" in asked:
        values = json.loads(found.out, parse_constant=lambda name: 1 / 0)
        assert values["levels"] == levels and values["trials"] == int(asked.get("--trials", 200))
        tables.append(values["errors"])
    if "--output" in asked:
        text = found.files[asked["--output"].removeprefix("./")].decode()
        tables.append([*csv.DictReader(io.StringIO(text, newline=""))])
    for rows in tables:
        assert [row["level"] for row in rows] == levels and [int(row["nodes"]) for row in rows] == sizes
        budgets = [float(row["budget"]) for row in rows]
        assert eps is None or budgets == [float(e) for e in eps]
        if eps is None:
            _judge_budgets(budgets, asked, sizes)
        for row, e in zip(rows, budgets, strict=True):
            errors = [float(row[name]) for name in ("expected", "measured", "±")]
            assert all(isfinite(x) and x >= 0 for x in errors) and 0 <= float(row["within 10%"]) <= 1
            assert 0.4 * sqrt(2) / e <= errors[0] <= sqrt(2) / e * 1.000001
    if "--plot" in asked:
        start = found.files[asked["--plot"].removeprefix("./")][:6]
        assert start.startswith((b"<?xml", b"\x89PNG", b"%PDF")), start
    assert "--json" in asked or "expected" in found.out


def _judge_release(found: Outcome, scene: Scene, asked: dict) -> None:
    levels, eps = _split_of(scene, asked)
    tree = _tree(scene, asked, levels, True)
    assert all(value.denominator == 1 for value in tree[-1].values()), "fractions were released"
    if "--budgets-from" in asked:
        source = sha256(scene.files[asked["file"].removeprefix("./")]).hexdigest()
        assert source.encode() not in scene.files[asked["--budgets-from"].removeprefix("./")], "the budgets leak"
    output = asked["--output"].removeprefix("./")
    header, *rows = csv.reader(io.StringIO(found.files[output].decode(), newline=""), strict=True)
    assert header[1:-1] == levels and len({*header}) == len(header) == len(levels) + 2
    released = [{} for _ in levels]
    for name, *path, value in rows:
        depth = levels.index(name)
        assert path[depth + 1 :] == [""] * (len(levels) - depth - 1)
        released[depth][tuple(path[: depth + 1])] = int(value)
    assert [{*nodes} for nodes in released] == [{*nodes} for nodes in tree], "not the nodes"
    assert len(rows) == sum(map(len, tree)), "a node twice"
    assert all(value >= 0 for nodes in released for value in nodes.values()), "negative"
    for above, below in pairwise(released):
        for path, value in above.items():
            assert value == sum(n for child, n in below.items() if child[:-1] == path), "children do not add up"
    record = json.loads(found.files[f"{output}.record.json"], parse_constant=lambda name: 1 / 0)
    spent = [level["epsilon"] for level in record["levels"]]
    if eps is None:
        eps = [total := Decimal(repr(float(asked["--total"])))]
        if total > Decimal("1e-4") and total % Decimal("1e-12") == 0:  # a release knows no smaller steps
            _judge_budgets(spent, asked, [len(nodes) for nodes in tree])
    assert isclose(record["epsilon"], sum(map(float, eps)), rel_tol=1e-7)
    assert isclose(record["epsilon"], sum(spent), rel_tol=1e-9)


def _judge_example(found: Outcome, scene: Scene, asked: dict) -> None:
    text = found.files[asked["--output"].removeprefix("./")].decode() if "--output" in asked else found.out
    header, *rows = csv.reader(io.StringIO(text))
    expected = load_example(int(asked.get("--year", example.YEARS[-1])))
    assert header == [*expected] and len(rows) == len(expected) and rows[-1] == [str(cell) for cell in expected.iloc[-1]]


JUDGES = {"allocate": _judge_allocate, "simulate": _judge_simulate, "release": _judge_release, "example": _judge_example}
TARGETS = {"command line": Target(run, {"scene": scene}, judge, spoil=frozenset())}
