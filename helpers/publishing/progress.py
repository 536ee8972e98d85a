"""Progress bars that cannot end the work: where nothing can be shown, nothing is.

A bar is shown on standard error while noise is drawn that is already paid for. A full disk behind that stream, or a stream
that is closed, must not throw the noise away.
"""

import sys
from contextlib import suppress
from typing import Any


def progress(desc: str, total: int | None, unit: str) -> Any:
    """A bar that shows after a second, and is gone afterwards (the environment variable TQDM_DISABLE=1 turns it off)."""
    from tqdm import tqdm

    stream: Any = _Unfailing(sys.stderr)
    return tqdm(desc=desc, total=total, unit=unit, unit_scale=True, delay=1, leave=False, file=stream)


class _Unfailing:
    """A stream, or None, on which nothing can go wrong."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError, AttributeError):  # full, closed, or none at all
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError, AttributeError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
