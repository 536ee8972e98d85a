"""Progress bars: seen where somebody can see them, and never a reason to stop."""

import errno
import sys
from functools import partial
from io import StringIO

import pytest
from tqdm import tqdm

from helpers.publishing.progress import _Unfailing, progress


class Broken(StringIO):
    """A stream that takes nothing any more, as on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self):
        raise OSError(errno.ENOSPC, "No space left on device")


def closed():
    stream = StringIO()
    stream.close()
    return stream


def hurried(monkeypatch, stream):
    """A bar on this standard error that is shown at once."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("tqdm.tqdm", partial(tqdm, disable=False))  # whatever TQDM_DISABLE says
    bar = progress("noise", 10, " counts")
    assert (bar.delay, bar.leave) == (1, False)
    bar.delay = bar.mininterval = 0
    return bar


@pytest.mark.parametrize("stream", [Broken, closed, lambda: None], ids=["full", "closed", "none"])
def test_a_bar_that_nobody_can_see_stops_nothing(stream, monkeypatch):
    """Standard error is full, closed or not there: the work goes on, and the bar counts to the end."""
    with hurried(monkeypatch, stream()) as bar:
        for _ in range(10):
            bar.update(1)
    assert bar.n == 10
    quiet = _Unfailing(stream())
    assert quiet.write("x") is quiet.flush() is None


def test_a_bar_is_seen(monkeypatch):
    """What it is about, how far it is, and in what."""
    stream = StringIO()
    assert _Unfailing(stream).getvalue() == ""  # whatever else a bar asks of a stream
    with hurried(monkeypatch, stream) as bar:
        bar.update(5)
        bar.refresh()
    assert "noise:  50%" in stream.getvalue() and "5.00/10.0" in stream.getvalue() and " counts/s" in stream.getvalue()


def test_another_fault_of_a_stream_is_not_hidden():
    """A fault of the program is none of the stream's."""
    with pytest.raises(ZeroDivisionError):
        _Unfailing(type("Stream", (), {"write": lambda *_: 1 / 0})()).write("x")
