"""Write into static/explorers/trees.js the counts of every state and tree of the book, small enough to travel with a page.

The error of a level depends only on which counts occur and how often, so that is all a page needs. A level is written as its
least count and how often that one, the next, the one after it … occur, and then, from where it pays, as the steps from each
node's count to the next:

    "least count, times, times …" + " " + "step, step …"

Numbers are written in 91 digits, the letters from # to ~ without the backslash. One below LAST is a single digit; the others
start with a digit of LAST or more, which says that more follows. What follows from something else is not stored: `populated`
is `geography` without the empty nodes, `published` is `populated` with some nodes made one (so: counts that come and counts
that go), and a state is the sum of its tracts.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from manuscript import ROOT

from helpers import census, load_state

TARGET = ROOT / "book" / "explore" / "static" / "explorers" / "trees.js"
TREES = ("geography", "populated", "published")
DIGITS = "".join(chr(code) for code in range(ord("#"), ord("~") + 1) if chr(code) != "\\")
LAST = 72  # a digit below it ends a number; the script, which reads them, knows it too
STORED = re.compile(r"(?<=  const STORED = \{\n).*?(?=^  \};)", re.DOTALL | re.MULTILINE)  # in the script


def number(n: int) -> str:
    """A whole number of zero or more in the digits above, lowest first.

    >>> number(0), number(71), number(72), number(1000)
    ('#', 'k', 'l#', '|S')
    """
    more = len(DIGITS) - LAST
    text = ""
    while n >= LAST:
        n, rest = divmod(n - LAST, more)
        text += DIGITS[LAST + rest]
    return text + DIGITS[n]


def level(counts: Sequence[int]) -> str:
    """The counts of a level as text, in the shortest of the forms above.

    >>> level([2, 2, 2, 3, 1000])
    '%& #yS'
    """
    if not counts:
        return "#"
    ordered, least = np.sort(counts), min(counts)
    often = np.bincount(ordered)[least:]  # how often the least count occurs, the next one …
    head = np.cumsum([0, *(len(number(n)) for n in often)])  # letters for the first few of them
    steps = np.diff(ordered, prepend=least)
    tail = np.cumsum([0, *(len(number(n)) for n in steps[::-1])])[::-1]  # and for the nodes that remain, as steps
    dense = int(np.argmin(head + tail[np.cumsum([0, *often])]))
    steps = np.diff(ordered[ordered >= least + dense], prepend=least + dense)
    return f"{''.join(map(number, [least, *often[:dense]]))} {''.join(map(number, steps.tolist()))}".rstrip()


def stored(state: str) -> str:
    """What the script holds of a state."""
    geography, populated, published = (load_state(state, tree).counts[1:] for tree in TREES)
    changes = []
    for before, after in zip(populated, published, strict=True):
        old, new = Counter(before.tolist()), Counter(after.tolist())
        changes.append([level([*gained.elements()]) for gained in (new - old, old - new)])
    return json.dumps({"geography": [level(counts.tolist()) for counts in geography], "published": changes})


def script() -> str:
    """The whole of trees.js, with the counts of now."""
    states = [f"    {postal}: {stored(name)},\n" for name, (postal, _) in census.STATES.items()]
    return STORED.sub(lambda _: "".join(states), TARGET.read_text(encoding="utf-8"))


if __name__ == "__main__":
    TARGET.write_text(script(), encoding="utf-8")
