"""Where the book's counts come from: those that ship with the package, as tables and as trees.

`bureau` is a room of its own, for the Census Bureau's own files. Nothing opens its door but somebody who asks for
`source="official"`, `source="ppmf"`, or the command `verify`.
"""

from .embedded import LEVELS, NATION_LEVELS, SOURCES, STATES, TREES, blocks, check_levels, leaves, leaves_2010, nation
from .states import state_name
from .trees import load_nation, load_state, prior

__all__ = [
    "LEVELS", "NATION_LEVELS", "SOURCES", "STATES", "TREES", "blocks", "check_levels", "leaves", "leaves_2010",
    "load_nation", "load_state", "nation", "prior", "state_name",
]  # fmt: skip
