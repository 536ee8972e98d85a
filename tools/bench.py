"""`make bench`: every claim about speed as a ratio of two things timed in turn in one run, with the bar it must meet.

    pair: one timing of each of the two things compared, taken back to back
    ratio: of the least times over all pairs, because whatever else a machine does only adds to them · median: of the medians
    cold: without the distinct counts that a hierarchy keeps after its first allocation

Prints a table, writes book/bench.json and book/images/bench.svg, and ends with exit code 1 if a bar is missed.
"""

import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import timeit

import numpy as np
import scipy
from manuscript import ROOT
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.stats import spearmanr
from tqdm import tqdm

from helpers import (
    Hierarchy,
    gls,
    gls_variances,
    load_nation,
    load_state,
    minimize_error,
    minimize_fitted_error,
    noisy_counts,
    prior,
    private_release,
    release,
    simulate,
    simulate_with,
    top_down,
)
from helpers.census import LEVELS
from helpers.consistency.uncertainty import node_moments, region_gains, region_variance
from helpers.experiments.sweeps import compared_rules
from helpers.mechanisms import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, Mechanism
from helpers.publishing.exact_noise import Noise, opendp
from helpers.tables import leaves

JSON, PLOT = ROOT / "book" / "bench.json", ROOT / "book" / "images" / "bench.svg"
TRIALS = 300
TABLE_ROWS = 4_000_000
DRAWS = 20_000  # single ones
REGION = 3_000  # leaves
NATION_TRIALS = 4  # the least that every part of `simulate` takes part in


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured ratio and, if a claim hangs on it, its bar."""

    name: str
    ratio: float
    sense: str  # the ratio must be ≥ or ≤ the bar
    bar: float | None = None
    unit: str = "×"
    median: float | None = None  # the same ratio from median times: what a busy machine shows
    times: dict[str, float] = field(default_factory=dict)  # least seconds of one call of each of the two
    valid: bool = True  # both gave the same answer

    @property
    def verdict(self) -> str:
        """What the table says in its last column."""
        if not self.valid:
            return "INVALID"
        if self.bar is None:
            return ""
        return "pass" if (self.ratio >= self.bar if self.sense == "≥" else self.ratio <= self.bar) else "MISSED"

    def show(self, value: float) -> str:
        """A value of this row with its unit."""
        return f"{value:,.0f}{self.unit}" if value >= 1000 else f"{value:.3g}{self.unit}"


def in_turn(things: Mapping[str, Callable], pairs: int, calls: int = 1, per: float = 1) -> dict:
    """How many times as long the first of two things takes as the second, divided by `per`.

    A pair times one call of the first and `calls` calls of the second, for when that is much shorter.
    """
    one, other = things.values()
    one(), other()  # warm up
    seconds = np.array([(timeit(one, number=1), timeit(other, number=calls) / calls) for _ in range(pairs)])  # (pairs, 2)
    ratio, median = (float(t[0] / t[1] / per) for t in (seconds.min(axis=0), np.median(seconds, axis=0)))
    return {"ratio": ratio, "median": median, "times": dict(zip(things, seconds.min(axis=0).tolist(), strict=True))}


def cold(hierarchy: Hierarchy) -> Callable:
    """`minimize_error` at a total of 1, as on a hierarchy that was never used before."""

    def solve():
        hierarchy.__dict__.pop("repeated", None)
        return minimize_error(hierarchy, total=1)

    return solve


def versus_scipy(name: str, ours: Callable, solve: Callable, pairs: int, bar: float | None = None) -> Row:
    """`minimize_error` against SciPy; valid if SciPy finds the same budgets."""
    agrees = np.allclose(solve().x, ours().eps, rtol=1e-3, atol=0)
    found = in_turn({"SciPy": solve, "minimize_error": ours}, pairs, calls=10)
    return Row(f"minimize_error against SciPy {name}", sense="≥", bar=bar, valid=bool(agrees), **found)


def program(counts: Sequence[np.ndarray], sums: Sequence[Callable]) -> tuple[Callable, Callable]:
    """Program (1) as one writes it for SciPy: error and gradient, where sums[l] adds up over the nodes of level l."""

    def levels(eps):
        return ((n * e, e, add) for n, e, add in zip(counts, eps, sums, strict=True))

    def error(eps):
        return sum(add(2 - (1 + x) * np.exp(-x)) / e**2 for x, e, add in levels(eps))

    def gradient(eps):
        return np.array([-add(4 - (x * x + 2 * x + 2) * np.exp(-x)) / e**3 for x, e, add in levels(eps)])

    return error, gradient


def scipy_solver(problem: tuple[Callable, Callable], method: str, plain: bool = False, **options) -> Callable:
    """Program (1) at a total of 1 by SciPy from the uniform split; unless `plain`, with gradient and scaled to 1 there.

    Without the scale, SLSQP can return the start itself and call it a success.
    """
    error, gradient = problem
    start = np.full(3, 1 / 3)
    scale = error(start)
    given = {"fun": error} if plain else {"fun": lambda eps: error(eps) / scale, "jac": lambda eps: gradient(eps) / scale}
    given |= {"bounds": Bounds(1e-6, 1), "constraints": LinearConstraint(np.ones(3), 1, 1)}

    def solve():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "delta_grad == 0.0", UserWarning)  # trust-constr, when it has converged
            return minimize(x0=start, method=method, options=options, **given)

    return solve


def versus_sorts(wyoming: Hierarchy) -> Row:
    """`top_down` against a loop of sort-based projections on one noisy tree."""
    noisy = release(wyoming, minimize_error(wyoming, total=1), seed=1, consistent=False)
    loop = loop_of_sorts(wyoming)
    agrees = all(np.allclose(a, b, atol=1e-6) for a, b in zip(loop(noisy), top_down(wyoming, noisy), strict=True))
    found = in_turn({"loop": partial(loop, noisy), "top_down": partial(top_down, wyoming, noisy)}, pairs=300)
    return Row("top_down against a loop of sorts", sense="≥", bar=5, valid=agrees, **found)


def loop_of_sorts(hierarchy: Hierarchy) -> Callable:
    """`top_down` as a loop over families, with all that does not depend on the noise prepared."""
    ranks = np.arange(1, hierarchy.sizes.max() + 1)
    levels = [np.searchsorted(p, np.arange(p[-1] + 2)).tolist() for p in hierarchy.links]  # where families start

    def fit(noisy):
        out = [np.maximum(noisy[0], 0)]
        for x, starts in zip(noisy[1:], levels, strict=True):
            families = zip(out[-1].tolist(), pairwise(starts), strict=True)
            out.append(np.concatenate([project_by_sort(x[a:b], t, ranks) for t, (a, b) in families]))
        return out

    return fit


def project_by_sort(x: np.ndarray, total: float, ranks: np.ndarray) -> np.ndarray:
    """Nearest v ≥ 0 to x with v.sum() == total, by sorting; ranks = 1, 2, 3, …"""
    falling = np.sort(x)[::-1]
    theta = (np.cumsum(falling) - total) / ranks[: len(x)]
    above = max(1, int(np.count_nonzero(falling > theta)))
    return np.maximum(x - theta[above - 1], 0)


def releasing(hierarchy: Hierarchy) -> Callable:
    """A whole release: noise, clip, consistency."""
    eps, rng = minimize_error(hierarchy, total=1), np.random.default_rng(1)
    return partial(release, hierarchy, eps, seed=rng)


def simulating(hierarchy: Hierarchy) -> Callable:
    """A few simulated releases at the optimal split."""
    return partial(simulate, hierarchy, minimize_error(hierarchy, total=1), trials=NATION_TRIALS, seed=1)


def versus_laplace(name: str, run: Callable, nodes: int, pairs: int, bar: float | None = None, draws: int = 1) -> Row:
    """`run` against `draws` times `Generator.laplace` for as many nodes."""
    rng = np.random.default_rng(1)
    found = in_turn({name: run, "laplace": partial(rng.laplace, size=nodes)}, pairs, calls=draws, per=draws)
    return Row(f"{name} / Generator.laplace", sense="≤", bar=bar, **found)


def versus_plain_monte_carlo(rule: str, bar: float) -> Row:
    """Efficiency, 1/(variance × time), of `simulate` over that of plain releases, for the total MSE after consistency: the
    least over the published trees of three states, at budgets of 0.5 and 2."""

    def cost(run: Callable) -> float:
        begun = time.perf_counter()
        table = run(trials=100, seed=1)
        return float((table.mse_se**2).sum()) * (time.perf_counter() - begun)

    ratios = []
    for state in ("wyoming", "new mexico", "delaware"):
        truth = load_state(state)
        split = compared_rules(truth, prior(state))[rule]
        for eps in map(split, (0.5, 2)):
            plain = partial(simulate_with, truth, partial(release, truth, eps))
            ratios.append(cost(plain) / cost(partial(simulate, truth, eps)))
    return Row(f"simulate against plain Monte Carlo, {rule} split: efficiency", min(ratios), "≥", bar)


def growth(name: str, run: Callable[[Hierarchy], Callable], wyoming: Hierarchy, country: Hierarchy, pairs: int) -> Row:
    """Time per node of what `run` prepares, nation over Wyoming."""
    per_node = country.sizes.sum() / wyoming.sizes.sum()
    found = in_turn({"nation": run(country), "Wyoming": run(wyoming)}, pairs, calls=25, per=per_node)
    return Row(f"{name}, time per node: nation / Wyoming", sense="≤", bar=2, **found)


def versus_top_down(name: str, hierarchy: Hierarchy, pairs: int) -> Row:
    """`gls` against `top_down` on the same noisy tree; valid if `gls` leaves the true counts alone."""
    eps = minimize_error(hierarchy, total=1)
    noisy, variances = noisy_counts(hierarchy, eps, seed=1), 2 / eps.eps**2
    exact = zip(gls(hierarchy, hierarchy.counts, variances), hierarchy.counts, strict=True)
    unbiased = all(np.allclose(x, n) for x, n in exact)
    things = {"gls": partial(gls, hierarchy, noisy, variances), "top_down": partial(top_down, hierarchy, noisy)}
    return Row(f"gls / top_down, {name}", sense="≤", bar=2, valid=unbiased, **in_turn(things, pairs))


def versus_gls(hierarchy: Hierarchy, pairs: int) -> Iterator[Row]:
    """Standard errors, a region, and the split for the fit, in units of one `gls`; valid if variances agree, or by KKT."""
    eps = minimize_error(hierarchy, total=1)
    noisy, v = noisy_counts(hierarchy, eps, seed=1), 2 / eps.eps**2
    fit = {"gls": partial(gls, hierarchy, noisy, v)}
    region = np.zeros(hierarchy.sizes[-1])
    region[np.random.default_rng(1).choice(len(region), REGION, replace=False)] = 1

    def by_gains() -> float:
        return sum(float(x * np.einsum("i,i", g, g)) for g, x in zip(region_gains(hierarchy, region, v), v, strict=True))

    every, moments = partial(gls_variances, hierarchy, v), partial(node_moments, hierarchy, v, 3 * v**2)
    by_way_up = partial(region_variance, hierarchy, region, v)
    same = all(np.allclose(x, m.variance) for x, m in zip(every(), moments(), strict=True))
    agree = bool(np.isclose(by_gains(), by_way_up()))
    split = partial(minimize_fitted_error, hierarchy, total=1)
    cases: list[tuple[str, Callable, float, bool]] = [
        ("gls_variances", every, 2, same),
        ("node_moments", moments, 2, same),
        (f"region_gains and variance of {REGION:,} leaves", by_gains, 1, agree),
        (f"region_variance of {REGION:,} leaves", by_way_up, 1, agree),
        ("minimize_fitted_error", split, 8, split().kkt_spread < 1e-10),
    ]
    for name, run, bar, valid in cases:
        yield Row(f"{name} / gls, nation", sense="≤", bar=bar, valid=valid, **in_turn({name: run, **fit}, pairs, calls=3))


def versus_paper(hierarchy: Hierarchy, pairs: int) -> Row:
    """A few simulated releases with the fit by least squares against as many with the paper's."""
    kinds = {name: partial(simulating(hierarchy), consistent=name) for name in ("gls", "top_down")}
    return Row("simulate: gls / top_down, nation", sense="≤", bar=3, **in_turn(kinds, pairs))


def versus_laplace_noise(mechanism: Mechanism, hierarchy: Hierarchy) -> Iterator[Row]:
    """A split and a release with another noise, in units of the same with Laplace noise; valid if the split is optimal."""
    kinds = {mechanism.name: mechanism, "Laplace": LAPLACE}
    splits = {name: partial(minimize_error, hierarchy, total=1, mechanism=kind) for name, kind in kinds.items()}
    solved = splits[mechanism.name]().kkt_spread < 1e-10
    name = f"{mechanism.name} / Laplace"
    yield Row(f"minimize_error: {name}", sense="≤", bar=10, valid=solved, **in_turn(splits, pairs=200))
    releases = {name: partial(release, hierarchy, split(), seed=1) for name, split in splits.items()}
    yield Row(f"release: {name}", sense="≤", bar=3, **in_turn(releases, pairs=200))


def versus_group_by() -> Row:
    """`leaves` of a Parquet file against a bare GROUP BY of it by the same engine; valid if the sums are the same."""
    import duckdb

    from helpers.tables.files import ENGINE

    make = f"""SELECT 'State ' || i // 2400 AS state, 'County ' || i // 60 % 40 AS county, 'Town ' || i % 60 AS town
        FROM (SELECT hash(range, 1) % 120000 AS i FROM range({TABLE_ROWS}))"""
    levels = ["state", "county", "town"]
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        duckdb.sql(f"COPY ({make}) TO '{path}'")

        def bare():
            with duckdb.connect(config=ENGINE) as engine:
                return engine.sql(f"SELECT {', '.join(levels)}, count(*) AS population FROM '{path}' GROUP BY ALL").df()

        ours = partial(leaves, path, levels)
        agrees = (bare().sort_values(levels).to_numpy() == ours().to_numpy()).all()
        found = in_turn({"leaves": ours, "GROUP BY": bare}, pairs=7)
    return Row("leaves by DuckDB / bare GROUP BY", sense="≤", bar=1.5, valid=bool(agrees), **found)


def versus_opendp(nodes: Sequence[int] = (1, 50, 2_000, 100_000)) -> Row:
    """`private_release`, with checks, fit and record, against OpenDP's draw of each level; valid if the scales are equal.

    OpenDP draws on one core and `private_release` on all, so the ratio says what a user waits, not what the rest costs.
    """
    links = [np.arange(n) * above // n for above, n in pairwise(nodes)]
    counts = [np.random.default_rng(1).poisson(5, nodes[-1])]
    for link in reversed(links):
        counts.insert(0, np.bincount(link, counts[0]).astype(np.int64))
    dp, ours = (
        opendp(),
        partial(private_release, Hierarchy.from_counts(counts, [None, *links]), [1 / 4] * 4, budgets_from="policy"),
    )
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    things: dict[str, Callable] = {
        "private_release": ours,
        "OpenDP": lambda: [dp.m.make_laplace(*space, scale=4.0)(n) for n in counts],
    }
    same = [level["scale"] for level in ours().record["levels"]] == [4.0] * 4
    return Row("private_release / OpenDP's own draw", sense="≤", bar=1.5, valid=same, **in_turn(things, pairs=9))


def time_and_noise() -> Row:
    """Rank correlation of the time that OpenDP takes for a single draw at ε = 1, and the size of the noise.

    OpenDP itself: `Noise.add` hands a draw to a thread, whose start takes longer than the draw and hides it from this clock.
    """
    measure, zero, clock = Noise.of(1, 1.0).measurement, np.zeros(1, dtype=np.int64), time.perf_counter_ns
    seen = [(clock(), abs(measure(zero)[0]), clock()) for _ in range(DRAWS)]
    found = spearmanr([end - start for start, _, end in seen], [size for _, size, _ in seen])
    return Row("one exact draw: rank correlation of time and |noise|", float(found.statistic), "≤", unit="")


def memory() -> Row:
    """Peak memory of reading the nation, building its tree, one allocation and one release, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--peak"], stdout=subprocess.PIPE, text=True, check=True)
    return Row("nation: peak memory", int(done.stdout) / 1e9, "≤", 2, unit=" GB")


def print_peak() -> None:
    """Do the work that `memory` measures, then print this process's peak in bytes."""
    import resource

    releasing(load_nation())()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def measure(published: Hierarchy, geography: Hierarchy, country: Hierarchy) -> Iterator[Row]:
    """Every row but the memory."""
    best, nodes = minimize_error(published, total=1), published.sizes.sum()
    yield Row("minimize_error: spread of marginal errors", best.kkt_spread, "≤", 1e-10, unit="")
    distinct = published.repeated
    values, times = (np.split(a, distinct.starts[1:]) for a in (distinct.counts, distinct.times))
    full, short = program(published.counts, [np.sum] * 3), program(values, [m.dot for m in times])
    tight = 1e-9  # the default, 1e-6, leaves the budgets 0.3% off
    first, later = cold(published), partial(minimize_error, published, total=1)
    trust, slsqp = scipy_solver(full, "trust-constr"), scipy_solver(full, "SLSQP", ftol=tight)
    cases: list[tuple[str, Callable, Callable, int, float | None]] = [
        ("trust-constr with gradient", later, trust, 25, 200),
        ("trust-constr with gradient, first call on a tree", first, trust, 25, None),
        ("trust-constr, no gradient or scale", first, scipy_solver(full, "trust-constr", plain=True), 5, 200),
        ("trust-constr with gradient, distinct counts", later, scipy_solver(short, "trust-constr"), 25, None),
        ("SLSQP with gradient", first, slsqp, 100, 20),
        ("SLSQP with gradient, distinct counts", later, scipy_solver(short, "SLSQP", ftol=tight), 100, None),
    ]
    for name, ours, solve, pairs, bar in cases:
        yield versus_scipy(name, ours, solve, pairs, bar)
    yield versus_sorts(published)
    yield versus_laplace("release, published Wyoming", releasing(published), nodes, pairs=500, bar=1.5)
    yield versus_laplace("release, all blocks of Wyoming", releasing(geography), geography.sizes.sum(), pairs=200)
    trials = partial(simulate, published, best, trials=TRIALS, seed=1)
    yield versus_laplace("simulate, a trial", trials, nodes, pairs=15, bar=2, draws=TRIALS)
    yield versus_plain_monte_carlo("uniform", bar=20)
    yield versus_plain_monte_carlo("optimal", bar=200)
    yield growth("release", releasing, geography, country, pairs=9)
    yield growth("minimize_error", cold, geography, country, pairs=25)
    yield growth("simulate", simulating, geography, country, pairs=5)
    yield versus_top_down("published Wyoming", published, pairs=300)
    yield versus_top_down("nation", country, pairs=9)
    yield from versus_gls(country, pairs=9)
    yield versus_paper(country, pairs=3)
    for mechanism in (DISCRETE_LAPLACE, GAUSSIAN):
        yield from versus_laplace_noise(mechanism, published)
    yield versus_group_by()
    yield versus_opendp()
    yield time_and_noise()


def draw(rows: list[Row]) -> None:
    """The ratios as lengths on a log scale, with a tick at the bar each must meet: gains above, costs below."""
    from matplotlib import pyplot as plt

    from helpers.figures.style import BLUE, RED, SKY, STYLE

    def panel(ax, rows: list[Row], label: str, left: float) -> None:
        ends = [max(r.ratio, r.bar or 0) for r in rows]
        for y, (r, end) in enumerate(zip(rows, ends, strict=True)):
            ax.barh(y, r.ratio - left, left=left, height=0.6, color={"": SKY, "pass": BLUE}.get(r.verdict, RED))
            ax.vlines([r.bar] if r.bar else [], y - 0.4, y + 0.4, color="black")
            ax.text(end * 1.08, y, r.show(r.ratio), va="center")
        ax.set(xscale="log", xlim=(left, left * (max(ends) / left) ** 1.25), xlabel=label)
        ax.set_yticks(range(len(rows)), [r.name.replace(" against ", "\nagainst ") for r in rows])
        ax.xaxis.set(major_formatter=lambda x, _: f"{x:,g}×", minor_formatter="")
        ax.grid(axis="y", visible=False)
        ax.invert_yaxis()

    gains, costs = ([r for r in rows if r.unit == "×" and r.sense == sense] for sense in "≥≤")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, figsize=(7.6, 8.4), layout="constrained", height_ratios=[len(gains), len(costs)])
        panel(axes[0], gains, "times faster (longer is better)", left=1)
        panel(axes[1], costs, "times as long (shorter is better)", left=0.1)
        figure.savefig(PLOT, metadata={"Date": None})


def main() -> int:
    """Measure every row, print the table, write the files; 1 if any bar is missed, else 0."""
    begun = time.perf_counter()
    peak = memory()  # first: on Linux the peak of a child starts at its parent's
    trees = {"published": load_state("WY"), "geography": load_state("WY", "geography", LEVELS), "country": load_nation()}
    rows = [*tqdm(measure(**trees), desc="benchmarks", unit="row", total=31), peak]
    found = {
        "rows": [asdict(r) | {"verdict": r.verdict} for r in rows],
        "sizes": {name: dict(zip(h.levels, h.sizes.tolist(), strict=True)) for name, h in trees.items()},
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__},
        "cores": os.cpu_count(),
        "seconds": round(time.perf_counter() - begun),
    }
    print(f"{'':82}{'ratio':>9}{'median':>10}{'bar':>10}")
    for r in rows:
        median, bar = "" if r.median is None else r.show(r.median), "" if r.bar is None else f"{r.sense} {r.show(r.bar)}"
        print(f"{r.name:82}{r.show(r.ratio):>9}{median:>10}{bar:>10}  {r.verdict}")
    print("{cores} cores · {seconds} s · {versions}".format(**found))
    JSON.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draw(rows)
    return int(any(r.verdict in ("MISSED", "INVALID") for r in rows))


if __name__ == "__main__":
    if "--peak" in sys.argv:
        print_peak()
    else:
        sys.exit(main())
