"""`verify` finds every count that differs between the package and the Bureau's files, and nothing else."""

import argparse

import numpy as np
import pandas as pd
import pytest
from support.refusals import refusal

from helpers.census import embedded, states
from helpers.census.bureau import official, verify
from helpers.cli import main
from helpers.cli.commands import verify as command


def as_published(state, source, year):
    """The Bureau's blocks, as if they were those of the package: one block in each group for 2010."""
    assert source == "official"
    if year == 2020:
        return embedded.blocks(state)
    groups = embedded.leaves_2010(state, "populated", ["block group"])
    empty = pd.DataFrame({"geoid": ["100010401009999"], "population": [0]})
    blocks = pd.DataFrame({"geoid": groups["block group"] + "000", "population": groups.population})
    return pd.concat([blocks, empty], ignore_index=True)


@pytest.fixture
def bureau(monkeypatch):
    """What `official.blocks` returns, by year; tests change it."""
    tables = {year: as_published("delaware", "official", year) for year in (2010, 2020)}
    monkeypatch.setattr(official, "blocks", lambda state, source, year: tables[year].copy())
    return tables


def test_equal_counts_are_equal(bureau):
    """Nothing differs, and every block of 2020 and every group of 2010 was compared."""
    table = verify.compare("DE")
    assert verify.verify("DE").empty
    assert (table.year == 2020).sum() == 20_198 and table.official[table.year == 2010].sum() == 897_934


def test_each_difference_is_named(bureau):
    """A count that differs, a block that only one of them lists, and a group of 2010."""
    blocks = bureau[2020]
    changed, gone = blocks.geoid[100], blocks.geoid[200]
    blocks.loc[100, "population"] += 1
    bureau[2020] = pd.concat([blocks.drop(index=200), pd.DataFrame({"geoid": ["109999999999999"], "population": [0]})])
    bureau[2010].loc[0, "population"] += 5
    found = verify.verify("delaware")
    assert set(zip(found.year, found.geoid, strict=True)) == {
        (2020, changed), (2020, gone), (2020, "109999999999999"), (2010, bureau[2010].geoid[0][:12]),
    }  # fmt: skip
    difference = (found.official - found.embedded).dropna().tolist()
    assert sorted(difference) == [1, 5] and found.official.isna().sum() == found.embedded.isna().sum() == 1


def test_states_inside_the_nation_are_compared_by_group(monkeypatch):
    """Vermont ships without block codes: its blocks with people are compared in their order within each group."""
    counts, parents, _ = embedded.nation(["block group", "block"])
    groups = embedded.nation(["block group"])[2][0]
    own = np.flatnonzero(np.char.startswith(groups[parents[1]], "50"))
    code = pd.Series(groups[parents[1][own]])
    block = code.groupby(code).cumcount()
    table = pd.DataFrame({"geoid": code + block.astype(str).str.zfill(3), "population": counts[1][own]})
    monkeypatch.setattr(official, "blocks", lambda state, source, year: table)
    assert verify.verify("vermont").empty and verify.compare("VT").embedded.sum() == 643_077  # published
    place = table.index[table.population > 0][7]
    table.loc[place, "population"] += 3
    found = verify.verify("VT")
    assert len(found) == 1 and found.geoid.iloc[0].startswith(table.geoid[place][:12])


def table_of(**counts):
    """Blocks or groups and their people."""
    return pd.DataFrame({"geoid": [code[1:] for code in counts], "population": list(counts.values())})


@pytest.fixture
def small(monkeypatch):
    """A Delaware of a few blocks: what ships, and what the Bureau publishes."""
    groups = table_of(_100010001002=9, _100010001001=4, _100010001004=1).rename(columns={"geoid": "block group"})
    published = {
        2010: table_of(_100010001001002=3, _100010001001001=1, _100010001002000=8, _100010001003000=0, _100010001004000=1),
        2020: table_of(_100010001001000=0, _100010001001002=7, _100010001001001=5),
    }
    shipped = table_of(_100010001001001=5, _100010001001000=0, _100010001001003=2)
    asked = {("delaware", "populated", ("block group",)): groups, ("delaware", "official"): published}
    monkeypatch.setattr(embedded, "blocks", lambda name: shipped)
    monkeypatch.setattr(embedded, "leaves_2010", lambda name, tree, levels: asked[name, tree, tuple(levels)])
    monkeypatch.setattr(official, "blocks", lambda name, source, year: asked[name, source][year])


SMALL = pd.DataFrame(
    [
        (2020, "100010001001000", 0, 0), (2020, "100010001001001", 5, 5), (2020, "100010001001002", None, 7),
        (2020, "100010001001003", 2, None), (2010, "100010001001", 4, 4), (2010, "100010001002", 9, 8),
        (2010, "100010001004", 1, 1),
    ],
    columns=["year", "geoid", "embedded", "official"],
).astype({"embedded": "Int64", "official": "Int64"})  # fmt: skip


def test_the_whole_comparison(small):
    """Each block of 2020 and each group of 2010 with people in the order of their codes, whole numbers or missing."""
    pd.testing.assert_frame_equal(verify.compare("DE"), SMALL)
    pd.testing.assert_frame_equal(verify.verify("DE"), SMALL.iloc[[2, 3, 5]])


def test_the_whole_of_what_is_said(small, capsys):
    """A line for each year, the table of what differs without row numbers, and a sentence that names the states as given."""
    found = refusal(command.run, argparse.Namespace(what=["DE", "10"], account=None), by=ValueError)
    assert found == "the embedded counts of DE, 10 differ from the official ones, as listed above"
    said = """
    Delaware, 2010: 3 counts compared, 1 differ
    Delaware, 2020: 4 counts compared, 2 differ
    year geoid embedded official
    2020 100010001001002 - 7
    2020 100010001001003 2 -
    2010 100010001002 9 8
    """
    found = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert found == 2 * [line.split() for line in said.strip().splitlines()]


def test_long_lists_are_shortened(monkeypatch, capsys):
    """Of more than twenty counts that differ, the first and last ten are shown; of twenty, all."""
    for many, shown in ((20, 20), (21, 21), (1021, 21)):  # with a line of dots
        table = pd.DataFrame({"year": 2020, "geoid": map(str, range(many)), "embedded": 1, "official": 2})
        monkeypatch.setattr(verify, "compare", lambda state, table=table: table)
        assert not command._agrees("VT")
        first, columns, *rows = capsys.readouterr().out.splitlines()
        assert first == f"Vermont, 2020: {many:,} counts compared, {many:,} differ" and columns.split() == list(table)
        assert len(rows) == shown and ("..." in rows[10]) == (many > 20)
        assert rows[9].split()[1] == "9" and rows[-1].split()[1] == str(many - 1)


@pytest.mark.parametrize("state, fips", [("AL", "01"), ("CT", "09"), ("WV", "54")])
def test_blocks_inside_the_nation_are_numbered_within_their_group(state, fips, monkeypatch):
    """Of a state in the nation: blocks with people only, by their group and their place in it."""
    before, after = f"{int(fips) - 1:02}0010001001", f"{int(fips) + 1:02}0010001001"
    groups = np.array([before, f"{fips}0010001001", f"{fips}0010001002", after])
    people, parents = np.array([8, 5, 0, 3, 2, 9]), np.array([0, 1, 1, 1, 2, 3])
    trees = {
        ("block group",): ([None], [None], [groups]),
        ("block group", "block"): ([None, people], [None, parents], None),
    }
    published = pd.DataFrame({
        "geoid": [f"{fips}0010001001{block:03}" for block in range(12)] + [f"{fips}0010001002000"],
        "population": [0, 5, *[1] * 10, 2],
    })  # fmt: skip
    monkeypatch.setattr(embedded, "nation", lambda levels: trees[tuple(levels)])
    asked = states.state_name(state), "official", 2020
    monkeypatch.setattr(official, "blocks", lambda *request: {asked: published}[request])
    found = verify.compare(state)
    assert found.geoid.tolist() == [*(f"{fips}0010001001 #{i:03}" for i in range(1, 12)), f"{fips}0010001002 #001"]
    assert found.embedded.tolist() == [5, 3, *[pd.NA] * 9, 2] and found.official.tolist() == [5, *[1] * 10, 2]
    assert found.year.eq(2020).all()


def test_puerto_rico_does_not_ship(bureau):
    """There is nothing to compare for a state that the package does not hold."""
    said = "state must be one whose counts ship with the package, got 'puerto_rico'"
    assert refusal(verify.verify, "PR", by=ValueError) == said


def test_the_command_says_what_it_found(bureau, capsys):
    """Exit code 0 and a line for each year; 2 and the counts that differ."""
    assert main(["verify", "DE"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Delaware, 2010: 570 counts compared, 0 differ",
        "Delaware, 2020: 20,198 counts compared, 0 differ",
    ]
    bureau[2020].loc[100, "population"] += 1
    assert main(["verify", "DE"]) == 2
    said = capsys.readouterr()
    assert "20,198 counts compared, 1 differ" in said.out and bureau[2020].geoid[100] in said.out
    assert "the embedded counts of DE differ" in said.err


def test_it_can_be_a_command_of_another_program(bureau, capsys, monkeypatch):
    """`add_options` and `run` are all that another command line needs."""
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    command.run(parser.parse_args(["delaware"]))
    assert "Delaware, 2020" in capsys.readouterr().out
    asked = []
    monkeypatch.setattr(command, "_agrees", lambda state: asked.append(state) or True)
    command.run(parser.parse_args([]))
    assert asked == ["wyoming", "new_mexico", "delaware"]
    said = " ".join(parser.format_help().split())
    assert "[WHAT ...]" in said and " or names, postal or FIPS codes of states (default: the three whose blocks ship" in said


def test_a_state_that_does_not_exist(capsys):
    """What is refused becomes a sentence and exit code 2."""
    assert main(["verify", "Atlantis"]) == 2
    assert "state must be" in capsys.readouterr().err
