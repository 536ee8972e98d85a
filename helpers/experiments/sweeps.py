"""The paper's experiments on a state: rules that split a budget, swept over totals, in closed form and by simulation.

    truth: the tree that is released · earlier: the public tree that the split is chosen on
    rule: a function from a total to an `Allocation` · table: errors indexed by (rule, total, level)

Totals are privacy budgets ε, and errors are in people², summed over the nodes of a level.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from .. import checks
from ..allocation import Allocation, minimize_budget, minimize_error, uniform
from ..census import load_state, prior
from ..checks import Numbers
from ..hierarchy import Hierarchy
from ..simulation import COLUMNS, expected_error, simulate
from .scores import look_normal, noticed

Rule = Callable[[float], Allocation]

TOTALS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)  # budgets that are simulated
GRID = tuple(np.linspace(0.3, 5, 48).round(3).tolist())  # budgets that closed forms are drawn for


def trials(default: int) -> int:
    """How many releases to simulate: `default`, or what the environment variable BOOK_TRIALS says.

    BOOK_TRIALS=2000 is full size. Memory does not grow with it.

    >>> trials(400)
    400
    """
    default = checks.whole("default", default, least=4)
    value = os.environ.get("BOOK_TRIALS", "").strip() or str(default)
    if not value.isdecimal() or int(value) < 4:
        raise ValueError(f"BOOK_TRIALS must be a whole number of at least 4, got {value!r}")
    return int(value)


def compared_rules(truth: Hierarchy, earlier: Hierarchy) -> dict[str, Rule]:
    """The two rules of the paper: the uniform split, and the optimal split of a tree that is already public."""
    return {"uniform": lambda total: uniform(truth, total), "optimal": lambda total: minimize_error(earlier, total)}


def sweep(rules: Mapping[str, Rule], totals: Numbers, error: Callable[[Allocation], pd.DataFrame]) -> pd.DataFrame:
    """The table of error(rule(total)) for every rule and total, one below the other.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> rules = {"uniform": lambda total: uniform(tree, total)}
    >>> sweep(rules, [1, 2], lambda eps: expected_error(tree, eps)).mse.loc["uniform", 2].round(2)
    level
    level 1    1.96
    level 2    3.39
    Name: mse, dtype: float64
    """
    from tqdm import tqdm

    _check_sweep(rules, totals)
    cases = [(name, total) for name in rules for total in totals]
    bar = tqdm(cases, desc="budgets", delay=1, leave=False)
    table = pd.concat({(name, total): error(rules[name](total)) for name, total in bar}, names=["rule", "total"])
    return table.rename_axis([name or "level" for name in table.index.names])


def over_levels(table: pd.DataFrame, fitted: bool = False) -> pd.DataFrame:
    """Errors of the whole tree: sums over the levels, for each of the other index entries.

    Before consistency, levels are independent, and standard errors add up as √(Σ se_l²). Fitted levels move together, what
    is simulated of them most of all: where the table is `fitted`, or its index says that rows are `consistent`, theirs add
    up as Σ se_l, which is never too small.
    """
    se = [column for column in table if column.endswith("_se")]
    names = [name for name in table.index.names if name != "level"]
    together = np.full(len(table), checks.flag("fitted", fitted))
    if "consistent" in names:
        together = table.index.get_level_values("consistent").to_numpy().astype(bool)
    power = pd.Series(np.where(together, 1, 2), table.index)
    raised = table.assign(**{column: table[column] ** power for column in se})
    groups = raised.groupby(level=names, sort=False)
    total = groups.agg(lambda column: column.sum(skipna=False))  # one unknown standard error makes that of the sum unknown
    root = 1 / power.groupby(level=names, sort=False).first()
    return total.assign(**{column: total[column] ** root for column in se})


def z_scores(measured: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """(measured − expected) / standard error of Bias², variance and MSE, for the rows of `measured`.

    What is too rare to show in any of the releases is measured as zero, give or take zero. So a standard error counts as
    1e-5 of the MSE at least: a bias that hundreds of releases do not show has a square below that.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> z = z_scores(simulate(tree, [1, 1], 400, seed=1, consistent=False), expected_error(tree, [1, 1]))
    >>> bool((z.abs() < 4.5).all(axis=None))
    True
    """
    se = measured[[f"{column}_se" for column in COLUMNS]].to_numpy()
    floor = 1e-5 * measured[["mse"]].to_numpy()
    return (measured[COLUMNS] - expected.reindex(measured.index)[COLUMNS]) / np.maximum(se, floor)


def agreement(measured: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Do simulations without consistency agree with the closed forms? A row each for Bias², variance and MSE.

    `largest`, `mean` and `spread` are of the z-scores of the `comparisons` made, `agree` is what `look_normal` says of them,
    and `notices` is the error of a closed form, in percent, that would be found in 9 of 10 runs. Compared is what is known
    to 5%: of few nodes, or of a bias that clipping shows too rarely, scores have long tails.

    >>> tree = Hierarchy.from_counts([[2000], [2] * 1000], [None, [0] * 1000])
    >>> rules = {"uniform": lambda total: uniform(tree, total)}
    >>> swept = sweep(rules, [1, 2], lambda eps: expected_error(tree, eps))
    >>> agreement(measure(tree, rules, [1, 2], 400, 1, False), swept).agree.tolist()
    [True, True, True]
    """
    closed, rows = expected.reindex(measured.index), {}
    for column in COLUMNS:
        known = (measured[f"{column}_se"] > 0) & (measured[f"{column}_se"] < 0.05 * measured[column])
        if known.sum() < 2:
            raise ValueError(f"measured must know {column} to 5% in two rows at least, got {known.sum()}: more releases")
        found, formula, se = measured[column][known], closed[column][known], measured[f"{column}_se"][known]
        z = (found - formula) / se
        shape = {"largest": z.abs().max(), "mean": z.mean(), "spread": z.std(ddof=0)}
        power = {"agree": look_normal(z), "notices": 100 * noticed(formula, se)}
        rows[column] = {"comparisons": len(z), **shape, **power}
    return pd.DataFrame.from_dict(rows, orient="index")


def consistency_change(fitted: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """By how many percent the consistency step moves Bias², variance and MSE, with standard errors (`bias2_se`, …).

    100 (fitted/expected − 1): `fitted` is measured after it; `expected`, the closed forms before it, has no error.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> change = consistency_change(simulate(tree, [1, 1], 400, seed=1), expected_error(tree, [1, 1]))
    >>> change.mse.abs().round(0).tolist()  # the top is not fitted to anything; the leaves' error falls
    [0.0, 25.0]
    """
    before = expected.reindex(fitted.index)[COLUMNS]
    se = fitted[[f"{column}_se" for column in COLUMNS]]
    return pd.concat([100 * (fitted[COLUMNS] / before - 1), 100 * se / before.to_numpy()], axis=1)


def ratio(table: pd.DataFrame, of: str = "uniform", to: str = "optimal") -> pd.DataFrame:
    """How many times larger each error is under one rule than under another."""
    table = table[[column for column in table if not column.endswith("_se")]]
    return table.xs(of, level="rule") / table.xs(to, level="rule")


def regret(truth: Hierarchy, rules: Mapping[str, Rule], totals: Numbers) -> pd.DataFrame:
    """How much more error, in percent, each rule makes than the best split of the truth: a row for each total.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> regret(tree, {"uniform": lambda total: uniform(tree, total)}, [1]).loc[1].round(2)
    uniform    1.56
    Name: 1, dtype: float64
    """
    _check_sweep(rules, totals)
    best = np.array([minimize_error(truth, total).mse for total in totals])
    found = {name: [expected_error(truth, rule(t)).mse.sum() for t in totals] for name, rule in rules.items()}
    return pd.DataFrame({n: 100 * (np.array(e) / best - 1) for n, e in found.items()}, pd.Index(totals, name="total"))


def promises(truth: Hierarchy, priors: Mapping[str, Hierarchy], tau: float) -> pd.DataFrame:
    """What becomes of an error target τ (people²) that program (2) promises on each of some earlier trees: a row for each.

    `leaves`: their number over that of the truth · `total`: the budget ε that was asked for · `kept`: the error of the truth
    at that split, over τ. At 1 the promise is kept to the letter, above 1 it is broken.

    >>> trees = [Hierarchy.from_counts([[90], [90 / n] * n], [None, [0] * n]) for n in (2, 3)]
    >>> promises(trees[0], dict(zip(["same", "one leaf more"], trees)), tau=9).round(2)
                   leaves  total  kept
    same              1.0    1.6   1.0
    one leaf more     1.5    1.8   0.8
    """
    tau = checks.positive("tau", tau)
    if not isinstance(priors, Mapping) or not priors:
        raise ValueError(f"priors must be a dictionary of trees, at least one, got {priors!r}")
    asked = {name: minimize_budget(tree, tau) for name, tree in priors.items()}
    columns = {
        "leaves": {name: tree.sizes[-1] / truth.sizes[-1] for name, tree in priors.items()},
        "total": {name: split.total for name, split in asked.items()},
        "kept": {name: expected_error(truth, split).mse.sum() / tau for name, split in asked.items()},
    }
    return pd.DataFrame(columns)


def recut(tree: Hierarchy, factor: float) -> Hierarchy:
    """The same tree with about `factor` times as many leaves: the people of each family, cut into another number of leaves.

    A family of k leaves gets round(k · factor) of them, at least one, and keeps its sum. Its leaves are taken as a street on
    which people live evenly within each old leaf, and the street is cut into equal lengths. So with 1 nothing changes.

    >>> recut(Hierarchy.from_counts([[9], [3, 6]], [None, [0, 0]]), 1.5).counts[1].tolist()
    [2.0, 3.0, 4.0]
    """
    if len(tree.levels) < 2:
        raise ValueError(f"tree must have at least 2 levels, so that leaves have parents, got {len(tree.levels)}")
    factor = checks.positive("factor", factor)
    old = np.bincount(tree.links[-1], minlength=tree.sizes[-2])  # (families,) their leaves
    new = np.maximum(np.minimum(old, 1), np.rint(old * factor)).astype(int)  # none where there was none
    parent = np.repeat(np.arange(len(new)), new)
    place = np.arange(new.sum()) - np.repeat(np.cumsum(new) - new, new)  # of a leaf in its family
    cuts = np.append((np.cumsum(old) - old)[parent] + place * (old[parent] / new[parent]), old.sum())  # in old leaves
    people = np.interp(cuts, np.arange(old.sum() + 1), np.append(0, np.cumsum(tree.counts[-1])))  # before each cut
    leaves = np.maximum(0, np.diff(people))  # rounding may go below
    return Hierarchy.from_counts([*tree.counts[:-1], leaves], [*tree.parents[:-1], parent], tree.levels)


def predicted_gain(sizes: Numbers) -> float:
    """L² Σn / (Σ n^(1/3))³: total error of the uniform split over that of the best one, when all counts are large.

    >>> round(predicted_gain([1, 128, 20_975]), 2)
    5.0
    """
    n = checks.positives("sizes", sizes)
    if n.ndim != 1 or n.size == 0:
        raise ValueError(f"sizes must be a list with the number of nodes of each level, got shape {n.shape}")
    return float(len(n) ** 2 * n.sum() / np.cbrt(n).sum() ** 3)


def budgets(rule: Rule, values: Numbers) -> np.ndarray:
    """(k, L) the budgets of the levels that a rule gives for each of k totals (or error targets)."""
    return np.array([rule(value).eps for value in values])


def _check_sweep(rules: Mapping[str, Rule], totals: Numbers) -> None:
    if not isinstance(rules, Mapping) or not rules or not all(map(callable, rules.values())):
        raise TypeError(f"rules must map at least one name to a function from a total to an Allocation, got {rules!r}")
    if checks.positives("totals", totals).ndim != 1 or len(totals) == 0:
        raise ValueError(f"totals must be a list of at least one budget, got {totals!r}")


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the paper does to a state. `measured` has one more index level in front: consistent, False or True."""

    truth: Hierarchy
    earlier: Hierarchy
    rules: Mapping[str, Rule]
    expected: pd.DataFrame
    measured: pd.DataFrame


def state_experiment(state: str, trials: int, seed: int = 0, totals: Numbers = TOTALS) -> Experiment:
    """The paper's main experiment on a state: its published tree, uniform against optimal, with and without consistency.

    The optimal split is chosen on `prior(state)`, never on the counts that are released.

    >>> delaware = state_experiment("delaware", trials=4, totals=[1])
    >>> delaware.measured.index.names
    FrozenList(['consistent', 'rule', 'total', 'level'])
    """
    checks.whole("trials", trials, least=2, most=checks.MOST_TRIALS)
    checks.whole("seed", seed, least=0)  # a whole number, because it is used twice: with and without consistency
    truth, earlier = load_state(state), prior(state)
    rules = compared_rules(truth, earlier)
    expected = sweep(rules, sorted({*GRID, *totals}), lambda eps: expected_error(truth, eps))
    measured = {c: measure(truth, rules, totals, trials, seed, c) for c in (False, True)}
    return Experiment(truth, earlier, rules, expected, pd.concat(measured, names=["consistent"]))


def prior_regret(state: str, sources: Sequence[str] = ("embedded", "official"), totals: Numbers = TOTALS) -> pd.DataFrame:
    """How much more error, in percent, the split of each prior makes than the best split of 2020: a row for each total.

    "embedded" spreads the block groups of 2010. "blocks", for Delaware, are the true blocks of 2010; "official" and "ppmf"
    are those of any state, downloaded on first use.

    >>> prior_regret("delaware", ["embedded", "blocks"], [1]).round(2).loc[1]
    embedded    0.21
    blocks      0.20
    Name: 1, dtype: float64
    """
    truth = load_state(state)
    rules = {source: partial(minimize_error, prior(state, source=source)) for source in sources}
    return regret(truth, rules, totals)


def measure(
    truth: Hierarchy, rules: Mapping[str, Rule], totals: Numbers, trials: int, seed: int, consistent: bool
) -> pd.DataFrame:
    """`sweep` of `simulate`: each case has noise of its own, and is the same release with and without consistency."""
    rng = np.random.default_rng(seed)  # one generator for all cases, so that no two share their noise
    return sweep(rules, totals, lambda eps: simulate(truth, eps, trials, rng, consistent))
