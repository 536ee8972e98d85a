"""Streams that may be full, closed or gone: what is printed after the work is done cannot undo it."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


def tell(lines: Sequence[str]) -> None:
    """Print what was done. It is done: a full disk, a closed stream or Ctrl-C changes nothing about that any more."""
    try:
        print("\n".join(lines), flush=True)
    except (OSError, ValueError, KeyboardInterrupt):
        silence()


def note(sentence: str) -> None:
    """Say something on standard error, if anybody can be told."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:  # as it is after 2>&-; print would then take standard output
            print(sentence, file=sys.stderr, flush=True)


def ignore_interrupts() -> None:
    """From here on Ctrl-C is too late: what is left takes an instant, and must not look undone."""
    with suppress(ValueError):  # not in the main thread, which alone is interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def interrupts_restored() -> Iterator[None]:
    """For whoever goes on after a command: Ctrl-C does again what it did before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, before)


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
