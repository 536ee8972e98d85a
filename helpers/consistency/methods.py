"""Ways to make a noisy tree add up, by name: what `release` and `simulate` take as `consistent`.

    noisy: one array of unbiased, unclipped measurements a level · v: (L,) variance of their noise, in people squared

A method is a function of the tree, the noisy counts and v; it returns counts that are not negative, one array a level. A new
one is one more entry of METHODS. None of this is on the way of a published table, whose counts stay whole: see `integers`.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..hierarchy import Hierarchy, check_like
from .least_squares import gls
from .projection import top_down

Noisy = Sequence[ArrayLike]
Method = Callable[[Hierarchy, Noisy, np.ndarray], list[np.ndarray]]


def bottom_up(hierarchy: Hierarchy, noisy: Noisy) -> list[np.ndarray]:
    """Let every parent be the sum of its children, from the leaves to the top; noisy counts above the leaves are not used.

    Leaves are taken as given, below zero or not. A node without children becomes zero.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [level.tolist() for level in bottom_up(tree, [[6.0], [1.0, 3.0]])]
    [[4.0], [1.0, 3.0]]
    """
    out = [check_like("noisy", noisy, hierarchy)[-1].copy()]
    for level in range(len(hierarchy.levels) - 2, -1, -1):
        out.insert(0, hierarchy.sum_children(level, out[0]))
    return out


def clip(hierarchy: Hierarchy, noisy: Noisy, v: np.ndarray | None = None) -> list[np.ndarray]:
    """max(0, x) for every node, and nothing more: children need not add up.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [level.tolist() for level in clip(tree, [[6.0], [-1.0, 3.0]])]
    [[6.0], [0.0, 3.0]]
    """
    return [np.maximum(x, 0.0) for x in check_like("noisy", noisy, hierarchy)]


#: "top_down" is the paper's way, "bottom_up" adds up the leaves, "gls" fits every measurement; "clip" adds up nothing.
#:
#: :meta hide-value:
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "clip": clip,
        "top_down": lambda tree, noisy, v: top_down(tree, clip(tree, noisy)),
        "bottom_up": lambda tree, noisy, v: bottom_up(tree, clip(tree, noisy)),
        "gls": lambda tree, noisy, v: top_down(tree, gls(tree, noisy, v / v[-1])),  # their ratios are all that matters
    }
)


def method_of(consistent: bool | str | Callable) -> Method:
    """The method that `consistent` asks for: True is "top_down", False is "clip"; or a name, or a function of one's own.

    A function takes the tree and its noisy counts, and returns one array of counts a level.

    >>> method_of("magic")
    Traceback (most recent call last):
    ValueError: consistent must be one of clip, ..., got 'magic'
    """
    if isinstance(consistent, bool | np.bool_):
        return METHODS["top_down" if consistent else "clip"]
    if isinstance(consistent, str):
        return METHODS[checks.one_of("consistent", consistent, list(METHODS))]
    if not callable(consistent):
        raise TypeError(f"consistent must be True, False, a method ({', '.join(METHODS)}) or a function, got {consistent!r}")
    return lambda tree, noisy, v: consistent(tree, noisy)
