"""Files that are read, and the command line."""

from .machine import Target

TARGETS: dict[str, Target] = {}
