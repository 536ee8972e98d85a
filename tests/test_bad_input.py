"""Bad input is refused by a ValueError or TypeError, and nothing else, with a sentence that names argument and value.

Each line below is a call and the words that its message must contain, the argument's name first.
"""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support.refusals import refusal
from support.wrong import wrong

from helpers import Hierarchy, bias, load_nation, load_state, mse, prior, project_simplex, release, top_down, variance
from helpers.allocation import cube_root, minimize_budget, minimize_error, uniform
from helpers.experiments import predicted_gain, regret, state_experiment, sweep, trials
from helpers.experiments.downstream import misallocation, shares, simulate_misallocation
from helpers.simulation import expected_error, simulate

NAN, INF = float("nan"), float("inf")
TREE = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
FRAME = pd.DataFrame({"tract": ["a", "a", "b"], "block": [1, 2, 1], "population": [3, 0, 4]})
KEYS = ["tract", "block"]
NEVER = 10**10  # so many trials would never end: the refusal comes before any work
from_counts, from_frame = Hierarchy.from_counts, Hierarchy.from_frame


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

# Not a seed, nor a generator.
NOT_SEEDS = {
    "negative": (-1, "-1"), "text": ("one", "'one'"), "fractional": (1.5, "1.5"), "bool": (True, "True"),
    "list": ([1, 2], "[1, 2]"), "old generator": (np.random.RandomState(1), "RandomState"),
}  # fmt: skip

CALLS: dict[str, tuple] = {}  # what is wrong: (call, words)


def refuse(takers, values):
    """Add every bad value for every "function: argument" that takes such a value; its name has to be told too."""
    for taker, call in takers.items():
        for kind, (value, *words) in values.items():
            CALLS[f"{taker} {kind}"] = (lambda call=call, value=value: call(value)), taker.split(": ")[1], *words


refuse({
    "uniform: total": lambda v: uniform(TREE, v), "cube_root: total": lambda v: cube_root(TREE, v),
    "minimize_error: total": lambda v: minimize_error(TREE, v), "minimize_budget: tau": lambda v: minimize_budget(TREE, v),
}, NOT_POSITIVE)  # fmt: skip
refuse({
    "cube_root: weights": lambda v: cube_root(TREE, 1, v),
    "minimize_error: weights": lambda v: minimize_error(TREE, 1, v),
    "minimize_budget: weights": lambda v: minimize_budget(TREE, 1, v),
    "release: eps": lambda v: release(TREE, v), "simulate: eps": lambda v: simulate(TREE, v, 10),
    "expected_error: eps": lambda v: expected_error(TREE, v),
    "simulate_misallocation: eps": lambda v: simulate_misallocation(TREE, v, 10),
}, NOT_PER_LEVEL)  # fmt: skip
refuse({
    "from_frame: population": lambda v: from_frame(counted(v), KEYS),
    "from_counts: counts[0]": lambda v: from_counts([v], [None]),
    "bias: n": lambda v: bias(v, 1), "variance: n": lambda v: variance(v, 1), "mse: n": lambda v: mse(v, 1),
    "shares: counts": shares, "misallocation: released": lambda v: misallocation([1, 2, 3], v),
}, NOT_COUNTS)  # fmt: skip
refuse({
    "uniform: hierarchy": lambda v: uniform(v, 1), "cube_root: hierarchy": lambda v: cube_root(v, 1),
    "minimize_error: hierarchy": lambda v: minimize_error(v, 1),
    "minimize_budget: hierarchy": lambda v: minimize_budget(v, 1),
    "release: hierarchy": lambda v: release(v, [1, 1]), "simulate: hierarchy": lambda v: simulate(v, [1, 1], 10),
    "expected_error: hierarchy": lambda v: expected_error(v, [1, 1]),
    "simulate_misallocation: hierarchy": lambda v: simulate_misallocation(v, [1, 1], 10),
    "top_down: hierarchy": lambda v: top_down(v, [[5], [2, 3]]),
}, NOT_A_TREE)  # fmt: skip
refuse({
    "simulate: trials": lambda v: simulate(TREE, [1, 1], v),
    "simulate_misallocation: trials": lambda v: simulate_misallocation(TREE, [1, 1], v),
    "state_experiment: trials": lambda v: state_experiment("DE", v),
}, NOT_TRIALS | {"never ending": (2**63, "1,000,000,000,000")})  # fmt: skip
refuse({"trials: default": trials}, NOT_TRIALS | {"three": (3, "3", "4")})
refuse({
    "release: seed": lambda v: release(TREE, [1, 1], v), "simulate: seed": lambda v: simulate(TREE, [1, 1], NEVER, v),
    "simulate_misallocation: seed": lambda v: simulate_misallocation(TREE, [1, 1], NEVER, v),
    "state_experiment: seed": lambda v: state_experiment("DE", NEVER, v),
}, NOT_SEEDS)  # fmt: skip
refuse(
    {"experiment: seed": lambda v: state_experiment("DE", 4, v)}, {"a generator": (np.random.default_rng(1), "Generator")}
)
refuse({"misallocation: consistent": lambda v: simulate_misallocation(TREE, [1, 1], NEVER, consistent=v)}, {"1": (1, "1")})

refuse({
    "bias: eps": lambda v: bias(1, v), "variance: eps": lambda v: variance(1, v), "mse: eps": lambda v: mse(1, v),
}, {
    "zero": (0, "0"), "negative": ([0.5, -2], "-2", "index 1"), "NaN": (NAN, "nan"), "infinite": (INF, "inf"),
    "text": ("half", "'half'"), "None": (None, "nan"), "below the squares of doubles": (5e-324, "1e-150", "5e-324"),
})  # fmt: skip

# Trees from arrays and tables: more, with their whole sentences, in test_hierarchy.py.
refuse({"from_counts: parents": lambda v: from_counts([[5], [2, 3]], v)}, {
    "negative": ([None, [0, -1]], "parents[1]", "-1", "index 1"), "text": ([None, ["0", "0"]], "parents[1]", "'0'"),
    "missing": ([None, [0, None]], "parents[1]", "nan", "index 1"), "too few": ([None, [0]], "parents[1]", "2", "1"),
    "a table": ([None, [[0, 0]]], "parents[1]", "2"), "None": (None, "None"), "one number": (np.array(2.0), "array(2.)"),
})  # fmt: skip
refuse({"from_counts: counts": lambda v: from_counts(v, [None, [0, 1]])}, {
    "below their parent": ([[5, 3], [5, 2]], "counts[1]", "node 1"), "None": (None, "None"),
    "a number": ([5, [5]], "counts[0]", "()"), "a table": ([[[5]], [5]], "counts[0]", "(1, 1)"),
    "a bool among numbers": ([[3, 1], [2, True]], "counts[1]", "[2, True]"),
})  # fmt: skip
refuse({"from_counts: levels": lambda v: from_counts([[5], [5]], [None, [0]], levels=v)}, {
    "repeated": (["a", "a"], "['a', 'a']"), "text": ("ab", "'ab'"),
})  # fmt: skip
refuse({"from_frame: levels": lambda v: from_frame(FRAME, v)}, {
    "None": (None, "None"), "a number": (5, "5"), "nested": ([["tract"]], "['tract']"),
    "one number": (np.array(2.0), "array(2.)"),
})  # fmt: skip

# States
refuse({"load_state: state": load_state, "prior: state": prior}, {
    "unknown": ("Texas", "'Texas'", "wyoming"), "None": (None, "None"), "empty": ("", "''"),
})  # fmt: skip
refuse({"load_state: source": lambda v: load_state("WY", source=v), "prior: source": lambda v: prior("WY", source=v)}, {
    "unknown": ("web", "embedded", "'web'"), "None": (None, "None"),
})  # fmt: skip
refuse({"load_state: tree": lambda v: load_state("WY", v), "prior: tree": lambda v: prior("WY", v)}, {
    "unknown": ("oak", "'oak'", "published"), "None": (None, "None"),
})  # fmt: skip
refuse({"load_state: levels": lambda v: load_state("WY", levels=v), "prior: levels": lambda v: prior("WY", levels=v)}, {
    "unknown": (["state", "city"], "'city'"), "upside down": (["block", "tract"], "['block', 'tract']"), "empty": ([], "[]"),
    "repeated": (["state", "state"], "['state', 'state']"), "None": (None, "None"),
    "with a country": (["country", "state"], "['country', 'state']"),
})  # fmt: skip
refuse({"load_nation: levels": load_nation}, {
    "unknown": (["state", "city"], "country, state", "'city'"), "None": (None, "None"),
    "upside down": (["state", "country"], "['state', 'country']"),
})  # fmt: skip

# Projections
refuse({"project_simplex: values": lambda v: project_simplex(v, 1)}, {
    "empty": ([], "(0,)"), "a number": (5, "()"), "a table": ([[1, 2]], "(1, 2)"), "NaN": ([1, NAN], "nan", "index 1"),
    "infinite": ([INF, 1], "inf", "index 0"), "text": (["1"], "'1'"), "None": (None, "nan"),
})  # fmt: skip
refuse({"project_simplex: total": lambda v: project_simplex([1, 2], v)}, {
    "negative": (-1, "-1"), "NaN": (NAN, "nan"), "infinite": (INF, "inf"), "text": ("3", "'3'"), "None": (None, "nan"),
    "bool": (True, "True"), "an array": ([3.0], "(1,)"), "whose sum is no double": (1e308, "1e+300", "1e+308"),
})  # fmt: skip
refuse({"top_down: noisy": lambda v: top_down(TREE, v)}, {
    "too few levels": ([[5]], "2", "1"), "too many levels": ([[5], [2, 3], [1]], "2", "3"), "None": (None, "None"),
    "too many nodes": ([[5], [2, 3, 4]], "noisy[1]", "2", "(3,)"), "a table": ([[5], [[2, 3]]], "noisy[1]", "(1, 2)"),
    "NaN": ([[5], [2, NAN]], "noisy[1]", "nan", "index 1"), "infinite": ([[INF], [2, 3]], "noisy[0]", "inf"),
    "text": ([["5"], [2, 3]], "noisy[0]", "'5'"), "one number": (np.array(2.0), "array(2.)"),
})  # fmt: skip

# Shares and experiments
refuse({
    "shares: weight": lambda v: shares([1, 2], v), "misallocation: weight": lambda v: misallocation([1, 2], [1, 2], v),
}, {
    "unknown": ("cubic", "'cubic'", "quadratic"), "None": (None, "None"), "a number": (3, "3"),
    "for all groups at once": (len, "2", "()"),
})  # fmt: skip
refuse({"shares: counts": shares}, {"empty": ([], "(0,)"), "a number": (5, "()")})
refuse({"simulate_misallocation: weights": lambda v: simulate_misallocation(TREE, [1, 1], 10, weights=v)}, {
    "a name": ("log", "'log'"), "None": (None, "None"), "empty": ({}, "{}"),
})  # fmt: skip
refuse({"predicted_gain: sizes": predicted_gain}, {
    "empty": ([], "(0,)"), "a table": ([[1, 2]], "(1, 2)"), "zero": ([1, 0], "0", "index 1"),
})  # fmt: skip

CALLS |= {
    "mse: shapes that do not broadcast": (lambda: mse([1, 2], [1, 2, 3]), "n", "eps", "(2,)", "(3,)"),
    # trees
    "weights for levels with numbers as names": (
        lambda: cube_root(from_counts([[5], [5]], [None, [0]], levels=wrong([2010, 20])), 1, [1]), "levels|weights", "2010",
    ),
    "frame None": (lambda: from_frame(None, ["tract"]), "frame", "NoneType"),
    "count nested": (lambda: from_frame(FRAME, ["tract"], count=wrong(["population"])), "count", "['population']"),
    "keys without an order": (
        lambda: from_frame(FRAME.assign(tract=[1, "a", FRAME.__class__]), KEYS), "tract", "order", "mixture",
    ),
    "a column twice": (lambda: from_frame(pd.concat([FRAME, FRAME.tract], axis=1), KEYS), "frame|levels", "tract"),
    "counts twice": (lambda: from_frame(pd.concat([FRAME, FRAME.population], axis=1), KEYS), "frame|count", "population"),
    "nullable column with a gap": (
        lambda: from_frame(FRAME.assign(population=pd.array([3, None, 4], dtype="Int64")), KEYS),
        "population", "nan|<NA>", "index 1",
    ),
    "microdata without empty blocks": (lambda: prior("WY", "geography", source="ppmf"), "tree", "'geography'"),
    # shares and experiments
    "released too long": (lambda: misallocation([1, 2], [1, 2, 3]), "released", "(2,)", "(3,)"),
    "stacks that do not match": (lambda: misallocation([[1, 2], [3, 4]], [[1, 2]] * 3), "released", "(2, 2)", "(3, 2)"),
    "weights with a number": (lambda: simulate_misallocation(TREE, [1, 1], 10, weights=wrong({"a": 3})), "weight", "3"),
    "experiment: unknown state": (lambda: state_experiment("Texas", NEVER), "state", "'Texas'", "wyoming"),
    "experiment: total zero": (lambda: state_experiment("DE", NEVER, totals=[1, 0]), "totals", "0"),
    "experiment: seed a generator": (lambda: state_experiment("DE", 4, wrong(np.random.default_rng())), "seed", "Generator"),
    "regret: totals a number": (lambda: regret(TREE, wrong({"a": uniform}), wrong(1.0)), "totals", "1.0"),
    "regret: no totals": (lambda: regret(TREE, wrong({"a": uniform}), []), "totals", "[]"),
    "regret: no rules": (lambda: regret(TREE, {}, [1]), "rules", "{}"),
    "sweep: a rule that is none": (lambda: sweep(wrong({"a": 3}), [1], wrong(None)), "rules", "{'a': 3}"),
    # what NumPy would take for a number, and what doubles cannot hold
    "a bool among numbers": (lambda: release(TREE, [1, True]), "eps", "[1, True]"),
    "a masked budget": (lambda: release(TREE, np.ma.masked_array([1.0, 2.0], [True, False])), "eps", "masked_array"),
    "a masked count in a list": (lambda: bias([np.ma.masked_array([1.0], [True])], 1), "n", "masked_array"),
    "a count above the squares of doubles": (lambda: mse(1e300, 1), "n", "1e+150", "1e+300"),
    "a total that is too small": (lambda: minimize_error(TREE, 1e-41), "total", "1e-40", "1e-41"),
    "a total that is too large": (lambda: uniform(TREE, 1e41), "total", "1e+40", "1e+41"),
    "a weight that is too large": (lambda: cube_root(TREE, 1, [1, 1e21]), "weights", "1e+20", "1e+21", "index 1"),
    "a tau that is too small": (lambda: minimize_budget(TREE, 1e-61), "tau", "1e-60", "1e-61"),
    "a budget that is too small to draw with": (lambda: release(TREE, [1, 1e-61]), "eps", "1e-60", "1e-61", "index 1"),
    "misallocation: consistent 1": (
        lambda: simulate_misallocation(TREE, [1, 1], NEVER, consistent=wrong(1)), "consistent", "1",
    ),
    "mechanism an array": (lambda: release(TREE, [1, 1], mechanism=wrong(np.array([1, 2]))), "mechanism", "array([1, 2])"),
}  # fmt: skip


@pytest.mark.parametrize("call, words", [(call, words) for call, *words in CALLS.values()], ids=CALLS)
def test_bad_input_is_refused_by_name_and_value(call, words):
    """A wrong argument raises a ValueError or TypeError whose message holds its name and its value."""
    message = refusal(call)
    for word in words:  # "a|b": either will do
        options = "|".join(map(re.escape, word.split("|")))
        assert re.search(rf"(?<![\w.])({options})(?!\w)", message), f"{word} is not in: {message}"


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
