"""Faults at every step: a command is run again and again, and at its n-th step things go wrong.

    event: a system call that changes a file or a folder, SQLite's too, or writes to a stream
    fault: "kill" (SIGKILL at an event) · "interrupt" (Ctrl-C at an event) · "line" (Ctrl-C at a line of the code) ·
    an error such as "EIO", once, instead of an event · "full": from that event on nothing more can be written, only removed

Nobody can ask a program to die inside SQLite's commit. So a parent traces it (ptrace): it stops at each system call, and
the parent says how that ends. This file is also that parent: it imports once and forks a child for each run.
"""

import ctypes
import errno
import gc
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache, partial
from io import StringIO
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn
from unittest.mock import patch

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "OPENBLAS_NUM_THREADS": "1"}
CODE = ("publishing/files.py", "commands/release.py", "cli/streams.py")  # whose lines are steps
# System calls of Linux on x86-64, by number.
WRITES = {1: "write", 18: "pwrite64", 20: "writev", 77: "ftruncate", 83: "mkdir", 86: "link", 258: "mkdirat", 265: "linkat"}
OPENS = {2: "open", 257: "openat"}  # events if they may change the file
OTHERS = {74: "fsync", 75: "fdatasync", 82: "rename", 84: "rmdir", 87: "unlink", 263: "unlinkat", 264: "renameat"}
EVENTS = WRITES | OPENS | OTHERS
TRACEME, PEEKUSER, POKEUSER, SYSCALL, SETOPTIONS, GOOD_AND_EXITKILL = 0, 3, 6, 24, 0x4200, 0x100001  # of ptrace
CALL, RESULT, FLAGS = 15 * 8, 10 * 8, {2: 13 * 8, 257: 12 * 8}  # registers: which call, its result, open's flags

needs_tracing = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="system calls are traced on Linux, x86-64"
)


class Run(NamedTuple):
    """How one run went: its folder, the step where it was struck, its exit code (minus the signal), and what it said."""

    folder: Path
    step: str
    code: int
    out: str
    err: str
    drew: bool

    def __repr__(self) -> str:
        return f"{self.folder.name}, struck at {self.step or 'no step'}: {self.code} {self.err!r}"


def struck(start: Path, fault: str, line: str) -> list[Run]:
    """Runs of a command line, each in a copy of the folder `start`, struck at step 1, at step 2 …; the last at none."""
    return _ask(start, fault, line)


def together(folder: Path, lines: list[str]) -> list[Run]:
    """Runs of several command lines in one folder, all at the same time."""
    return _ask(folder, "together", *lines)


def _ask(folder: Path, fault: str, *lines: str) -> list[Run]:
    command = [sys.executable, "-W", "ignore", "-m", "support.faults", str(folder), fault, *lines]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    if "cannot be traced" in done.stderr:
        pytest.skip("system calls cannot be traced here")
    assert done.returncode == 0, done.stderr
    return [_run(*json.loads(said)) for said in done.stdout.splitlines()]


def _run(name: str, folder: str, step: str, code: int) -> Run:
    out, err = (Path(f"{name}.{stream}").read_text() for stream in ("out", "err"))
    return Run(Path(folder), step, code, out, err, Path(f"{name}.drew").exists())


def _serve(start: str, fault: str, lines: list[str]) -> None:
    """Run the commands, and print how each run went."""
    _warm_up(start, fault, lines[0])
    for name, folder, step, code in (_together if fault == "together" else _struck)(start, fault, lines):
        print(json.dumps([name, folder, step, code]), flush=True)


def _struck(start: str, fault: str, lines: list[str]) -> Iterator[tuple[str, str, str, int]]:
    for n in count(1):
        name = shutil.copytree(start, f"{start}-{fault}-{n}")
        child = _start(name, name, lines[0], partial(_stop, fault, n))
        step, code = _watch(child, fault, n)
        step = step or (Path(f"{name}.line").read_text() if Path(f"{name}.line").exists() else "")
        yield name, name, step, code
        if not step:
            return


def _together(folder: str, fault: str, lines: list[str]) -> Iterator[tuple[str, str, str, int]]:
    reading, writing = os.pipe()
    wait = partial(_wait, reading, writing)
    children = {f"{folder}-{n}": _start(f"{folder}-{n}", folder, line, wait) for n, line in enumerate(lines)}
    os.close(writing)  # now they go
    for name, child in children.items():
        yield name, folder, "", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _wait(reading: int, writing: int) -> None:
    os.close(writing)
    os.read(reading, 1)


def _warm_up(start: str, fault: str, line: str) -> None:
    """Import everything, and have it lie still: what a child does not touch, it need not copy."""
    from helpers.cli import main

    os.chdir(shutil.copytree(start, f"{start}-{fault}-0"))
    with redirect_stdout(StringIO()):
        main(line.split())
    gc.collect()
    gc.freeze()


def _start(name: str, folder: str, line: str, ready: Callable[[], object]) -> int:
    """A child that runs a command as a program of its own; its streams, and a trace of each draw, go to files."""
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    for ending, stream in (("out", sys.stdout), ("err", sys.stderr)):
        os.dup2(os.open(f"{name}.{ending}", os.O_CREAT | os.O_WRONLY), stream.fileno())
    sys.argv[:] = [name, *line.split()]
    with _traced_draws():
        ready()
        _run_to_the_end()


def _run_to_the_end() -> NoReturn:
    from helpers.cli import main

    try:
        code = main()
        sys.stdout.flush()  # as Python does at its end; the rest of that end takes long
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)


def _traced_draws() -> Any:
    """Noise that leaves a trace before it is drawn."""
    from helpers.publishing.exact_noise import Noise

    def add(noise: Noise, counts: Any, draw: Any = Noise.add) -> Any:
        Path(f"{sys.argv[0]}.drew").touch()
        return draw(noise, counts)

    return patch.object(Noise, "add", add)


def _stop(fault: str, n: int) -> None:
    """Where a child stops for its parent to watch it, or begins to count lines."""
    if fault == "line":
        sys.settrace(_interrupter(n))
    else:
        ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)


def _interrupter(n: int) -> Callable[..., Any]:
    """A function for sys.settrace that interrupts when the code comes to its n-th line that is new."""
    lines: set[tuple[str, int]] = set()

    def at(frame: FrameType, event: str, _: Any) -> Any:
        line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and line not in lines:
            lines.add(line)
            if len(lines) == n:
                Path(f"{sys.argv[0]}.line").write_text(f"{Path(line[0]).name}:{line[1]}")
                os.kill(os.getpid(), signal.SIGINT)
        return at

    return lambda frame, *_: at if frame.f_code.co_filename.endswith(CODE) else None


def _watch(child: int, fault: str, n: int) -> tuple[str, int]:
    """Let a child run on from system call to system call, and strike it at its n-th event."""
    step, seen, entering, failing, passed = "", 0, False, False, 0
    _, status = os.waitpid(child, 0)
    if fault != "line":
        ptrace(SETOPTIONS, child, 0, GOOD_AND_EXITKILL)
    while os.WIFSTOPPED(status):
        ptrace(SYSCALL, child, 0, passed)
        _, status = os.waitpid(child, 0)
        passed = os.WSTOPSIG(status) if os.WIFSTOPPED(status) else 0
        if passed != signal.SIGTRAP | 0x80:
            continue  # a signal, which it gets; or its end
        passed, entering = 0, not entering
        if entering:
            event = _event(child)
            seen += event != ""
            failing = event != "" and (seen == n or (fault == "full" and seen > n and event in WRITES.values()))
            step = step or (event if failing else "")
        if failing and _strike(child, fault, entering):
            _, status = os.waitpid(child, 0)
    return step, os.waitstatus_to_exitcode(status)


def _event(child: int) -> str:
    """The name of the system call that a child is about to make, if it may change anything."""
    number = ptrace(PEEKUSER, child, CALL)
    if number in OPENS and not ptrace(PEEKUSER, child, FLAGS[number]) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return ""
    return EVENTS.get(number, "")


def _strike(child: int, fault: str, entering: bool) -> bool:
    """Kill, interrupt, or have the call do nothing and return an error. Is that the end of the child?"""
    if fault in ("kill", "interrupt"):
        if entering:
            os.kill(child, signal.SIGKILL if fault == "kill" else signal.SIGINT)
        return fault == "kill"
    error = errno.ENOSPC if fault == "full" else getattr(errno, fault)
    ptrace(POKEUSER, child, *((CALL, -1) if entering else (RESULT, -error)))
    return False


def ptrace(request: int, child: int, address: int = 0, data: int = 0) -> int:
    """The system call that watches another process: what it says, or an error."""
    ctypes.set_errno(0)
    found = _libc_ptrace()(request, child, address, data)
    if found == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), "this process cannot be traced")
    return found


@cache
def _libc_ptrace() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.restype, call.argtypes = ctypes.c_long, [ctypes.c_long] * 4
    return call


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.argv[3:])
