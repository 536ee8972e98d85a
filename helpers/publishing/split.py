"""A split of a budget that can be kept in a file: the budgets, and what they were chosen on.

    eps: budget of each level, top first · chosen_on: "nodes" or "counts" · sha256: of the file whose counts decided, if any

A release is private only if its budgets do not depend on the counts it protects. So a split remembers where it comes from.
Budgets are decimals of about six digits that add up to the total exactly: what is shown is what is spent.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from pathlib import Path

import numpy as np

from .. import checks
from ..allocation import check_amount, minimize_budget, minimize_error, root_shares
from ..checks import Numbers
from ..hierarchy import Hierarchy, check_hierarchy
from ..mechanisms import LAPLACE

# Rules that look at the nodes alone: a function from a tree and weights to (L,) shares of the budget.
BY_NODES: dict[str, Callable[[Hierarchy, np.ndarray], np.ndarray]] = {
    "cube-root": root_shares,
    "uniform": lambda tree, weights: np.full(len(weights), 1 / len(weights)),
}
RULES = (*BY_NODES, "optimal")
_SOURCES = {"rule": RULES, "chosen_on": ("nodes", "counts")}


@dataclass(frozen=True)
class Split:
    """Budgets for the levels of a tree, and where they come from."""

    levels: tuple[str, ...]
    eps: tuple[float, ...]
    rule: str
    chosen_on: str
    sha256: str | None = None

    @property
    def total(self) -> float:
        """Σ ε_l, the sum of the decimals that are shown."""
        return float(sum(Decimal(repr(e)) for e in self.eps))

    def as_dict(self) -> dict[str, object]:
        """Everything, the total too, as plain values for JSON."""
        return asdict(self) | {"total": self.total}

    @classmethod
    def read(cls, path: str | Path) -> "Split":
        """The split of a file that holds `as_dict` as JSON."""
        path = checks.path("path", path)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            levels, eps, sha256 = found["levels"], found["eps"], found["sha256"]
            if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
                raise TypeError
            if not isinstance(sha256, str | None):
                raise TypeError
            sources = {key: checks.one_of(key, found[key], allowed) for key, allowed in _SOURCES.items()}
            eps = checks.per_level("eps", eps, levels).tolist()
            return cls(tuple(levels), tuple(eps), sha256=sha256, **sources)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError(
                f"{path} must hold a split in JSON, with levels, eps, rule, chosen_on and sha256, but does not"
            ) from None


def choose(
    tree: Hierarchy,
    rule: str,
    total: float | None = None,
    tau: float | None = None,
    weights: Numbers | None = None,
    sha256: str | None = None,
) -> Split:
    """The split of a budget `total` by a rule, or of as much budget as an error of `tau` needs (people squared, weighted).

    A rule that looks at node counts alone keeps to tau whatever the counts are; "optimal" keeps to it on the counts of the
    tree, with less.

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
    by_counts = rule == "optimal"
    if by_counts:
        found = minimize_error(tree, amount, weights) if tau is None else minimize_budget(tree, amount, weights)
        eps = found.eps
    else:
        given, w = check_amount(tree, name, amount, weights)
        shares = BY_NODES[rule](tree, w)
        eps = shares * (given if tau is None else _enough_for(given, tree, w, shares))
    in_decimals = _in_decimals(eps, total)
    return Split(tuple(tree.levels), in_decimals, rule, "counts" if by_counts else "nodes", sha256 if by_counts else None)


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
