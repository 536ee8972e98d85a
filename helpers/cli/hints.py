"""Hints that a list of nodes came from the data, or that people are counted twice: for the data holder, before a release.

    leaf: a node of the lowest level · total: a row that holds the sum of others · microdata: a table with one row a person

A release publishes its list of nodes as it is, without noise. If that list was made from the data, a node that nobody is in
is missing, and one that a single person is in is there: everybody can see it. A program cannot know where a list came from,
so it can only point at what looks wrong. `hints_of_nodes` looks at names and at how many rows there are. `hints_of_counts`
looks at counts, and whether it speaks tells something about them: that every leaf has somebody, say. It is for the terminal
of the person who holds the table, who knows the counts already, on standard error. It must never go into a file, a record,
or output that is published. It names no node and no number.
"""

import numpy as np

from ..hierarchy import Hierarchy, check_hierarchy

_PUBLIC = "the list of nodes must come from a public source, such as a register of codes, with empty nodes in it"
# In the languages of many statistical offices: a word that a name of a total begins or ends with, and whole names.
_TOTAL = frozenset(
    "total totals totale totali totales totaux totais totaal totalt subtotal insgesamt gesamt gesamtsumme summe "
    "zwischensumme yhteensä ogółem celkem összesen toplam всего итого усього σύνολο 合計 総計 総数 合计 总计 總計 총계 합계 "
    "الإجمالي المجموع".split()
)
_ALL = frozenset(
    "all alle sum somme somma suma soma summa samlet zusammen ensemble tous toutes tutti todos todas razem spolu".split()
)


def hints_of_nodes(tree: Hierarchy, rows: int, counted: bool = True) -> list[str]:
    """What the names and the number of rows say against a list of nodes; `counted`: the table has a column of counts.

    >>> tree = Hierarchy.from_counts([[5], [5, 0]], [None, [0, 0]])
    >>> hints_of_nodes(tree, rows=2)
    []
    >>> hints_of_nodes(tree, rows=5, counted=False)[0][:54]
    'Each row is a person, so nodes without people are miss'
    """
    check_hierarchy(tree)
    found = []
    if not counted:
        found.append(f"Each row is a person, so nodes without people are missing: {_PUBLIC}.")
    elif rows > tree.sizes[-1]:
        found.append(f"Some leaves have several rows, as in a table of people or of their visits: {_PUBLIC}.")
    totals = [tree.levels[at] for at, names in enumerate(tree.labels or ()) if any(map(is_total, set(names)))]
    if totals:
        found.append(f"A name of {' and of '.join(totals)} looks like a total: if it holds the sum of others, leave it out.")
    return found


def hints_of_counts(tree: Hierarchy, rows: int) -> list[str]:
    """What the counts say against a list of nodes. This tells something about them: it is for the data holder alone.

    >>> hints_of_counts(Hierarchy.from_counts([[5], [5, 0]], [None, [0, 0]]), rows=2)
    []
    >>> [hint[:20] for hint in hints_of_counts(Hierarchy.from_counts([[6], [1, 3, 2]], [None, [0, 0, 0]]), rows=3)]
    ['No leaf has a count ', 'In every family of t']
    """
    check_hierarchy(tree)
    found, leaves = [], tree.counts[-1]
    if leaves.all() and leaves.sum() == rows:
        found.append(f"The rows count one person each, as in a table of people: {_PUBLIC}.")
    elif leaves.all():
        found.append(f"No leaf has a count of zero, as in a list that was made from the data: {_PUBLIC}.")
    if _holds_totals(tree):
        found.append("In every family of three leaves or more, one is the sum of the others: leave out rows of totals.")
    return found


def is_total(name: object) -> bool:
    """Does a name look like that of a total?

    >>> [is_total(name) for name in ("Total", "Nord gesamt", "All", "Summerland", "007")]
    [True, True, True, False, False]
    """
    words = str(name).casefold().split()
    ends = {*words[:1], *words[-1:]}
    return bool(ends & _TOTAL or (len(words) == 1 and ends & _ALL))


def _holds_totals(tree: Hierarchy) -> bool:
    """Is one leaf the sum of its siblings in every family with people in three leaves or more, if there is one?"""
    leaves = tree.counts[-1]
    starts = tree.families[-1][1] if len(tree.levels) > 1 else np.array([0])
    large = np.add.reduceat(np.sign(leaves), starts) > 2
    sums, largest = np.add.reduceat(leaves, starts)[large], np.maximum.reduceat(leaves, starts)[large]
    return bool(large.any() and (2 * largest == sums).all())
