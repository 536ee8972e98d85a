"""The table of a command line: persons and their bound, the public list of nodes, large files, and hints."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from helpers.cli import PROG, main, table

STAYS = "person,region,store\n" + "".join(f"p{i},N,a\np{i},N,b\np{i},S,a\n" for i in range(30))
LIST = "region,store\nN,a\nN,b\nN,c\nS,a\n"
PATIENTS = "region,store,patients\nN,a,5\nS,a,7\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own, with a table of stays, a table of patients and a list of nodes in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"stays.csv": STAYS, "nodes.csv": LIST, "patients.csv": PATIENTS}.items():
        Path(name).write_text(text)


def run(capsys, line):
    """Exit code, standard output and standard error of a command line."""
    code = main([*line.replace("LEVELS", "--levels region,store").split()])
    return code, *capsys.readouterr()


def counts(folder):
    """The released counts of the leaves by their path."""
    found = pd.read_csv(f"{folder}/counts.csv")
    return {(row.region, row.store): row.count for row in found[found.level == "store"].itertuples(index=False)}


def refused(capsys, line):
    """The sentence that refuses a command line, which leaves everything as it was."""
    before = sorted(os.listdir())
    code, out, err = run(capsys, line)
    assert (code, out, sorted(os.listdir())) == (2, "", before) and err.startswith(f"{PROG}: ")
    return err


@pytest.mark.parametrize("most, stays", [(1, 30), (2, 60), (3, 90), (9, 90)])
def test_rows_of_a_person_are_bounded(capsys, most, stays):
    """Of each person at most so many rows count; noise and record are for as many. (At ε = 4000 the noise is zero.)"""
    line = f"release stays.csv LEVELS --person person --rows-per-person {most} --total 4000 --nodes nodes.csv --output out"
    code, _, err = run(capsys, line)
    assert (code, err) == (0, "") and sum(counts("out").values()) == stays
    record = json.loads(Path("out/record.json").read_text())
    assert record["rows_per_person"] == most and {level["sensitivity"] for level in record["levels"]} == {most}
    assert record["bounded_by"] == "the column person: rows of a person beyond it were left out"


def test_a_list_that_is_the_table_itself_is_refused(capsys):
    """By its name, or by another that it has: the record used to call the table's own rows a public list."""
    os.link("patients.csv", "other.csv")
    for name in ("patients.csv", "./patients.csv", "other.csv"):
        err = refused(capsys, f"release patients.csv LEVELS --nodes {name} --total 1 --output out")
        assert f"--nodes must be a public list of its own, got {name}, which is the table itself" in err
    os.remove("other.csv")


def test_how_many_rows_people_have_is_not_said(capsys):
    """The number of rows is shown where each is a leaf, whose list is public. With several in a leaf it is a count of
    people; it used to be shown all the same, beside words that call the split safe.
    """
    assert "stays.csv: counts not read\n" in run(capsys, "allocate stays.csv LEVELS --person person --total 1")[1]
    assert "patients.csv: counts not read\n" in run(capsys, "allocate patients.csv LEVELS --nodes nodes.csv --total 1")[1]
    assert "patients.csv: 2 rows, counts not read\n" in run(capsys, "allocate patients.csv LEVELS --total 1")[1]


def test_only_the_data_holder_hears_how_many_rows_were_left_out(capsys):
    """A release does not say it, anywhere; the report, which is as confidential as the table, does."""
    asked = "stays.csv LEVELS --person person --rows-per-person 2 --total 1"
    _, out, err = run(capsys, f"release {asked} --output out")
    assert "30" not in out + err + Path("out/record.json").read_text().partition('"software"')[0]
    assert "\nrows of persons beyond 2, left out: 30\n" in run(capsys, f"simulate {asked} --trials 4")[1]


def test_leaves_without_a_row_are_zero(capsys):
    """Counts are joined to the public list: its leaves are those of the release, in every command."""
    assert run(capsys, "release patients.csv LEVELS --nodes nodes.csv --total 4000 --output out")[0] == 0
    assert counts("out") == {("N", "a"): 5, ("N", "b"): 0, ("N", "c"): 0, ("S", "a"): 7}
    assert json.loads(Path("out/record.json").read_text())["nodes_from"] == "a public list of their own"
    for command in ("allocate patients.csv", "simulate patients.csv --trials 4"):
        assert "\n store     4 " in run(capsys, f"{command} LEVELS --nodes nodes.csv --total 1")[1]


def test_a_promised_bound_needs_no_column_of_persons(capsys):
    """Counts on a public list, of people who have up to so many rows: all rows count, and the noise is wider."""
    line = "release patients.csv LEVELS --nodes nodes.csv --rows-per-person 3 --total 12000 --output out"
    assert run(capsys, line)[0] == 0 and sum(counts("out").values()) == 12
    record = json.loads(Path("out/record.json").read_text())
    assert (record["rows_per_person"], record["bounded_by"]) == (3, "a promise about the data, not checked")


def test_a_report_says_what_was_counted(capsys):
    """The column of counts, or each row."""
    line = "simulate patients.csv LEVELS --total 1 --trials 4 --count patients"
    assert run(capsys, line)[1].startswith("patients.csv: 2 rows, counts from the column patients\n")
    line = "simulate stays.csv LEVELS --total 1 --trials 4 --person person"
    assert run(capsys, line)[1].startswith("stays.csv: each row counts one\n")


def test_columns_that_are_not_needed_are_not_read(monkeypatch):
    """Of a table those columns are kept that the command line names, in whatever spelling; of a list its levels."""
    kept, read = [], table.Sheet.read
    monkeypatch.setattr(table.Sheet, "read", lambda file, keep=None: kept.append(keep) or read(file, keep))
    main("allocate patients.csv --levels region,store --count patients --total 1".split())
    main("allocate patients.csv --levels region,store --nodes nodes.csv --total 1".split())
    main(["release", "patients.csv", "--levels", "region,\u00a0store", *"--nodes nodes.csv --total 1 --output out".split()])
    assert kept == [{"region", "store", "patients"}, None, {"region", "store"}, None, {"region", "store"}]


def test_a_leaf_outside_the_list_is_refused_without_its_name(capsys):
    """Nor is it said how many there are."""
    Path("patients.csv").write_text(PATIENTS + "S,secret place,3\n")
    err = refused(capsys, "release patients.csv LEVELS --nodes nodes.csv --total 1 --output out")
    assert "secret" not in err and "nodes" in err


def test_a_split_of_the_sparse_table_is_refused_on_the_full_one(capsys):
    """Empty leaves do not make other counts of them: the split was chosen on these people."""
    assert run(capsys, "allocate patients.csv LEVELS --total 1 --rule optimal --output split.json")[0] == 0
    line = "release patients.csv --budgets-from split.json --nodes nodes.csv --output out"
    assert "chosen on these very counts" in refused(capsys, line)


def test_persons_and_counts_exclude_each_other(capsys):
    """A row with a count is no single person's."""
    words = "--person counts rows, one for each that a person has: leave out --count"
    assert words in refused(capsys, "release stays.csv LEVELS --person person --count region --total 1 --output out")


def test_a_list_that_looks_like_the_data_is_pointed_out(capsys):
    """On standard error, for the data holder; with a public list of its own nothing is said."""
    err = run(capsys, "release patients.csv LEVELS --total 1 --output one")[2]
    assert err.startswith("note: No leaf has a count of zero, as in a list that was made from the data")
    err = run(capsys, "release stays.csv LEVELS --person person --total 1 --output two")[2]
    assert err.startswith("note: Each row is a person, so nodes without people are missing")
    assert run(capsys, "release patients.csv LEVELS --nodes nodes.csv --total 1 --output three")[2] == ""


def test_spellings_are_joined_and_counted(capsys):
    """Two spellings of one name are one node, and the summary says so."""
    Path("patients.csv").write_text("region,store,patients\nN,Sa\u0303o,5\nN,S\u00e3o,7\nN,b,0\n", encoding="utf-8")
    _, out, _ = run(capsys, "release patients.csv LEVELS --total 4000 --output out")
    assert "\n1 names were written in more than one way; each is one node.\n" in out
    assert counts("out") == {("N", "S\u00e3o"): 12, ("N", "b"): 0}


@pytest.mark.parametrize("file", ["patients.csv", "nodes.csv"])
def test_names_that_a_spreadsheet_would_run_are_refused(capsys, file):
    """Whether they stand in the table or in the public list; the name is not shown."""
    Path(file).write_text(Path(file).read_text().replace("N,a", "N,=cmd()"))
    option = "--nodes nodes.csv" if file == "nodes.csv" else ""
    Path("patients.csv").write_text(Path("patients.csv").read_text().replace("N,a", "N,=cmd()"))
    err = refused(capsys, f"release patients.csv LEVELS {option} --total 1 --output out")
    assert f" {file}" in err and "must not begin like a formula" in err and "cmd" not in err


class TestByAnEngine:
    """Parquet files, and CSV files that are too large, are added up by DuckDB."""

    @pytest.fixture(autouse=True)
    def engine(self):
        """Without the packages of the extra, there is nothing to test."""
        pytest.importorskip("ibis")
        pytest.importorskip("duckdb")

    @pytest.fixture(params=["parquet", "large"])
    def ending(self, request, monkeypatch):
        """The same tables as Parquet, or as CSV where every file counts as large."""
        if request.param == "large":
            monkeypatch.setattr(table, "LARGE", 1)
            return "csv"
        for name in ("stays", "nodes", "patients"):
            pd.read_csv(f"{name}.csv").to_parquet(f"{name}.parquet")
        return "parquet"

    def test_the_tree_is_the_same(self, capsys, ending):
        """Whoever adds up the rows: counts on the public list, and persons within their bound."""
        line = f"release patients.{ending} LEVELS --count patients --nodes nodes.{ending} --total 4000 --output one"
        assert run(capsys, line)[0] == 0
        assert counts("one") == {("N", "a"): 5, ("N", "b"): 0, ("N", "c"): 0, ("S", "a"): 7}
        line = f"release stays.{ending} LEVELS --person person --rows-per-person 2 --total 4000 --output two"
        assert run(capsys, line)[0] == 0 and sum(counts("two").values()) == 60

    def test_hints_and_refusals_are_the_same(self, capsys, ending):
        """What looks like a list from the data, and a name that a spreadsheet would run; nothing about spellings."""
        code, out, err = run(capsys, f"release patients.{ending} LEVELS --count patients --total 1 --output one")
        assert code == 0 and err.count("note: ") == 1 and err.startswith("note: No leaf has a count of zero")
        assert "in more than one way" not in out
        err = run(capsys, f"release stays.{ending} LEVELS --person person --total 1 --output two")[2]
        assert err.count("note: ") == 1 and err.startswith("note: Each row is a person")
        frame = pd.DataFrame({"region": ["=cmd()"], "store": ["a"], "n": [3]})
        frame.to_parquet("bad.parquet") if ending == "parquet" else frame.to_csv("bad.csv", index=False)
        err = refused(capsys, f"release bad.{ending} LEVELS --count n --total 1 --output three")
        assert f" bad.{ending}: names must not begin like a formula" in err

    def test_the_other_commands_take_it_too(self, capsys, ending):
        """Nodes for a split, counts for a report."""
        assert "\n store     2 " in run(capsys, f"allocate patients.{ending} LEVELS --total 1")[1]
        line = f"simulate stays.{ending} LEVELS --person person --total 1 --trials 4"
        assert "rows of persons beyond 1, left out: 60" in run(capsys, line)[1]

    def test_what_is_counted_must_be_said(self, capsys, ending):
        """Neither the counts nor the persons are guessed: rows of a table of leaves are no people."""
        words = "name the column of counts with --count, or that of persons with --person"
        assert words in refused(capsys, f"release patients.{ending} LEVELS --total 1 --output out")

    def test_levels_must_be_said(self, capsys, ending):
        """The columns are not read for that."""
        assert "name the level columns, top first, with --levels" in refused(capsys, f"allocate patients.{ending} --total 1")
