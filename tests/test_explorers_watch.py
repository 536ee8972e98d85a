"""The explorers *One count* and *Watch a release*: their numbers equal Python's, and their controls do what they say.

Pages are put together from the scripts alone, without a build. Text and figures around them are test_site's business.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_site import CHROMIUM

from helpers import Hierarchy, bias, minimize_error, mse, project_simplex, top_down, uniform, variance

EXPLORE = Path(__file__).parent.parent / "book" / "explore"
STATIC = EXPLORE / "static" / "explorers"
PHONE = {"viewport": {"width": 390, "height": 844}}
PARENTS = [None, [0, 0], [0, 0, 0, 1, 1]]
VIRGINIA = Hierarchy.from_counts([[450], [300, 150], [120, 80, 100, 90, 60]], PARENTS)
HAMLET = Hierarchy.from_counts([[45], [30, 15], [12, 8, 10, 9, 6]], PARENTS)
STEPS = 12  # eight draws, clipping, three families

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install `chromium`")


def scripts(name):
    """The scripts that the explorer's page loads, as its directive says."""
    others = re.search(r"```\{explorer\} \S+\n:with: (.*)", (EXPLORE / f"{name}.md").read_text(encoding="utf-8"))[1].split()
    return [STATIC / f"{script}.js" for script in ["core", *others, name]]


def page_of(name):
    style = (STATIC / "explorers.css").read_text(encoding="utf-8")
    code = "".join(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in scripts(name))
    box = f'<div class="explorer"><div data-explorer="{name}" hidden></div></div>'
    head = f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>{name}</title>'
    return f"{head}<style>* {{ box-sizing: border-box }} {style}</style><body>{box}{code}"


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    """play(name, act) opens an explorer, lets act(page) play with it, and gives what that found."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    folder = tmp_path_factory.mktemp("explorers")

    def visit(name, act, **window):
        file = folder / f"{name}.html"
        file.write_text(page_of(name), encoding="utf-8")
        context = browser.new_context(**window)
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.goto(file.as_uri())
        page.wait_for_selector("svg")
        found = act(page)
        context.close()
        assert errors == []
        return found

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield visit
        browser.close()


def said(page):
    return page.locator("[role=status]").text_content()


def table(page, number):
    """A table of the page as rows of texts, heading first."""
    rows = page.locator("table").nth(number).locator("tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def press(page, button, times=1):
    """Press a button by the keyboard alone."""
    for _ in range(times):
        page.get_by_role("button", name=button, exact=True).press("Enter")


# Both pages


@pytest.mark.parametrize("name", ["one-count", "watch"])
def test_a_page_loads_less_than_30_kb(name):
    """Scripts and style together stay below 30 KB, as they are: nothing is minified."""
    assert sum(path.stat().st_size for path in [*scripts(name), STATIC / "explorers.css"]) < 30_000


@pytest.mark.parametrize("name", ["one-count", "watch"])
@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_letters_and_targets_are_large_enough(play, name, window):
    """Letters have 11 pixels or more on the screen, what is touched has 24, and nothing is wider than the window."""

    def look(page):
        return page.evaluate("""() => ({
          letters: [...document.querySelectorAll("svg text")].map(t =>
            parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a),
          targets: [...document.querySelectorAll("button, select, input")].map(e => e.getBoundingClientRect().height),
          overflow: document.documentElement.scrollWidth - innerWidth,
          unnamed: [...document.querySelectorAll("svg:not([aria-label]), input:not([id]), select:not([id])")].length,
        })""")

    found = play(name, look, **window)
    assert min(found["letters"]) >= 11 and min(found["targets"]) >= 24
    assert found["overflow"] <= 0 and found["unnamed"] == 0


# One count


def test_one_count_computes_what_python_computes(play):
    """Bias, variance, MSE, share and atom are Python's to 1e-12, wherever they are not below 1e-300."""
    n, eps = (grid.ravel() for grid in np.meshgrid(np.r_[0:61, 1e3, 1e6, 1e9], np.geomspace(0.02, 5, 41)))
    code = """pairs => pairs.map(([n, eps]) => [Solver.bias(n, eps), Solver.variance(n, eps), Solver.mse(n, eps),
                                               OneCount.share(n, eps), OneCount.atom(n, eps)])"""
    found = np.array(play("one-count", lambda page: page.evaluate(code, np.c_[n, eps].tolist()))).T
    wanted = np.array([bias(n, eps), variance(n, eps), mse(n, eps), bias(n, eps) ** 2 / mse(n, eps), np.exp(-eps * n) / 2])
    assert found.shape == wanted.shape == (5, 64 * 41)
    seen = np.maximum(found, wanted) > 1e-300
    assert_allclose(found[seen], wanted[seen], rtol=1e-12, atol=0)


def test_one_count_is_played_by_the_keyboard(play):
    """Home sets the count to 0, where a quarter of the error is bias at every budget; the table follows."""

    def act(page):
        count, budget = page.get_by_label("True count N"), page.get_by_label("Budget ε")
        first = said(page)
        count.press("Home")
        for key in ("Home", "End"):
            budget.press(key)
            yield said(page)
        count.press("ArrowRight")
        page.locator("summary").press("Enter")
        page.get_by_label("Curves over").select_option("eps")
        yield table(page, 0)
        yield page.locator("svg").nth(1).get_attribute("aria-label")
        yield first

    least, most, rows, label, first = play("one-count", lambda page: list(act(page)))
    assert first.startswith(
        "With 2 people and ε = 0.5, the released count is 0.368 people too large on average, and zero in 18"
    )
    assert least == (
        "With 0 people and ε = 0.02, the released count is 25.0 people too large on average, and zero in 50% of the "
        "releases. Of the error of 2,500 people², 25% is squared bias."
    )
    assert "ε = 5," in most and most.endswith("25% is squared bias.")
    assert [row[0] for row in rows] == ["N", "0", "1 (yours)", "2", "5", "10", "20", "60"]
    assert rows[2][1:4] == [f"{value(1, 5):.{digits}f}" for value, digits in ((bias, 6), (variance, 4), (mse, 4))]
    assert label.startswith("Over budgets from 0.02 to 5 for a count of 1")


# Watch a release


def families(rng):
    """Families of all kinds: small and large, negative, far apart, with nobody to share out."""
    for size in (1, 2, 3, 10, 200):
        for spread in (1e-3, 1.0, 100.0, 1e9):
            for total in (0.0, 0.5, 40.0, 1e5):
                yield (rng.normal(scale=spread, size=size) + rng.choice([0, spread])).tolist(), total


def test_projection_is_that_of_python(play):
    """The nearest counts that are not negative and add up, for one family after the other."""
    all_families = list(families(np.random.default_rng(1)))
    code = "families => families.map(([values, total]) => Release.projectSimplex(values, total))"
    found = play("watch", lambda page: page.evaluate(code, all_families))
    for (values, total), projected in zip(all_families, found, strict=True):
        assert_allclose(projected, project_simplex(values, total), rtol=0, atol=1e-9 * max(1, total))


def random_tree(rng):
    parents = [None]
    for _ in range(rng.integers(1, 4)):
        above = len(parents[-1]) if parents[-1] else 1
        parents.append(np.repeat(np.arange(above), rng.integers(1, 6, size=above)).tolist())
    leaves = [rng.integers(0, 50, size=len(parents[-1]))]
    for level in parents[:0:-1]:
        leaves.insert(0, np.bincount(level, weights=leaves[0]).astype(int))
    return Hierarchy.from_counts(leaves, parents)


def test_top_down_is_that_of_python(play):
    """The whole tree, level by level, from noisy counts on both sides of zero."""
    rng = np.random.default_rng(2)
    trees = [VIRGINIA, HAMLET, *(random_tree(rng) for _ in range(60))]
    noisy = [[counts + rng.laplace(scale=20, size=len(counts)) for counts in tree.counts] for tree in trees]
    given = [
        [[None, *(level.tolist() for level in tree.parents[1:])], [level.tolist() for level in levels]]
        for tree, levels in zip(trees, noisy, strict=True)
    ]
    code = "given => given.map(([parents, noisy]) => Release.topDown(parents, noisy))"
    for tree, levels, found in zip(trees, noisy, play("watch", lambda page: page.evaluate(code, given)), strict=True):
        for mine, python in zip(found, top_down(tree, levels), strict=True):
            assert_allclose(mine, python, rtol=0, atol=1e-9)


def test_noise_is_laplace_noise(play):
    """Over many releases, the squared error of each level is what the closed form says, within five standard errors."""
    eps = [0.03, 0.05, 0.1]
    code = """([counts, parents, eps, trials]) => {
      const stream = Release.random(2020), moments = eps.map(() => [0, 0]);
      for (let i = 0; i < trials; i++) Release.draw(counts, parents, eps, stream).clipped.forEach((level, l) => {
        const error = Solver.sum(level.map((v, j) => (v - counts[l][j]) ** 2));
        moments[l][0] += error / trials;
        moments[l][1] += error ** 2 / trials;
      });
      return moments;
    }"""
    counts, trials = [level.tolist() for level in HAMLET.counts], 100_000
    mean, square = np.array(play("watch", lambda page: page.evaluate(code, [counts, PARENTS, eps, trials]))).T
    exact = [mse(level, e).sum() for level, e in zip(HAMLET.counts, eps, strict=True)]
    assert (np.abs(mean - exact) < 5 * np.sqrt((square - mean**2) / trials)).all()


def test_steps_say_what_they_do(play):
    """Each step has its sentence; sums stop fitting with the first draw and all fit at the end."""

    def act(page):
        yield said(page), page.locator("svg").first.text_content()
        for _ in range(STEPS):
            press(page, "Step")
            yield said(page), page.locator("svg").first.text_content()
        yield table(page, 0)

    *steps, rows = play("watch", lambda page: list(act(page)))
    marks = [(tree.count("✓"), tree.count("✗")) for _, tree in steps]
    assert marks[0] == (3, 0) and marks[1] == (2, 1) and marks[9][1] == 3 and marks[10][0] == 1 and marks[STEPS] == (3, 0)
    names = ["State VA", "Tract 100", "Tract 200", "Block 100/1", "Block 100/2", "Block 100/3", "Block 200/1", "Block 200/2"]
    values = {row[0]: row for row in rows[1:]}
    for name, (sentence, _) in zip(names, steps[1:9], strict=True):
        drew, now = re.fullmatch(rf"{name} drew ([+−]?[\d.]+) and is now ([\d.]+)\.", sentence).groups()
        true, noisy = values[name][2:4]
        assert now == noisy and float(now) == pytest.approx(int(true) + float(drew.replace("−", "-")), abs=0.11)  # rounding
    assert steps[9][0].startswith("No count is below zero")
    assert [s.split(" add up")[0] for s, _ in steps[10:]] == [f"The children of {name}" for name in names[:3]]
    final = [float(values[name][5]) for name in names]
    assert final[0] == pytest.approx(sum(final[3:]), abs=0.5) and final[1] == pytest.approx(sum(final[3:6]), abs=0.3)


def test_start_again_repeats_and_a_new_seed_does_not(play):
    """The same seed draws the same noise and adds no second dot; another seed draws other noise."""

    def act(page):
        for button in ("Start again", "Start again", "New seed"):
            press(page, button)
            press(page, "Step", STEPS)
            yield table(page, 0)[1:], page.locator("caption").nth(1).text_content()

    first, again, other = play("watch", lambda page: list(act(page)))
    assert first == again and other[0] != first[0]
    assert again[1].endswith(": 1") and other[1].endswith(": 2")


def test_clipping_is_seen_in_the_hamlet(play):
    """Among a few releases of the hamlet some count falls below zero, and the sentence says who is lifted."""

    def act(page):
        page.get_by_label("People", exact=True).select_option("10")
        for _ in range(5):
            press(page, "New seed")
            press(page, "Step", 9)
            yield said(page)

    assert any(sentence.startswith("Clipping lifts Block") for sentence in play("watch", lambda page: list(act(page))))


@pytest.mark.parametrize(("split", "rule"), [("uniform", uniform), ("minimizeError", minimize_error)])
def test_many_releases_agree_with_the_closed_form(play, split, rule):
    """The table's budgets and closed forms are Python's, and the measured errors lie within five standard errors."""

    def act(page):
        page.get_by_label("People", exact=True).select_option("10")
        page.get_by_label("Split of ε").select_option(split)
        press(page, "Run 200", 5)
        return table(page, 1)[1:], said(page)

    rows, sentence = play("watch", act)
    wanted = rule(HAMLET, total=0.5)
    assert sentence.startswith("1000 releases so far")
    for row, eps, exact in zip(rows, wanted.eps, wanted.mse_by_level, strict=True):
        assert_allclose([float(row[1]), float(row[2])], [eps, exact], rtol=5.1e-3)  # three digits are printed
        mean, standard_error = map(float, row[3].replace(",", "").split(" ± "))
        assert abs(mean - exact) < 5 * standard_error
    assert rows[0][3] == rows[0][4]  # consistency does not touch the top


def test_play_and_pause(play):
    """Play goes on by itself until it is paused."""

    def act(page):
        page.get_by_label("Speed").select_option("450")
        press(page, "Play")
        page.wait_for_function("document.querySelector('[role=status]').textContent.startsWith('Tract 200')")
        press(page, "Pause")
        stopped = said(page)
        page.wait_for_timeout(1000)  # more than two steps' time
        return stopped, said(page), page.evaluate("document.querySelector('button:nth-child(2)').textContent")

    stopped, later, label = play("watch", act)
    assert stopped == later and label == "Play"


def test_less_motion_means_steps_only(play):
    """Who asked for less motion sees no Play button, and nothing glides."""

    def act(page):
        press(page, "Step")
        return page.get_by_role("button", name="Play").count(), page.evaluate("document.getAnimations().length")

    assert play("watch", act, reduced_motion="reduce") == (0, 0)
    assert play("watch", act, reduced_motion="no-preference") == (1, 1)
