"""The explorers *Split the budget* and *Your own tree*: the solver of the page equals Python's, and the controls work.

Pages are put together from their scripts alone, without a build: see `play` in conftest.py.
"""

import base64
import csv
import io
import re
import zlib

import matplotlib
import numpy as np
import pandas as pd
import pytest
from explore import trees
from images.explorers import FIGURES
from manuscript import ROOT
from numpy.testing import assert_allclose
from support.explorers import EXPLORE, PAGES, PHONE, STATIC, said, scripts, table

from helpers import Hierarchy, cube_root, expected_error, load_state, minimize_error, uniform
from helpers.figures.style import STYLE

TREES = [(state, tree) for state in ("WY", "NM", "DE") for tree in ("published", "populated", "geography")]
TOTALS = (0.05, 0.1, 1, 3.7, 20)
WEIGHTS = ([1, 1, 1], [100, 1, 0.01], [0.01, 1, 100], [1, 1e-6, 1], [3, 0.2, 1])
RTOL = 1e-9  # what the book promises; what is found is closer


# What a page loads


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small(name):
    """Scripts, style and data of an explorer are under 30 KB together."""
    assert sum(path.stat().st_size for path in [*scripts(name), STATIC / "explorers.css"]) < 30_000


def test_the_counts_of_the_page_are_those_of_the_helpers():
    """trees.js is what its script makes of the census counts now."""
    assert trees.TARGET.read_text(encoding="utf-8") == trees.script()


@pytest.mark.parametrize("name", PAGES)
def test_the_picture_in_print_is_drawn_by_its_script(name):
    """Each explorer's stand-in is what its script draws now, up to the letters that another Matplotlib would shape."""
    matplotlib.use("agg")
    figure, buffer = FIGURES[name](), io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    stored = (ROOT / "book" / "images" / f"explorer-{name}.svg").read_text(encoding="utf-8")
    texts = re.compile(r"<!-- (.*?) -->")  # Matplotlib notes each text in a comment beside its outlines
    assert texts.findall(stored) == texts.findall(buffer.getvalue()) != []


# The solver


SOLVE = """cases => cases.map(([state, tree, total, weights]) => {
  const counts = Trees.load(state, tree);
  const splits = [Solver.minimizeError, Solver.cubeRoot, Solver.uniform].map((rule) => rule(counts, total, weights));
  return { sizes: Solver.sizes(counts), splits: splits.map((eps) => [eps, Solver.mseByLevel(counts, eps)]) };
})"""


def test_solver_equals_python(play):
    """Budgets and errors by level are Python's, for every state, tree, total and weight: also for lopsided ones."""
    cases = [(*tree, total, w) for tree in TREES for total in TOTALS for w in WEIGHTS]
    found = play("split").evaluate(SOLVE, cases)
    trees = {tree: load_state(*tree) for tree in TREES}
    for (*tree, total, w), got in zip(cases, found, strict=True):
        counts = trees[*tree]
        assert got["sizes"] == counts.sizes.tolist()
        wanted = [minimize_error(counts, total, w), cube_root(counts, total, w), uniform(counts, total)]
        assert_allclose(got["splits"], [[a.eps, a.mse_by_level] for a in wanted], rtol=RTOL)


def test_the_counts_in_the_page_are_the_trees(play):
    """Unpacked in the page, every level has the counts of load_state, and each as often."""
    code = "([state, tree]) => Trees.load(state, tree).map(({ values, times }) => [values, times])"
    page = play("split")
    for tree in TREES:
        for (values, times), counts in zip(page.evaluate(code, tree), load_state(*tree).counts, strict=True):
            assert dict(zip(values, times, strict=True)) == pd.Series(counts).value_counts().to_dict()


# Split the budget


def column(page, heading):
    """The numbers of a column of the table of values."""
    return next([number(text) for text in texts] for head, *texts in zip(*table(page), strict=True) if head == heading)


def number(text):
    return float(text.replace(",", ""))


def open_link(page, link):
    """Open the explorer with what a link carries, as if the link had been pasted into the open page."""
    with page.expect_navigation():
        page.evaluate("link => { location.hash = link }", link)
        page.wait_for_timeout(50)
    page.wait_for_selector("svg")


def test_split_says_what_python_computes(play):
    """The sentence and the table at the start are Wyoming at ε = 1."""
    page, wyoming = play("split"), load_state("WY")
    best, even = minimize_error(wyoming, 1), uniform(wyoming, 1)
    assert f"gives the blocks {best.eps[2]:.0%} of the budget" in said(page)
    assert f"uniform {even.mse / best.mse:.1f} times as much" in said(page)
    assert_allclose(column(page, "optimal"), [*best.eps, *best.mse_by_level, best.mse, best.mse], rtol=2e-3)
    own = expected_error(wyoming, [0.2, 0.3, 0.5]).mse
    assert_allclose(column(page, "yours")[3:7], [*own, own.sum()], rtol=2e-3)


def test_split_is_operated_by_keyboard(play):
    """Arrow keys move the handle that has the focus, it keeps the focus, and it stops before its neighbour."""
    page = play("split")
    handle = page.get_by_role("slider", name="Your split between state and tracts")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("PageDown")
    assert handle.get_attribute("aria-valuetext") == "state 14.5%, tracts 35.5%"
    page.keyboard.press("End")
    assert handle.get_attribute("aria-valuenow") == "49.5" and handle.evaluate("node => node === document.activeElement")


@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_split_is_dragged(play, window):
    """A handle follows the pointer, and bar, sentence, table and link follow the handle."""
    page, wyoming = play("split", **window), load_state("WY")
    box = page.get_by_role("slider", name="between tracts and blocks").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    bar = page.locator(".explorer-piece").nth(9).bounding_box()  # the first piece of your bar: 20%
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - bar["width"], y, steps=5)  # so 20% to the left
    page.mouse.up()
    yours = column(page, "yours")[:3]
    assert_allclose(yours, [0.2, 0.1, 0.7], atol=0.01)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0 and "own=20-" in page.url
    ratio = expected_error(wyoming, yours).mse.sum() / minimize_error(wyoming, 1).mse
    assert f"yours {ratio:.1f} times as much" in said(page)


def test_split_keeps_its_state_in_the_link(play):
    """A link brings back state, tree, budget, weights and the reader's split; what it says wrongly is passed over."""
    page = play("split")
    open_link(page, "state=DE&tree=geography&eps=2.5&w=1-0.1-100&own=5-15-80")
    page.get_by_label("Weight of the state").press("ArrowRight")
    wanted = minimize_error(load_state("DE", "geography"), 2.5, [1.1, 0.1, 100])
    assert column(page, "yours")[:3] == [0.125, 0.375, 2]
    assert_allclose(column(page, "optimal")[:3], wanted.eps, rtol=5e-3)
    assert "counted with your weights" in said(page)
    assert page.url.endswith("#state=DE&tree=geography&eps=2.5&w=1.1-0.1-100&own=5-15-80")
    open_link(page, "state=XX&eps=abc&w=0-&own=90-90-90")
    assert "gives the blocks 82%" in said(page)


# Your own tree

FRAME = pd.DataFrame(
    [("a", "x", 3), ("a", "y", 40), ("b", "x", 0), ("b", "z", 7.5), ("a", "x", 2)], columns=["clinic", "ward", "patients"]
)


def paste(page, text):
    """Put a text into the table's field with one event, as pasting does; typing would bring one for each line."""
    code = "(area, text) => { area.value = text; area.dispatchEvent(new Event('input')) }"
    page.get_by_role("textbox", name="Table").evaluate(code, text)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_own_tree_reads_a_table_as_from_frame_does(play, separator):
    """Nodes are whole paths and equal paths are added up: the tree and its best split are those of Python."""
    text = FRAME.to_csv(index=False, sep=separator, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    page = play("own-tree")
    paste(page, text)
    tree = page.evaluate("text => OwnTree.table(text).tree", text)
    wanted = Hierarchy.from_frame(FRAME, ["clinic", "ward"], "patients")
    assert [sorted(np.repeat(level["values"], level["times"])) for level in tree] == [sorted(c) for c in wanted.counts]
    best = minimize_error(wanted, 1)
    assert_allclose(page.evaluate("tree => Solver.minimizeError(tree, 1)", tree), best.eps, rtol=RTOL)
    assert f"Recommended for ε = 1: clinic {best.eps[0]:.3f}, ward {best.eps[1]:.3f}." in said(page)


def test_own_tree_bounds_the_error_of_node_counts(play):
    """With node counts alone, the cube-root rule is recommended, with the bounds of Proposition 4."""
    page, wyoming = play("own-tree"), load_state("WY")
    page.get_by_label("You have").select_option("nodes")
    page.get_by_label("Nodes of each level").fill("1 state, 128 tracts, 20975")
    rule = cube_root(wyoming, 1)
    low = (wyoming.sizes / rule.eps**2).sum()
    assert low <= minimize_error(wyoming, 1).mse <= rule.mse <= 2 * low
    wanted = f"state {rule.eps[0]:.4f}, tracts {rule.eps[1]:.3f}, level 3 {rule.eps[2]:.3f}, by the cube-root rule"
    assert wanted in said(page)
    [found] = [first for heading, first, _ in table(page) if heading == "all (21,104): error"]
    assert_allclose([number(x) for x in found.split(" to ")], [low, 2 * low], rtol=5e-3)


BAD_TABLES = {
    "": "The table is empty",
    "ward\n3": "Line 1 has one column",
    "a,1\nb,2": "Line 1 ends in the number 1",
    "ward,,patients\na,b,1": "Line 1: column 2 has no name",
    "ward,ward,patients\na,b,1": "Line 1 names two columns “ward”",
    "ward,patients\n": "The table has no rows",
    "ward,patients\na,1\n\nb,1,2": "Line 4: the number of columns is 3. It must be 2",
    "ward,patients\na,1\nb": "Line 3: the number of columns is 1. It must be 2",
    "ward,patients\na,-3": "Line 2: the patients is -3. A count is zero or more",
    "ward,patients\na,": "Line 2: the patients is empty",
    "ward,patients\na,many": "Line 2: the patients is “many”. Write a number",
    "ward,patients\na,1e999": "Line 2: the patients is “1e999”",
    'ward,patients\na,"1,200"': "Write it without commas: 1200",
    "site,ward,patients\na,,4": "Line 2: the ward is empty",
}
BAD_NODES = {
    " ": "There are no node counts",
    "1, x": "Item 2 is “x”. Write a whole number",
    "1, 0": "Item 2 is “0”",
    "1, -4": "Item 2 is “-4”",
    "1, 2.5": "Item 2 is “2.5”",
    "1, 128, 20,975": "Item 3 (20) is smaller than item 2 (128)",
}


def test_own_tree_refuses_bad_input_with_a_sentence(play):
    """What cannot be read gets a sentence that names the line, the picture goes, and both come back with good input."""
    page = play("own-tree")
    pictures, field = (
        page.locator(".explorer-picture svg"),
        page.locator("textarea, #own-tree-nodes").locator("visible=true"),
    )

    def refused(wanted):
        return wanted in said(page) and pictures.count() == 0 and field.get_attribute("aria-invalid") == "true"

    for text, wanted in BAD_TABLES.items():
        paste(page, text)
        assert refused(wanted), (text, said(page))
    page.get_by_role("button", name="Example").click()
    assert said(page).startswith("Recommended") and pictures.count() == 1
    page.get_by_label("You have").select_option("nodes")
    for text, wanted in BAD_NODES.items():
        field.fill(text)
        assert refused(wanted), (text, said(page))


def test_own_tree_makes_links_only_when_asked(play):
    """The address keeps still until the button is pressed; then it brings back a table, or the node counts of a long one."""
    long = "ward,patients\n" + "\n".join(f"ward {i * 7919 % 10007},{i * 104729 % 9973}" for i in range(3000))
    page, short = play("own-tree"), 'site,ward,patients\n"A, old",é,3\nB,f,900'
    paste(page, short)
    assert "#" not in page.url
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector("text=carries your table")
    link, before = page.get_by_role("link", name="This link").get_attribute("href"), said(page)
    assert len(link) < 1000
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("text=site")
    assert (said(page), page.get_by_role("textbox", name="Table").input_value()) == (before, short)
    paste(page, long)
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector("text=carries your node counts only")
    assert page.url.endswith("#eps=1&nodes=3000+ward")


def packed(text):
    """A table as a link carries it."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).decode().rstrip("=")


WIDE = f"{','.join(f'c{i}' for i in range(1000))}\n{'1,' * 999}1"
HOSTILE = {  # what is after the #, and what the page says
    "a long link": (
        f"table={packed('ward,patients' + 15_000_000 * chr(10) + 'a,1')}",
        "The link has ",
    ),  # such links hung the tab
    "a short link to a large table": (
        f"table={packed('ward,patients' + 2_000_000 * chr(10) + 'a,1')}",
        "its table too large",
    ),
    "a damaged link": ("table=!", "The link is damaged"),
    "a table of a thousand columns": (f"table={packed(WIDE)}", "Line 1 has 1000 columns. The most is 51."),
    "node counts of a thousand levels": (f"nodes={'1,' * 999}1", "There are 1000 levels. The most is 50."),
}


@pytest.mark.parametrize(("link", "wanted"), HOSTILE.values(), ids=HOSTILE)
def test_own_tree_survives_a_hostile_link(play, link, wanted):
    """A link that holds too much gets a sentence, which stays when the window changes, and the page still works."""
    page = play("own-tree")
    address = f"{page.url}#{link}"
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(f".explorer-error:has-text('{wanted}')")
    page.set_viewport_size({"width": 700, "height": 700})
    page.wait_for_timeout(100)
    assert wanted in said(page) and page.locator(".explorer-picture svg").count() == 0
    page.get_by_role("button", name="Example").click()
    assert said(page).startswith("Recommended") and page.locator(".explorer-picture svg").count() == 1


def test_the_longest_link_that_is_made_can_be_read(play):
    """Fifty levels with long names: the page makes a link to them, and reads it."""
    names = [f"{'地' * 40}{i}" for i in range(50)]
    page = play("own-tree")
    paste(page, ",".join([*names, "people"]) + "\n" + 50 * "a," + "3" + "\n" + 50 * "b," + "900000000")
    page.evaluate("OwnTree.pack = () => 'x'.repeat(5000)")  # as if the table had not fitted
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector("text=carries your node counts only")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("svg")
    assert len(address) > 9000 and said(page).startswith("Recommended")


def test_split_passes_over_a_long_link(play):
    """A link that no page makes is as no link."""
    page = play("split")
    open_link(page, f"state=DE&own={'1-' * 7000}")
    assert "gives the blocks 82%" in said(page)


def test_own_tree_reads_a_large_table_at_once(play):
    """A table of all of Wyoming's blocks is read and solved in a second or so, and gives Python's split."""
    blocks = pd.DataFrame({"block": np.arange(20_975), "people": load_state("WY").counts[2]}).assign(state="WY")
    text = blocks[["state", "block", "people"]].to_csv(index=False)
    code = """text => {
      const start = performance.now(), { tree } = OwnTree.table(text);
      return [Solver.minimizeError(tree, 1), performance.now() - start];
    }"""
    eps, milliseconds = play("own-tree").evaluate(code, text)
    assert_allclose(eps, minimize_error(Hierarchy.from_frame(blocks, ["state", "block"], "people"), 1).eps, rtol=RTOL)
    assert milliseconds < 5000  # a slow machine is not a wrong program


def test_the_example_is_the_one_in_print():
    """The picture for print is drawn from the example of the page: four hospitals and their wards."""
    text = re.search(r"EXAMPLE = `(.*?)`", (STATIC / "own-tree.js").read_text(encoding="utf-8"), re.DOTALL)[1]
    frame = pd.read_csv(io.StringIO(text))
    assert (frame.network.nunique(), frame.hospital.nunique()) == (1, 4)
    assert f"{len(frame)} wards" in (EXPLORE / "own-tree.md").read_text(encoding="utf-8")
