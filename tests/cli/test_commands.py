"""The command line: what it prints and writes, what it refuses, and that the examples of --help work."""

import hashlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import ANY, Mock

import numpy as np
import pandas as pd
import pytest
from manuscript import ROOT

from helpers import (
    Accountant,
    Hierarchy,
    PrivateRelease,
    cube_root,
    error_report,
    load_example,
    minimize_error,
    panels,
    relative_errors,
)
from helpers.cli import COMMANDS as NAMES
from helpers.cli import PROG, main
from helpers.cli.commands import account, allocate, example, release, simulate
from helpers.example import LEVELS
from helpers.publishing.exact_noise import Noise
from helpers.publishing.split import Split

OFFLINE = [name for name in NAMES if name != "verify"]  # that one needs a network
GOOD = "region,store,population\nN,007,3\nN,7,0\nS,007,1234\n"
WITH_BEDS = "region,store,beds,patients\nN,a,1,3\nN,b,1,0\nS,c,1,1234\n"
TREE = Hierarchy.from_counts([[3, 1234], [3, 0, 1234]], [None, [0, 0, 1]], ["region", "store"])  # of both
COMMANDS = {  # each command with all it needs; here and below, LEVELS stands for --levels region,store
    "allocate": "allocate data.csv LEVELS --total 1",
    "simulate": "simulate data.csv LEVELS --total 1 --trials 4",
    "release": "release data.csv LEVELS --total 1 --output released",
}
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
FULL = OSError(28, "No space left on device", "out.file")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own, with a good file in it."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(GOOD)


def words_of(line):
    return shlex.split(line.replace("LEVELS", "--levels region,store"))


def run(capsys, line):
    """Exit code, standard output and standard error of a command line, run in this process."""
    try:
        code = main(words_of(line))
    except SystemExit as stop:  # argparse
        code = stop.code
    return code, *capsys.readouterr()


def process(line, **options):
    """The same in a process of its own."""
    command = [sys.executable, "-m", "helpers", *words_of(line)]
    return subprocess.run(command, **{"env": ENVIRONMENT, "capture_output": True, "text": True} | options)


def refused(capsys, line):
    """The sentence that refuses a command line, which writes nothing and exits with 2."""
    before = sorted(os.listdir())
    code, out, err = run(capsys, line)
    assert (code, out) == (2, "") and "Traceback" not in err
    assert sorted(os.listdir()) == before
    return err


# What each command does


SAFE = """The budgets look at node counts alone: safe for confidential counts, if the
list of nodes is public itself, with every code that could occur, empty or not.
"""
LEAKS = """The budgets depend on counts, which must be public or earlier data. A split
chosen on confidential counts leaks: use --rule cube-root for those.
"""
PRINTED = {
    "--total 1.00000001": f"""data.csv: 3 rows, counts not read

 level nodes     budget share  error at most
region     2   0.466262 46.6%           3.03
 store     3 0.53373801 53.4%           2.65

Total 1, rule cube-root. The error is that of one count (root mean square).
{SAFE}""",
    "--total 0.00002 --rule uniform": f"""data.csv: 3 rows, counts not read

 level nodes budget share  error at most
region     2  1e-05 50.0%       1.41e+05
 store     3  1e-05 50.0%       1.41e+05

Total 2e-05, rule uniform. The error is that of one count (root mean square).
{SAFE}""",
    "--total 2 --rule optimal --weights 1,2": f"""data.csv: 3 rows, counts from the column population

 level nodes   budget share  error at most
region     2 0.835618 41.8%           1.69
 store     3 1.164382 58.2%           1.21

Total 2, rule optimal. The error is that of one count (root mean square).
{LEAKS}""",
}


@pytest.mark.parametrize("amount, text", PRINTED.items(), ids=["nodes", "tiny", "counts"])
def test_allocate_prints_a_table_and_what_it_means(capsys, amount, text):
    """A row a level with its nodes, budget, share and error; then the total, the rule, and what it may be used for."""
    assert run(capsys, f"allocate data.csv LEVELS {amount}") == (0, text, "")


def test_large_numbers_have_commas(capsys):
    """Rows and nodes are counted in groups of three digits."""
    load_example().to_csv("patients.csv", index=False)
    out = run(capsys, f"allocate patients.csv --levels {','.join(LEVELS)} --total 1")[1]
    assert out.startswith("patients.csv: 3,542 rows, counts not read\n") and "\ndiagnosis 3,542 " in out


@pytest.mark.parametrize("rule", ["cube-root", "uniform"])
def test_the_safe_rules_do_not_look_at_the_counts(capsys, rule):
    """With the rules on nodes, the output is the same whatever the counts are, and even without any."""
    line = f"allocate data.csv LEVELS --total 1 --rule {rule}"
    expected = run(capsys, line)
    assert expected[0] == 0
    for text in (GOOD.replace("1234", "5"), GOOD.replace("1234", "secret"), "region,store\nN,007\nN,7\nS,007\n"):
        Path("data.csv").write_text(text)
        assert run(capsys, line) == expected


def test_json_holds_the_split(capsys):
    """--json prints one JSON object, the same that --output keeps; by default its budgets are cube_root's."""
    code, out, _ = run(capsys, "allocate data.csv LEVELS --total 0.3 --json --output split.json")
    split = json.loads(out)
    assert code == 0 and out == Path("split.json").read_text() and out.startswith('{\n  "levels": [\n    "region",')
    assert split["levels"] == ["region", "store"] and split["total"] == 0.3 and split["chosen_on"] == "nodes"
    np.testing.assert_allclose(split["eps"], cube_root(TREE, 0.3).eps, rtol=1e-5)


@pytest.mark.parametrize("text, option", [(GOOD, ""), (WITH_BEDS, "--count patients")], ids=["population", "named"])
def test_a_split_on_counts_knows_them(capsys, text, option):
    """The rule optimal gives minimize_error's split of the right column, and carries the digest of its counts."""
    Path("data.csv").write_text(text)
    code, out, _ = run(capsys, f"allocate data.csv LEVELS --total 1 --rule optimal {option} --json")
    split = json.loads(out)
    np.testing.assert_allclose(split["eps"], minimize_error(TREE, 1).eps, rtol=1e-5)
    assert (code, split["chosen_on"], split["digest"]) == (0, "counts", TREE.digest)


def test_tau_asks_for_a_budget(capsys):
    """--tau gives a total that keeps the error below tau, less of it for a larger tau."""
    line = "allocate data.csv LEVELS --json --tau"
    small, large = (json.loads(run(capsys, f"{line} {tau}")[1])["total"] for tau in (50, 200))
    assert small == pytest.approx(2 * large, rel=1e-4)  # error falls like 1/ε²


def test_simulate_prints_the_error_report(capsys):
    """The report is error_report's, for the split and the seed that were asked for."""
    load_example().to_csv("patients.csv", index=False)
    line = f"simulate patients.csv --levels {','.join(LEVELS)} --total 1 --trials 5 --seed 7"
    code, out, err = run(capsys, line + " --json")
    found, text = json.loads(out), run(capsys, line)[1]
    tree = Hierarchy.from_frame(load_example(), LEVELS, "patients")
    expected = error_report(tree, found["eps"], trials=5, seed=7)["measured"]
    np.testing.assert_allclose([row["measured"] for row in found["errors"]], expected)
    assert (code, err) == (0, "") and "counts from the column patients" in text
    assert all(f"{error:.3g}" in text for error in expected)


REPORT = """expected: error of one count (root mean square), before children add up
measured: the same after it, over 5 simulated releases, ± standard error
within 10%: nodes whose expected error is at most a tenth of their count
The report is computed from the counts: if they are confidential, so is it.
"""


def test_simulate_says_everything_it_found(capsys):
    """The same report is printed as a table with an explanation, printed as JSON, and written as CSV."""
    Path("data.csv").write_text(WITH_BEDS)
    line = "simulate data.csv LEVELS --count patients --total 0.5 --trials 5 --seed 7 --output report.csv"
    code, out, err = run(capsys, line)
    eps = [0.233131, 0.266869]
    report = error_report(TREE, eps, trials=5, seed=7)
    head, table, foot = out.split("\n\n")
    assert (code, err, head, foot) == (0, "", "data.csv: 3 rows, counts from the column patients", REPORT)
    rows = [
        [level, str(nodes), f"{budget:g}", *[f"{error:.3g}" for error in errors], f"{within:.0%}"]
        for level, nodes, budget, *errors, within in report.itertuples()
    ]
    assert [row.split(maxsplit=6) for row in table.split("\n")] == [["level", *report.columns], *rows]
    written = report.rename_axis("level").reset_index()
    pd.testing.assert_frame_equal(pd.read_csv("report.csv"), written)
    out = run(capsys, line + " --json --force")[1]
    assert out.startswith('{\n  "levels": [\n    "region",')
    assert json.loads(out) == {
        "levels": ["region", "store"], "eps": eps, "rule": "cube-root", "weights": None, "chosen_on": "nodes",
        "digest": TREE.shape_digest, "total": 0.5, "trials": 5, "errors": written.to_dict("records"),
        "note": "The report is computed from the counts: if they are confidential, so is it.",
    }  # fmt: skip


def test_the_figure_shows_both_splits_in_percent(capsys, monkeypatch):
    """The figure has the relative errors of every count, under a uniform split and under the chosen one, marked at 10%."""
    drawn = []
    spreads = panels.spreads
    monkeypatch.setattr(panels, "spreads", lambda *args, **more: drawn.append((args, more)) or spreads(*args, **more))
    code, _, _ = run(capsys, "simulate data.csv LEVELS --total 1 --trials 4 --plot errors.svg")
    [((levels, text), more)] = drawn
    assert (code, text, more, list(levels)) == (0, "expected error (% of the count)", {"mark": 10}, ["region", "store"])
    for rule, eps in {"uniform": [0.5, 0.5], "cube-root": [0.466262, 0.533738]}.items():
        for found, expected in zip(levels.values(), relative_errors(TREE, eps), strict=True):
            assert list(found) == ["uniform", "cube-root"]
            np.testing.assert_allclose(found[rule], 100 * expected)
    assert "<dc:date>" not in Path("errors.svg").read_text(encoding="utf-8")


def test_one_level_is_enough(capsys):
    """A table of one level is simulated and drawn like any other."""
    code, out, _ = run(capsys, "simulate data.csv --levels store --total 1 --trials 4 --plot errors.svg")
    assert code == 0 and "\nstore     2      1 " in out and Path("errors.svg").exists()


FORMATS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}  # how such files begin


@pytest.mark.parametrize("ending", FORMATS)
def test_simulate_draws(capsys, ending):
    """--plot writes a figure of the format that its name says, the same each time, because no date is in it."""
    for place in ("one", "two"):
        assert run(capsys, f"{COMMANDS['simulate']} --plot {place}.{ending}")[0] == 0
    first = Path(f"one.{ending}").read_bytes()
    assert first.startswith(FORMATS[ending]) and Path(f"two.{ending}").read_bytes() == first
    assert b"CreationDate" not in first  # two files of the same second could agree by chance


def test_release_writes_counts_and_record(capsys):
    """The released table has every node of every level and adds up; the record says what was spent, and on which counts."""
    code, out, err = run(capsys, "release data.csv LEVELS --total 0.5 --output released")
    assert (code, err, out) == (0, "", RELEASED) and sorted(os.listdir("released")) == ["counts.csv", "record.json"]
    table = pd.read_csv("released/counts.csv", dtype={"store": str}, keep_default_na=False)
    assert table.columns.tolist() == ["level", "region", "store", "count"]
    assert table.store.tolist() == ["", "", "007", "7", "007"] and (table["count"] >= 0).all()
    sums = table[table.level == "store"].groupby("region")["count"].sum()
    assert sums.tolist() == table[table.level == "region"]["count"].tolist()
    record = json.loads(Path("released/record.json").read_text())
    assert record["epsilon"] == 0.5 and record["budgets_from"] == "node counts: rule cube-root"
    assert record["counts"]["sha256"] == hashlib.sha256(Path("released/counts.csv").read_bytes()).hexdigest()
    assert record["account"] == "none: nothing adds up what is spent on these people"


RELEASED = """released: 5 noisy counts at 2 levels, and the record of what they cost
Spent: 0.5.
Nothing is keeping count. A second release of the same people is paid for on
top of this one: --account FILE --budget TOTAL adds up what is spent.
The list of nodes is published as it is: it must be public, empty nodes
included. --nodes FILE takes it from a public file instead of the counts.
"""
BOOKED = """released: 5 noisy counts at 2 levels, and the record of what they cost
people.account: line 1, 0.5 for this release; 0.5 of 2 spent
"""


def test_a_release_is_booked_in_the_account(capsys):
    """The account has the line that the record names; `account` prints it, and `verify` finds it."""
    Path("nodes.csv").write_text("region,store\nN,007\nN,7\nS,007\n")
    line = "release data.csv LEVELS --total 0.5 --nodes nodes.csv --account people.account"
    assert run(capsys, f"{line} --budget 2 --output released") == (0, BOOKED, "")
    assert run(capsys, f"{line} --output again")[0] == 0  # the total is known by now
    purse = Accountant.open("people.account")
    assert (purse.total, purse.spent, [entry.what for entry in purse.entries]) == (
        2,
        1,
        ["private release: region, store"] * 2,
    )
    assert json.loads(Path("again/record.json").read_text())["account"] == {
        "account": purse.name, "line": 2, "seal": ANY, "spent": 1.0, "total": 2.0,
    }  # fmt: skip
    code, out, err = run(capsys, "account people.account")
    assert (code, err) == (0, "") and out.endswith("\npeople.account: 1 of 2 spent, 1 left\n")
    assert [row.split(maxsplit=2)[2].split() for row in out.splitlines()[1:3]] == [
        ["private", "release:", "region,", "store", "0.5", left] for left in ("1.5", "1")
    ]
    assert out.splitlines()[3] == ""
    text = run(capsys, "account people.account --json")[1]
    found = json.loads(text)
    assert text == json.dumps(found, indent=2) + "\n"
    assert (found["total"], found["left"], [one["left"] for one in found["lines"]]) == (2.0, 1.0, [1.5, 1.0])
    code, out, _ = run(capsys, "verify released again --account people.account")
    fits = "5 counts fit the record and the account; ε = 0.5, add or remove one person with at most 1 rows"
    assert code == 0 and out.splitlines() == [
        f"{name}: {fits}; budgets checked: they follow from the list of nodes alone" for name in ("released", "again")
    ]


def test_an_account_that_nobody_touched_is_printed(capsys):
    """No lines, and all is left."""
    Accountant.open("new.account", total=3)
    assert run(capsys, "account new.account") == (0, "new.account: 0 of 3 spent, 3 left\n", "")


def test_what_does_not_fit_into_the_account_is_refused(capsys):
    """Before anything is drawn or written; the sentence says what is left and on what the rest was spent."""
    line = "release data.csv LEVELS --account people.account"
    assert run(capsys, f"{line} --total 1.5 --budget 2 --output released")[0] == 0
    err = refused(capsys, f"{line} --total 1 --output more")
    left = "eps must be at most 0.5, which is all that is left of 2.0, got 1.0 for 'private release: region, store'."
    assert left in err and "1.5 on 'private release: region, store'" in err
    assert Accountant.open("people.account").spent == 1.5


ACCOUNTS = {
    "no account yet": ("--account none.account", "there is no account none.account: give a total to open a new one"),
    "another total": ("--account old.account --budget 3", "total must be 2.0, which is that of the account"),
    "a budget alone": ("--budget 3", "--budget is the total of an account: name its file with --account"),
    "not an account": ("--account data.csv", "data.csv must be an account that this program wrote"),
    "too little from the start": (
        "--account none.account --budget 0.5", "--budget must be at least what this release spends, 1, got 0.5",
    ),
    "no folder": ("--account no/x.account --budget 3", "there is no folder no for the account no/x.account"),
}  # fmt: skip


@pytest.mark.parametrize("options, words", ACCOUNTS.values(), ids=ACCOUNTS)
def test_accounts_that_do_not_fit_are_refused(capsys, monkeypatch, options, words):
    """Before anything is drawn, and without leaving an account behind."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    Accountant.open("old.account", total=2)
    assert words in refused(capsys, f"release data.csv LEVELS --total 1 --output out {options}")


def test_rows_per_person_widen_the_noise(capsys):
    """A person with four rows: four times the sensitivity and scale, in the record, the report and the bounds."""
    assert run(capsys, "release data.csv LEVELS --total 1 --rule uniform --rows-per-person 4 --output released")[0] == 0
    record = json.loads(Path("released/record.json").read_text())
    assert record["rows_per_person"] == 4 and record["released"].startswith("the number of rows about people in")
    assert [(level["sensitivity"], level["scale"]) for level in record["levels"]] == [(4, 8.0), (4, 8.0)]
    lines = "simulate data.csv LEVELS --trials 4 --rule uniform --json --total"
    wide, narrow = (json.loads(run(capsys, f"{lines} {more}")[1]) for more in ("1 --rows-per-person 4", "0.25"))
    for a, b in zip(wide["errors"], narrow["errors"], strict=True):
        assert (a["expected"], a["measured"], a["budget"]) == (b["expected"], b["measured"], 4 * b["budget"])
    rows = run(capsys, "allocate data.csv LEVELS --total 1 --rule uniform --rows-per-person 4")[1].splitlines()
    assert [row.split()[-1] for row in rows[3:5]] == ["11.3", "11.3"]  # √2 · 4/0.5


def test_a_release_takes_the_column_that_is_named(capsys):
    """With --count, the counts come from that column; with a huge budget they come back as they are."""
    Path("data.csv").write_text(WITH_BEDS)
    code, _, err = run(capsys, "release data.csv LEVELS --count patients --total 900 --output released")
    assert (code, err) == (0, "") and pd.read_csv("released/counts.csv")["count"].tolist() == [3, 1234, 3, 0, 1234]


@pytest.mark.parametrize("year", [2023, 2024])
def test_example_writes_the_table_of_a_year(capsys, year):
    """Without --output the table is printed, with it the same is written, and a sentence says what it is."""
    text = load_example(year).to_csv(index=False)
    assert run(capsys, f"example --year {year}") == (0, text, "")
    said = "out.csv: 3,542 rows of made-up patients; columns region, hospital, ward, diagnosis, patients\n"
    assert run(capsys, f"example --year {year} --output out.csv") == (0, said, "")
    assert Path("out.csv").read_text() == text


def test_release_prints_no_true_count(capsys):
    """What is printed and recorded is the same for other counts in the same nodes, but for the date and the counts' hash."""
    seen = []
    for count in ("1234", "98765"):
        Path("data.csv").write_text(GOOD.replace("1234", count))
        printed = run(capsys, f"release data.csv LEVELS --total 1 --output r{count}")
        record = json.loads(Path(f"r{count}/record.json").read_text())
        seen.append((printed[0], printed[1].replace(count, ""), printed[2], record | {"date": None, "counts": None}))
    assert seen[0] == seen[1]


def test_a_split_is_carried_from_public_to_confidential_data(capsys):
    """allocate on public data, then simulate and release with that split; the levels come along."""
    Path("public.csv").write_text(GOOD.replace("1234", "900"))
    assert run(capsys, "allocate public.csv --levels region,store --total 1 --rule optimal --output split.json")[0] == 0
    code, out, _ = run(capsys, "simulate data.csv --budgets-from split.json --trials 4")
    assert code == 0 and "must be public or earlier data" in out
    assert run(capsys, "release data.csv --budgets-from split.json --output released")[0] == 0
    record = json.loads(Path("released/record.json").read_text())
    assert record["budgets_from"] == "declared public: rule optimal" and record["epsilon"] == 1.0
    assert record["budgets"] == {
        "origin": "declared public, not checked",
        "digest": Split.read("split.json").chosen_on.digest,
    }


def test_levels_in_the_wrong_order_are_pointed_out(capsys):
    """If every node has a single child, the output asks whether the levels are in order."""
    _, out, _ = run(capsys, "allocate data.csv --levels store,region,population --total 1")
    assert "Each region has one population alone. Are the levels listed top first?" in out
    assert "top first?" not in run(capsys, "allocate data.csv LEVELS --total 1")[1]


# What is refused

BAD_FILES = {
    "missing": None, "empty": "", "header only": "region,store,population\n", "ragged": GOOD + "N,8\n",
    "no column": GOOD.replace("store", "shop"), "twice a column": GOOD.replace("store", "region"),
    "Latin-1": GOOD.replace("S", "Süd").encode("latin-1"), "a folder": ...,
}  # fmt: skip
BAD_COUNTS = {"text": "many", "negative": "-3", "NaN": "nan", "nothing": ""}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_get_a_sentence(capsys, command, content):
    """A bad file is named in one line, the exit code is 2, and nothing is written."""
    Path("data.csv").unlink()
    if content is ...:
        Path("data.csv").mkdir()
    elif content is not None:
        Path("data.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    err = refused(capsys, COMMANDS[command])
    assert err.startswith(f"{PROG}: data.csv") and err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("value", BAD_COUNTS.values(), ids=BAD_COUNTS)
def test_bad_counts_get_a_sentence(capsys, command, value):
    """A count that is none is named by its line, wherever counts are read."""
    Path("data.csv").write_text(GOOD.replace("1234", value))
    err = refused(capsys, COMMANDS[command] + " --rule optimal" * (command == "allocate"))
    assert err.startswith(f"{PROG}: data.csv, line 4: population must be")


def test_fractions_are_for_simulation_only(capsys):
    """A prior may have fractions; a release counts people."""
    Path("data.csv").write_text(GOOD.replace("1234", "2.5"))
    assert run(capsys, "simulate data.csv LEVELS --total 1 --trials 4")[0] == 0
    err = refused(capsys, COMMANDS["release"])
    assert "line 4: population must be a whole number" in err and "2.5" not in err


USAGE = {
    "no command": ("", "COMMAND"),
    "another command": ("publish data.csv", "invalid choice: 'publish'"),
    "a negative total": ("allocate data.csv LEVELS --total -1", "must be a number from 1e-9 to 1e+09, got '-1'"),
    "a huge total": ("release data.csv LEVELS --total 1e300 --output out.csv", "got '1e300'"),
    "total in words": ("simulate data.csv LEVELS --total one", "got 'one'"),
    "NaN": ("simulate data.csv LEVELS --total nan", "got 'nan'"),
    "levels twice": ("allocate data.csv --levels region,region --total 1", "distinct column names"),
    "empty level": ("allocate data.csv --levels region, --total 1", "distinct column names"),
    "a rule on counts": ("release data.csv LEVELS --total 1 --rule optimal --output out.csv", "invalid choice: 'optimal'"),
    "another rule": ("allocate data.csv LEVELS --total 1 --rule mine", "invalid choice: 'mine'"),
    "weights of a level": ("allocate data.csv LEVELS --total 1 --weights 1", "one entry for each of the 2 levels"),
    "a weight of zero": ("allocate data.csv LEVELS --total 1 --weights 1,0", "got '0'"),
    "weights for uniform": ("allocate data.csv LEVELS --total 1 --rule uniform --weights 1,1", "weights"),
    "three trials": ("simulate data.csv LEVELS --total 1 --trials 3", "whole number of at least 4"),
    "a negative seed": ("simulate data.csv LEVELS --total 1 --seed -1", "whole number of at least 0"),
    "a plot in words": ("simulate data.csv LEVELS --total 1 --plot errors.txt", ".svg, .png, .pdf"),
    "no output": ("release data.csv LEVELS --total 1", "--output"),
    "a seeded release": ("release data.csv LEVELS --total 1 --output out.csv --seed 1", "--seed"),
    "no such folder": ("release data.csv LEVELS --total 1 --output no/out.csv", "there is no folder no"),
    "output over input": ("release data.csv LEVELS --total 1 --output data.csv", "data.csv is there already"),
    "split over input": ("allocate data.csv LEVELS --total 1 --output ./data.csv --force", "file that is read"),
    "output over split": ("simulate data.csv --budgets-from s.json --output ./s.json --force", "file that is read"),
    "report over plot": ("simulate data.csv LEVELS --total 1 --output a.svg --plot ./a.svg", "must be two files"),
    "an endless seed": (f"simulate data.csv LEVELS --total 1 --seed {'9' * 5000}", "at most 1000 digits, got 5000"),
    "count is a level": ("simulate data.csv LEVELS --count store --total 1", "apart from the levels"),
    "no such count": ("simulate data.csv LEVELS --count people --total 1", "no column 'people'"),
    "no such split": ("simulate data.csv --budgets-from split.json", "split.json: No such file"),
    "a split that is none": ("simulate data.csv --budgets-from data.csv", "must hold a split"),
    "another year": ("example --year 1999", "invalid choice"),
}


@pytest.mark.parametrize("line, words", USAGE.values(), ids=USAGE)
def test_wrong_usage_is_explained(capsys, line, words):
    """Wrong usage exits with 2 and says what would be right."""
    assert words in refused(capsys, line)


@pytest.mark.parametrize("total", ["1e9", "333.333", "100"])
def test_large_budgets_are_spent_to_the_last_digit(capsys, total):
    """The record of a release says what --total said, however much it is."""
    assert run(capsys, f"release data.csv LEVELS --total {total} --output out.csv")[0] == 0
    assert json.loads(Path("out.csv/record.json").read_text())["epsilon"] == float(total)


NO_LEVELS = "name the level columns, top first, with --levels; the columns of data.csv are region, store, population"
NO_AMOUNT = "say what there is to split, with --total, or (allocate) which error to keep to, with --tau"
BROUGHT = "--budgets-from brings all budgets along: leave out --total, --weights and --rule"
SENTENCES = {  # where SPLIT stands for a split that was chosen on data.csv
    "allocate data.csv --total 1": NO_LEVELS,
    "simulate data.csv --total 1": NO_LEVELS,
    "release data.csv --total 1 --output out.csv": NO_LEVELS,
    "allocate data.csv LEVELS": NO_AMOUNT,
    "simulate data.csv LEVELS": NO_AMOUNT,
    "allocate data.csv LEVELS --total 1 --tau 9": (
        "say either what there is to split, with --total, or which error to keep to, with --tau"
    ),
    "allocate data.csv LEVELS --total 1 --output data.csv": "data.csv is the file that is read; write to another one",
    "simulate data.csv SPLIT --total 1": BROUGHT,
    "simulate data.csv SPLIT --weights 1,1": BROUGHT,
    "simulate data.csv SPLIT --levels store,region": "--levels must be those of split.json, region,store, or be left out",
    "simulate zero.csv LEVELS --total 1 --plot out.svg":
        "--plot shows errors in percent of the counts, but all counts are zero",
    "release data.csv SPLIT --output out.csv":
        "budgets_from must be a source that is known without the counts: budgets that depend on them change the scale of "
        "the noise from one neighbour to the other, and the privacy loss is then not bounded by their sum. Split by node "
        "counts (cube_root) or on public data, got budgets that were chosen on these very counts",
    "allocate nothing.csv LEVELS --total 1": "nothing.csv: No such file or directory",
}  # fmt: skip


@pytest.mark.parametrize("line, sentence", SENTENCES.items())
def test_refusals_are_whole_sentences(capsys, line, sentence):
    """A refusal is one sentence after the name of the program, on standard error."""
    Path("zero.csv").write_text("region,store,population\nN,a,0\nS,b,0\n")
    run(capsys, "allocate data.csv LEVELS --total 1 --rule optimal --output split.json")
    assert refused(capsys, line.replace("SPLIT", "--budgets-from split.json")) == f"{PROG}: {sentence}\n"


def test_a_failure_without_a_file_is_said_as_it_is(capsys, monkeypatch):
    """An error of the system that names no file is passed on in its own words."""
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError("the disk is gone")))
    assert refused(capsys, WRITING["allocate"]) == f"{PROG}: the disk is gone\n"


def test_the_levels_of_a_split_may_be_said_again(capsys):
    """--levels beside a split is no contradiction if it names the same ones; the budgets are those of the split."""
    run(capsys, "allocate data.csv LEVELS --total 1 --rule uniform --output split.json")
    code, out, _ = run(capsys, "simulate data.csv --budgets-from split.json --levels region,store --trials 4 --json")
    assert code == 0 and json.loads(out)["eps"] == list(Split.read("split.json").eps) == [0.5, 0.5]


def test_a_release_without_opendp_is_refused(capsys, monkeypatch):
    """Where OpenDP is missing, a sentence says what to install."""
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    assert "pip install opendp" in refused(capsys, COMMANDS["release"])


# What is written

WRITING = {
    "example": "example --output out.file",
    "allocate": f"{COMMANDS['allocate']} --output out.file",
    "simulate": f"{COMMANDS['simulate']} --output out.file",
    "plot": f"{COMMANDS['simulate']} --plot out.svg",
}


@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
def test_nothing_is_overwritten_without_force(capsys, line):
    """An existing file is left alone and named; --force replaces it."""
    name = line.split()[-1]
    Path(name).write_text("old")
    assert f"{name} is there already" in refused(capsys, line) and Path(name).read_text() == "old"
    assert run(capsys, line + " --force")[0] == 0 and Path(name).read_text() != "old"


@pytest.mark.parametrize("old", ["a file", "a release", "an empty folder"])
def test_a_release_is_never_overwritten(capsys, old):
    """Whatever has the name of a release stays as it is, and there is no --force."""
    if old == "a file":
        Path("released").write_text("old")
    elif old == "a release":
        assert run(capsys, COMMANDS["release"])[0] == 0
    else:
        Path("released").mkdir()
    words = "released is there already, and a release is never overwritten; nothing was written\n"
    assert refused(capsys, COMMANDS["release"]) == f"{PROG}: {words}"
    assert "unrecognized arguments: --force" in refused(capsys, COMMANDS["release"] + " --force")
    assert "--force" not in run(capsys, "release --help")[1]


@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
def test_a_failing_write_leaves_the_old_file(capsys, monkeypatch, line):
    """If a file cannot be put in its place, the old one is as it was, and a sentence says why."""
    name = line.split()[-1]
    Path(name).write_text("old")
    monkeypatch.setattr(os, "replace", Mock(side_effect=FULL))
    assert "No space left on device" in refused(capsys, line + " --force") and Path(name).read_text() == "old"


def test_a_release_that_cannot_be_written_leaves_nothing(capsys, monkeypatch):
    """No folder, no half of one; the line of the account stays, and a note says so."""
    Accountant.open("people.account", total=2)
    monkeypatch.setattr(PrivateRelease, "write_into", Mock(side_effect=FULL))
    err = refused(capsys, f"{COMMANDS['release']} --account people.account")
    assert "No space left on device" in err and "the release was booked, and stays so" in err
    assert Accountant.open("people.account").spent == 1.0


def test_what_a_killed_run_left_is_told(capsys):
    """A hidden file beside the place to write may hold a confidential report; it used to be told of by releases alone."""
    Path(".unfinished-1-report.csv").write_text("")
    for line in (
        "allocate data.csv LEVELS --total 1 --output split.json",
        "simulate data.csv LEVELS --total 1 --trials 4 --plot errors.svg",
    ):
        code, _, err = run(capsys, line)
        said = "was left unfinished, may be confidential, and what it drew may be paid for: remove it"
        left = Path.cwd() / ".unfinished-1-report.csv"
        assert code == 0 and err == f"note: {left} {said}, unless it is being written now\n"


def test_a_report_over_a_private_file_stays_private(capsys):
    """The permissions of the file that is replaced are kept; they used to become those of a new file."""
    Path("report.csv").touch(mode=0o600)
    Path("report.csv").chmod(0o600)
    assert run(capsys, f"{COMMANDS['simulate']} --output report.csv --force")[0] == 0
    assert Path("report.csv").stat().st_mode & 0o777 == 0o600 and Path("report.csv").stat().st_size > 0


def test_a_file_that_appears_meanwhile_is_left_alone(capsys, monkeypatch):
    """Somebody else wrote the file during the work: without --force it stays as it is."""
    name = WRITING["simulate"].split()[-1]
    report = simulate.error_report

    def slow(*args):
        Path(name).write_text("somebody else's")
        return report(*args)

    monkeypatch.setattr(simulate, "error_report", slow)
    code, _, err = run(capsys, WRITING["simulate"])
    assert code == 2 and "is there already; nothing was written" in err
    assert Path(name).read_text() == "somebody else's"


# How it behaves


@pytest.mark.parametrize("command", ["", *OFFLINE])
def test_help_shows_examples_and_exit_codes(capsys, command):
    """--help exits with 0, shows examples, and documents the exit codes."""
    code, out, _ = run(capsys, f"{command} --help")
    assert code == 0 and f"  {PROG} {command}" in out and "exit codes: 0 success, 2 wrong usage" in out


def test_the_examples_of_help_work(capsys):
    """Every example that --help shows runs, one after the other, and exits with 0."""
    shown = [line.strip() for command in OFFLINE for line in run(capsys, f"{command} --help")[1].splitlines()]
    examples = [line.removeprefix(PROG) for line in shown if line.startswith(PROG)]
    assert len(examples) == sum(len(module.EXAMPLES) for module in (example, allocate, simulate, release, account))
    for line in examples:
        code, _, err = run(capsys, line)
        assert code == 0, f"{line}: {err}"
    assert {"patients.csv", "split.json", "errors.svg", "report.csv", "released", "released-again"} <= set(os.listdir())


def test_the_examples_of_the_front_help_work(capsys):
    """The examples of the main --help run too, in their order."""
    shown = re.findall(rf"^  {re.escape(PROG)} (.+)$", run(capsys, "--help")[1], re.MULTILINE)
    assert [line.split()[0] for line in shown] == OFFLINE
    assert [run(capsys, line)[0] for line in shown] == [0] * len(OFFLINE)


def test_the_readme_s_commands_work(capsys):
    """The command lines of the README run as they are."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^{re.escape(PROG)} ([^#\n]+)", text, re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:
        assert run(capsys, line)[0] == 0, line


def test_ctrl_c_ends_with_a_sentence(capsys, monkeypatch):
    """An interrupt exits with 130 and a sentence."""
    monkeypatch.setattr(simulate, "error_report", Mock(side_effect=KeyboardInterrupt))
    code, out, err = run(capsys, "simulate data.csv LEVELS --total 1")
    assert (code, out, err) == (130, "", f"{PROG}: interrupted; nothing further was written\n")


def test_the_command_line_runs_as_a_module():
    """`python -m helpers` prints to standard output, and refusals go to standard error with exit code 2."""
    good = process("allocate data.csv LEVELS --total 1")
    assert good.returncode == 0 and "cube-root" in good.stdout and good.stderr == ""
    bad = process("allocate nothing.csv --levels region,store --total 1")
    assert (bad.returncode, bad.stdout) == (2, "") and bad.stderr == f"{PROG}: nothing.csv: No such file or directory\n"


@pytest.mark.parametrize("line", ["example", "allocate data.csv LEVELS --total 1"])
def test_a_reader_who_leaves_is_no_error(line):
    """Output into a pipe that nobody reads, long or short, ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    done = process(line, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("line", ["example", "allocate data.csv LEVELS --total 1"])
def test_a_closed_pipe_is_left_alone(monkeypatch, line):
    """When nobody reads any more, the exit code is 0, and what is still to be printed goes nowhere."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(words_of(line)) == 0
        print("and more", flush=True)


def test_streams_escape_what_they_cannot_show(monkeypatch):
    """A name beyond the alphabet of a stream is escaped on standard output and on standard error."""
    Path("data.csv").write_text(GOOD.replace("region", "région"), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert main("allocate data.csv --levels région,store --total 1".split()) == 0
    assert main("allocate data.csv --total 1".split()) == 2
    err.flush()
    assert b"\nr\\xe9gion  " in out.buffer.getvalue() and rb"are r\xe9gion, store" in err.buffer.getvalue()


def test_streams_of_any_kind_will_do(monkeypatch):
    """Standard output may be replaced by a stream that has no encoding to set."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(words_of("allocate data.csv LEVELS --total 1")) == 0
    assert sys.stdout.getvalue().startswith("data.csv: 3 rows")


def test_a_signal_ends_a_running_simulation():
    """Ctrl-C in the middle of a simulation: a sentence, exit code 130, no traceback, no file."""
    code = "import sys; from helpers.cli import main; print('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    line = "simulate data.csv LEVELS --total 1 --trials 900000000 --output report.csv"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, *words_of(line)], env=ENVIRONMENT, **pipes) as started:
        assert started.stdout.readline() == "ready\n"  # everything is imported
        time.sleep(1)
        started.send_signal(signal.SIGINT)
        err = started.stderr.read()
    assert started.returncode == 130 and err == f"{PROG}: interrupted; nothing further was written\n"
    assert not Path("report.csv").exists()


def test_names_that_a_terminal_cannot_show_do_not_end_the_work():
    """Level names beyond the terminal's alphabet are escaped."""
    Path("data.csv").write_text(GOOD.replace("region", "région"), encoding="utf-8")
    line, environment = "allocate data.csv --levels région,store --total 1", ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    done = process(line, env=environment)
    assert done.returncode == 0 and r"r\xe9gion" in done.stdout


def test_a_large_table_takes_seconds(capsys):
    """A hundred thousand rows are split and released in a few seconds; a million take ten times as long."""
    rows = (f"{i % 10},{i % 1000:04},{i:06},{i % 97}\n" for i in range(100_000))
    Path("large.csv").write_text("region,city,store,population\n" + "".join(rows))
    start = time.perf_counter()
    assert run(capsys, "allocate large.csv --levels region,city,store --total 1")[0] == 0
    assert time.perf_counter() - start < 10  # about half a second on a quiet machine
