"""The explorers *One count* and *Watch a release*: their numbers equal Python's, and their controls do what they say.

Pages are put together from the scripts alone, without a build. Text and figures around them are test_site's business.
"""

import re
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.explorers import PAGES, PHONE, said, table
from support.strategies import summed_up

from helpers import Hierarchy, bias, minimize_error, mse, project_simplex, top_down, uniform, variance

PARENTS = [None, [0, 0], [0, 0, 0, 1, 1]]
VIRGINIA = Hierarchy.from_counts([[450], [300, 150], [120, 80, 100, 90, 60]], PARENTS)
HAMLET = Hierarchy.from_counts([[45], [30, 15], [12, 8, 10, 9, 6]], PARENTS)
STEPS = 12  # eight draws, clipping, three families


def press(page, button, times=1):
    """Press a button by the keyboard alone."""
    for _ in range(times):
        page.get_by_role("button", name=button, exact=True).press("Enter")


# All pages


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_letters_and_targets_are_large_enough(play, name, window):
    """Letters have 11 pixels or more on the screen, what is touched has 24, and nothing is wider than the window."""
    code = """() => {
      const all = selectors => [...document.querySelectorAll(selectors)].filter(e => e.checkVisibility());
      return {
        letters: all("svg text").map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a),
        targets: all("button, select, input").map(e => e.getBoundingClientRect().height),
        overflow: document.documentElement.scrollWidth - innerWidth,
        unnamed: document.querySelectorAll("svg:not([aria-label]), input:not([id]), select:not([id])").length,
      };
    }"""
    found = play(name, **window).evaluate(code)
    assert min(found["letters"]) >= 11 and min(found["targets"]) >= 24
    assert found["overflow"] <= 0 and found["unnamed"] == 0


# One count


def test_one_count_computes_what_python_computes(play):
    """Bias, variance, MSE, share and atom are Python's to 1e-12, wherever they are not below 1e-300, also far out."""
    shown = np.meshgrid(np.r_[0:61, 1e3, 1e6, 1e9], np.geomspace(0.02, 5, 41))
    far = np.meshgrid([0, 1e-9, 1, 2, 17, 400, 1e6, 1e12], np.geomspace(1e-3, 50, 12))
    n, eps = (np.append(x, y) for x, y in zip(shown, far, strict=True))
    code = """pairs => pairs.map(([n, eps]) => [OneCount.bias(n, eps), OneCount.variance(n, eps), Solver.mse(n, eps),
                                               OneCount.share(n, eps), OneCount.atom(n, eps)])"""
    found = np.array(play("one-count").evaluate(code, np.c_[n, eps].tolist())).T
    wanted = np.array([bias(n, eps), variance(n, eps), mse(n, eps), bias(n, eps) ** 2 / mse(n, eps), np.exp(-eps * n) / 2])
    assert found.shape == wanted.shape == (5, 64 * 41 + 8 * 12)
    seen = np.maximum(found, wanted) > 1e-300
    assert_allclose(found[seen], wanted[seen], rtol=1e-12, atol=0)


def test_one_count_is_played_by_the_keyboard(play):
    """Home sets the count to 0, where a quarter of the error is bias at every budget; the table follows."""
    page = play("one-count")
    count, budget = page.get_by_label("True count N"), page.get_by_label("Budget ε")
    mean = "the released count is {} people too large on average, and zero in"
    assert said(page).startswith(f"With 2 people and ε = 0.5, {mean.format('0.368')} 18")
    count.press("Home")
    budget.press("Home")
    error = "of the releases. Of the error of 2,500 people², 25% is squared bias."
    assert said(page) == f"With 0 people and ε = 0.02, {mean.format('25.0')} 50% {error}"
    budget.press("End")
    assert "ε = 5," in said(page) and said(page).endswith("25% is squared bias.")
    count.press("ArrowRight")
    page.locator("summary").press("Enter")
    page.get_by_label("Curves over").select_option("eps")
    rows = table(page)
    assert [row[0] for row in rows] == ["N", "0", "1 (yours)", "2", "5", "10", "20", "60"]
    assert rows[2][1:4] == [f"{value(1, 5):.{digits}f}" for value, digits in ((bias, 6), (variance, 4), (mse, 4))]
    assert page.locator("svg").nth(1).get_attribute("aria-label").startswith("Over budgets from 0.02 to 5 for a count of 1")


# Watch a release


def test_projection_is_that_of_python(play):
    """The nearest counts that add up: families small and large, negative, far apart, with nobody to share out."""
    rng, families = np.random.default_rng(1), []
    for size, spread, total in product((1, 2, 3, 10, 200), (1e-3, 1.0, 100.0, 1e9), (0.0, 0.5, 40.0, 1e5)):
        families.append([(rng.normal(scale=spread, size=size) + rng.choice([0, spread])).tolist(), total])
    code = "families => families.map(([values, total]) => Release.projectSimplex(values, total))"
    for (values, total), projected in zip(families, play("watch").evaluate(code, families), strict=True):
        assert_allclose(projected, project_simplex(values, total), rtol=0, atol=1e-9 * max(1, total))


def random_tree(rng):
    parents, sizes = [None], [1]
    for _ in range(rng.integers(1, 4)):
        parents.append(np.repeat(np.arange(sizes[-1]), rng.integers(1, 6, size=sizes[-1])))
        sizes.append(len(parents[-1]))
    return Hierarchy.from_counts(summed_up(rng.integers(0, 50, size=sizes[-1]), parents, sizes), parents)


def test_top_down_is_that_of_python(play):
    """The whole tree, level by level, from noisy counts on both sides of zero."""
    rng = np.random.default_rng(2)
    trees = [VIRGINIA, HAMLET, *(random_tree(rng) for _ in range(60))]
    noisy = [[counts + rng.laplace(scale=20, size=len(counts)) for counts in tree.counts] for tree in trees]
    parents = [[None, *(level.tolist() for level in tree.parents[1:])] for tree in trees]
    given = [[above, [x.tolist() for x in levels]] for above, levels in zip(parents, noisy, strict=True)]
    code = "given => given.map(([parents, noisy]) => Release.topDown(parents, noisy))"
    for tree, levels, found in zip(trees, noisy, play("watch").evaluate(code, given), strict=True):
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
    mean, square = np.array(play("watch").evaluate(code, [counts, PARENTS, eps, trials])).T
    exact = [mse(level, e).sum() for level, e in zip(HAMLET.counts, eps, strict=True)]
    assert (np.abs(mean - exact) < 5 * np.sqrt((square - mean**2) / trials)).all()


def test_steps_say_what_they_do(play):
    """Each step has its sentence; sums stop fitting with the first draw and all fit at the end."""
    page, steps, marks = play("watch"), [], []
    for step in range(STEPS + 1):
        press(page, "Step", min(step, 1))
        tree = page.locator("svg").first.text_content()
        steps.append(said(page))
        marks.append((tree.count("✓"), tree.count("✗")))
    assert marks[0] == (3, 0) and marks[1] == (2, 1) and marks[9][1] == 3 and marks[10][0] == 1 and marks[STEPS] == (3, 0)
    names = ["State VA", "Tract 100", "Tract 200", "Block 100/1", "Block 100/2", "Block 100/3", "Block 200/1", "Block 200/2"]
    values = {row[0]: row for row in table(page)[1:]}
    for name, sentence in zip(names, steps[1:9], strict=True):
        drew, now = re.fullmatch(rf"{name} drew ([+−]?[\d.]+) and is now ([\d.]+)\.", sentence).groups()
        true, noisy = values[name][2:4]
        assert now == noisy and float(now) == pytest.approx(int(true) + float(drew.replace("−", "-")), abs=0.11)  # rounding
    assert steps[9].startswith("No count is below zero")
    assert [s.split(" add up")[0] for s in steps[10:]] == [f"The children of {name}" for name in names[:3]]
    final = [float(values[name][5]) for name in names]
    assert final[0] == pytest.approx(sum(final[3:]), abs=0.5) and final[1] == pytest.approx(sum(final[3:6]), abs=0.3)


def test_start_again_repeats_and_a_new_seed_does_not(play):
    """The same seed draws the same noise and adds no second dot; another seed draws other noise."""
    page, found = play("watch"), []
    for button in ("Start again", "Start again", "New seed"):
        press(page, button)
        press(page, "Step", STEPS)
        found.append((table(page)[1:], page.locator("caption").nth(1).text_content()))
    first, again, other = found
    assert first == again and other[0] != first[0]
    assert again[1].endswith(": 1") and other[1].endswith(": 2")


def test_clipping_is_seen_in_the_hamlet(play):
    """Among a few releases of the hamlet some count falls below zero, and the sentence says who is lifted."""
    page, found = play("watch"), []
    page.get_by_label("People", exact=True).select_option("10")
    for _ in range(5):
        press(page, "New seed")
        press(page, "Step", 9)
        found.append(said(page))
    assert any(sentence.startswith("Clipping lifts Block") for sentence in found)


@pytest.mark.parametrize(("split", "rule"), [("uniform", uniform), ("minimizeError", minimize_error)])
def test_many_releases_agree_with_the_closed_form(play, split, rule):
    """The table's budgets and closed forms are Python's, and the measured errors lie within five standard errors."""
    page, wanted = play("watch"), rule(HAMLET, total=0.5)
    page.get_by_label("People", exact=True).select_option("10")
    page.get_by_label("Split of ε").select_option(split)
    press(page, "Run 200", 5)
    assert said(page).startswith("1000 releases so far")
    rows = table(page, 1)[1:]
    for row, eps, exact in zip(rows, wanted.eps, wanted.mse_by_level, strict=True):
        assert_allclose([float(row[1]), float(row[2])], [eps, exact], rtol=5.1e-3)  # three digits are printed
        mean, standard_error = map(float, row[3].replace(",", "").split(" ± "))
        assert abs(mean - exact) < 5 * standard_error
    assert rows[0][3] == rows[0][4]  # consistency does not touch the top


def test_play_and_pause(play):
    """Play goes on by itself until it is paused."""
    page = play("watch")
    page.get_by_label("Speed").select_option("450")
    press(page, "Play")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.startsWith('Tract 200')")
    press(page, "Pause")
    stopped = said(page)
    page.wait_for_timeout(1000)  # more than two steps' time
    assert said(page) == stopped and page.locator("button:nth-child(2)").text_content() == "Play"


def test_less_motion_means_steps_only(play):
    """Who asked for less motion sees no Play button, and nothing glides."""
    for motion, wanted in (("reduce", 0), ("no-preference", 1)):
        page = play("watch", reduced_motion=motion)
        press(page, "Step")
        assert page.get_by_role("button", name="Play").count() == page.evaluate("document.getAnimations().length") == wanted
