"""The explorers *Split the budget* and *Your own tree*: the solver of the page equals Python's, and the controls work.

Pages are put together from their scripts alone, without a build; see `play` in test_explorers_watch.py.
"""

import csv
import importlib.util
import io
import json
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from test_explorers_watch import EXPLORE, PHONE, STATIC, play, scripts  # noqa: F401
from test_site import CHROMIUM, ROOT

from helpers import Hierarchy, bias, cube_root, expected_error, load_state, minimize_error, mse, uniform, variance

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install `chromium`")
PAGES = ("one-count", "split", "own-tree", "watch")
STATES, TREES = ("WY", "NM", "DE"), ("published", "populated", "geography")
TOTALS = (0.05, 0.1, 1, 3.7, 20)
WEIGHTS = ([1, 1, 1], [100, 1, 0.01], [0.01, 1, 100], [1, 1e-6, 1], [3, 0.2, 1])
RTOL = 1e-9  # what the book promises; what is found is closer


def load_script(path):
    """A script of the book as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What a page loads


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small(name):
    """Scripts, style and data of an explorer are under 30 KB together."""
    files = [*scripts(name), STATIC / "explorers.css"]
    assert sum(path.stat().st_size for path in files) < 30_000


def test_the_counts_of_the_page_are_those_of_the_helpers():
    """trees.js is what its script makes of the census counts now."""
    trees = load_script(EXPLORE / "trees.py")
    assert trees.TARGET.read_text(encoding="utf-8") == trees.script()


@pytest.mark.parametrize("name", PAGES)
def test_the_picture_in_print_is_drawn_by_its_script(name):
    """Each explorer's stand-in is what its script draws now, up to the letters that another Matplotlib would shape."""
    matplotlib.use("agg")
    explorers = load_script(ROOT / "book" / "images" / "explorers.py")
    figure = explorers.FIGURES[name]()
    buffer = io.StringIO()
    with matplotlib.rc_context(explorers.plots.STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    stored = (ROOT / "book" / "images" / f"explorer-{name}.svg").read_text(encoding="utf-8")
    assert texts(stored) == texts(buffer.getvalue()) != []


def texts(svg):
    """What a Matplotlib picture says: it notes each text in a comment beside its outlines."""
    return re.findall(r"<!-- (.*?) -->", svg)


# The solver


@in_browser
def test_closed_forms_equal_python(play):  # noqa: F811
    """Bias, variance and MSE of a count are those of helpers.mechanism, from empty to huge and for tiny and large ε."""
    n, eps = (grid.ravel() for grid in np.meshgrid([0, 1e-9, 1, 2, 17, 400, 1e6, 1e12], np.geomspace(1e-3, 50, 12)))
    code = "points => points.map(([n, eps]) => [Solver.bias(n, eps), Solver.variance(n, eps), Solver.mse(n, eps)])"
    found = play("split", lambda page: page.evaluate(code, np.column_stack([n, eps]).tolist()))
    assert_allclose(found, np.column_stack([bias(n, eps), variance(n, eps), mse(n, eps)]), rtol=1e-12, atol=1e-300)


SOLVE = """cases => cases.map(([state, tree, total, weights]) => {
  const counts = Trees.load(state, tree);
  const splits = [Solver.minimizeError, Solver.cubeRoot, Solver.uniform].map((rule) => rule(counts, total, weights));
  return { sizes: Solver.sizes(counts), splits: splits.map((eps) => [eps, Solver.mseByLevel(counts, eps)]) };
})"""


@in_browser
def test_solver_equals_python(play):  # noqa: F811
    """Budgets and errors by level are Python's, for every state, tree, total and weight: also for lopsided ones."""
    cases = [(state, tree, t, w) for state in STATES for tree in TREES for t in TOTALS for w in WEIGHTS]
    found = play("split", lambda page: page.evaluate(SOLVE, cases))
    trees = {(state, tree): load_state(state, tree) for state in STATES for tree in TREES}
    for (state, tree, total, w), got in zip(cases, found, strict=True):
        counts = trees[state, tree]
        assert got["sizes"] == counts.sizes.tolist()
        wanted = [minimize_error(counts, total, w), cube_root(counts, total, w), uniform(counts, total)]
        assert_allclose(got["splits"], [[a.eps, a.mse_by_level] for a in wanted], rtol=RTOL)


@in_browser
def test_the_counts_in_the_page_are_the_trees(play):  # noqa: F811
    """Unpacked in the page, every level has the counts of load_state, and each as often."""
    code = "([state, tree]) => Trees.load(state, tree).map(({ values, times }) => [values, times])"
    cases = [(state, tree) for state in STATES for tree in TREES]
    found = play("split", lambda page: [page.evaluate(code, case) for case in cases])
    for case, levels in zip(cases, found, strict=True):
        for (values, times), counts in zip(levels, load_state(*case).counts, strict=True):
            assert dict(zip(values, times, strict=True)) == pd.Series(counts).value_counts().to_dict()


# Split the budget


def said(page):
    return page.locator(".explorer-summary").text_content()


def rows(page):
    """The table of values: a list of texts for each row, by the row's heading."""
    lines = page.locator(".explorer-table tbody tr").all()
    return {cells[0]: cells[1:] for line in lines if (cells := line.locator("th, td").all_text_contents())}


def columns(page):
    """The table of values: a list of texts for each column, by the column's heading."""
    headings = page.locator(".explorer-table thead th").all_text_contents()[1:]
    return dict(zip(headings, zip(*rows(page).values(), strict=True), strict=True))


def number(text):
    return float(text.replace(",", ""))


def open_link(page, link):
    """Open the explorer with what a link carries, as if the link had been pasted into the open page."""
    with page.expect_navigation():
        page.evaluate("link => { location.hash = link }", link)
        page.wait_for_timeout(50)
    page.wait_for_selector("svg")


@in_browser
def test_split_says_what_python_computes(play):  # noqa: F811
    """The sentence and the table at the start are Wyoming at ε = 1."""
    sentence, table = play("split", lambda page: (said(page), columns(page)))
    wyoming = load_state("WY")
    best, even = minimize_error(wyoming, 1), uniform(wyoming, 1)
    assert f"gives the blocks {best.eps[2]:.0%} of the budget" in sentence
    assert f"uniform {even.mse / best.mse:.1f} times as much" in sentence
    assert_allclose([number(x) for x in table["optimal"]], [*best.eps, *best.mse_by_level, best.mse, best.mse], rtol=2e-3)
    own = expected_error(wyoming, [0.2, 0.3, 0.5]).mse
    assert_allclose([number(x) for x in table["yours"]][3:7], [*own, own.sum()], rtol=2e-3)


@in_browser
def test_split_is_operated_by_keyboard(play):  # noqa: F811
    """Arrow keys move the handle that has the focus, it keeps the focus, and it stops before its neighbour."""

    def act(page):
        handle = page.get_by_role("slider", name="Your split between state and tracts")
        handle.focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("PageDown")
        moved = handle.get_attribute("aria-valuetext")
        page.keyboard.press("End")
        focused = handle.evaluate("node => node === document.activeElement")
        return moved, handle.get_attribute("aria-valuenow"), focused

    assert play("split", act) == ("state 14.5%, tracts 35.5%", "49.5", True)


@in_browser
@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_split_is_dragged(play, window):  # noqa: F811
    """A handle follows the pointer, and bar, sentence, table and link follow the handle."""

    def act(page):
        box = page.get_by_role("slider", name="between tracts and blocks").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        bar = page.locator(".explorer-piece").nth(9).bounding_box()  # the first piece of your bar: 20%
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - bar["width"], y, steps=5)  # so 20% to the left
        page.mouse.up()
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return columns(page)["yours"], page.url, said(page), overflow

    yours, url, sentence, overflow = play("split", act, **window)
    assert_allclose([number(x) for x in yours[:3]], [0.2, 0.1, 0.7], atol=0.01)
    assert overflow <= 0 and "own=20-" in url
    errors = expected_error(load_state("WY"), [number(x) for x in yours[:3]]).mse.sum()
    assert f"yours {errors / minimize_error(load_state('WY'), 1).mse:.1f} times as much" in sentence


@in_browser
def test_split_keeps_its_state_in_the_link(play):  # noqa: F811
    """A link brings back state, tree, budget, weights and the reader's split; what it says wrongly is passed over."""

    def act(page):
        open_link(page, "state=DE&tree=geography&eps=2.5&w=1-0.1-100&own=5-15-80")
        page.get_by_label("Weight of the state").press("ArrowRight")
        first = said(page), columns(page)["yours"][:3], columns(page)["optimal"], page.url
        open_link(page, "state=XX&eps=abc&w=0-&own=90-90-90")
        return first, said(page)

    (sentence, yours, best, url), fallback = play("split", act)
    wanted = minimize_error(load_state("DE", "geography"), 2.5, [1.1, 0.1, 100])
    assert [number(x) for x in yours] == [0.125, 0.375, 2]
    assert_allclose([number(x) for x in best[:3]], wanted.eps, rtol=5e-3)
    assert "counted with your weights" in sentence and "gives the blocks 82%" in fallback
    assert url.endswith("#state=DE&tree=geography&eps=2.5&w=1.1-0.1-100&own=5-15-80")


# Your own tree

FRAME = pd.DataFrame(
    [("a", "x", 3), ("a", "y", 40), ("b", "x", 0), ("b", "z", 7.5), ("a", "x", 2)], columns=["clinic", "ward", "patients"]
)


def paste(page, text):
    """Put a text into the table's field with one event, as pasting does; typing would bring one for each line."""
    code = "(area, text) => { area.value = text; area.dispatchEvent(new Event('input')) }"
    page.get_by_role("textbox", name="Table").evaluate(code, text)


@in_browser
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_own_tree_reads_a_table_as_from_frame_does(play, separator):  # noqa: F811
    """Nodes are whole paths and equal paths are added up: the tree and its best split are those of Python."""
    text = FRAME.to_csv(index=False, sep=separator, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")

    def act(page):
        paste(page, text)
        tree = page.evaluate("text => OwnTree.table(text).tree", text)
        return tree, page.evaluate("tree => Solver.minimizeError(tree, 1)", tree), said(page)

    tree, eps, sentence = play("own-tree", act)
    wanted = Hierarchy.from_frame(FRAME, ["clinic", "ward"], "patients")
    assert [sorted(np.repeat(level["values"], level["times"])) for level in tree] == [sorted(c) for c in wanted.counts]
    best = minimize_error(wanted, 1)
    assert_allclose(eps, best.eps, rtol=RTOL)
    assert f"Recommended for ε = 1: clinic {best.eps[0]:.3f}, ward {best.eps[1]:.3f}." in sentence


@in_browser
def test_own_tree_bounds_the_error_of_node_counts(play):  # noqa: F811
    """With node counts alone, the cube-root rule is recommended, with the bounds of Proposition 4."""

    def act(page):
        page.get_by_label("You have").select_option("nodes")
        page.get_by_label("Nodes of each level").fill("1 state, 128 tracts, 20975")
        return said(page), rows(page)

    sentence, table = play("own-tree", act)
    wyoming = load_state("WY")
    rule = cube_root(wyoming, 1)
    low = (wyoming.sizes / rule.eps**2).sum()
    assert low <= minimize_error(wyoming, 1).mse <= rule.mse <= 2 * low
    assert f"state {rule.eps[0]:.4f}, tracts {rule.eps[1]:.3f}, level 3 {rule.eps[2]:.3f}, by the cube-root rule" in sentence
    assert_allclose([number(x) for x in table["all (21,104): error"][0].split(" to ")], [low, 2 * low], rtol=5e-3)


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


@in_browser
def test_own_tree_refuses_bad_input_with_a_sentence(play):  # noqa: F811
    """What cannot be read gets a sentence that names the line, the picture goes, and both come back with good input."""

    def act(page):
        def after(fill, text):
            fill(text)
            state = page.locator("textarea, #own-tree-nodes").locator("visible=true").get_attribute("aria-invalid")
            return said(page), page.locator(".explorer-picture svg").count(), state

        tables = {text: after(lambda text: paste(page, text), text) for text in BAD_TABLES}
        page.get_by_role("button", name="Example").click()
        good = said(page), page.locator(".explorer-picture svg").count()
        page.get_by_label("You have").select_option("nodes")
        nodes = {text: after(page.get_by_label("Nodes of each level").fill, text) for text in BAD_NODES}
        return tables | nodes, good

    found, (sentence, pictures) = play("own-tree", act)
    for text, wanted in (BAD_TABLES | BAD_NODES).items():
        got, drawn, invalid = found[text]
        assert wanted in got and drawn == 0 and invalid == "true", (text, got)
    assert sentence.startswith("Recommended") and pictures == 1


@in_browser
def test_own_tree_makes_links_only_when_asked(play):  # noqa: F811
    """The address keeps still until the button is pressed; then it brings back a table, or the node counts of a long one."""
    long = "ward,patients\n" + "\n".join(f"ward {i * 7919 % 10007},{i * 104729 % 9973}" for i in range(3000))

    def act(page):
        paste(page, 'site,ward,patients\n"A, old",é,3\nB,f,900')
        untouched = page.url
        page.get_by_role("button", name="Make a link").click()
        page.wait_for_selector("text=carries your table")
        link, before = page.get_by_role("link", name="This link").get_attribute("href"), said(page)
        page.goto("about:blank")
        page.goto(link)
        page.wait_for_selector("text=site")
        again = said(page), page.get_by_role("textbox", name="Table").input_value()
        paste(page, long)
        page.get_by_role("button", name="Make a link").click()
        page.wait_for_selector("text=carries your node counts only")
        return untouched, link, before, again, page.url

    untouched, link, before, again, short = play("own-tree", act)
    assert "#" not in untouched and len(link) < 1000
    assert again == (before, 'site,ward,patients\n"A, old",é,3\nB,f,900')
    assert short.endswith("#eps=1&nodes=3000+ward")


@in_browser
def test_own_tree_reads_a_large_table_at_once(play):  # noqa: F811
    """A table of all of Wyoming's blocks is read and solved in a second or so, and gives Python's split."""
    blocks = pd.DataFrame({"block": np.arange(20_975), "people": load_state("WY").counts[2]}).assign(state="WY")
    text = blocks[["state", "block", "people"]].to_csv(index=False)
    code = """text => {
      const start = performance.now(), { tree } = OwnTree.table(text);
      return [Solver.minimizeError(tree, 1), performance.now() - start];
    }"""
    eps, milliseconds = play("own-tree", lambda page: page.evaluate(code, text))
    assert_allclose(eps, minimize_error(Hierarchy.from_frame(blocks, ["state", "block"], "people"), 1).eps, rtol=RTOL)
    assert milliseconds < 5000  # a slow machine is not a wrong program


@in_browser
@pytest.mark.parametrize("name", ["split", "own-tree"])
def test_letters_are_legible_on_a_phone(play, name):  # noqa: F811
    """At 390 pixels no letter of the picture is smaller than 11 pixels, and the page does not scroll sideways."""
    code = """() => {
      const sizes = [...document.querySelectorAll(".explorer-picture svg")].flatMap((svg) => {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [...svg.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
      });
      return [Math.min(...sizes), document.documentElement.scrollWidth - innerWidth];
    }"""
    smallest, overflow = play(name, lambda page: page.evaluate(code), **PHONE)
    assert smallest >= 11 and overflow <= 0


def test_the_example_is_the_one_in_print():
    """The picture for print is drawn from the example of the page: four hospitals and their wards."""
    text = re.search(r"EXAMPLE = `(.*?)`", (STATIC / "own-tree.js").read_text(encoding="utf-8"), re.DOTALL)[1]
    frame = pd.read_csv(io.StringIO(text))
    assert json.loads(frame.nunique()[["network", "hospital"]].to_json()) == {"network": 1, "hospital": 4}
    assert f"{len(frame)} wards" in (EXPLORE / "own-tree.md").read_text(encoding="utf-8")
