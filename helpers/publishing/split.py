"""A split of a budget that can be kept in a file: the budgets, and what they were chosen on.

    eps: budget of each level, top first · chosen_on: the nodes or the counts of a tree, and the digest of those

A release is private only if its budgets do not depend on the counts it protects. So a split remembers where it comes from.
Budgets are decimals of about six digits that add up to the total exactly: what is shown is what is spent.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..allocation import Source, check_amount, minimize_budget, minimize_error, root_shares
from ..checks import Numbers
from ..hierarchy import Hierarchy, check_hierarchy
from ..mechanisms import LAPLACE

# Rules that look at the nodes alone: a function from a tree and weights to (L,) shares of the budget.
BY_NODES: dict[str, Callable[[Hierarchy, np.ndarray], np.ndarray]] = {
    "cube-root": root_shares,
    "uniform": lambda tree, weights: np.full(len(weights), 1 / len(weights)),
}
RULES = (*BY_NODES, "optimal")
MOST_ROWS = 10**6  # of one person
FIELDS = ("levels", "eps", "rule", "weights", "chosen_on", "digest", "total")


@dataclass(frozen=True)
class Split:
    """Budgets for the levels of a tree, and where they come from."""

    levels: tuple[str, ...]
    eps: tuple[float, ...]
    rule: str
    weights: tuple[float, ...] | None
    chosen_on: Source

    @property
    def total(self) -> float:
        """Σ ε_l, the sum of the decimals that are shown."""
        return float(sum(Decimal(repr(e)) for e in self.eps))

    @property
    def by_nodes(self) -> bool:
        """Does it look at the list of nodes alone, and at no count?"""
        return self.chosen_on.looked_at == "nodes"

    def follows_from(self, tree: Hierarchy) -> bool:
        """Are these the budgets that its rule gives for the nodes of this tree, to the digits that a split has?"""
        if self.rule not in BY_NODES:
            return False
        shares = BY_NODES[self.rule](tree, _weights(tree, self.weights))
        # Of six digits the last may be cut off at every level, and the largest budget gets all of that.
        return np.allclose(np.array(self.eps) / self.total, shares, rtol=1e-5 * len(shares), atol=0)

    def as_dict(self) -> dict[str, Any]:
        """Everything, the total too, as plain values for JSON."""
        looked_at, digest = self.chosen_on
        return dict(
            zip(FIELDS, (self.levels, self.eps, self.rule, self.weights, looked_at, digest, self.total), strict=True)
        )

    @classmethod
    def read(cls, path: str | Path) -> "Split":
        """The split of a file that holds `as_dict` as JSON. One whose parts contradict each other is refused."""
        path = checks.path("path", path)
        try:
            return _checked(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError(
                f"{path} must hold a split in JSON as allocate writes it, with {', '.join(FIELDS)}, but does not: "
                "make it anew with allocate"
            ) from None


def _checked(found: dict[str, Any]) -> Split:
    """The split of a dictionary, or an error of some kind: `Split.read` says what is right."""
    levels, rule, looked_at = found["levels"], checks.one_of("rule", found["rule"], RULES), found["chosen_on"]
    eps = tuple(checks.per_level("eps", found["eps"], levels).tolist())
    weights = None if found["weights"] is None else tuple(checks.per_level("weights", found["weights"], levels).tolist())
    split = Split(tuple(levels), eps, rule, weights, Source(looked_at, found["digest"]))
    right = (
        set(found) == {*FIELDS},
        isinstance(levels, list) and all(isinstance(level, str) for level in levels),
        0 < len(set(levels)) == len(levels),
        weights is None or rule != "uniform",
        looked_at == ("counts" if rule == "optimal" else "nodes"),
        re.fullmatch("[0-9a-f]{64}", found["digest"]),
        split.total == found["total"],
    )
    if not all(right):
        raise ValueError
    return split


def choose(
    tree: Hierarchy,
    rule: str,
    total: float | None = None,
    tau: float | None = None,
    weights: Numbers | None = None,
    rows_per_person: int = 1,
) -> Split:
    """The split of a budget `total` by a rule, or of as much budget as an error of `tau` needs (people squared, weighted).

    A rule that looks at node counts alone keeps to tau whatever the counts are; "optimal" keeps to it on the counts of the
    tree, with less. A person in several rows needs that many times the budget for the same noise.

    >>> tree = Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])
    >>> choose(tree, "cube-root", total=1).eps
    (0.333333, 0.666667)
    >>> choose(tree, "cube-root", tau=6).total, choose(tree, "optimal", tau=6).total
    (3.0, 2.96627)
    """
    check_hierarchy(tree)
    checks.one_of("rule", rule, RULES)
    name, amount = ("tau", tau) if total is None else ("total", total)
    if amount is None or (total is not None and tau is not None):
        raise ValueError(f"give either total, a budget, or tau, an error to keep to, got total={total} and tau={tau}")
    if weights is not None and rule == "uniform":
        raise ValueError(f"weights must be left out with the rule uniform, which gives every level the same, got {weights}")
    rows = checks.whole("rows_per_person", rows_per_person, least=1, most=MOST_ROWS)
    number, w = check_amount(tree, name, amount, weights)
    given = number if total is None else number / rows  # the budgets of one row; those of a person are `rows` times as large
    if rule == "optimal":
        found = minimize_error(tree, given, w) if tau is None else minimize_budget(tree, given, w)
        eps, source = found.eps, Source.counts(tree)
    else:
        shares = BY_NODES[rule](tree, w)
        eps, source = shares * (given if tau is None else _enough_for(given, tree, w, shares)), Source.nodes(tree)
    kept = None if weights is None else tuple(w.tolist())
    return Split(tree.levels, _in_decimals(rows * eps, total), rule, kept, source)


def _weights(tree: Hierarchy, weights: Numbers | None) -> np.ndarray:
    return np.ones(len(tree.levels)) if weights is None else np.asarray(weights, dtype=np.float64)


def _enough_for(tau: float, tree: Hierarchy, w: np.ndarray, shares: np.ndarray) -> float:
    """The total that keeps to tau whatever the counts: the error of one is at most that of its noise (Proposition 4)."""
    most = w @ (tree.sizes * LAPLACE.noise_variance(shares))  # at a total of 1; it falls like 1/total²
    return float(np.sqrt(most / tau))


def _in_decimals(eps: np.ndarray, total: float | None) -> tuple[float, ...]:
    """Budgets as decimals of six digits: rounded up, or for a given total down, and the largest gets the rest."""
    six = Context(prec=6, rounding=ROUND_UP if total is None else ROUND_DOWN)
    found = [six.create_decimal(f"{e:.15g}") for e in eps]  # fifteen digits first: 0.3/3 in floats is just below 0.1
    if total is not None:
        found[int(np.argmax(eps))] += Decimal(repr(float(total))) - sum(found)
    return tuple(map(float, found))
