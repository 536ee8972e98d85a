"""Functions of the helpers, each with an oracle."""

from .machine import Target

TARGETS: dict[str, Target] = {}
