"""A release that may be published: exact integer noise, and a record of what it cost.

    eps: (L,) budget of each level · sensitivity: (L,) the most that a neighbour moves a level's counts, all together
    scale = sensitivity / eps, in people · geography: the nodes, which are public; the counts in them are not

Nothing in this file prints or keeps a true count. So its refusals do not show the value where that is a count.
"""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..allocation import Allocation, Budgets, check_eps
from ..consistency.integers import integer_top_down
from ..hierarchy import Hierarchy
from .accountant import Accountant
from .exact_noise import Noise, opendp_version
from .files import save_csv

ADD_OR_REMOVE, CHANGE_PLACE = NEIGHBOURS = ("add or remove one person", "change one person's place")
SOURCES = ("node counts", "public data", "policy")  # of the budgets: all of them known before the counts are
FILES = ("counts.csv", "record.json")
_LEAST_EPS = 1e-9
_STEPS = 10**12  # budgets are whole numbers of steps of 1e-12, so that the levels add up to what was split, exactly
_ROUNDING = Fraction(1, 10**14)  # floats that were split from a total add up to it but for this share of it


@dataclass(frozen=True, eq=False, repr=False)
class PrivateRelease:
    """Released counts, the public geography they belong to, and the record of what they cost. No true count is kept."""

    levels: tuple[str, ...]
    counts: list[np.ndarray]
    parents: tuple[np.ndarray | None, ...]
    labels: tuple[np.ndarray, ...] | None
    record: dict[str, Any]

    def table(self) -> pd.DataFrame:
        """One row a node, top level first: `level`, `node` and `parent` (positions in their levels), `label`, `count`."""
        return pd.concat([self._level(i) for i in range(len(self.levels))], ignore_index=True)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write `counts.csv` and `record.json` into a folder of their own: both or neither.

        A folder that exists is refused unless `overwrite`, and then only if it holds an earlier release and nothing else.
        Overwriting deletes a file, not the fact that its budget was spent.
        """
        folder = checks.path("folder", folder)
        _check_folder(folder, overwrite)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            fresh = Path(place) / "fresh"
            fresh.mkdir()
            save_csv(self.table(), fresh / "counts.csv")
            text = json.dumps(self.record, indent=2, ensure_ascii=False) + "\n"
            (fresh / "record.json").write_bytes(text.encode())
            _put(fresh, folder, aside=Path(place) / "old")
        return folder

    def _level(self, i: int) -> pd.DataFrame:
        count = self.counts[i]
        parent = pd.array([pd.NA] * len(count) if i == 0 else self.parents[i], dtype="Int64")
        label = "" if self.labels is None else self.labels[i].astype(str)
        columns = {"level": self.levels[i], "node": np.arange(len(count)), "parent": parent, "label": label, "count": count}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{level['nodes']:,} {level['level']}" for level in self.record["levels"])
        return f"PrivateRelease({sizes}; ε = {self.record['epsilon']}, neighbours: {self.record['neighbours']})"


def private_release(
    hierarchy: Hierarchy,
    eps: Budgets,
    *,
    budgets_from: str,
    neighbours: str = ADD_OR_REMOVE,
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
    you like. "these counts" is refused, and so is an `Allocation` that `minimize_error` or `minimize_budget` made on this
    very tree. (The last is a guard against accidents: bare numbers get past it.)

    `neighbours` is "add or remove one person" (sensitivity 1 at every level) or "change one person's place" (2, but 0 at a
    level of a single node: the total is then no secret, and is released as it is, at no cost).

    `accountant` is charged with the whole release before anything is drawn; if too little is left, nothing is. Without
    `consistent`, counts are clipped at zero and need not add up.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> found = private_release(tree, [0.5, 0.5], budgets_from="policy")
    >>> found
    PrivateRelease(1 level 1, 2 level 2; ε = 1.0, neighbours: add or remove one person)
    >>> bool(found.counts[0] == found.counts[1].sum()), found.record["levels"][0]["scale"]
    (True, 2.0)
    """
    values, mechanism = check_eps(hierarchy, eps)
    if mechanism.symbol != "ε":
        got = f"budgets {mechanism.symbol} for {mechanism.name} noise"
        raise ValueError(f"eps must be budgets ε of pure differential privacy, got {got}")
    checks.flag("consistent", consistent)
    _check_source(hierarchy, eps, budgets_from)
    sensitivities = _sensitivities(hierarchy, checks.one_of("neighbours", neighbours, NEIGHBOURS))
    counts, budgets = _whole_counts(hierarchy), _budgets(values)
    noises = [Noise.of(s, e) if s else None for s, e in zip(sensitivities, budgets, strict=True)]
    spent = sum((noise.epsilon for noise in noises if noise), Fraction())
    _charge(accountant, spent, f"private release: {', '.join(hierarchy.levels)}")
    noisy = [noise.add(n) if noise else n for n, noise in zip(counts, noises, strict=True)]
    released = integer_top_down(hierarchy, noisy) if consistent else [np.maximum(x, 0) for x in noisy]
    record = _record(hierarchy, noises, spent, budgets_from, neighbours, consistent)
    return PrivateRelease(hierarchy.levels, released, hierarchy.parents, hierarchy.labels, record)


def _check_source(hierarchy: Hierarchy, eps: Budgets, budgets_from: Any) -> None:
    """Refuse budgets that depend on the counts, as far as anybody can tell."""
    if not isinstance(budgets_from, str):
        checks.one_of("budgets_from", budgets_from, SOURCES)
    source = budgets_from.partition(":")[0].strip()
    optimised = isinstance(eps, Allocation) and _optimal_here(hierarchy, eps)
    if source == "these counts" or optimised:
        got = "an Allocation that minimises the error of these very counts" if optimised else repr(budgets_from)
        raise ValueError(
            "budgets_from must be a source that is known without the counts: budgets that depend on them change the scale "
            "of the noise from one neighbour to the other, and the privacy loss is then not bounded by their sum. "
            f"Split by node counts (cube_root) or on public data, got {got}"
        )
    checks.one_of("budgets_from", source, SOURCES)


def _optimal_here(hierarchy: Hierarchy, allocation: Allocation) -> bool:
    """Was the split optimised on this tree, or on another one with the same counts?"""
    on = allocation.optimised_on
    return on is not None and all(map(np.array_equal, on.counts, hierarchy.counts))


def _budgets(eps: np.ndarray) -> list[Fraction]:
    """(L,) budgets in whole steps of 1e-12 that add up to the decimal that was split, never a step above it."""
    if eps.min() < _LEAST_EPS:
        raise ValueError(f"eps must be at least {_LEAST_EPS} at each level, got {eps.min()}")
    given = [checks.fraction("eps", e) for e in eps.tolist()]
    steps, total = [e * _STEPS // 1 for e in given], sum(given) * _STEPS
    slack = min(total * _ROUNDING, Fraction(1, 2))  # of a step: a total of 100 must not become one step more
    steps[int(eps.argmax())] += (total + slack) // 1 - sum(steps)
    return [Fraction(s, _STEPS) for s in steps]


def _whole_counts(hierarchy: Hierarchy) -> list[np.ndarray]:
    """The counts of each level as int64, in a tree where everybody is in some leaf."""
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
    return [n.astype(np.int64) for n in hierarchy.counts]


def _sensitivities(hierarchy: Hierarchy, neighbours: str) -> list[int]:
    if neighbours == ADD_OR_REMOVE:
        return [1] * len(hierarchy.levels)
    return [2 if size > 1 else 0 for size in hierarchy.sizes]  # one node down by one, another up; a single node stays


def _charge(accountant: Accountant | None, spent: Fraction, what: str) -> None:
    if accountant is None:
        return
    if not isinstance(accountant, Accountant):
        raise TypeError(f"accountant must be an Accountant or None, got {accountant!r}")
    if spent:
        accountant.spend(spent, what)


def _record(
    hierarchy: Hierarchy,
    noises: Sequence[Noise | None],
    spent: Fraction,
    budgets_from: str,
    neighbours: str,
    consistent: bool,
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
    steps = "nearest whole numbers, not negative, children summing to parents, top down" if consistent else "clipped at zero"
    return {
        "released": "the number of people in every node of every level; the list of nodes is taken as public",
        "epsilon": float(spent),
        "levels": levels,
        "neighbours": neighbours,
        "composition": "parallel within a level, sequential over levels: the epsilons of the levels add up",
        "budgets_from": budgets_from,
        "mechanism": "discrete Laplace on int64 (OpenDP make_laplace), P(k) proportional to exp(-|k|/scale)",
        "post_processing": steps,
        "software": {"opendp": opendp_version(), "helpers": __version__},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _check_folder(folder: Path, overwrite: bool) -> None:
    if any(above.is_file() for above in folder.parents):
        raise FileExistsError(f"folder must be in a folder, got {str(folder)!r}, which would be below a file")
    if not folder.exists():
        return
    if not overwrite:
        raise FileExistsError(f"folder must be new (overwrite=True replaces a release), got {str(folder)!r}, which exists")
    if not folder.is_dir() or {path.name for path in folder.iterdir()} != set(FILES):
        raise FileExistsError(f"folder must hold a release and nothing else to be overwritten, got {str(folder)!r}")


def _put(fresh: Path, folder: Path, aside: Path) -> None:
    """Rename `fresh` to `folder`; what was there goes aside, and comes back if the renaming fails."""
    replaced = folder.exists()
    if replaced:
        folder.rename(aside)
    try:
        fresh.rename(folder)
    except BaseException:  # Ctrl-C too
        if replaced:
            aside.rename(folder)
        raise
