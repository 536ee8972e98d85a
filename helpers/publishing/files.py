"""Files out: released counts laid out as a table, and writing without losing what was there."""

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .. import checks
from ..hierarchy import Hierarchy


def long_form(hierarchy: Hierarchy, counts: Sequence[np.ndarray]) -> pd.DataFrame:
    """One row a node, all levels below each other: its level, its path (empty below its level) and its count.

    >>> leaves = pd.DataFrame({"region": ["N", "N"], "store": ["a", "b"], "population": [2, 3]})
    >>> tree = Hierarchy.from_frame(leaves, levels=["region", "store"])
    >>> long_form(tree, tree.counts)
        level region store  count
    0  region      N            5
    1   store      N     a      2
    2   store      N     b      3
    """
    named = hierarchy.labels
    if named is None:
        raise ValueError("hierarchy must have labels, as one from Hierarchy.from_frame has, got one without")
    tables: list[pd.DataFrame] = []
    paths: dict[str, np.ndarray] = {}
    heads = [_unlike(hierarchy.levels, head) for head in ("level", "count")]
    for level, (name, labels, values) in enumerate(zip(hierarchy.levels, named, counts, strict=True)):
        if level:
            paths = {key: path[hierarchy.links[level - 1]] for key, path in paths.items()}
        paths[name] = labels
        below = dict.fromkeys(hierarchy.levels[level + 1 :], "")
        tables.append(pd.DataFrame({heads[0]: name, **paths, **below, heads[1]: values}))
    return pd.concat(tables, ignore_index=True)


def _unlike(names: Sequence[str], head: str) -> str:
    """The head of a column that none of the names is."""
    while head in names:
        head = f"released {head}"
    return head


def save_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV. If a text holds a carriage return, which pandas does not quote, all texts get quotes."""
    texts = [pd.Series(table.columns), *(table[name] for name in table.select_dtypes(exclude="number"))]
    awkward = any(text.astype("str").str.contains("\r", regex=False).any() for text in texts)
    quoting = csv.QUOTE_NONNUMERIC if awkward else csv.QUOTE_MINIMAL
    table.to_csv(path, index=False, quoting=quoting, compression=None)  # plain text, whatever the file's name ends in


def check_target(path: str | Path, force: bool) -> Path:
    """Return where a file may be written: in a folder that is there, and over an existing file only with `force`."""
    path = checks.path("path", path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be the name of a file to write, but is a folder or a device")
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already; nothing was written")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}")
    return path.resolve()  # through a link, so that the file it leads to is replaced and not the link


def write(path: Path, save: Callable[[Path], object], force: bool) -> None:
    """Write a file in one go: `save` fills a new one beside it, which then takes its place; a failure leaves the old one.

    Without `force`, a file that somebody else has written there by then is left alone, and the new one is refused.
    """
    new = path.with_name(f".{os.getpid()}-{path.name}")  # keeps the ending, which tells a figure its format
    try:
        save(new)
        check_target(path, force)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
