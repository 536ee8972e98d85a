"""A release that may be published: exact integer noise, and a record of what it cost.

    eps: (L,) budget of each level · sensitivity: (L,) the most that a neighbour moves a level's counts, all together
    scale = sensitivity / eps, in people · geography: the nodes, which are public; the counts in them are not

Nothing in this file prints or keeps a true count. So its refusals do not show the value where that is a count. Everything
that can be refused is refused before anything is spent, and what is spent is booked before anything is drawn.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import numpy as np

from .. import checks
from ..allocation import Allocation, Budgets, Source, check_eps
from ..consistency.integers import check_width, integer_top_down
from ..hierarchy import Hierarchy, check_hierarchy
from .accountant import Accountant, check_accountant, check_words
from .exact_noise import Noise, opendp_version
from .released import ADD_OR_REMOVE, NEIGHBOURS, PrivateRelease, sensitivity
from .split import BY_NODES, MOST_ROWS, Split

SOURCES = ("node counts", "public data", "policy")  # of the budgets: all of them known before the counts are
CHECKED, DECLARED = "checked: they follow from the list of nodes alone", "declared public, not checked"
WEIGHTED = "checked: they follow from the list of nodes and the weights, which are declared public, not checked"
PROMISED = "a promise about the data, not checked"
WITH_THE_COUNTS = "they came with the counts, and are declared public"
NO_ACCOUNT = "none: nothing adds up what is spent on these people"
_LEAST_EPS = 1e-9
_STEPS = 10**12  # budgets are whole numbers of steps of 1e-12, so that the levels add up to what was split, exactly
_ROUNDING = Fraction(1, 10**14)  # floats that were split from a total add up to it but for this share of it


def private_release(
    hierarchy: Hierarchy,
    eps: Budgets | Split,
    *,
    budgets_from: str | None = None,
    neighbours: str = ADD_OR_REMOVE,
    contributions: int = 1,
    bounded_by: str = PROMISED,
    nodes_from: str = WITH_THE_COUNTS,
    accountant: Accountant | None = None,
    consistent: bool = True,
) -> PrivateRelease:
    """Ñ = N + DLap(sensitivity_l/ε_l) in whole numbers for every node; then, if `consistent`, children that sum to parents.

    `hierarchy` holds the true counts, in whole numbers. Its nodes are taken as public, so they must not depend on the
    people: a tree without its empty blocks tells which blocks are empty, and no noise takes that back. List every node where
    somebody could be, and give each node above the lowest level a child.

    `eps` is a budget for each level, at least 1e-9. Budgets are cut down to twelve decimals; what that leaves of their sum,
    less than 1e-12 a level, goes to the largest. (Above 50, where doubles are coarse, the sum is rounded to the nearest
    1e-12, so it may exceed what was given by half of that.)

    `budgets_from` says how the budgets were chosen: "node counts", "public data" or "policy", with details after a colon if
    you like. An `Allocation` or a `Split` knows it by itself: it carries a digest of the tree it was chosen on. Budgets that
    were chosen on these very counts are refused, however their file was written; so is "these counts". What cannot be
    checked, the record calls "declared public", with the digest.

    `neighbours` is "add or remove one person" (sensitivity 1 at every level) or "change one person's place" (2, but 0 at a
    level of a single node: the total is then no secret, and is released as it is, at no cost). With `contributions`, a
    person may be in up to so many rows of the table, in any leaves: sensitivity and noise are that many times as large. It
    is a bound on the data; `bounded_by` says in the record how it is kept, and `nodes_from` where the list of nodes is from.

    `accountant` is charged with the whole release before anything is drawn; if too little is left, nothing is. Without
    `consistent`, counts are clipped at zero and need not add up.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> found = private_release(tree, [0.5, 0.5], budgets_from="policy")
    >>> found
    PrivateRelease(1 level 1, 2 level 2; ε = 1.0, neighbours: add or remove one person)
    >>> bool(found.counts[0] == found.counts[1].sum()), found.record["levels"][0]["scale"]
    (True, 2.0)
    """
    return prepare(
        hierarchy,
        eps,
        budgets_from=budgets_from,
        neighbours=neighbours,
        contributions=contributions,
        bounded_by=bounded_by,
        nodes_from=nodes_from,
        consistent=consistent,
    ).draw(accountant)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A release that is checked in every way and not yet drawn: nothing is spent so far. Build one with `prepare`."""

    hierarchy: Hierarchy = field(repr=False)
    noises: tuple[Noise | None, ...]
    record: dict[str, Any]

    @property
    def epsilon(self) -> Fraction:
        """What drawing it spends."""
        return _spent(self.noises)

    def draw(self, accountant: Accountant | None = None) -> PrivateRelease:
        """Book the whole release, then draw the noise; each call is a release of its own, and is paid for."""
        tree = self.hierarchy
        charged = _charge(accountant, self.epsilon, f"private release: {', '.join(tree.levels)}")
        record = deepcopy(self.record) | {"account": charged}  # whoever edits the record of one draw edits no other
        counts = [n.astype(np.int64) for n in tree.counts]
        noisy = [noise.add(n) if noise else n for n, noise in zip(counts, self.noises, strict=True)]
        released = integer_top_down(tree, noisy) if record["consistent"] else [np.maximum(x, 0) for x in noisy]
        record["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        return PrivateRelease(tree.levels, released, tree.parents, tree.labels, record)


def prepare(
    hierarchy: Hierarchy,
    eps: Budgets | Split,
    *,
    budgets_from: str | None = None,
    neighbours: str = ADD_OR_REMOVE,
    contributions: int = 1,
    bounded_by: str = PROMISED,
    nodes_from: str = WITH_THE_COUNTS,
    consistent: bool = True,
) -> Prepared:
    """Everything that `private_release` does before it spends: all that can be refused is refused here.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> prepare(tree, [0.5, 0.5], budgets_from="policy").epsilon
    Fraction(1, 1)
    """
    values = _check_budgets(hierarchy, eps)
    checks.flag("consistent", consistent)
    origin = _origin(hierarchy, eps, budgets_from)
    rows = checks.whole("contributions", contributions, least=1, most=MOST_ROWS)
    checks.one_of("neighbours", neighbours, NEIGHBOURS)
    check_words("bounded_by", bounded_by, "how the rows of a person are bounded")
    check_words("nodes_from", nodes_from, "where the list of nodes is from")
    _check_tree(hierarchy)
    sensitivities = [sensitivity(neighbours, rows, int(nodes)) for nodes in hierarchy.sizes]
    noises = tuple(Noise.of(s, e) if s else None for s, e in zip(sensitivities, _budgets(values), strict=True))
    _check_printable(noises)
    if consistent:
        check_width(hierarchy, [noise.reach if noise else 0 for noise in noises])
    unit = {"neighbours": neighbours, "rows_per_person": rows, "bounded_by": bounded_by, "nodes_from": nodes_from}
    return Prepared(hierarchy, noises, _record(hierarchy, noises, unit | origin, consistent))


def _check_budgets(hierarchy: Hierarchy, eps: Budgets | Split) -> np.ndarray:
    """(L,) budgets of pure differential privacy for the levels of this tree."""
    check_hierarchy(hierarchy)
    if isinstance(eps, Split) and eps.levels != hierarchy.levels:
        raise ValueError(
            f"eps must be a split for the levels {', '.join(hierarchy.levels)}, got one for {', '.join(eps.levels)}"
        )
    values, mechanism = check_eps(hierarchy, eps.eps if isinstance(eps, Split) else eps)
    if mechanism.symbol != "ε":
        got = f"budgets {mechanism.symbol} for {mechanism.name} noise"
        raise ValueError(f"eps must be budgets ε of pure differential privacy, got {got}")
    return values


def _origin(hierarchy: Hierarchy, eps: Budgets | Split, said: Any) -> dict[str, Any]:
    """Where the budgets come from, for the record; those that depend on these counts are refused, as far as one can tell."""
    source = eps.chosen_on if isinstance(eps, Allocation | Split) else None
    _check_words(said, source)
    if source and source.digest == hierarchy.digest:  # whatever it says that it looked at
        raise ValueError(_leaks("budgets that were chosen on these very counts"))
    by_nodes = source == Source.nodes(hierarchy) and (isinstance(eps, Split) or _follows(eps, hierarchy))
    if by_nodes and isinstance(eps, Split) and not eps.follows_from(hierarchy):
        raise ValueError(
            f"eps must be the budgets that its rule gives, got a split that says {eps.rule} and has others: choose it anew"
        )
    rule = f": rule {eps.rule}" if isinstance(eps, Split) else ""
    words = said or ("node counts" if by_nodes else "declared public") + rule
    found: dict[str, Any] = {"origin": CHECKED if by_nodes else DECLARED, "digest": source.digest if source else None}
    if by_nodes and isinstance(eps, Split) and eps.weights:  # which can bend a rule to any budgets, also to those of counts
        found |= {"origin": WEIGHTED, "weights": list(eps.weights)}
    return {"budgets_from": words, "budgets": found}


def _follows(eps: Any, hierarchy: Hierarchy) -> bool:
    """Are these budgets what a rule on nodes gives, without weights? An `Allocation` does not know which it is from."""
    budgets = tuple(np.asarray(eps).tolist())
    return any(Split(eps.levels, budgets, rule, None, eps.chosen_on).follows_from(hierarchy) for rule in BY_NODES)


def _check_words(said: Any, source: Source | None) -> None:
    """Refuse words that are no source, and words that contradict what the budgets remember."""
    if said is None and source is not None:
        return
    if isinstance(said, str):
        check_words("budgets_from", said, "how the budgets were chosen")
    word = said.partition(":")[0].strip() if isinstance(said, str) else said
    if isinstance(said, str) and word == "these counts":
        raise ValueError(_leaks(repr(said)))
    checks.one_of("budgets_from", word, SOURCES)
    if word == "node counts" and source is not None and source.looked_at == "counts":
        raise ValueError(f"budgets_from must be public data or policy, got {said!r} for budgets that were chosen on counts")


def _leaks(got: str) -> str:
    return (
        "budgets_from must be a source that is known without the counts: budgets that depend on them change the scale "
        "of the noise from one neighbour to the other, and the privacy loss is then not bounded by their sum. "
        f"Split by node counts (cube_root) or on public data, got {got}"
    )


def _budgets(eps: np.ndarray) -> list[Fraction]:
    """(L,) budgets in whole steps of 1e-12 that add up to the decimal that was split, never a step above it."""
    if eps.min() < _LEAST_EPS:
        raise ValueError(f"eps must be at least {_LEAST_EPS} at each level, got {eps.min()}")
    given = [checks.fraction("eps", e) for e in eps.tolist()]
    steps, total = [e * _STEPS // 1 for e in given], sum(given) * _STEPS
    slack = min(total * _ROUNDING, Fraction(1, 2))  # of a step: a total of 100 must not become one step more
    steps[int(eps.argmax())] += (total + slack) // 1 - sum(steps)
    return [Fraction(s, _STEPS) for s in steps]


def _check_printable(noises: Sequence[Noise | None]) -> None:
    """Refuse budgets that a record cannot say: beyond some thousands, not every decimal is one that a float prints."""
    for eps in (_spent(noises), *(noise.epsilon for noise in noises if noise)):
        if Fraction(repr(float(eps))) != eps:
            raise ValueError(f"eps must be budgets that add up in fifteen digits, got {float(eps)} with more: round them")


def _check_tree(hierarchy: Hierarchy) -> None:
    """Refuse counts that are not whole, and a tree where somebody could be above the leaves and in none of them."""
    for i, n in enumerate(hierarchy.counts):
        if (n != np.floor(n)).any() or n.max() > 2**40:
            got = f"another (not shown) at level {hierarchy.levels[i]!r}"
            raise ValueError(f"hierarchy must hold whole numbers up to 2**40, got {got}")
    for i, parents in enumerate(hierarchy.links):
        childless = hierarchy.sizes[i] - len(np.unique(parents))
        if childless:
            got = f"{childless} of {hierarchy.levels[i]}"
            raise ValueError(
                f"hierarchy must give each node above the lowest level a child, got {got} without: "
                "nobody can be there, so leave them out of the geography, or list the places below them"
            )


def _charge(accountant: Accountant | None, spent: Fraction, what: str) -> Any:
    """Book the whole release; what the record says of it."""
    purse = check_accountant("accountant", accountant)
    if purse is None:
        return NO_ACCOUNT
    return purse.book(spent, what) if spent else "not charged: nothing is spent"


def _spent(noises: Sequence[Noise | None]) -> Fraction:
    return sum((noise.epsilon for noise in noises if noise), Fraction())


def _record(
    hierarchy: Hierarchy, noises: Sequence[Noise | None], unit_and_origin: dict[str, Any], consistent: bool
) -> dict[str, Any]:
    """What a reader needs to check the cost, in plain types: no count, true or released."""
    from .. import __version__

    levels = [
        {
            "level": level,
            "nodes": int(size),
            "epsilon": float(noise.epsilon) if noise else 0.0,
            "sensitivity": noise.sensitivity if noise else 0,
            "scale": noise.scale if noise else 0.0,
        }
        for level, size, noise in zip(hierarchy.levels, hierarchy.sizes, noises, strict=True)
    ]
    what = "people" if unit_and_origin["rows_per_person"] == 1 else "rows about people"
    steps = "top down, each family the nearest whole numbers >= 0 summing to its parent" if consistent else "clipped at zero"
    return {
        "released": f"the number of {what} in every node of every level; the list of nodes is taken as public",
        "epsilon": float(_spent(noises)),
        "levels": levels,
        **unit_and_origin,
        "composition": "a person moves the counts of a level by at most its sensitivity; the epsilons of the levels add up",
        "mechanism": "discrete Laplace on int64 (OpenDP make_laplace), P(k) proportional to exp(-|k|/scale)",
        "post_processing": steps,
        "consistent": bool(consistent),
        "software": {"opendp": opendp_version(), "helpers": __version__},
    }
