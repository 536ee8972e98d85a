"""Bad input is refused by a ValueError or TypeError, and nothing else, with a sentence that names argument and value.

Each line below is a call and the words that its message must contain, the argument's name first.
"""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from helpers import (
    Hierarchy,
    bias,
    cube_root,
    downstream,
    expected_error,
    experiments,
    load_nation,
    load_state,
    minimize_budget,
    minimize_error,
    mse,
    prior,
    project_simplex,
    release,
    simulate,
    top_down,
    uniform,
    variance,
)

NAN, INF = float("nan"), float("inf")
TREE = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
FRAME = pd.DataFrame({"tract": ["a", "a", "b"], "block": [1, 2, 1], "population": [3, 0, 4]})
from_counts, from_frame = Hierarchy.from_counts, Hierarchy.from_frame
simulate_misallocation, state_experiment = downstream.simulate_misallocation, experiments.state_experiment


def counted(values):
    """FRAME with other counts; pandas keeps what is no number as objects."""
    return FRAME.assign(population=pd.Series(list(values), dtype=object))


# Not a positive number: what every total, tau and single budget has to refuse, with the words for it.
NOT_POSITIVE = {
    "zero": (0, "0"), "negative": (-1.5, "-1.5"), "NaN": (NAN, "nan"), "infinite": (INF, "inf"),
    "minus infinite": (-INF, "-inf"), "text": ("1.0", "'1.0'"), "None": (None, "None"), "bool": (True, "True"),
    "array": (np.array([1.0, 2.0]), "1., 2."), "list": ([1], "[1]"), "complex": (1j, "1j"), "missing": (pd.NA, "<NA>"),
    "beyond doubles": (10**400,),
}  # fmt: skip
# Not one positive number a level: what eps and weights have to refuse.
NOT_PER_LEVEL = {
    "too short": ([1.0], "2 levels", "got 1"), "too long": ([1, 1, 1], "2 levels", "got 3"),
    "empty": ([], "2 levels", "got 0"),
    "one number": (1.0, "2 levels"), "a table": ([[1, 1]], "(1, 2)"), "zero": ([1, 0], "0", "index 1"),
    "negative": ([-2, 1], "-2", "index 0"), "NaN": ([1, NAN], "nan", "index 1"), "infinite": ([INF, 1], "inf", "index 0"),
    "missing": ([1, None], "nan", "index 1"), "text": (["1", "2"], "'1'"), "word": ("ab", "'ab'"),
    "bools": ([True, True], "True"),
    "complex": ([1j, 1], "1j"), "ragged": ([[1], [1, 2]], "[[1], [1, 2]]"), "mapping": ({"a": 1}, "{'a': 1}"),
}  # fmt: skip
# Not a count: what every array of counts has to refuse.
NOT_COUNTS = {
    "negative": ([3, -1, 4], "-1", "index 1"), "NaN": ([3, NAN, 4], "nan", "index 1"),
    "infinite": ([3, 4, INF], "inf", "index 2"),
    "None": ([3, None, 4], "nan", "index 1"), "pd.NA": ([3, 1, pd.NA], "nan", "index 2"), "text": (["3", "0", "4"], "'3'"),
    "words": ([3, "many", 4], "many|'3'"), "bools": ([True, False, True], "True"), "complex": ([3, 1j, 4], "(3+0j)|1j"),
    "dates": (pd.to_datetime(["2020-04-01"] * 3), "2020|1585699200000000000"), "beyond doubles": ([3, 10**400, 4],),
}  # fmt: skip
# Not a number of trials: at least two, so that they can differ, or four for standard errors.
NOT_TRIALS = {
    "one": (1, "1", "2|4"), "zero": (0, "0"), "negative": (-5, "-5"), "fractional": (2.5, "2.5"),
    "a float": (100.0, "100.0"), "text": ("100", "'100'"), "None": (None, "None"), "NaN": (NAN, "nan"),
    "bool": (True, "True"),
}  # fmt: skip
NOT_A_TREE = {
    "list": ([[5], [2, 3]], "list"), "None": (None, "NoneType"), "frame": (FRAME, "DataFrame"), "class": (Hierarchy, "type"),
}  # fmt: skip

CALLS = {}  # what is wrong: (call, name of the argument, words)


def refuse(takers, values):
    """Add every bad value for every function that takes such an argument."""
    for function, (name, call) in takers.items():
        for kind, (value, *words) in values.items():
            CALLS[f"{function}: {name} {kind}"] = (lambda call=call, value=value: call(value)), name, *words


refuse({
    "uniform": ("total", lambda v: uniform(TREE, v)),
    "cube_root": ("total", lambda v: cube_root(TREE, v)),
    "minimize_error": ("total", lambda v: minimize_error(TREE, v)),
    "minimize_budget": ("tau", lambda v: minimize_budget(TREE, v)),
}, NOT_POSITIVE)  # fmt: skip

refuse({
    "cube_root": ("weights", lambda v: cube_root(TREE, 1, v)),
    "minimize_error": ("weights", lambda v: minimize_error(TREE, 1, v)),
    "minimize_budget": ("weights", lambda v: minimize_budget(TREE, 1, v)),
    "release": ("eps", lambda v: release(TREE, v)),
    "simulate": ("eps", lambda v: simulate(TREE, v, 10)),
    "expected_error": ("eps", lambda v: expected_error(TREE, v)),
    "simulate_misallocation": ("eps", lambda v: simulate_misallocation(TREE, v, 10)),
}, NOT_PER_LEVEL)  # fmt: skip

refuse({
    "from_frame": ("population", lambda v: from_frame(counted(v), ["tract", "block"])),
    "from_counts": ("counts[0]", lambda v: from_counts([v], [None])),
    "bias": ("n", lambda v: bias(v, 1)),
    "variance": ("n", lambda v: variance(v, 1)),
    "mse": ("n", lambda v: mse(v, 1)),
    "shares": ("counts", downstream.shares),
    "misallocation": ("released", lambda v: downstream.misallocation([1, 2, 3], v)),
}, NOT_COUNTS)  # fmt: skip

refuse({
    "uniform": ("hierarchy", lambda v: uniform(v, 1)),
    "cube_root": ("hierarchy", lambda v: cube_root(v, 1)),
    "minimize_error": ("hierarchy", lambda v: minimize_error(v, 1)),
    "minimize_budget": ("hierarchy", lambda v: minimize_budget(v, 1)),
    "release": ("hierarchy", lambda v: release(v, [1, 1])),
    "simulate": ("hierarchy", lambda v: simulate(v, [1, 1], 10)),
    "expected_error": ("hierarchy", lambda v: expected_error(v, [1, 1])),
    "simulate_misallocation": ("hierarchy", lambda v: simulate_misallocation(v, [1, 1], 10)),
    "top_down": ("hierarchy", lambda v: top_down(v, [[5], [2, 3]])),
}, NOT_A_TREE)  # fmt: skip

refuse({
    "simulate": ("trials", lambda v: simulate(TREE, [1, 1], v)),
    "simulate_misallocation": ("trials", lambda v: simulate_misallocation(TREE, [1, 1], v)),
    "state_experiment": ("trials", lambda v: state_experiment("DE", v)),
    "trials": ("default", experiments.trials),
}, NOT_TRIALS)  # fmt: skip

CALLS |= {
    # one count
    "mse: eps zero": (lambda: mse(1, 0), "eps", "0"),
    "mse: eps negative": (lambda: mse(1, [0.5, -2]), "eps", "-2", "index 1"),
    "bias: eps NaN": (lambda: bias(1, NAN), "eps", "nan"),
    "variance: eps infinite": (lambda: variance(1, INF), "eps", "inf"),
    "variance: eps text": (lambda: variance(1, "half"), "eps", "'half'"),
    "mse: eps None": (lambda: mse(1, None), "eps", "nan"),
    "mse: shapes that do not broadcast": (lambda: mse([1, 2], [1, 2, 3]), "n", "eps", "(2,)", "(3,)"),
    # seeds: ten billion trials would never end, so the refusal comes before any work
    "simulate: seed negative": (lambda: simulate(TREE, [1, 1], 10**10, seed=-1), "seed", "-1"),
    "misallocation: seed negative": (lambda: simulate_misallocation(TREE, [1, 1], 10**10, seed=-1), "seed", "-1"),
    "experiment: seed negative": (lambda: state_experiment("DE", 10**10, seed=-1), "seed", "-1"),
    "experiment: seed a generator": (lambda: state_experiment("DE", 4, np.random.default_rng(1)), "seed", "Generator"),
    "release: seed negative": (lambda: release(TREE, [1, 1], seed=-1), "seed", "-1"),
    "release: seed text": (lambda: release(TREE, [1, 1], seed="one"), "seed", "'one'"),
    "release: seed fractional": (lambda: release(TREE, [1, 1], seed=1.5), "seed", "1.5"),
    "release: seed bool": (lambda: release(TREE, [1, 1], seed=True), "seed", "True"),
    "release: seed list": (lambda: release(TREE, [1, 1], seed=[1, 2]), "seed", "[1, 2]"),
    "release: seed old generator": (lambda: release(TREE, [1, 1], seed=np.random.RandomState(1)), "seed", "RandomState"),
    # trees from arrays
    "children above their parent": (lambda: from_counts([[5], [2, 4]], [None, [0, 0]]), "counts[1]", "5", "6"),
    "children below their parent": (lambda: from_counts([[5, 3], [5, 2]], [None, [0, 1]]), "counts[1]", "3", "2", "node 1"),
    "people without children": (lambda: from_counts([[5, 3], [5]], [None, [0]]), "counts[1]", "3", "node 1"),
    "one person too many": (lambda: from_counts([[10**10], [10**10 + 1]], [None, [0]]), "counts[1]", "10000000000"),
    "parent out of range": (lambda: from_counts([[5], [2, 3]], [None, [0, 1]]), "parents[1]", "1", "index 1"),
    "parent negative": (lambda: from_counts([[5], [2, 3]], [None, [0, -1]]), "parents[1]", "-1", "index 1"),
    "parent fractional": (lambda: from_counts([[5], [2, 3]], [None, [0, 0.5]]), "parents[1]", "float64|0.5"),
    "parent missing": (lambda: from_counts([[5], [2, 3]], [None, [0, None]]), "parents[1]", "nan", "index 1"),
    "parent text": (lambda: from_counts([[5], [2, 3]], [None, ["0", "0"]]), "parents[1]", "'0'"),
    "parents None below the top": (lambda: from_counts([[5], [2, 3]], [None, None]), "parents[1]", "None"),
    "parents given at the top": (lambda: from_counts([[5], [2, 3]], [[0], [0, 0]]), "parents[0]", "[0]"),
    "too few parents": (lambda: from_counts([[5], [2, 3]], [None, [0]]), "parents[1]", "2", "1"),
    "parents in a table": (lambda: from_counts([[5], [2, 3]], [None, [[0, 0]]]), "parents[1]", "2"),
    "too few levels of parents": (lambda: from_counts([[5], [2, 3]], [None]), "parents", "2", "1"),
    "parents None": (lambda: from_counts([[5]], None), "parents", "None"),
    "no levels": (lambda: from_counts([], []), "counts", "none"),
    "counts None": (lambda: from_counts(None, [None]), "counts", "None"),
    "an empty level": (lambda: from_counts([[0], []], [None, []]), "counts[1]", "(0,)"),
    "a number for a level": (lambda: from_counts([5, [5]], [None, [0]]), "counts[0]", "()"),
    "a table for a level": (lambda: from_counts([[[5]]], [None]), "counts[0]", "(1, 1)"),
    "too few level names": (lambda: from_counts([[5], [5]], [None, [0]], levels=["state"]), "levels", "2", "1"),
    "repeated level names": (lambda: from_counts([[5], [5]], [None, [0]], levels=["a", "a"]), "levels", "['a', 'a']"),
    "text for level names": (lambda: from_counts([[5], [5]], [None, [0]], levels="ab"), "levels", "'ab'"),
    "weights for levels with numbers as names": (
        lambda: cube_root(from_counts([[5], [5]], [None, [0]], levels=[2010, 2020]), 1, [1]), "levels|weights", "2010",
    ),
    # trees from tables
    "frame a list": (lambda: from_frame([[1, 2]], ["tract"]), "frame", "list"),
    "frame None": (lambda: from_frame(None, ["tract"]), "frame", "NoneType"),
    "frame empty": (lambda: from_frame(FRAME[:0], ["tract", "block"]), "frame", "empty"),
    "unknown level": (lambda: from_frame(FRAME, ["county", "block"]), "levels", "'county'", "tract"),
    "unknown count": (lambda: from_frame(FRAME, ["tract"], count="people"), "count", "'people'", "population"),
    "count among the levels": (lambda: from_frame(FRAME, ["tract", "population"]), "count", "'population'"),
    "levels empty": (lambda: from_frame(FRAME, []), "levels", "none"),
    "levels repeated": (lambda: from_frame(FRAME, ["tract", "tract"]), "levels", "['tract', 'tract']"),
    "levels text": (lambda: from_frame(FRAME, "tract"), "levels", "'tract'"),
    "levels None": (lambda: from_frame(FRAME, None), "levels", "None"),
    "levels a number": (lambda: from_frame(FRAME, 5), "levels", "5"),
    "levels nested": (lambda: from_frame(FRAME, [["tract"]]), "levels", "['tract']"),
    "count nested": (lambda: from_frame(FRAME, ["tract"], count=["population"]), "count", "['population']"),
    "a missing key": (lambda: from_frame(FRAME.assign(tract=["a", None, "b"]), ["tract", "block"]), "tract", "row 1"),
    "keys without an order": (
        lambda: from_frame(FRAME.assign(tract=[1, "a", FRAME.__class__]), ["tract", "block"]), "tract", "order", "mixture",
    ),
    "a column twice": (
        lambda: from_frame(pd.concat([FRAME, FRAME.tract], axis=1), ["tract", "block"]), "frame|levels", "tract",
    ),
    "counts twice": (
        lambda: from_frame(pd.concat([FRAME, FRAME.population], axis=1), ["tract", "block"]), "frame|count", "population",
    ),
    "nullable column with a gap": (
        lambda: from_frame(FRAME.assign(population=pd.array([3, None, 4], dtype="Int64")), ["tract", "block"]),
        "population", "nan|<NA>", "index 1",
    ),
    # states
    "unknown state": (lambda: load_state("Texas"), "state", "'Texas'", "wyoming"),
    "state None": (lambda: load_state(None), "state", "None"),
    "state empty": (lambda: prior(""), "state", "''"),
    "unknown source": (lambda: load_state("WY", source="web"), "source", "embedded", "'web'"),
    "prior: source None": (lambda: prior("WY", source=None), "source", "None"),
    "microdata without empty blocks": (lambda: prior("WY", "geography", source="ppmf"), "tree", "'geography'"),
    "unknown tree": (lambda: load_state("WY", "oak"), "tree", "'oak'", "published"),
    "tree None": (lambda: load_state("WY", None), "tree", "None"),
    "prior: unknown tree": (lambda: prior("WY", "oak"), "tree", "'oak'"),
    "unknown state level": (lambda: load_state("WY", levels=["state", "city"]), "levels", "'city'"),
    "state levels upside down": (lambda: load_state("WY", levels=["block", "tract"]), "levels", "['block', 'tract']"),
    "state levels repeated": (lambda: load_state("WY", levels=["state", "state"]), "levels", "['state', 'state']"),
    "state levels empty": (lambda: load_state("WY", levels=[]), "levels", "[]"),
    "unknown nation level": (lambda: load_nation(["state", "city"]), "levels", "country, state", "'city'"),
    "nation levels upside down": (lambda: load_nation(["state", "country"]), "levels", "['state', 'country']"),
    "nation levels None": (lambda: load_nation(None), "levels", "None"),
    "state with a country": (lambda: load_state("WY", levels=["country", "state"]), "levels", "['country', 'state']"),
    "state levels None": (lambda: load_state("WY", levels=None), "levels", "None"),
    "prior: levels upside down": (lambda: prior("WY", levels=["block", "tract"]), "levels", "['block', 'tract']"),
    # projections
    "values empty": (lambda: project_simplex([], 1), "values", "(0,)"),
    "values a number": (lambda: project_simplex(5, 1), "values", "()"),
    "values a table": (lambda: project_simplex([[1, 2]], 1), "values", "(1, 2)"),
    "values NaN": (lambda: project_simplex([1, NAN], 1), "values", "nan", "index 1"),
    "values infinite": (lambda: project_simplex([INF, 1], 1), "values", "inf", "index 0"),
    "values text": (lambda: project_simplex(["1"], 1), "values", "'1'"),
    "values None": (lambda: project_simplex(None, 1), "values", "nan"),
    "projection: total negative": (lambda: project_simplex([1, 2], -1), "total", "-1"),
    "projection: total NaN": (lambda: project_simplex([1, 2], NAN), "total", "nan"),
    "projection: total infinite": (lambda: project_simplex([1, 2], INF), "total", "inf"),
    "projection: total text": (lambda: project_simplex([1, 2], "3"), "total", "'3'"),
    "projection: total None": (lambda: project_simplex([1, 2], None), "total", "nan"),
    "projection: total bool": (lambda: project_simplex([1, 2], True), "total", "True"),
    "projection: total an array": (lambda: project_simplex([1, 2], [3.0]), "total", "(1,)"),
    "noisy: too few levels": (lambda: top_down(TREE, [[5]]), "noisy", "2", "1"),
    "noisy: too many levels": (lambda: top_down(TREE, [[5], [2, 3], [1]]), "noisy", "2", "3"),
    "noisy: too many nodes": (lambda: top_down(TREE, [[5], [2, 3, 4]]), "noisy[1]", "2", "(3,)"),
    "noisy: a table": (lambda: top_down(TREE, [[5], [[2, 3]]]), "noisy[1]", "(1, 2)"),
    "noisy: NaN": (lambda: top_down(TREE, [[5], [2, NAN]]), "noisy[1]", "nan", "index 1"),
    "noisy: infinite": (lambda: top_down(TREE, [[INF], [2, 3]]), "noisy[0]", "inf"),
    "noisy: text": (lambda: top_down(TREE, [["5"], [2, 3]]), "noisy[0]", "'5'"),
    "noisy: None": (lambda: top_down(TREE, None), "noisy", "None"),
    # shares
    "unknown weight": (lambda: downstream.shares([1, 2], "cubic"), "weight", "'cubic'", "quadratic"),
    "weight None": (lambda: downstream.shares([1, 2], None), "weight", "None"),
    "weight a number": (lambda: downstream.misallocation([1, 2], [1, 2], 3), "weight", "3"),
    "no groups": (lambda: downstream.shares([]), "counts", "(0,)"),
    "a number for groups": (lambda: downstream.shares(5), "counts", "()"),
    "released too long": (lambda: downstream.misallocation([1, 2], [1, 2, 3]), "released", "(2,)", "(3,)"),
    "stacks that do not match": (
        lambda: downstream.misallocation([[1, 2], [3, 4]], [[1, 2]] * 3), "released", "(2, 2)", "(3, 2)",
    ),
    "a weight that gives nobody anything": (lambda: downstream.shares([1, 2], lambda p: 0 * p), "weight"),
    "weights that give nobody anything": (
        lambda: simulate_misallocation(TREE, [1, 1], 10**10, weights={"none": lambda p: 0 * p}), "weight",
    ),
    "weights a name": (lambda: simulate_misallocation(TREE, [1, 1], 10, weights="log"), "weights", "'log'"),
    "weights None": (lambda: simulate_misallocation(TREE, [1, 1], 10, weights=None), "weights", "None"),
    "weights empty": (lambda: simulate_misallocation(TREE, [1, 1], 10, weights={}), "weights", "{}"),
    "weights with a number": (lambda: simulate_misallocation(TREE, [1, 1], 10, weights={"a": 3}), "weight", "3"),
    # experiments
    "experiment: unknown state": (lambda: state_experiment("Texas", 10**10), "state", "'Texas'", "wyoming"),
    "experiment: total zero": (lambda: state_experiment("DE", 10**10, totals=[1, 0]), "totals", "0"),
    "gain: no sizes": (lambda: experiments.predicted_gain([]), "sizes", "(0,)"),
    "gain: sizes in a table": (lambda: experiments.predicted_gain([[1, 2]]), "sizes", "(1, 2)"),
    "gain: size zero": (lambda: experiments.predicted_gain([1, 0]), "sizes", "0", "index 1"),
    "regret: totals a number": (lambda: experiments.regret(TREE, {"a": uniform}, 1.0), "totals", "1.0"),
    "regret: no totals": (lambda: experiments.regret(TREE, {"a": uniform}, []), "totals", "[]"),
    "regret: no rules": (lambda: experiments.regret(TREE, {}, [1]), "rules", "{}"),
    "sweep: a rule that is none": (lambda: experiments.sweep({"a": 3}, [1], None), "rules", "{'a': 3}"),
    # what NumPy would take for a number, and what doubles cannot hold
    "a bool among numbers": (lambda: release(TREE, [1, True]), "eps", "[1, True]"),
    "a bool among counts": (lambda: from_counts([[3], [2, True]], [None, [0, 0]]), "counts[1]", "[2, True]"),
    "a masked budget": (lambda: release(TREE, np.ma.masked_array([1.0, 2.0], [True, False])), "eps", "masked_array"),
    "a masked count in a list": (lambda: bias([np.ma.masked_array([1.0], [True])], 1), "n", "masked_array"),
    "a budget below the squares of doubles": (lambda: mse(1, 5e-324), "eps", "1e-150", "5e-324"),
    "a count above the squares of doubles": (lambda: mse(1e300, 1), "n", "1e+150", "1e+300"),
    "a total that is too small": (lambda: minimize_error(TREE, 1e-41), "total", "1e-40", "1e-41"),
    "a total that is too large": (lambda: uniform(TREE, 1e41), "total", "1e+40", "1e+41"),
    "a weight that is too large": (lambda: cube_root(TREE, 1, [1, 1e21]), "weights", "1e+20", "1e+21", "index 1"),
    "a tau that is too small": (lambda: minimize_budget(TREE, 1e-61), "tau", "1e-60", "1e-61"),
    "a budget that is too small to draw with": (lambda: release(TREE, [1, 1e-61]), "eps", "1e-60", "1e-61", "index 1"),
    "trials that never end": (lambda: simulate(TREE, [1, 1], 2**63), "trials", "1,000,000,000,000"),
    "releases that never end": (
        lambda: downstream.simulate_misallocation(TREE, [1, 1], 2**63),
        "trials",
        "1,000,000,000,000",
    ),
    "projection: a total whose sum is no double": (lambda: project_simplex([1, 2], 1e308), "total", "1e+300", "1e+308"),
    "noisy: a single number": (lambda: top_down(TREE, np.array(2.0)), "noisy", "array(2.)"),
    "parents a single number": (lambda: from_counts([[5]], np.array(2.0)), "parents", "array(2.)"),
    "levels a single number": (lambda: from_frame(FRAME, np.array(2.0)), "levels", "array(2.)"),
    "a weight for all groups at once": (lambda: downstream.shares([1, 2], len), "weight", "2", "()"),
    "release: consistent text": (lambda: release(TREE, [1, 1], consistent="no"), "consistent", "'no'"),
    "simulate: consistent None": (lambda: simulate(TREE, [1, 1], 10**10, consistent=None), "consistent", "None"),
    "misallocation: consistent 1": (lambda: simulate_misallocation(TREE, [1, 1], 10**10, consistent=1), "consistent", "1"),
    "mechanism an array": (lambda: release(TREE, [1, 1], mechanism=np.array([1, 2])), "mechanism", "array([1, 2])"),
    "too few trials by default": (lambda: experiments.trials(3), "default", "3", "4"),
}  # fmt: skip


@pytest.mark.parametrize("call, name, words", [(c, n, w) for c, n, *w in CALLS.values()], ids=CALLS)
def test_bad_input_is_refused_by_name_and_value(call, name, words):
    """A wrong argument raises a ValueError or TypeError whose message holds its name and its value."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert caught.type in (ValueError, TypeError)
    for word in (name, *words):  # "a|b": either will do
        options = "|".join(map(re.escape, word.split("|")))
        assert re.search(rf"(?<![\w.])({options})(?!\w)", str(caught.value)), f"{word} is not in: {caught.value}"


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0), Fraction(1)])
def test_good_numbers_are_taken_in_any_form(value):
    """The same budget as any kind of real number gives the same split (so the refusals above are not too eager)."""
    assert minimize_error(TREE, value).eps.tolist() == minimize_error(TREE, 1.0).eps.tolist()


LIMITS = {
    "one count": lambda: mse([0, 1e150], [[1e-150], [1e150]]),
    "total": lambda: [uniform(TREE, total).eps for total in (1e-40, 1e40)],
    "weights": lambda: minimize_error(TREE, 1, [1e-20, 1e20]).eps,
    "tau": lambda: [minimize_budget(TREE, tau).eps for tau in (1e-60, 1e50)],
    "a level's budget": lambda: release(TREE, [1e-60, 1e60]),
    "a sum": lambda: project_simplex([1.0], 1e300),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_themselves_are_taken(limit):
    """The smallest and largest numbers that a refusal names are fine, without a warning."""
    assert all(np.isfinite(x).all() for x in LIMITS[limit]())


def test_a_refusal_leaves_nothing_changed():
    """Input that was refused is the same afterwards."""
    counts = [np.array([5]), np.array([4, 2])]
    with pytest.raises(ValueError, match="counts"):
        from_counts(counts, [None, np.array([0, 0])])
    assert [n.tolist() for n in counts] == [[5], [4, 2]]
