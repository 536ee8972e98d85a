"""`verify` finds every count that differs between the package and the Bureau's files, and nothing else."""

import argparse

import numpy as np
import pandas as pd
import pytest

from helpers import census, official, verify
from helpers.cli import main


def as_published(state, source, year):
    """The Bureau's blocks, as if they were those of the package: one block in each group for 2010."""
    assert source == "official"
    if year == 2020:
        return census.blocks(state)
    groups = census.leaves_2010(state, "populated", ["block group"])
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
    counts, parents, _ = census.nation(["block group", "block"])
    groups = census.nation(["block group"])[2][0]
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


def test_puerto_rico_does_not_ship(bureau):
    """There is nothing to compare for a state that the package does not hold."""
    with pytest.raises(ValueError, match="whose counts ship with the package, got 'puerto_rico'"):
        verify.verify("PR")


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


def test_it_can_be_a_command_of_another_program(bureau, capsys):
    """`add_options` and `run` are all that another command line needs."""
    parser = argparse.ArgumentParser()
    verify.add_options(parser)
    verify.run(parser.parse_args(["delaware"]))
    assert "Delaware, 2020" in capsys.readouterr().out
    assert parser.parse_args([]).states == ["wyoming", "new_mexico", "delaware"]


def test_a_state_that_does_not_exist(capsys):
    """What is refused becomes a sentence and exit code 2."""
    assert main(["verify", "Atlantis"]) == 2
    assert "state must be" in capsys.readouterr().err
