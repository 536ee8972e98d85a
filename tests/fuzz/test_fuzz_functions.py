"""Functions that take numbers and trees: each answer against a slower way to it, or against the law it must obey."""

import json
import math
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support import laws, oracles
from support.strategies import amounts, counts, frames, noisy, per_level, powers, seeds, summed_up, trees

import helpers
from helpers import Accountant, Hierarchy, checks, downstream, experiments
from helpers.mechanisms import LAPLACE, MECHANISMS, guarantees
from helpers.publishing import publish
from helpers.publishing.split import BY_NODES, choose

# ---- arguments as they should be ----

BUDGETS = amounts()
CHANCES = powers(-30, -0.01)
USUAL = powers(-4, 2)
POLICIES = st.sampled_from([*downstream.WEIGHTS, np.sqrt])
FORMS = st.sampled_from([list, np.array, tuple, lambda v: v[0], lambda v: np.array(v, dtype=float)])
OF_INT = ("0-dimensional arrays",)  # what `int` itself says, as a policy


def some(values, most):
    """A list of one value or more."""
    return st.lists(values, min_size=1, max_size=most)


def of_tree(make, *rest):
    """What is made for the tree drawn before."""
    return lambda drawn: make(drawn["hierarchy"], *rest)


def fitting(drawn):
    """One budget, or as many as there are counts."""
    each = st.lists(BUDGETS, min_size=np.size(drawn["n"]), max_size=np.size(drawn["n"])).map(np.array)
    return BUDGETS | each if np.ndim(drawn["n"]) else BUDGETS


GROUPS = some(counts(), 6)
POOL = {  # by the names that arguments have in most functions
    "kind": st.sampled_from(MECHANISMS), "form": st.sampled_from(["bias", "variance", "mse"]),
    "n": st.tuples(FORMS, some(counts(), 5)).map(lambda drawn: drawn[0](drawn[1])),
    "hierarchy": trees(fractions=True), "total": BUDGETS, "eps": of_tree(per_level, -3, 1.5),
    "noisy": of_tree(noisy), "variances": of_tree(per_level, -2, 2),
    "weights": of_tree(lambda tree: st.none() | per_level(tree, -9, 9) | per_level(tree, -9, 9)),
    "trials": st.integers(4, 9), "seed": seeds(), "consistent": st.booleans(), "mechanism": st.sampled_from(MECHANISMS),
}  # fmt: skip
law = partial(laws.law, pool=POOL)


# ---- noise on one count ----


def floats(values):
    return np.asarray(values, dtype=np.float64)


def exact(kind, name, n, b):
    """Bias, variance or MSE of a count at 50 digits."""
    with mpmath.workdps(50):
        n, b = mpmath.mpf(float(n)), mpmath.mpf(float(b))
        if kind is LAPLACE:
            bias = mpmath.exp(-b * n) / (2 * b)
        elif kind.symbol == "ρ":
            a = n * mpmath.sqrt(2 * b)
            bias = (mpmath.npdf(a) - a * mpmath.ncdf(-a)) / mpmath.sqrt(2 * b)
        else:
            bias = mpmath.exp(-b * n) / (2 * mpmath.sinh(b))
        error = oracles.precise(kind, n, b)
        return {"bias": bias, "mse": error, "variance": error - bias**2}[name]


@law(lambda form, n, eps: getattr(helpers, form)(n, eps), eps=fitting, spoil={"n", "eps"}, share=3)
def test_closed_forms(found, form, n, eps, kind=LAPLACE):
    """Each entry equals the formula at 50 digits, to 1e-11, wherever a double can hold it."""
    n, b = np.broadcast_arrays(floats(n), floats(eps))
    assert np.shape(found) == n.shape
    for value, one, budget in zip(np.ravel(found), n.ravel(), b.ravel(), strict=True):
        right = exact(kind, form, one, budget)
        if 1e-290 < right < 1e300:
            assert abs(value / right - 1) < 1e-11, (value, right)
        else:
            assert value >= 0


test_closed_forms_of_each_mechanism = law(
    lambda kind, form, n, eps: getattr(kind, form)(n, eps), eps=fitting, words=("budget",), spoil={"n", "eps"}, share=9
)(test_closed_forms.judge)


@law(lambda kind, budget: kind.noise_variance(budget), budget=BUDGETS, spoil={"budget"}, share=3)
def test_noise_variance(found, kind, budget):
    """Twice the error of a count of zero, half of which is clipped."""
    assert_allclose(np.ravel(found), [2 * float(exact(kind, "mse", 0, b)) for b in np.ravel(floats(budget))], rtol=1e-11)


# ---- who gets which budget ----


def level_errors(hierarchy, eps, kind):
    """(L, 3) bias², variance and MSE of each level, node by node."""
    rows = []
    for n, e in zip(hierarchy.counts, floats(eps), strict=True):
        bias, error = kind.bias(n, e), kind.mse(n, e)
        rows.append((math.fsum(bias**2), math.fsum(error - bias**2), math.fsum(error)))
    return np.array(rows)


def ones(hierarchy, weights):
    return floats([1] * len(hierarchy.levels) if weights is None else weights)


def adds_up(found, hierarchy, total):
    """The budgets are above zero and add up to the total; the errors are those of the closed forms."""
    assert (found.eps > 0).all() and found.levels == hierarchy.levels
    assert_allclose(found.eps.sum(), float(total), rtol=1e-13)
    assert_allclose(found.mse_by_level, level_errors(hierarchy, found.eps, found.mechanism)[:, 2], rtol=1e-9)


@law(helpers.uniform)
def test_uniform(found, hierarchy, total, mechanism):
    """Every level gets the same."""
    adds_up(found, hierarchy, total)
    assert np.ptp(found.eps) == 0 and found.mechanism is mechanism


@law(helpers.root_rule)
def test_root_rule(found, hierarchy, total, weights, mechanism=LAPLACE):
    """Budgets are in proportion to roots of weighted node counts."""
    adds_up(found, hierarchy, total)
    root = (ones(hierarchy, weights) * hierarchy.sizes) ** (1 / mechanism.power)
    assert_allclose(found.eps, float(total) * root / root.sum(), rtol=1e-12)


test_cube_root = law(helpers.cube_root)(test_root_rule.judge)


@law(helpers.minimize_error)
def test_minimize_error(found, hierarchy, total, weights, mechanism):
    """No move of budget from one level to another makes the weighted error smaller."""
    adds_up(found, hierarchy, total)
    w = ones(hierarchy, weights)
    least = w @ found.mse_by_level
    for giver, taker, part in product(range(len(w)), range(len(w)), (1e-3, 0.3)):
        moved = found.eps.copy()
        moved[giver] -= part * found.eps[giver]
        moved[taker] += part * found.eps[giver]
        assert w @ level_errors(hierarchy, moved, mechanism)[:, 2] >= least * (1 - 1e-9)


@law(helpers.minimize_fitted_error)
def test_minimize_fitted_error(found, hierarchy, total, weights, mechanism):
    """The budgets sum to the total, none is below zero, the leaves are measured, and the root rule is no better."""
    assert_allclose(found.eps.sum(), float(total), rtol=1e-9)
    assert (found.eps >= 0).all() and found.eps[-1] > 0
    rule = helpers.root_rule(hierarchy, total, weights, mechanism)
    spread = [x.sum() for x in helpers.gls_variances(hierarchy, mechanism.noise_variance(rule.eps))]
    w = ones(hierarchy, weights)
    assert w @ found.mse_by_level <= (w @ spread) * (1 + 1e-6)


@law(helpers.minimize_budget, tau=powers(-1, 8))
def test_minimize_budget(found, hierarchy, tau, weights, mechanism):
    """The error is the one that was asked for, and the split is the best of its total."""
    assert_allclose(ones(hierarchy, weights) @ found.mse_by_level, float(tau), rtol=1e-6)
    test_minimize_error.judge(found, hierarchy, found.total, weights, mechanism)


# ---- noisy tree in, tree that adds up out ----


@law(helpers.project_simplex, values=some(st.floats(-30, 30), 9), total=counts())
def test_project_simplex(found, values, total):
    """The solution is that of rational arithmetic with sorting."""
    values = floats(values)
    right = [float(v) for v in oracles.exact_projection(values.tolist(), Fraction(float(total)))]
    assert_allclose(found, right, rtol=0, atol=1e-13 * (np.abs(values).max() + float(total) + 1e-300))


@law(helpers.top_down)
def test_top_down(found, hierarchy, noisy):
    """Families one after the other, each in rational arithmetic, give the same."""
    noisy = [floats(x) for x in noisy]
    scale = max(1.0, *(np.abs(x).max() for x in noisy))
    oracles.assert_same_counts(found, oracles.loop_of_sorts(hierarchy, noisy), atol=1e-11 * scale)


@law(helpers.bottom_up)
def test_bottom_up(found, hierarchy, noisy):
    """Every count is the sum of its noisy leaves."""
    leaves = floats(noisy[-1])
    right = np.concatenate(summed_up(leaves, hierarchy.parents, hierarchy.sizes))
    assert_allclose(np.concatenate(found), right, rtol=1e-12, atol=1e-9 * (1 + np.abs(leaves).max()))


@law(helpers.integer_top_down, noisy=of_tree(noisy, np.int64))
def test_integer_top_down(found, hierarchy, noisy):
    """Whole, not negative, adding up, and as near as the real solution allows: less than one person off in each family."""
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found)
    oracles.assert_consistent(hierarchy, found)
    assert_allclose(found[0], np.maximum(floats(noisy[0]), 0))
    for level in range(1, len(found)):
        for own, parent in oracles.families_of(hierarchy, level):
            real = oracles.exact_projection(floats(noisy[level])[own].tolist(), int(found[level - 1][parent]))
            assert all(abs(x - r) < 1 for x, r in zip(found[level][own].tolist(), real, strict=True))


def by_matrices(hierarchy, variances):
    v = floats(variances)
    return (oracles.by_matrix if v.max() < 1e9 * v.min() else oracles.by_precise_matrix)(hierarchy, v)


@law(helpers.gls)
def test_gls(found, hierarchy, noisy, variances):
    """Two passes over the tree give what the matrices of the text book give."""
    flat = np.concatenate([floats(x) for x in noisy])
    right = by_matrices(hierarchy, variances)[0] @ flat
    assert_allclose(np.concatenate(found), right, rtol=0, atol=1e-7 * (1 + np.abs(flat).max()))


@law(helpers.gls_variances)
def test_gls_variances(found, hierarchy, variances):
    """The diagonal of the covariance, by matrices."""
    right = by_matrices(hierarchy, variances)[1]
    assert_allclose(np.concatenate(found), right, rtol=1e-6, atol=1e-7 * floats(variances).max())


# ---- releases and their errors ----


@law(helpers.release)
def test_release(found, hierarchy, eps, seed, consistent, mechanism):
    """One array a level, not negative, adding up if asked to, and the same again from the same seed."""
    assert [x.shape for x in found] == [n.shape for n in hierarchy.counts] and all((x >= 0).all() for x in found)
    if consistent:
        oracles.assert_consistent(hierarchy, found, rtol=1e-11)
    if isinstance(seed, int):
        again = helpers.release(hierarchy, eps, seed, consistent, mechanism)
        assert all(np.array_equal(x, y) for x, y in zip(found, again, strict=True))


@law(helpers.noisy_counts)
def test_noisy_counts(found, hierarchy, eps, mechanism):
    """Unclipped counts, as near to the true ones as noise ever is: 60 deviations have never been drawn."""
    assert [x.shape for x in found] == [n.shape for n in hierarchy.counts]
    scale = np.sqrt((mechanism or LAPLACE).noise_variance(floats(eps)))
    for x, n, s in zip(found, hierarchy.counts, scale, strict=True):
        assert (np.abs(x - n) <= 60 * s + 1e-6 * n).all()


@law(helpers.expected_error)
def test_expected_error(found, hierarchy, eps, mechanism):
    """The closed forms, summed node by node."""
    assert found.columns.tolist() == ["bias2", "variance", "mse"] and found.index.tolist() == list(hierarchy.levels)
    assert_allclose(found, level_errors(hierarchy, eps, mechanism or LAPLACE), rtol=1e-9)


@law(helpers.simulate)
def test_simulate(found, hierarchy, eps, trials, seed, consistent, mechanism):
    """The estimates of stored releases, from the definitions, and of what is known of their noise."""
    assert found.index.tolist() == list(hierarchy.levels)
    if not isinstance(seed, int):
        return
    right = oracles.by_stored_releases(hierarchy, floats(eps), trials, seed, consistent, mechanism)
    for row, expected, n, budget in zip(found.to_numpy(), right, hierarchy.counts, floats(eps), strict=True):
        scale = np.abs(expected[:3]).max() + 1e-9 * len(n) * (n.max() + 1 + 100 / budget) ** 2
        assert_allclose(row[:3], expected[:3], rtol=1e-6, atol=1e-6 * scale)


@law(helpers.error_report)
def test_error_report(found, hierarchy, eps):
    """One row a level: its nodes, and the root of the closed form's mean."""
    assert found.index.tolist() == list(hierarchy.levels) and found.nodes.tolist() == hierarchy.sizes.tolist()
    assert_allclose(found.expected**2 * found.nodes, level_errors(hierarchy, eps, LAPLACE)[:, 2], rtol=1e-9)
    assert found["within 10%"].between(0, 1).all()


@law(helpers.relative_errors)
def test_relative_errors(found, hierarchy, eps):
    """The root of the closed form over the count, for each node with people."""
    for r, n, e in zip(found, hierarchy.counts, floats(eps), strict=True):
        assert_allclose(r, [math.sqrt(LAPLACE.mse(k, e)) / k for k in n.tolist() if k > 0])


# ---- money shared out ----


@law(downstream.shares, counts=GROUPS, weight=POLICIES, words=OF_INT)
def test_shares(found, counts, weight):
    """Not negative, adding up to one, in the order of the counts; in proportion to them if linear."""
    n = floats(counts)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=-1), 1)
    if isinstance(weight, str) and weight == "linear" and n.ndim == 1 and n.sum():
        assert_allclose(found, n / n.sum(), rtol=1e-12)
    assert n.ndim > 1 or (np.diff(found[np.argsort(n, kind="stable")]) >= -1e-15).all()


@law(
    downstream.misallocation, counts=GROUPS, released=lambda drawn: st.tuples(*[counts()] * len(drawn["counts"])).map(list),
    weight=POLICIES, words=OF_INT,
)  # fmt: skip
def test_misallocation(found, counts, released, weight):
    """The share by released counts minus the true one, in percentage points."""
    assert_allclose(found, 100 * (downstream.shares(released, weight) - downstream.shares(counts, weight)), atol=1e-12)


@law(
    downstream.simulate_misallocation,
    hierarchy=trees(least_levels=2, fractions=True), weights=st.builds(lambda: dict(downstream.WEIGHTS)),
    no_numbers=laws.NO_NUMBERS | {"weights"}, words=("weight",),
)  # fmt: skip
def test_simulate_misallocation(found, hierarchy, eps, trials, seed, weights, consistent):
    """A row a policy and family; MSE is Bias² and variance; an only child gets all, always."""
    assert [*found.index.unique(0)] == [*weights]
    assert_allclose(found.bias2 + found.variance, found.mse, rtol=1e-9, atol=1e-9)
    nodes, members = np.unique(hierarchy.parents[-1], return_counts=True)
    assert found.loc[found.index[0][0]].index.tolist() == nodes.tolist()
    assert np.allclose(found.mse.xs(nodes[members == 1][0], level="node"), 0, atol=1e-9) if (members == 1).any() else True


# ---- trees ----


@law(
    Hierarchy.from_counts,
    counts=GROUPS.map(lambda n: [n]) | st.just([[6], [1, 2, 3]]),
    parents=lambda drawn: st.just([None, [0, 0, 0]][: len(drawn["counts"])]),
    levels=lambda drawn: st.sampled_from([None, ["state", "tract"][: len(drawn["counts"])]]),
)  # fmt: skip
def test_from_counts(found, counts, levels):
    """The nodes that were given, each with its ancestors' counts; siblings keep their order."""
    assert [sorted(n.tolist()) for n in found.counts] == [sorted(np.asarray(n).tolist()) for n in counts]
    assert found.levels == (tuple(levels) if levels is not None else tuple(f"level {i + 1}" for i in range(len(counts))))
    for level in range(1, len(counts)):
        above = summed_up(found.counts[level], [None, found.parents[level]], found.sizes[level - 1 : level + 1])[0]
        assert_allclose(above, found.counts[level - 1], rtol=1e-9)


def as_frame(columns):
    names = ["a", "b", "population"]
    return pd.DataFrame({name: pd.Series(list(cells), dtype=object) for name, cells in zip(names, columns, strict=True)})


def from_columns(columns, levels, count):
    """`from_frame` of three columns; what is no table at all goes in as it is."""
    try:
        frame = as_frame(columns).infer_objects()
    except (TypeError, ValueError):
        frame = columns
    return Hierarchy.from_frame(frame, levels, count)


@law(
    from_columns, words=("frame",),
    columns=frames().map(lambda frame: [frame[name].tolist() for name in ("a", "b", "population")]),
    levels=st.sampled_from([["a"], ["b"], ["a", "b"], ("b", "a")]), count=st.just("population"),
)  # fmt: skip
def test_from_frame(found, columns, levels):
    """Every path of the table is a node, its count the sum of its rows."""
    for level, sums in enumerate(oracles.by_path(as_frame(columns), list(levels))):
        assert sorted(found.counts[level].tolist()) == sorted(sums.values())


# ---- guarantees ----


def composition(total, pieces):
    """An account after some spending: what does not fit is left out."""
    purse = Accountant(total)
    for piece in checks.numbers("pieces", pieces).ravel().tolist():
        if 0 < piece <= purse.left:
            purse.spend(piece, "a piece")
    return purse


@law(composition, pieces=st.lists(BUDGETS, max_size=5), words=("eps",))
def test_accountant(found, total):
    """No more is spent than there was, and what is shown is never on the wrong side of it."""
    spent, whole = sum((entry.eps for entry in found.entries), Fraction(0)), checks.fraction("total", total)
    assert spent <= whole and Fraction(repr(found.spent)) >= spent and 0 <= Fraction(repr(found.left)) <= whole - spent


WORDS = {"bounded_by": st.sampled_from([publish.PROMISED, "ε"]), "nodes_from": st.sampled_from(["a list", "ε"])}
RELEASE = WORDS | {
    "hierarchy": trees(childless=False), "contributions": st.integers(1, 9) | st.integers(1, 1000),
    "neighbours": st.sampled_from(["add or remove one person", "change one person's place"]),
}  # fmt: skip


@law(
    helpers.private_release, **RELEASE,
    budgets_from=st.sampled_from(["policy", "node counts", "public data: the census of 2010"]),
)  # fmt: skip
def test_private_release(found, hierarchy, eps, budgets_from, neighbours, contributions, consistent, bounded_by, nodes_from):
    """Whole, not negative, adding up if asked to, and the record says what it cost, what was promised and by whom."""
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found.counts)
    if consistent:
        oracles.assert_consistent(hierarchy, found.counts)
    record = found.record
    assert record["epsilon"] <= math.fsum(floats(eps)) * (1 + 1e-9)
    assert (record["budgets_from"], record["neighbours"], record["rows_per_person"]) == (
        budgets_from,
        neighbours,
        contributions,
    )
    assert (record["bounded_by"], record["nodes_from"]) == (bounded_by, nodes_from)
    for level, size in zip(record["levels"], hierarchy.sizes, strict=True):
        moved = int(contributions * (1 if neighbours.startswith("add") else 2 * (size > 1)))
        assert level["sensitivity"] == moved and Fraction(level["scale"]) * Fraction(repr(level["epsilon"])) >= moved
    json.dumps(record, ensure_ascii=False).encode()  # it can be written


def chosen(hierarchy):
    """Budgets that remember what they were chosen on: this tree, or its nodes alone."""
    rules = [helpers.uniform, helpers.cube_root, helpers.minimize_error, partial(choose, rule="optimal")]
    rules += [partial(choose, rule=rule) for rule in BY_NODES]
    return st.sampled_from(rules).map(lambda rule: rule(hierarchy, total=1))


def released_if_private(**arguments):
    """A private release; None if it is refused because the budgets were chosen on the counts."""
    try:
        return helpers.private_release(**arguments)
    except ValueError as error:
        if "were chosen on these very counts" in str(error):
            return None
        raise


@law(released_if_private, **RELEASE, eps=of_tree(chosen), spoil=())
def test_private_release_by_source(found, hierarchy, eps):
    """Budgets by the nodes are told from budgets by the counts: those are checked and taken, these are refused."""
    looked = eps.chosen_on.looked_at == "counts"
    assert (found is None) == looked
    assert looked or found.record["budgets"] == {"origin": publish.CHECKED, "digest": hierarchy.shape_digest}


def noisy_number(value, size):
    return value + np.random.default_rng(1).laplace(0, 2, size)


@law(
    lambda first, second, trials, confidence: helpers.audit(noisy_number, first, second, trials, confidence=confidence),
    first=st.just(0.0), second=st.floats(-3, 3), trials=st.integers(20, 60), confidence=st.floats(0.5, 0.99),
    spoil={"trials", "confidence"},
)  # fmt: skip
def test_audit(found, trials):
    """A bound that is a loss, from the half of the trials that did not choose the event."""
    assert 0 <= found.eps <= 20 and found.trials == trials - trials // 2


@law(guarantees.rho_of_pure, eps=BUDGETS)
def test_rho_of_pure(found, eps):
    """ε²/2."""
    assert_allclose(found, float(eps) ** 2 / 2, rtol=1e-14)


@law(guarantees.eps_of_rho, rho=BUDGETS, delta=CHANCES)
def test_eps_of_rho(found, rho, delta):
    """Never better than the exact Gaussian curve allows."""
    assert found >= 0 and (not 1e-3 < rho < 100 or guarantees.gaussian_delta(found, rho) <= delta * (1 + 1e-6))


test_least_eps_of_rho = law(guarantees.least_eps_of_rho, rho=BUDGETS, delta=CHANCES)(test_eps_of_rho.judge)


@law(guarantees.gaussian_delta, eps=USUAL, rho=USUAL)
def test_gaussian_delta(found, eps, rho):
    """A chance, at 60 digits."""
    with mpmath.workdps(60):
        mu, e = mpmath.sqrt(2 * mpmath.mpf(float(rho))), mpmath.mpf(float(eps))
        right = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
    assert 0 <= found <= 1
    if right > 1e-40:
        assert abs(found / right - 1) < 1e-9


@law(guarantees.gaussian_rho, eps=USUAL, delta=CHANCES)
def test_gaussian_rho(found, eps, delta):
    """The inverse of the curve."""
    assert_allclose(math.log(guarantees.gaussian_delta(eps, found)), math.log(delta), rtol=1e-6, atol=1e-6)


# ---- experiments ----


@law(experiments.predicted_gain, sizes=some(st.integers(1, 10**6), 5))
def test_predicted_gain(found, sizes):
    """L² Σn / (Σ∛n)³."""
    n = floats(sizes)
    assert_allclose(found, len(n) ** 2 * n.sum() / sum(k ** (1 / 3) for k in n.tolist()) ** 3, rtol=1e-12)


@law(
    lambda truth, totals: experiments.regret(truth, experiments.compared_rules(truth, truth), totals),
    truth=POOL["hierarchy"], totals=some(BUDGETS, 3), words=("total", "hierarchy"),
)  # fmt: skip
def test_regret(found, totals):
    """Nothing beats the optimum, and the optimum has no regret."""
    assert (found.uniform >= -1e-7).all() and (found.optimal.abs() < 1e-7).all() and found.index.tolist() == list(totals)
