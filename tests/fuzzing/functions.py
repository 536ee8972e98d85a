"""Functions that take numbers and trees, each with an oracle: a slower way to the same answer, or the law it must obey."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from strategies import summed_up
from test_consistency import assert_consistent, exact_projection, loop_of_sorts
from test_downstream import assert_same_estimates, family_by_family
from test_hierarchy import by_path
from test_least_squares import by_matrix
from test_mechanisms import precise
from test_simulation import naive

import helpers
from helpers import Accountant, Hierarchy, accountant, checks, downstream, experiments, guarantees
from helpers.mechanisms import LAPLACE, MECHANISMS

from .machine import Draw, Target

# ---- arguments as they should be ----


def count(draw: Draw) -> int:
    return draw.choice([0, 0, 1, draw.randrange(10), draw.randrange(1_000), draw.randrange(10**8)])


def tree(draw: Draw, _: dict, childless: bool = True, least: int = 1) -> Hierarchy:
    """A small tree of up to four levels; counts are whole, or fractions as in a prior."""
    sizes, parents = [draw.randint(1, 3)], [None]
    for _ in range(draw.randint(least, 4) - 1):
        fanout = [draw.randint(0 if childless else 1, 4) for _ in range(sizes[-1])]
        fanout = fanout if any(fanout) else [1] * sizes[-1]
        parents.append(np.repeat(np.arange(sizes[-1]), fanout))
        sizes.append(sum(fanout))
    leaves = np.array([count(draw) for _ in range(sizes[-1])]) / (8 if childless and draw.random() < 0.2 else 1)
    leaves = leaves if childless else leaves.astype(np.int64)
    return Hierarchy.from_counts(summed_up(leaves, parents, sizes), parents)


def full_tree(draw: Draw, so_far: dict) -> Hierarchy:
    return tree(draw, so_far, childless=False)


def tall_tree(draw: Draw, so_far: dict) -> Hierarchy:
    return tree(draw, so_far, least=2)


def budget(draw: Draw, _: dict) -> float:
    """Mostly of the size that people use; at times far from it."""
    return draw.power(-3, 2) if draw.random() < 0.8 else draw.power(-12, 2.5)


def usual(draw: Draw, _: dict) -> float:
    return draw.power(-4, 2)


def per_level(low: float, high: float):
    def make(draw: Draw, so_far: dict):
        values = [draw.power(low, high) for _ in so_far["hierarchy"].levels]
        return draw.choice([list, tuple, np.array])(values)

    return make


def weights(draw: Draw, so_far: dict):
    return None if draw.random() < 0.3 else per_level(-9, 9)(draw, so_far)


def noisy(draw: Draw, so_far: dict) -> list:
    scale = draw.choice([0.1, 3.0, 1e4])
    return [n + np.array([draw.gauss(0, scale) for _ in n]) for n in so_far["hierarchy"].counts]


def whole_noisy(draw: Draw, so_far: dict) -> list:
    return [x.round().astype(np.int64) for x in noisy(draw, so_far)]


def seed(draw: Draw, _: dict):
    return draw.randrange(2**32)


def flag(draw: Draw, _: dict) -> bool:
    return draw.random() < 0.5


def mechanism(draw: Draw, _: dict):
    return draw.choice(MECHANISMS)


def some_counts(draw: Draw, _: dict):
    values = [count(draw) for _ in range(draw.randint(1, 5))]
    return draw.choice([list, np.array, tuple, lambda v: v[0], lambda v: np.array(v, dtype=float)])(values)


def fitting_budgets(draw: Draw, so_far: dict):
    """One budget, or as many as there are counts."""
    shape = np.shape(so_far["n"])
    return np.array([budget(draw, {}) for _ in range(shape[0])]) if shape and flag(draw, {}) else budget(draw, {})


def trials(draw: Draw, _: dict) -> int:
    return draw.randint(4, 9)


def chance(draw: Draw, _: dict) -> float:
    return draw.power(-30, -0.01)


def groups(draw: Draw, _: dict) -> list:
    return [count(draw) for _ in range(draw.randint(1, 6))]


def released_groups(draw: Draw, so_far: dict) -> list:
    return [count(draw) for _ in so_far["counts"]]


def policy(draw: Draw, _: dict):
    return draw.choice([*downstream.WEIGHTS, np.sqrt])


def columns(draw: Draw, _: dict) -> list:
    """Keys of up to three levels and counts, column by column."""
    rows = draw.randint(1, 12)
    keys = [[draw.choice(["x", "y", "z"]) for _ in range(rows)], [draw.randrange(3) for _ in range(rows)]]
    return [*keys, [count(draw) for _ in range(rows)]]


# ---- oracles ----


def floats(values) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)


def by_name(kind, name: str, n: float, b: float):
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
        error = precise(kind, n, b)
        return {"bias": bias, "mse": error, "variance": error - bias**2}[name]


def closed_form(kind, name: str, argument: str):
    """Each entry equals the formula at 50 digits, to 1e-11, wherever a double can hold it."""

    def check(found, n, **rest):
        n, b = np.broadcast_arrays(floats(n), floats(rest[argument]))
        assert np.shape(found) == n.shape
        for value, count_, budget_ in zip(np.ravel(found), n.ravel(), b.ravel(), strict=True):
            exact = by_name(kind, name, count_, budget_)
            if 1e-290 < exact < 1e300:
                assert abs(value / exact - 1) < 1e-11, (value, exact)
            else:
                assert value >= 0

    return check


def noise_variance(kind):
    def check(found, budget):
        exact = [2 * float(by_name(kind, "mse", 0, b)) for b in np.ravel(floats(budget))]
        assert_allclose(np.ravel(found), exact, rtol=1e-11)

    return check


def level_errors(hierarchy, eps, kind) -> np.ndarray:
    """(L, 3) bias², variance and MSE of each level, node by node."""
    rows = []
    for n, e in zip(hierarchy.counts, floats(eps), strict=True):
        bias, error = kind.bias(n, e), kind.mse(n, e)
        rows.append((math.fsum(bias**2), math.fsum(error - bias**2), math.fsum(error)))
    return np.array(rows)


def ones(hierarchy, weights) -> np.ndarray:
    return np.ones(len(hierarchy.levels)) if weights is None else floats(weights)


def adds_up(found, hierarchy, total) -> None:
    """The budgets are above zero and add up to the total; the errors are those of the closed forms."""
    assert (found.eps > 0).all() and found.levels == hierarchy.levels
    assert_allclose(found.eps.sum(), float(total), rtol=1e-13)
    assert_allclose(found.mse_by_level, level_errors(hierarchy, found.eps, found.mechanism)[:, 2], rtol=1e-9)


def is_uniform(found, hierarchy, total, mechanism=LAPLACE):
    adds_up(found, hierarchy, total)
    assert np.ptp(found.eps) == 0 and found.mechanism is mechanism


def is_root_rule(found, hierarchy, total, weights, mechanism=LAPLACE):
    adds_up(found, hierarchy, total)
    root = (ones(hierarchy, weights) * hierarchy.sizes) ** (1 / mechanism.power)
    assert_allclose(found.eps, float(total) * root / root.sum(), rtol=1e-12)


def is_best(found, hierarchy, total, weights, mechanism):
    """No move of budget from one level to another makes the weighted error smaller."""
    adds_up(found, hierarchy, total)
    w = ones(hierarchy, weights)
    least = w @ found.mse_by_level
    for giver in range(len(w)):
        for taker in range(len(w)):
            for part in (1e-3, 0.3):
                moved = found.eps.copy()
                moved[giver] -= part * found.eps[giver]
                moved[taker] += part * found.eps[giver]
                assert w @ level_errors(hierarchy, moved, mechanism)[:, 2] >= least * (1 - 1e-9)


def is_least_budget(found, hierarchy, tau, weights, mechanism):
    """The error is the one that was asked for, and the split is the best of its total."""
    w = ones(hierarchy, weights)
    assert_allclose(w @ found.mse_by_level, float(tau), rtol=1e-6)
    is_best(found, hierarchy, found.total, weights, mechanism)


def is_projection(found, values, total):
    values = floats(values)
    exact = [float(v) for v in exact_projection(values.tolist(), Fraction(float(total)))]
    assert_allclose(found, exact, rtol=0, atol=1e-13 * (np.abs(values).max() + float(total) + 1e-300))


def is_top_down(found, hierarchy, noisy):
    noisy = [floats(x) for x in noisy]
    scale = max(1.0, *(np.abs(x).max() for x in noisy))
    for x, y in zip(found, loop_of_sorts(hierarchy, noisy), strict=True):
        assert_allclose(x, y, rtol=0, atol=1e-11 * scale)


def is_bottom_up(found, hierarchy, noisy):
    leaves = floats(noisy[-1])
    for x, y in zip(found, summed_up(leaves, hierarchy.parents, hierarchy.sizes), strict=True):
        assert_allclose(x, y, rtol=1e-12, atol=1e-9 * (1 + np.abs(leaves).max()))


def is_whole_top_down(found, hierarchy, noisy, seed):
    """Whole, not negative, adding up, and as near as the real solution allows: less than one person off in each family."""
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found)
    assert_consistent(hierarchy, found)
    assert_allclose(found[0], np.maximum(floats(noisy[0]), 0))
    for level in range(1, len(found)):
        for parent in np.unique(hierarchy.parents[level]):
            own = hierarchy.parents[level] == parent
            real = exact_projection(floats(noisy[level])[own].tolist(), int(found[level - 1][parent]))
            assert all(abs(x - r) < 1 for x, r in zip(found[level][own].tolist(), real, strict=True))


def is_least_squares(found, hierarchy, noisy, variances):
    flat = np.concatenate([floats(x) for x in noisy])
    exact = by_matrix(hierarchy, floats(variances))[0] @ flat
    assert_allclose(np.concatenate(found), exact, rtol=0, atol=1e-7 * (1 + np.abs(flat).max()))


def is_its_variance(found, hierarchy, variances):
    v = floats(variances)
    assert_allclose(np.concatenate(found), by_matrix(hierarchy, v)[1], rtol=1e-6, atol=1e-7 * v.max())


def is_release(found, hierarchy, eps, seed, consistent, mechanism):
    """One array a level, not negative, adding up if asked to, and the same again from the same seed."""
    assert [x.shape for x in found] == [n.shape for n in hierarchy.counts] and all((x >= 0).all() for x in found)
    if consistent:
        assert_consistent(hierarchy, found, rtol=1e-11)
    if isinstance(seed, int):
        again = helpers.release(hierarchy, eps, seed, consistent, mechanism)
        assert all(np.array_equal(x, y) for x, y in zip(found, again, strict=True))


def is_noisy(found, hierarchy, eps, seed, mechanism):
    """Unclipped counts: clipping them gives the release of the same seed, but for the order of drawing."""
    assert [x.shape for x in found] == [n.shape for n in hierarchy.counts]
    scale = np.sqrt((mechanism or LAPLACE).noise_variance(floats(eps)))
    for x, n, s in zip(found, hierarchy.counts, scale, strict=True):
        assert (np.abs(x - n) <= 60 * s + 1e-6 * n).all()  # noise beyond 60 deviations has never been drawn


def is_expected(found, hierarchy, eps, mechanism):
    assert found.columns.tolist() == ["bias2", "variance", "mse"] and found.index.tolist() == list(hierarchy.levels)
    assert_allclose(found, level_errors(hierarchy, eps, mechanism or LAPLACE), rtol=1e-9)


def is_measured(found, hierarchy, eps, trials, seed, consistent, mechanism):
    """The estimates of stored releases, from the definitions."""
    if not isinstance(seed, int):
        return
    rng = np.random.default_rng(seed)
    released = [helpers.release(hierarchy, eps, rng, consistent, mechanism) for _ in range(trials)]
    for level, n in enumerate(hierarchy.counts):
        errors = np.array([x[level] - n for x in released])
        scale = (errors**2).sum(axis=1).max() + 1e-9 * (n.max() + 1)
        assert_allclose(found.iloc[level, :3], naive(errors)[:3], rtol=1e-6, atol=1e-6 * scale)


def is_report(found, hierarchy, eps, trials, seed):
    assert found.index.tolist() == list(hierarchy.levels) and found.nodes.tolist() == hierarchy.sizes.tolist()
    assert_allclose(found.expected**2 * found.nodes, level_errors(hierarchy, eps, LAPLACE)[:, 2], rtol=1e-9)
    assert found["within 10%"].between(0, 1).all()


def is_relative(found, hierarchy, eps):
    for r, n, e in zip(found, hierarchy.counts, floats(eps), strict=True):
        assert_allclose(r, [math.sqrt(LAPLACE.mse(k, e)) / k for k in n.tolist() if k > 0])


def is_share(found, counts, weight):
    """Not negative, adding up to one, in the order of the counts; in proportion to them if linear."""
    n = floats(counts)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=-1), 1)
    if weight == "linear" and n.ndim == 1 and n.sum():
        assert_allclose(found, n / n.sum(), rtol=1e-12)
    assert n.ndim > 1 or (np.diff(found[np.argsort(n, kind="stable")]) >= -1e-15).all()


def is_misallocation(found, counts, released, weight):
    assert_allclose(found, 100 * (downstream.shares(released, weight) - downstream.shares(counts, weight)), atol=1e-12)


def is_measured_misallocation(found, hierarchy, eps, trials, seed, weights, consistent):
    if isinstance(seed, int):
        assert_same_estimates(found, family_by_family(hierarchy, eps, trials, seed, weights, consistent))


def is_tree_of_counts(found, counts, parents, levels):
    """The nodes that were given, each with its ancestors' counts; siblings keep their order."""
    assert [sorted(n.tolist()) for n in found.counts] == [sorted(np.asarray(n).tolist()) for n in counts]
    assert found.levels == (tuple(levels) if levels is not None else tuple(f"level {i + 1}" for i in range(len(counts))))
    for level in range(1, len(counts)):
        assert_allclose(
            summed_up(found.counts[level], [None, found.parents[level]], found.sizes[level - 1 : level + 1])[0],
            found.counts[level - 1],
            rtol=1e-9,
        )


NAMES_OF_COLUMNS = ["a", "b", "population"]


def from_columns(columns, levels, count):
    """`from_frame` of three columns; what is no table at all goes in as it is."""
    try:
        cells = {name: pd.Series(list(values), dtype=object) for name, values in zip(NAMES_OF_COLUMNS, columns, strict=True)}
    except (TypeError, ValueError):
        return Hierarchy.from_frame(columns, levels, count)
    return Hierarchy.from_frame(pd.DataFrame(cells).infer_objects(), levels, count)


def is_tree_of_columns(found, columns, levels, count):
    cells = {name: pd.Series(list(values), dtype=object) for name, values in zip(NAMES_OF_COLUMNS, columns, strict=True)}
    frame = pd.DataFrame(cells)
    for level, sums in enumerate(by_path(frame, list(levels))):
        assert sorted(found.counts[level].tolist()) == sorted(sums.values())


def composition(total, pieces):
    """An account after some spending: what does not fit is left out."""
    purse = Accountant(total)
    for piece in checks.numbers("pieces", pieces).ravel().tolist():
        if 0 < piece <= purse.left:
            purse.spend(piece, "a piece")
    return purse


def is_within(found, total, pieces):
    """No more is spent than there was, and what is shown is never on the wrong side of it."""
    exact, whole = sum((entry.eps for entry in found.entries), Fraction(0)), accountant.exact("total", total)
    assert exact <= whole and Fraction(repr(found.spent)) >= exact and 0 <= Fraction(repr(found.left)) <= whole - exact


def is_private(found, hierarchy, eps, budgets_from, neighbours, consistent):
    """Whole, not negative, adding up if asked to, and the record says what it cost."""
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found.counts)
    if consistent:
        assert_consistent(hierarchy, found.counts)
    assert found.record["epsilon"] <= math.fsum(floats(eps)) * (1 + 1e-9)
    assert found.record["budgets_from"] == budgets_from and found.record["neighbours"] == neighbours


def is_eps(found, rho, delta):
    """Never better than the exact Gaussian curve allows."""
    assert found >= 0 and (not 1e-3 < rho < 100 or guarantees.gaussian_delta(found, rho) <= delta * (1 + 1e-6))


def is_gaussian_rho(found, eps, delta):
    assert_allclose(math.log(guarantees.gaussian_delta(eps, found)), math.log(delta), rtol=1e-6, atol=1e-6)


def is_square(found, eps):
    assert_allclose(found, float(eps) ** 2 / 2, rtol=1e-14)


def is_delta(found, eps, rho):
    """A chance, at 60 digits."""
    with mpmath.workdps(60):
        mu = mpmath.sqrt(2 * mpmath.mpf(float(rho)))
        e = mpmath.mpf(float(eps))
        exact = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
    assert 0 <= found <= 1
    if exact > 1e-40:
        assert abs(found / exact - 1) < 1e-9


def noisy_number(value, size):
    return value + np.random.default_rng(1).laplace(0, 2, size)


def is_audit(found, first, second, trials, confidence):
    """A bound on a loss of |first − second|/2: above it at most as rarely as promised, and the noise here is fixed."""
    assert 0 <= found.eps <= 20 and found.trials == trials - trials // 2


def is_gain(found, sizes):
    n = floats(sizes)
    exact = len(n) ** 2 * n.sum() / sum(k ** (1 / 3) for k in n.tolist()) ** 3
    assert_allclose(found, exact, rtol=1e-12)


def is_regret(found, truth, totals):
    """Nothing beats the optimum, and the optimum has no regret."""
    assert (found.uniform >= -1e-7).all() and (found.optimal.abs() < 1e-7).all() and found.index.tolist() == list(totals)


def regret_of_two_rules(truth, totals):
    return experiments.regret(truth, experiments.compared_rules(truth, truth), totals)


# ---- what to call, and with what ----

PER_LEVEL = per_level(-3, 1.5)
OF_TREE = frozenset({"hierarchy", "truth", "mechanism", "seed", "weight", "consistent"})  # no numbers
OF_INT = ("0-dimensional arrays",)  # what `int` itself says, as a policy
NAMES = {"bias": helpers.bias, "variance": helpers.variance, "mse": helpers.mse}

TARGETS: dict[str, Target] = {
    **{
        name: Target(call, {"n": some_counts, "eps": fitting_budgets}, closed_form(LAPLACE, name, "eps"))
        for name, call in NAMES.items()
    },
    **{
        f"{kind.name} {name}": Target(
            getattr(kind, name), {"n": some_counts, "budget": fitting_budgets}, closed_form(kind, name, "budget")
        )
        for kind in MECHANISMS
        for name in NAMES
    },
    **{
        f"{kind.name} noise_variance": Target(kind.noise_variance, {"budget": budget}, noise_variance(kind))
        for kind in MECHANISMS
    },
    "uniform": Target(
        helpers.uniform, {"hierarchy": tree, "total": budget, "mechanism": mechanism}, is_uniform, flat=OF_TREE
    ),
    "cube_root": Target(
        helpers.cube_root, {"hierarchy": tree, "total": budget, "weights": weights}, is_root_rule, flat=OF_TREE
    ),
    "root_rule": Target(
        helpers.root_rule,
        {"hierarchy": tree, "total": budget, "weights": weights, "mechanism": mechanism},
        is_root_rule,
        flat=OF_TREE,
    ),
    "minimize_error": Target(
        helpers.minimize_error,
        {"hierarchy": tree, "total": budget, "weights": weights, "mechanism": mechanism},
        is_best,
        flat=OF_TREE,
    ),
    "minimize_budget": Target(
        helpers.minimize_budget,
        {"hierarchy": tree, "tau": lambda draw, _: draw.power(-1, 8), "weights": weights, "mechanism": mechanism},
        is_least_budget,
        flat=OF_TREE,
    ),
    "project_simplex": Target(
        helpers.project_simplex,
        {
            "values": lambda draw, _: [draw.gauss(0, 9) for _ in range(draw.randint(1, 9))],
            "total": lambda draw, _: count(draw),
        },
        is_projection,
    ),
    "top_down": Target(helpers.top_down, {"hierarchy": tree, "noisy": noisy}, is_top_down, flat=OF_TREE),
    "bottom_up": Target(helpers.bottom_up, {"hierarchy": tree, "noisy": noisy}, is_bottom_up, flat=OF_TREE),
    "integer_top_down": Target(
        helpers.integer_top_down,
        {"hierarchy": tree, "noisy": whole_noisy, "seed": seed},
        is_whole_top_down,
        flat=OF_TREE,
    ),
    "gls": Target(
        helpers.gls,
        {"hierarchy": tree, "noisy": noisy, "variances": per_level(-2, 2)},
        is_least_squares,
        flat=OF_TREE,
    ),
    "gls_variances": Target(
        helpers.gls_variances,
        {"hierarchy": tree, "variances": per_level(-2, 2)},
        is_its_variance,
        flat=OF_TREE,
    ),
    "release": Target(
        helpers.release,
        {"hierarchy": tree, "eps": PER_LEVEL, "seed": seed, "consistent": flag, "mechanism": mechanism},
        is_release,
        flat=OF_TREE,
    ),
    "noisy_counts": Target(
        helpers.noisy_counts,
        {"hierarchy": tree, "eps": PER_LEVEL, "seed": seed, "mechanism": mechanism},
        is_noisy,
        flat=OF_TREE,
    ),
    "expected_error": Target(
        helpers.expected_error,
        {"hierarchy": tree, "eps": PER_LEVEL, "mechanism": mechanism},
        is_expected,
        flat=OF_TREE,
    ),
    "simulate": Target(
        helpers.simulate,
        {"hierarchy": tree, "eps": PER_LEVEL, "trials": trials, "seed": seed, "consistent": flag, "mechanism": mechanism},
        is_measured,
        flat=OF_TREE,
    ),
    "error_report": Target(
        helpers.error_report,
        {"hierarchy": tree, "eps": PER_LEVEL, "trials": trials, "seed": seed},
        is_report,
        flat=OF_TREE,
    ),
    "relative_errors": Target(helpers.relative_errors, {"hierarchy": tree, "eps": PER_LEVEL}, is_relative, flat=OF_TREE),
    "shares": Target(downstream.shares, {"counts": groups, "weight": policy}, is_share, flat=OF_TREE, words=OF_INT),
    "misallocation": Target(
        downstream.misallocation,
        {"counts": groups, "released": released_groups, "weight": policy},
        is_misallocation,
        flat=OF_TREE,
        words=OF_INT,
    ),
    "simulate_misallocation": Target(
        downstream.simulate_misallocation,
        {
            "hierarchy": tall_tree,
            "eps": PER_LEVEL,
            "trials": trials,
            "seed": seed,
            "weights": lambda draw, _: dict(downstream.WEIGHTS),
            "consistent": flag,
        },
        is_measured_misallocation,
        flat=OF_TREE | {"weights"},
        words=("weight",),
    ),
    "from_counts": Target(
        Hierarchy.from_counts,
        {
            "counts": lambda draw, _: (
                [n.tolist() for n in tree(draw, {}, least=1).counts[:1]] if flag(draw, {}) else [[6], [1, 2, 3]]
            ),
            "parents": lambda draw, so_far: [None, [0, 0, 0]][: len(so_far["counts"])],
            "levels": lambda draw, so_far: draw.choice([None, ["state", "tract"][: len(so_far["counts"])]]),
        },
        is_tree_of_counts,
        flat=frozenset({"levels", "parents"}),
    ),
    "from_frame": Target(
        from_columns,
        {
            "columns": columns,
            "levels": lambda draw, _: draw.choice([["a"], ["b"], ["a", "b"], ("b", "a")]),
            "count": lambda draw, _: "population",
        },
        is_tree_of_columns,
        flat=frozenset({"columns", "levels", "count"}),
        words=("frame",),
    ),
    "Accountant": Target(
        composition,
        {"total": budget, "pieces": lambda draw, _: [budget(draw, {}) for _ in range(draw.randint(0, 5))]},
        is_within,
        words=("eps",),
    ),
    "private_release": Target(
        helpers.private_release,
        {
            "hierarchy": full_tree,
            "eps": PER_LEVEL,
            "budgets_from": lambda draw, _: draw.choice(["policy", "node counts", "public data: the census of 2010"]),
            "neighbours": lambda draw, _: draw.choice(["add or remove one person", "change one person's place"]),
            "consistent": flag,
        },
        is_private,
        flat=OF_TREE | {"budgets_from", "neighbours"},
    ),
    "audit": Target(
        lambda first, second, trials, confidence: helpers.audit(noisy_number, first, second, trials, confidence=confidence),
        {
            "first": lambda draw, _: 0.0,
            "second": lambda draw, _: draw.uniform(-3, 3),
            "trials": lambda draw, _: draw.randint(20, 60),
            "confidence": lambda draw, _: draw.uniform(0.5, 0.99),
        },
        is_audit,
        spoil=frozenset({"trials", "confidence"}),
    ),
    "rho_of_pure": Target(guarantees.rho_of_pure, {"eps": budget}, is_square),
    "eps_of_rho": Target(guarantees.eps_of_rho, {"rho": budget, "delta": chance}, is_eps),
    "least_eps_of_rho": Target(guarantees.least_eps_of_rho, {"rho": budget, "delta": chance}, is_eps),
    "gaussian_delta": Target(guarantees.gaussian_delta, {"eps": usual, "rho": usual}, is_delta),
    "gaussian_rho": Target(guarantees.gaussian_rho, {"eps": usual, "delta": chance}, is_gaussian_rho),
    "predicted_gain": Target(
        experiments.predicted_gain,
        {"sizes": lambda draw, _: [draw.randint(1, 10**6) for _ in range(draw.randint(1, 5))]},
        is_gain,
    ),
    "regret": Target(
        regret_of_two_rules,
        {"truth": tree, "totals": lambda draw, _: [budget(draw, {}) for _ in range(draw.randint(1, 3))]},
        is_regret,
        flat=OF_TREE,
        words=("total", "hierarchy"),
    ),
}
