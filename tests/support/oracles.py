"""Slow, independent answers that tests compare with, each written from a definition, and what several tests look at."""

import tracemalloc
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from math import isclose, isfinite

import mpmath
import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from helpers import Hierarchy, noisy_counts, release, uniform
from helpers.experiments.downstream import misallocation
from helpers.mechanisms import DISCRETE_LAPLACE, LAPLACE
from helpers.simulation import LinearFit


def exact_projection(values, total):
    """Program (3) in rational numbers: sort, take members from the largest on while each stays above zero."""
    x, t = [Fraction(v) for v in values], Fraction(total)
    theta, kept = max(x) - t, Fraction(0)
    for size, v in enumerate(sorted(x, reverse=True), start=1):
        kept += v
        if v <= (kept - t) / size:
            break
        theta = (kept - t) / size
    return [max(Fraction(0), v - theta) for v in x]


def families_of(tree, level):
    """(family slice, parent index) for each parent with children."""
    for parent in np.unique(tree.parents[level]):
        yield np.flatnonzero(tree.parents[level] == parent), parent


def loop_of_sorts(tree, noisy):
    """The top-down pass, one family after the other, with the exact oracle."""
    out = [np.maximum(noisy[0], 0.0)]
    for level in range(1, len(tree.levels)):
        out.append(np.empty(tree.sizes[level]))
        for family, parent in families_of(tree, level):
            out[level][family] = exact_projection(noisy[level][family], out[level - 1][parent])
    return out


def assert_consistent(tree, released, rtol=1e-12):
    """Every parent with children equals their sum, relative to the largest number of the release."""
    atol = rtol * max(1, *(x.max() for x in released))
    for level in range(1, len(tree.levels)):
        for family, parent in families_of(tree, level):
            assert abs(released[level][family].sum() - released[level - 1][parent]) <= atol


def assert_same_counts(found, expected, atol):
    """Level by level the same counts, up to rounding."""
    for x, y in zip(found, expected, strict=True):
        assert_allclose(x, y, rtol=0, atol=atol)


def by_path(frame, levels):
    """For each level, {path: people} of a table."""
    return summed_paths(zip(*(frame[level].tolist() for level in levels), strict=True), frame["population"].tolist(), levels)


def summed_paths(paths, values, levels):
    """For each level, {path: sum of values}, built row by row from paths down to the last level."""
    sums = [{} for _ in levels]
    for path, value in zip(paths, values, strict=True):
        for depth, nodes in enumerate(sums, start=1):
            nodes[path[:depth]] = nodes.get(path[:depth], 0) + value
    return sums


def assert_budgets(eps, sizes, rule, weights=None, total=None, tau=None):
    """Budgets add up to the total, or keep to tau; those of rules on nodes are in the rule's proportions."""
    assert all(isinstance(e, float) and isfinite(e) and e > 0 for e in eps) and len(eps) == len(sizes)
    w = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=float)
    if rule != "optimal":
        shares = np.cbrt(w * sizes) if rule == "cube-root" else np.ones(len(sizes))
        assert_allclose(eps / np.sum(eps), shares / shares.sum(), rtol=3e-5 * len(eps), err_msg="not the rule's proportions")
    if total is not None:
        summed, asked = sum(Decimal(repr(e)) for e in eps), Decimal(repr(float(total)))
        more = len(asked.as_tuple().digits) > 14 and isclose(summed, asked, rel_tol=1e-15)  # than a double's sum can hold
        assert summed == asked or more, "not the total"
    elif rule != "optimal":
        worst = np.sum(2 * w * sizes / np.square(eps))
        assert isclose(worst, float(tau), rel_tol=3e-5) and worst <= float(tau), "does not keep to tau"


def summing(tree):
    """(nodes, leaves) the 0/1 matrix that makes all counts of a tree from those of its leaves."""
    rows = [np.eye(tree.sizes[-1])]
    for level in range(len(tree.levels) - 1, 0, -1):
        above = np.zeros((tree.sizes[level - 1], tree.sizes[-1]))
        np.add.at(above, tree.parents[level], rows[0])
        rows.insert(0, above)
    return np.vstack(rows)


def by_matrix(tree, variances):
    """(nodes, nodes) the linear map B (BᵀV⁻¹B)⁻¹ BᵀV⁻¹ of the estimate, and (nodes,) the diagonal of its covariance."""
    B, w = summing(tree), 1 / np.sqrt(np.repeat(variances, tree.sizes))
    A = B @ np.linalg.pinv(w[:, None] * B) * w
    return A, np.einsum("ij,j,ij->i", A, w**-2.0, A)


def by_precise_matrix(tree, variances):
    """`by_matrix` at 60 digits, for variances too far apart for the pseudo-inverse of doubles."""
    with mpmath.workdps(60):
        B, v = mpmath.matrix(summing(tree).tolist()), [mpmath.mpf(float(x)) for x in np.repeat(variances, tree.sizes)]
        W = mpmath.diag([1 / x for x in v])
        covariance = B * (B.T * W * B) ** -1 * B.T
        return np.array((covariance * W).tolist(), dtype=float), np.array([float(covariance[i, i]) for i in range(len(v))])


def precise(mechanism, n, b):
    """The closed form of the MSE at any precision, written out a second time."""
    n = mpmath.mpf(n)
    if mechanism is LAPLACE:
        return (2 - (1 + b * n) * mpmath.exp(-b * n)) / b**2
    if mechanism is DISCRETE_LAPLACE:
        alpha = mpmath.exp(-b)
        return alpha / (1 - alpha) ** 2 * (2 - alpha**n * ((2 * n + 1) - (2 * n - 1) * alpha) / (1 + alpha))
    a = n * mpmath.sqrt(2 * b)
    return (mpmath.ncdf(a) - a * mpmath.npdf(a) + a**2 * mpmath.ncdf(-a)) / (2 * b)


def naive(errors, u=None, known=None, guess=0.0):
    """The estimates and standard errors of (T, n) stored error vectors, from the definitions, pair by pair.

    With u, the known part of the errors, `errors` are what is left without it; `known` is E|u|², if that is known too.
    """
    t, half = len(errors), len(errors) // 2
    q = np.array([e @ e for e in errors])
    if u is not None and known is None:
        q = ((errors + u) ** 2).sum(axis=1)
    elif u is not None:
        means = [np.zeros(errors.shape[1]) + guess, *(np.mean(errors[:i], axis=0) for i in range(1, t))]
        q += [known + 2 * ui @ (e - m) for ui, e, m in zip(u, errors, means, strict=True)]
    bias2 = np.mean([a @ b for a, b in combinations(errors, 2)])
    differences = [errors[i + 1] - errors[i] for i in range(0, t - 1, 2)]  # of separate pairs: variance 2 Sigma
    trace = np.mean([(a @ b / 2) ** 2 for a, b in pairwise(differences)])  # tr(Sigma²)
    before = [np.mean(errors[:i], axis=0) for i in range(half, t)]  # the mean as known before each late trial
    along = [e @ m for e, m in zip(errors[half:], before, strict=True)]
    centred = q[half:] - 2 * np.array(along)
    noise = trace * np.mean([1 / i for i in range(half, t)])
    degenerate = 2 * trace / (t * (t - 1))
    bias2_var = 4 * max(0, np.var(along, ddof=1) - noise) / t + degenerate
    # The variance of q from all trials, what centring changes of it from the late ones.
    centring = np.var(centred, ddof=1) - np.var(q[half:], ddof=1)
    variance_var = max(0, np.var(q, ddof=1) + centring - 4 * noise) / t + degenerate
    return bias2, np.mean(q) - bias2, np.mean(q), *np.sqrt([bias2_var, variance_var, np.var(q, ddof=1) / t])


def by_stored_releases(tree, eps, trials, seed, consistent, mechanism):
    """`simulate` of the paper's methods, slowly: (levels, 6) from stored releases, and what is known of the same noise."""
    same, noise = np.random.default_rng(seed), np.random.default_rng(seed)
    fit = LinearFit(tree, np.asarray(eps, dtype=float), mechanism) if consistent else None
    errors, known = [], []
    for _ in range(trials):
        errors.append([x - n for x, n in zip(release(tree, eps, same, consistent, mechanism), tree.floats, strict=True)])
        if fit is None:
            noisy = noisy_counts(tree, eps, noise, mechanism)
            known.append([x - n for x, n in zip(noisy, tree.floats, strict=True)])
        else:
            known.append(fit.errors(release(tree, eps, noise, False, mechanism)))
    rows = []
    for level in range(len(tree.levels)):
        e, u = (np.array([one[level] for one in stored]) for stored in (errors, known))
        told = () if fit is None else (fit.variances[level].sum(), fit.means[level])
        rows.append(naive(e - u, u, *told))
    return np.array(rows)


def watch_bars(monkeypatch):
    """A list to which every progress bar from now on adds how it was asked for, instead of showing."""
    asked = []
    monkeypatch.setattr("tqdm.tqdm", lambda items, **options: asked.append((len(items), options)) or items)
    return asked


def family_by_family(tree, eps, trials, seed, weights, consistent):
    """`simulate_misallocation`, slowly: release after release, each policy and family by itself, every error stored."""
    rng, rows = np.random.default_rng(seed), {}
    releases = [release(tree, eps, rng, consistent)[-1] for _ in range(trials)]
    for name, weight in weights.items():
        for node in np.unique(tree.parents[-1]):
            own = tree.parents[-1] == node
            errors = np.array([misallocation(tree.counts[-1][own], x[own], weight) for x in releases])
            rows[name, node] = naive(errors)
    columns = ["bias2", "variance", "mse", "bias2_se", "variance_se", "mse_se"]
    return pd.DataFrame.from_dict(rows, "index", columns=columns)


def assert_same_estimates(found, expected):
    """The same rows and columns, and the same numbers up to rounding."""
    assert found.index.tolist() == expected.index.tolist() and found.columns.tolist() == expected.columns.tolist()
    # An error is at most 100 points, |e|² at most 2·10⁴ and its square 4·10⁸, each good to a few times 1e-16 of that. A root
    # of a difference that is zero up to rounding would show far more, so standard errors are compared squared.
    assert_allclose(found.iloc[:, :3], expected.iloc[:, :3], rtol=1e-9, atol=1e-9)
    assert_allclose(found.iloc[:, 3:] ** 2, expected.iloc[:, 3:] ** 2, rtol=1e-9, atol=1e-6)


def drawn(sampler, seed, scale, size=200_000):
    """So many draws of a sampler that fills arrays; a place that it leaves out stays NaN."""
    out = np.full(size, np.nan)
    sampler(np.random.default_rng(seed), scale, out)
    return out


def assert_reproducible(simulate, tree):
    """The same seed gives the same table, as a number or a generator, for budgets or an Allocation; others differ."""
    first = simulate(tree, [1, 1], 10, seed=5)
    for eps, seed in ((uniform(tree, 2), 5), ([1, 1], np.random.default_rng(5))):
        pd.testing.assert_frame_equal(first, simulate(tree, eps, 10, seed), check_exact=True)
    others = [simulate(tree, [1, 1], 10, seed) for seed in (6, None, None)]
    assert len({float(table.mse.sum()) for table in [first, *others]}) == 4


def assert_flat_memory(simulate):
    """Ten times the trials need the same memory."""
    tree = Hierarchy.from_counts([[20_000], [1] * 20_000], [None, [0] * 20_000])

    def peak(trials):
        tracemalloc.start()
        simulate(tree, [1, 1], trials, seed=1)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    peak(4)  # imports and caches
    assert peak(100) < peak(10) + 100_000  # one stored error vector more would be 160,000 bytes
