"""Streams that are full, closed or gone: whoever prints to them has done its work all the same."""

import io
import signal
import subprocess
import sys
import threading

import pytest

from helpers.cli import streams


class Full(io.StringIO):
    """A stream on a full disk, or another that raises whatever it is asked to take."""

    def __init__(self, error: BaseException):
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


@pytest.mark.parametrize("error", [OSError("full"), ValueError("closed"), KeyboardInterrupt()], ids=repr)
def test_what_was_done_is_told_if_it_can_be(error, monkeypatch, capsys):
    """Lines go out as they are; a stream that takes nothing, or Ctrl-C while it is told, raises nothing."""
    streams.tell(["one", "two"])
    assert capsys.readouterr().out == "one\ntwo\n"
    monkeypatch.setattr(sys, "stdout", Full(error))
    streams.tell(["three"])


def test_another_fault_is_not_hidden(monkeypatch):
    """What has nothing to do with streams is an error of the program, and stays one."""
    monkeypatch.setattr(sys, "stdout", Full(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        streams.tell(["three"])


@pytest.mark.parametrize("stream", [Full(OSError()), Full(ValueError()), None], ids=["full", "closed", "gone"])
def test_a_note_goes_to_standard_error_or_nowhere(stream, monkeypatch, capsys):
    """Never to standard output, where a program may read the answer."""
    streams.note("a word")
    assert capsys.readouterr() == ("", "a word\n")
    monkeypatch.setattr(sys, "stderr", stream)
    streams.note("a word")
    assert capsys.readouterr().out == ""


def test_interrupts_are_ignored_until_they_are_restored():
    """Within, Ctrl-C does nothing; after, it does what it did before, whatever it was."""

    def own(*_):
        raise AssertionError("Ctrl-C came through")

    before = signal.signal(signal.SIGINT, own)
    try:
        with streams.interrupts_restored():
            assert signal.getsignal(signal.SIGINT) is own
            streams.ignore_interrupts()
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_thread_may_do_it_too():
    """Only the main thread is interrupted, and only it may say what an interrupt does: elsewhere nothing happens."""
    failed = []

    def work():
        try:
            with streams.interrupts_restored():
                streams.ignore_interrupts()
        except BaseException as error:
            failed.append(error)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed and signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
@pytest.mark.parametrize("silenced, code", [("streams.silence_if_full()", 0), ("None", 120)], ids=["silenced", "not"])
def test_a_full_disk_at_the_end_changes_no_exit_code(silenced, code, monkeypatch):
    """Python ends with 120 if its last flush fails; not if the stream was silenced before."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    lines = f"from helpers.cli import streams; print('done'); {silenced}"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", lines], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code


def test_a_stream_that_is_gone_is_no_fault(monkeypatch):
    """After >&- there is no standard output at all."""
    monkeypatch.setattr(sys, "stdout", None)
    streams.silence_if_full()
    streams.silence()


def test_what_is_silenced_goes_nowhere(tmp_path, monkeypatch):
    """What stands in the buffer and what comes later; also if the stream has no file, or one that is closed."""
    with open(tmp_path / "out", "w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        print("kept", flush=True)
        print("half said")
        streams.silence()
        print("more", flush=True)
    assert (tmp_path / "out").read_text() == "kept\n"
    for stream in (file, io.StringIO()):  # ValueError, and a kind of OSError
        monkeypatch.setattr(sys, "stdout", stream)
        streams.silence()


def test_a_note_is_not_kept_back(tmp_path, monkeypatch):
    """It is out before the program goes on, whatever becomes of that."""
    with open(tmp_path / "err", "w") as file:
        monkeypatch.setattr(sys, "stderr", file)
        streams.note("a word")
        assert (tmp_path / "err").read_text() == "a word\n"
