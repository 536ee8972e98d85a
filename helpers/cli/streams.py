"""Standard output that may be full, closed or gone: what is printed after the work is done cannot undo it."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress


def tell(lines: Sequence[str]) -> None:
    """Print what was done. It is done: a full disk, a closed stream or Ctrl-C changes nothing about that any more."""
    try:
        print("\n".join(lines), flush=True)
    except (OSError, ValueError, KeyboardInterrupt):
        silence()


def silence_if_full() -> None:
    """Look whether what was printed can still go out; Python would end with a code of its own if it cannot."""
    try:
        if sys.stdout is not None:  # as it is after >&-
            sys.stdout.flush()
    except (OSError, ValueError):
        silence()


def silence() -> None:
    """Send what is still to be printed nowhere."""
    with suppress(OSError, ValueError, AttributeError):  # a stream without a file
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
