"""Write static/explorers/trees.js: the counts of every state and tree of the book, small enough to travel with a page.

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
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from helpers import census, load_state

TARGET = Path(__file__).parent / "static" / "explorers" / "trees.js"
TREES = ("geography", "populated", "published")
DIGITS = "".join(chr(code) for code in range(ord("#"), ord("~") + 1) if chr(code) != "\\")
LAST = 72  # a digit below it ends a number

SCRIPT = """\
// Made by book/explore/trees.py, and explained there. Do not edit: run `make figures`.
"use strict";

const Trees = (() => {
  const STORED = {
    %s
  };

  function numbers(text) {
    const found = [];
    let value = 0, unit = 1;
    for (const letter of text) {
      const code = letter.charCodeAt(0), digit = code - (code > 92 ? 36 : 35);
      value += digit * unit;
      if (digit < %d) { found.push(value); value = 0; unit = 1; } else unit *= %d;
    }
    return found;
  }

  // Count the nodes that a text tells of into `nodes` (how many have each count), or take them out.
  function add(nodes, text, sign) {
    const [[least, ...often], steps = []] = text.split(" ").map(numbers);
    const put = (count, times) => nodes.set(count, (nodes.get(count) ?? 0) + sign * times);
    often.forEach((times, i) => put(least + i, times));
    steps.reduce((count, step) => (put(count + step, 1), count + step), least + often.length);
  }

  function level(all, [come, go], tree) {
    const nodes = new Map();
    add(nodes, all, 1);
    if (tree !== "geography") nodes.delete(0);
    if (tree === "published") { add(nodes, come, 1); add(nodes, go, -1); }
    const found = [...nodes].filter(([, times]) => times);
    return { values: found.map(([count]) => count), times: found.map(([, times]) => times) };
  }

  // The levels of a tree, top first: state, tracts, blocks.
  function load(state, tree) {
    const { geography, published } = STORED[state];
    const [tracts, blocks] = geography.map((all, i) => level(all, published[i], tree));
    const people = tracts.values.reduce((sum, count, i) => sum + count * tracts.times[i], 0);
    return [{ values: [people], times: [1] }, tracts, blocks];
  }

  return { load };
})();
"""


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
    counts, least = np.sort(counts), min(counts)
    often = np.bincount(counts)[least:]  # how often the least count occurs, the next one …
    head = np.cumsum([0, *(len(number(n)) for n in often)])  # letters for the first few of them
    steps = np.diff(counts, prepend=least)
    tail = np.cumsum([0, *(len(number(n)) for n in steps[::-1])])[::-1]  # and for the nodes that remain, as steps
    dense = int(np.argmin(head + tail[np.cumsum([0, *often])]))
    steps = np.diff(counts[counts >= least + dense], prepend=least + dense)
    return f"{''.join(map(number, [least, *often[:dense]]))} {''.join(map(number, steps))}".rstrip()


def stored(state: str) -> str:
    """What the script holds of a state."""
    geography, populated, published = (load_state(state, tree).counts[1:] for tree in TREES)
    changes = []
    for before, after in zip(populated, published, strict=True):
        before, after = Counter(before.tolist()), Counter(after.tolist())
        changes.append([level([*gained.elements()]) for gained in (after - before, before - after)])
    return json.dumps({"geography": [level(counts.tolist()) for counts in geography], "published": changes})


def script() -> str:
    """The whole of trees.js."""
    states = [f"{postal}: {stored(name)}," for name, (postal, _) in census.STATES.items()]
    return SCRIPT % ("\n    ".join(states), LAST, len(DIGITS) - LAST)


if __name__ == "__main__":
    TARGET.write_text(script(), encoding="utf-8")
