"""Calls that must be refused, past a type checker."""


def wrong(value):
    """A value of a type that is not allowed where it is given: of it, a type checker knows nothing."""
    return value
