"""The counts that ship with the package: published totals, known tree sizes, codes that nest, files that are intact."""

import hashlib
import shutil
from functools import cache
from importlib.resources import files
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from support.refusals import refusal
from support.wrong import wrong

from helpers import Hierarchy, census, expected_error, load_nation, load_state, minimize_error, prior
from helpers.census import embedded
from helpers.census.bureau import official

load = cache(load_state)
DATA = files("helpers") / "data"
STATES = ["wyoming", "new_mexico", "delaware"]
PEOPLE = {  # published totals of the 2020 and 2010 Census
    "wyoming": (576_851, 563_626),
    "new_mexico": (2_117_522, 2_059_179),
    "delaware": (989_948, 897_934),
}
SIZES = {  # (tracts, blocks); the first line holds the 128 tracts and 20,975 blocks of the paper
    ("wyoming", "published"): (128, 20_975), ("wyoming", "populated"): (160, 22_857),
    ("wyoming", "geography"): (160, 53_769), ("new_mexico", "published"): (465, 49_041),
    ("new_mexico", "populated"): (609, 56_605), ("new_mexico", "geography"): (612, 107_215),
    ("delaware", "published"): (257, 15_317), ("delaware", "populated"): (258, 15_317),
    ("delaware", "geography"): (262, 20_198),
}  # fmt: skip
CHAINS = [chain for size in range(1, 6) for chain in combinations(census.LEVELS, size)]
# Where a level's own digits lie in a block code.
DIGITS = {"state": (0, 2), "county": (2, 5), "tract": (5, 11), "block group": (11, 12), "block": (11, 15)}


@pytest.mark.parametrize("state, tree", SIZES)
def test_trees_have_the_known_sizes(state, tree):
    """One state, the known numbers of tracts and blocks, everybody of 2020; only the geography has empty nodes."""
    found = load(state, tree)
    assert found.levels == ("state", "tract", "block")
    assert tuple(found.sizes.tolist()) == (1, *SIZES[state, tree])
    assert [int(level.sum()) for level in found.counts] == [PEOPLE[state][0]] * 3
    assert found.counts[-1].dtype == np.int64
    assert tree != "published" or repr(load_state(state)) == repr(found)  # it is the default
    assert (found.counts[-1] == 0).any() if tree == "geography" else all((n > 0).all() for n in found.counts)


NAMES = {name: "wyoming" for name in ("wyoming", "Wyoming", "WY", "wy", "56", " WYOMING ")}
NAMES |= {name: "new_mexico" for name in ("new mexico", "New_Mexico", "NM", "35")}


@pytest.mark.parametrize("name, state", NAMES.items(), ids=NAMES)
def test_states_go_by_name_postal_code_and_number(name, state):
    """Every way to write a state's name, in any case and with a space or an underscore, leads to the same state."""
    assert census.state_name(name) == state
    assert int(census.blocks(name).population.sum()) == PEOPLE[state][0]


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


@pytest.mark.parametrize("levels", [np.ones((2, 2)), np.array("state"), [pd.NA], [None], 7, [["state"]]])
def test_levels_are_names(levels):
    """Whatever else is given for them is refused by name."""
    with pytest.raises(ValueError, match="levels must be a chain out of state, county, tract, block group, block, top"):
        load_state("DE", levels=levels)


def test_levels_may_be_any_row_of_names():
    """A tuple, an array, a Series and an iterator are taken as a list is; a name is a chain of one level."""
    names = ["state", "county"]
    for levels in (tuple(names), np.array(names), pd.Series(names), iter(names)):
        assert load_state("DE", levels=levels).levels == ("state", "county")
    assert census.check_levels("tract") == ["tract"]
    assert census.check_levels(("state", "block")) == census.check_levels(iter(["state", "block"])) == ["state", "block"]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("tree", ["populated", "geography"])
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


# What may be asked for


@pytest.fixture
def bureau(monkeypatch):
    """A Vermont of three blocks in the place of the Bureau's files; what was asked for."""
    asked = []

    def blocks(*request):
        asked.append(request)
        return pd.DataFrame({"geoid": ["500010001001000", "500030001002001", "500030001002002"], "population": [0, 1, 7]})

    monkeypatch.setattr(official, "blocks", blocks)
    return asked


KEYS = {  # county and block of each tree
    "published": [("003", "2001", 1), ("003", "2002", 7)],
    "populated": [("50003", "500030001002001", 1), ("50003", "500030001002002", 7)],
    "geography": [("50001", "500010001001000", 0), ("50003", "500030001002001", 1), ("50003", "500030001002002", 7)],
}


@pytest.mark.parametrize("tree", KEYS)
def test_leaves_of_the_bureaus_files(tree, bureau):
    """Blocks of the year and source asked for, with people unless the tree is the geography, known by own or full codes."""
    for source in ("official", "ppmf") if tree != "geography" else ("official",):
        for find, year in ((census.leaves, 2020), (census.leaves_2010, 2010)):
            table = find("VT", tree, ["county", "block"], source)
            assert list(table) == ["county", "block", "population"]
            assert list(table.itertuples(index=False, name=None)) == KEYS[tree]
            assert bureau.pop() == ("VT", source, year)
    assert census.blocks("VT", "official").population.tolist() == [0, 1, 7] and bureau == [("VT", "official", 2020)]


def test_the_default_source_is_the_package(bureau):
    """Nothing is asked of the Bureau's files unless that is said."""
    leaves = census.leaves("DE", "published", ["tract"])
    found = [census.blocks("DE"), leaves, census.leaves_2010("DE", "populated", ["tract"])]
    assert [len(table) for table in found] == [20_198, 15_317, 570] and bureau == []
    assert found[1].tract.str.len().unique().tolist() == [6] and found[2].tract.str.len().unique().tolist() == [11]
    assert all(table.population.dtype == np.int64 for table in found)


NO_SOURCE = "source must be one of embedded, official, ppmf, got 'web'"
NO_SOURCE_2010 = "source must be one of embedded, blocks, official, ppmf, got 'web'"
NO_BLOCKS = (
    "state must be delaware, whose blocks of 2010 ship with the package, got 'VT': source=\"official\" downloads those of "
    'Vermont, and source="embedded" spreads the block groups of wyoming, new_mexico, delaware'
)
NO_TREE = "tree must be one of published, populated, geography, got 'oak'"
CHAIN = "state, county, tract, block group, block, top first, got "
NO_CHAIN = "levels must be a chain out of " + CHAIN
ONLY = "tree must be published or populated with source 'ppmf', which lists no empty block, got 'geography'"
REFUSED = [
    (lambda: census.blocks("DE", "web"), NO_SOURCE),
    (lambda: census.leaves("DE", "oak", ["block"]), NO_TREE),
    (lambda: census.leaves_2010("DE", "oak", ["tract"]), NO_TREE),
    (lambda: census.leaves("DE", "published", ["block"], "web"), NO_SOURCE),
    (lambda: census.leaves("DE", "published", ["block"], "blocks"), NO_SOURCE.replace("web", "blocks")),
    (lambda: census.leaves_2010("DE", "published", ["block"], "web"), NO_SOURCE_2010),
    (lambda: census.leaves_2010("VT", "published", ["block"], "blocks"), NO_BLOCKS),
    (lambda: prior("wyoming", source="blocks"), NO_BLOCKS.replace("VT", "wyoming").replace("Vermont", "Wyoming")),
    (lambda: census.leaves("DE", "geography", ["block"], "ppmf"), ONLY),
    (lambda: census.leaves_2010("DE", "published", ["block", "tract"]), NO_CHAIN + "['block', 'tract']"),
    (lambda: census.check_levels("city"), NO_CHAIN + "['city']"),
    (lambda: census.check_levels(wrong(5)), NO_CHAIN + "[5]"),
    (lambda: census.check_levels([]), NO_CHAIN + "[]"),
    (lambda: census.nation(["block", "block"]), f"levels must be a chain out of country, {CHAIN}['block', 'block']"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_there_is_not_is_refused(call, words, bureau):
    """The sentence says what there is, and nothing is downloaded before."""
    assert refusal(call, by=ValueError) == words and bureau == []


# The files


def test_embedded_files_are_small():
    """The nation stays below eight megabytes, and all other embedded data together below one."""
    sizes = {file.name: len(file.read_bytes()) for file in DATA.iterdir()}
    assert sizes.pop("us_2020_blocks.npz") < 8_000_000
    assert sum(sizes.values()) < 1_000_000


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    """A copy of the data folder in the place of the package's own."""
    shutil.copytree(str(DATA), tmp_path / "data")
    monkeypatch.setattr(embedded, "files", lambda package: tmp_path)
    embedded._embedded.cache_clear()
    yield tmp_path / "data"
    embedded._embedded.cache_clear()


def test_a_damaged_file_is_refused(copied_data):
    """One changed byte is found out, and the message names the file and both checksums."""
    file = copied_data / "delaware_2020_blocks.csv.gz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    was, now = (hashlib.sha256(data).hexdigest() for data in ((DATA / file.name).read_bytes(), content))
    said = f"{file.name} must have the checksum {was}, got {now}: reinstall the package"
    assert refusal(load_state, "DE", by=ValueError) == said
    assert int(census.blocks("WY").population.sum()) == 576_851  # the other files are intact copies, and load


def test_a_file_without_a_recorded_checksum_is_refused(copied_data):
    """A file that SHA256SUMS does not list is not trusted."""
    (copied_data / "SHA256SUMS").write_text("")
    with pytest.raises(ValueError, match=r"wyoming_2010_blockgroups\.csv\.gz must have the checksum None, got [0-9a-f]{64}"):
        prior("WY")


def test_a_damaged_nation_is_refused(copied_data):
    """The large file is held to its checksum too."""
    with open(copied_data / "us_2020_blocks.npz", "ab") as file:
        file.write(b" ")
    with pytest.raises(ValueError, match=r"us_2020_blocks\.npz .* [0-9a-f]{64}, got [0-9a-f]{64}"):
        load_nation(["country"])


# The nation


@pytest.fixture
def small_nation(tmp_path, monkeypatch):
    """Two states of five blocks in four groups, in a file of the form of the package's."""
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "us_2020_blocks.npz"
    codes = np.array([10010001001, 10010001002, 10030001001, 20010001001])
    np.savez(
        file,
        population_high=np.array([0, 1, 0, 0, 255], dtype=np.uint8),
        population_low=np.array([3, 44, 0, 250, 255], dtype=np.uint8),
        blocks_per_group=np.array([1, 2, 1, 1], dtype=np.uint16),
        group_step=np.diff(codes, prepend=0),
    )
    (tmp_path / "data" / "SHA256SUMS").write_text(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
    monkeypatch.setattr(embedded, "files", lambda package: {"helpers": tmp_path}[package])


NODES = {  # counts, parents below the country, labels
    "country": ([66_088], [0], ["US"]),
    "state": ([553, 65_535], [0, 0], ["01", "02"]),
    "county": ([303, 250, 65_535], [0, 0, 0], ["01001", "01003", "02001"]),
    "tract": ([303, 250, 65_535], [0, 0, 0], ["01001000100", "01003000100", "02001000100"]),
    "block group": ([3, 300, 250, 65_535], [0] * 4, ["010010001001", "010010001002", "010030001001", "020010001001"]),
    "block": ([3, 300, 0, 250, 65_535], [0] * 5, None),
}
PARENTS = {
    ("state", "county"): [0, 0, 1], ("state", "block group"): [0, 0, 0, 1], ("state", "block"): [0, 0, 0, 0, 1],
    ("county", "tract"): [0, 1, 2], ("tract", "block group"): [0, 0, 1, 2], ("block group", "block"): [0, 1, 1, 2, 3],
}  # fmt: skip
SHORT = [*((level,) for level in NODES), *(("country", level) for level in [*NODES][1:]), *PARENTS]


@pytest.mark.parametrize("chain", SHORT, ids=" > ".join)
def test_a_small_nation_has_known_nodes(chain, small_nation):
    """Counts of two bytes, codes from their steps, blocks by the number of them in each group: all nodes, by hand."""
    counts, parents, labels = census.nation(chain)
    assert [level.tolist() for level in counts] == [NODES[level][0] for level in chain]
    assert parents[0] is None and all(level.dtype == np.int64 for level in counts)
    if len(chain) > 1:
        assert parents[1].tolist() == PARENTS.get(chain, NODES[chain[1]][1]) and parents[1].dtype == np.intp
    known = labels and [level.tolist() for level in labels]
    assert known == (None if "block" in chain else [NODES[level][2] for level in chain])


@pytest.fixture(scope="module", name="nation")
def whole_nation():
    """All six levels, loaded once."""
    return load_nation()


def test_nation_has_the_published_sizes(nation):
    """The published numbers of people, states, counties and tracts; groups and blocks fall short by known numbers."""
    assert nation.levels == ("country", "state", "county", "tract", "block group", "block")
    official = np.array([1, 51, 3_143, 84_414, 239_780, 8_132_968])  # the Bureau's tallies for the 50 states and D.C.
    assert (official - nation.sizes).tolist() == [0, 0, 0, 0, 9, 1_512]  # blocks without people, as data/README.md says
    assert [int(n.sum()) for n in nation.counts] == [331_449_281] * 6
    assert all(n.dtype == np.int64 for n in nation.counts)


def test_nation_is_a_tree(nation):
    """Siblings are adjacent and in their parents' order, every node has a child, every parent is the sum of its children."""
    for above, below, parent in zip(nation.counts, nation.counts[1:], nation.parents[1:], strict=False):
        assert parent[0] == 0 and parent[-1] == len(above) - 1 and set(np.unique(np.diff(parent))) <= {0, 1}
        assert (np.bincount(parent, weights=below) == above).all()  # floats hold these sums exactly


def test_only_one_state_of_the_nation_lacks_empty_blocks(nation):
    """D.C. alone has no empty block; in every other state they are at least a seventh of all. It lacks all nine groups."""
    codes, of = load_nation(["state", "block group"]), nation.parents[5]
    empty = np.bincount(codes.parents[1][of], weights=nation.counts[5] == 0) / np.bincount(codes.parents[1][of])
    assert codes.labels[0][empty == 0].tolist() == ["11"] and np.sort(empty)[1] > 1 / 7
    capital = codes.labels[0].tolist().index("11")
    groups, blocks = (np.bincount(links)[capital] for links in (codes.parents[1], codes.parents[1][of]))
    assert (571 - groups, blocks) == (9, 4_500)  # D.C. is cut into 571 block groups


@pytest.mark.parametrize("state", STATES)
def test_states_of_the_nation_are_those_that_ship_alone(state, nation):
    """Inside the nation, each of the three states has the same blocks under the same nodes, with none missing."""
    alone = load_state(state, "geography", census.LEVELS)
    first = load_nation(["state"]).labels[0].tolist().index(census.STATES[state][1])
    last = first + 1
    for level, (counts, parents) in enumerate(zip(alone.counts, alone.parents, strict=True), start=1):
        above, (first, last) = first, (first, last) if level == 1 else np.searchsorted(nation.parents[level], [first, last])
        assert nation.counts[level][first:last].tolist() == counts.tolist()
        if level > 1:
            assert (nation.parents[level][first:last] - above).tolist() == parents.tolist()


UPPER = [["state"], ["country", "tract"], ["county", "block group"], ["state", "county", "tract"]]


@pytest.mark.parametrize("chain", UPPER, ids=" > ".join)
def test_chains_of_the_nation_equal_a_table_of_its_groups(chain, nation):
    """Any chain gives the tree that a table of the block groups' codes, cut as text, gives."""
    table = pd.DataFrame({"geoid": load_nation(["block group"]).labels[0], "population": nation.counts[4]})
    assert set(table.geoid.str.len()) == {12}
    ends = {"country": 0, "state": 2, "county": 5, "tract": 11, "block group": 12}
    for level in chain:
        table[level] = table.geoid.str[: ends[level]] if ends[level] else "US"
    found, expected = load_nation(chain), Hierarchy.from_frame(table, chain)
    for level in range(len(chain)):
        assert found.counts[level].tolist() == expected.counts[level].tolist()
        assert found.labels[level].tolist() == expected.labels[level].tolist()
        assert level == 0 or found.parents[level].tolist() == expected.parents[level].tolist()


@pytest.mark.parametrize("chain", [["block"], ["state", "block"]], ids=" > ".join)
def test_chains_down_to_the_block_skip_levels(chain, nation):
    """Blocks hang below whatever level comes before them, and a tree with blocks has no labels."""
    found = load_nation(chain)
    assert found.labels is None and found.levels == tuple(chain)
    assert (found.counts[-1] == nation.counts[-1]).all()
    if len(chain) > 1:
        state = nation.parents[2][nation.parents[3][nation.parents[4][nation.parents[5]]]]
        assert (found.parents[1] == state).all()


# The blocks of 2010


def test_the_blocks_of_2010_add_up_to_the_block_groups_that_ship():
    """Both files hold everybody of Delaware in 2010, in the same block groups: two sources that agree in every group.

    A count that is off by one, or a block with people that is missing, makes its group differ, and the number of blocks
    shows one that is empty. Two blocks of a group that swap their people would pass: only the checksum sees them.
    """
    blocks = census.leaves_2010("DE", "geography", ["block"], "blocks").rename(columns={"block": "geoid"})
    assert (len(blocks), int((blocks.population > 0).sum()), int(blocks.population.sum())) == (24_115, 15_933, 897_934)
    assert blocks.geoid.is_unique and blocks.geoid.is_monotonic_increasing and set(blocks.geoid.str.len()) == {15}
    groups = blocks.groupby(blocks.geoid.str[:12]).population.sum()
    shipped = census.leaves_2010("DE", "geography", ["block group"]).set_index("block group").population
    assert groups[groups > 0].to_dict() == shipped.to_dict() and len(shipped) == 570


@pytest.mark.parametrize(
    "tree, sizes", {"published": (214, 15_933), "populated": (214, 15_933), "geography": (218, 24_115)}.items()
)
def test_a_prior_of_blocks_is_the_tree_of_2010(tree, sizes):
    """Whole people in true blocks, empty ones on the geography alone; the default stays the spread block groups."""
    found = prior("delaware", tree, source="blocks")
    assert found.sizes.tolist() == [1, *sizes] and found.counts[0].tolist() == [897_934]
    assert found.counts[2].dtype == np.int64 and (found.counts[2] == 0).any() == (tree == "geography")
    groups = prior("delaware", tree, ["state", "tract", "block group"])
    people = found.counts[1][found.counts[1] > 0]  # tracts without people are not in the file of groups
    assert people.tolist() == groups.counts[1].tolist()
    assert prior("delaware", tree).sizes.tolist() == prior("delaware", tree, source="embedded").sizes.tolist() != [1, *sizes]


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
