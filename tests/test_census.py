"""The counts that ship with the package: published totals, known tree sizes, codes that nest, files that are intact."""

import shutil
from functools import cache
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest

from helpers import census, expected_error, load_state, minimize_error, prior

load = cache(load_state)
DATA = files("helpers") / "data"
STATES = ["wyoming", "new_mexico", "delaware"]
PEOPLE = {  # published totals of the 2020 and 2010 Census
    "wyoming": (576_851, 563_626),
    "new_mexico": (2_117_522, 2_059_179),
    "delaware": (989_948, 897_934),
}
SIZES = {  # (tracts, blocks); the first line holds the 128 tracts and 20,975 blocks of the paper
    ("wyoming", "published"): (128, 20_975),
    ("wyoming", "populated"): (160, 22_857),
    ("wyoming", "geography"): (160, 53_769),
    ("new_mexico", "published"): (465, 49_041),
    ("new_mexico", "populated"): (609, 56_605),
    ("new_mexico", "geography"): (612, 107_215),
    ("delaware", "published"): (257, 15_317),
    ("delaware", "populated"): (258, 15_317),
    ("delaware", "geography"): (262, 20_198),
}
CHAINS = [chain for size in range(1, 6) for chain in combinations(census.LEVELS, size)]
# Where a level's own digits lie in a block code.
DIGITS = {"state": (0, 2), "county": (2, 5), "tract": (5, 11), "block group": (11, 12), "block": (11, 15)}


@pytest.mark.parametrize("state, tree", SIZES)
def test_trees_have_the_known_sizes(state, tree):
    """One state, the known numbers of tracts and blocks, and everybody of 2020 in each of the trees."""
    found = load(state, tree)
    assert found.levels == ("state", "tract", "block")
    assert tuple(found.sizes.tolist()) == (1, *SIZES[state, tree])
    assert [int(level.sum()) for level in found.counts] == [PEOPLE[state][0]] * 3
    assert found.counts[-1].dtype == np.int64


@pytest.mark.parametrize("state", STATES)
def test_only_the_geography_has_empty_nodes(state):
    """Published and populated trees hold nodes with people only; the geography holds empty blocks and tracts too."""
    assert all((n > 0).all() for tree in ("published", "populated") for n in load(state, tree).counts)
    assert (load(state, "geography").counts[-1] == 0).any()


def test_published_is_the_default_tree():
    """Without further words, a state is the paper's tree."""
    assert repr(load_state("WY")) == repr(load("wyoming", "published"))


NAMES = ["wyoming", "Wyoming", "WY", "wy", "56", " WYOMING "]


@pytest.mark.parametrize("name", NAMES)
def test_states_go_by_name_postal_code_and_number(name):
    """Every way to write a state's name leads to the same state, in any case."""
    assert census.state_name(name) == "wyoming"
    assert int(census.blocks(name).population.sum()) == 576_851


@pytest.mark.parametrize("name", ["new mexico", "New_Mexico", "NM", "35"])
def test_names_of_two_words_take_a_space_or_an_underscore(name):
    """New Mexico may be written with a space."""
    assert census.state_name(name) == "new_mexico"


@pytest.mark.parametrize("tree", census.TREES)
@pytest.mark.parametrize("chain", CHAINS, ids=" > ".join)
def test_any_chain_of_levels_makes_a_tree(chain, tree):
    """Each of the 31 chains gives one node for each distinct path of codes, and counts everybody at every level."""
    table = census.blocks("DE")
    table = table if tree == "geography" else table[table.population > 0]
    found = load_state("DE", tree, chain)
    assert found.levels == chain
    assert [int(n.sum()) for n in found.counts] == [989_948] * len(chain)
    for depth in range(1, len(chain) + 1):
        # A level's own digits only, or full codes from the first digit on.
        spans = [DIGITS[level] if tree == "published" else (0, DIGITS[level][1]) for level in chain[:depth]]
        paths = {tuple(code[a:b] for a, b in spans) for code in table.geoid}
        assert found.sizes[depth - 1] == len(paths)


@pytest.mark.parametrize("tree", ["populated", "geography"])
@pytest.mark.parametrize("state", STATES)
def test_full_codes_nest(state, tree):
    """In a tree of full codes, the code of every node begins with that of its parent."""
    found = load_state(state, tree, census.LEVELS)
    lengths = [2, 5, 11, 12, 15]
    for level, length in enumerate(lengths):
        labels = found.labels[level].astype(str)
        assert set(map(len, labels)) == {length} and len(set(labels)) == len(labels)
        if level:
            above = found.labels[level - 1].astype(str)[found.parents[level]]
            assert np.strings.startswith(labels, above).all()


def test_published_trees_merge_counties():
    """Without the county, tracts of different counties that share a code become one node with all of their people."""
    table = census.blocks("WY")
    codes, found = table.geoid.str[5:11], load("wyoming", "published")
    shared = table.groupby(codes).population.sum()
    assert found.counts[1].tolist() == shared[shared > 0].tolist()
    assert found.labels[1].tolist() == shared[shared > 0].index.tolist()


def test_tables_are_copies():
    """Changing a table that was handed out does not change the next one."""
    census.blocks("DE").population = 0
    census.leaves("DE", "geography", ["block"]).population = 0
    census.leaves_2010("DE", "populated", ["tract"]).population = 0
    assert int(census.blocks("DE").population.sum()) == 989_948
    assert int(census.leaves_2010("DE", "populated", ["tract"]).population.sum()) == 897_934


# The files


def test_embedded_files_are_small():
    """All embedded data together stay below one megabyte."""
    assert sum(len(file.read_bytes()) for file in DATA.iterdir()) < 1_000_000


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    """A copy of the data folder in the place of the package's own."""
    shutil.copytree(str(DATA), tmp_path / "data")
    monkeypatch.setattr(census, "files", lambda package: tmp_path)
    census._embedded.cache_clear()
    yield tmp_path / "data"
    census._embedded.cache_clear()


def test_an_intact_copy_loads(copied_data):
    """A faithful copy passes the check, so it is the damage that the next tests see."""
    assert int(census.blocks("DE").population.sum()) == 989_948


def test_a_damaged_file_is_refused(copied_data):
    """One changed byte is found out, and the message names the file and both checksums."""
    file = copied_data / "delaware_2020_blocks.csv.gz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"delaware_2020_blocks\.csv\.gz .* [0-9a-f]{64}, got [0-9a-f]{64}"):
        load_state("DE")
    assert int(census.blocks("WY").population.sum()) == 576_851  # the other files are not affected


def test_a_file_without_a_recorded_checksum_is_refused(copied_data):
    """A file that SHA256SUMS does not list is not trusted."""
    (copied_data / "SHA256SUMS").write_text("")
    with pytest.raises(ValueError, match="wyoming_2010_blockgroups"):
        prior("WY")


# The prior


@pytest.mark.parametrize("state", STATES)
def test_prior_has_the_state_and_tract_counts_of_2010(state):
    """State and tract counts are the sums of the 2010 block groups; blocks are fractions that add up to them."""
    found = prior(state, "populated")
    table = census.leaves_2010(state, "populated", ["tract"])
    assert found.levels == ("state", "tract", "block")
    assert found.counts[0].tolist() == [PEOPLE[state][1]]
    assert found.counts[1].tolist() == table.groupby("tract").population.sum().tolist()


@pytest.mark.parametrize("tree", census.TREES)
@pytest.mark.parametrize("state", STATES)
def test_prior_has_about_as_many_blocks_as_2020(state, tree):
    """The number of blocks is within 5% of the tree it stands in for (a rounded average times the groups of 2010)."""
    assert abs(prior(state, tree).sizes[-1] / load(state, tree).sizes[-1] - 1) < 0.05


def test_prior_spreads_each_group_evenly():
    """Below a block group all blocks are alike, there is the same number of them in each, and they add up to the group."""
    found = prior("WY", "geography", ["state", "block group", "block"])
    k = found.sizes[2] // found.sizes[1]
    assert k == round(53_769 / found.sizes[1])
    assert found.parents[2].tolist() == np.arange(found.sizes[1]).repeat(k).tolist()
    assert found.counts[2].tolist() == (found.counts[1] / k).repeat(k).tolist()
    without = prior("WY", "geography")  # the groups are not a level here, but the blocks are the same
    assert sorted(without.counts[2]) == sorted(found.counts[2])


@pytest.mark.parametrize("chain", CHAINS, ids=" > ".join)
def test_prior_takes_any_chain_of_levels(chain):
    """Each chain gives the levels asked for, and counts everybody of 2010 at every one of them."""
    found = prior("DE", "populated", chain)
    assert found.levels == chain
    assert [round(float(n.sum()), 6) for n in found.counts] == [897_934] * len(chain)  # fractions add up to rounding


@pytest.mark.parametrize("total", [0.3, 1, 2])
@pytest.mark.parametrize("tree", ["published", "geography"])
@pytest.mark.parametrize("state", STATES)
def test_splits_from_the_prior_are_near_optimal(state, tree, total):
    """Splitting the budget by the 2010 prior costs less than 2% of the least error on the 2020 counts."""
    actual = load(state, tree)
    found = expected_error(actual, minimize_error(prior(state, tree), total)).mse.sum()
    regret = found / minimize_error(actual, total).mse - 1
    assert -1e-12 < regret < 0.02  # below zero by rounding at most
