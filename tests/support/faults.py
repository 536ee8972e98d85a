"""Faults at every step: a command is run again and again, and at its n-th step things go wrong.

    event: a system call that changes a file or a folder, SQLite's too, or writes to a stream
    fault: "kill" (SIGKILL at an event) · "interrupt" (Ctrl-C at an event) · "line" (Ctrl-C at a line of the code) ·
    an error such as "EIO", once, instead of an event · "full": from that event on nothing more can be written, only removed

Nobody can ask a program to die inside SQLite's commit. So a parent traces it (ptrace): it stops at each system call, and
the parent says how that ends. This file is also that parent: it imports once and forks a child for each run.
"""

import ctypes
import errno
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "OPENBLAS_NUM_THREADS": "1"}
CODE = ("files.py", "ledger.py", "accountant.py", "released.py", "release.py", "streams.py")  # whose lines are steps
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
    command = [sys.executable, "-W", "ignore", "-m", "support.faults", str(start), fault, *line.split()]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [_run(*json.loads(said)) for said in done.stdout.splitlines()]


def _run(folder: str, step: str, code: int) -> Run:
    out, err = (Path(f"{folder}.{name}").read_text() for name in ("out", "err"))
    return Run(Path(folder), step, code, out, err, Path(f"{folder}.drew").exists())


def _serve(start: Path, fault: str, argv: list[str]) -> None:
    """Run the command in copies of a folder until a run comes to its end without being struck."""
    _warm_up(start, fault, argv)
    for n in count(1):
        folder = Path(shutil.copytree(start, start.with_name(f"{start.name}-{fault}-{n}")))
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _child(folder, fault, n)
        step, code = _watch(child, fault, n)
        print(json.dumps([str(folder), step or _line_of(folder), code]))
        if not (step or _line_of(folder)):
            return


def _warm_up(start: Path, fault: str, argv: list[str]) -> None:
    """Import everything, and let draws leave a trace."""
    from helpers.cli import main
    from helpers.publishing.exact_noise import Noise

    os.chdir(shutil.copytree(start, start.with_name(f"{start.name}-{fault}-0")))
    with redirect_stdout(StringIO()):
        main(argv)
    add = Noise.add

    def traced(noise: Noise, counts: Any) -> Any:
        Path(f"{os.getcwd()}.drew").touch()
        return add(noise, counts)

    Noise.add = traced  # type: ignore[method-assign]
    sys.argv[1:] = argv


def _child(folder: Path, fault: str, n: int) -> NoReturn:
    """The command as a program of its own, with streams that go to files."""
    from helpers.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
        os.dup2(os.open(f"{folder}.{name}", os.O_CREAT | os.O_WRONLY), stream.fileno())
    if fault == "line":
        sys.settrace(_interrupter(Path(f"{folder}.line"), n))
    else:
        ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        code = main()
        sys.stdout.flush()  # as Python does at its end, which takes it long
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)


def _interrupter(trace: Path, n: int) -> Callable[..., Any]:
    """A function for sys.settrace that interrupts at the n-th line of the code."""
    lines = count(1)

    def at(frame: Any, event: str, _: Any) -> Any:
        if event == "line" and next(lines) == n:
            trace.write_text(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
            os.kill(os.getpid(), signal.SIGINT)
        return at

    return lambda frame, *_: (
        at if frame.f_code.co_filename.endswith(CODE) and "helpers" in frame.f_code.co_filename else None
    )


def _line_of(folder: Path) -> str:
    trace = Path(f"{folder}.line")
    return trace.read_text() if trace.exists() else ""


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
            failing = event != "" and (seen == n or (fault == "full" and seen > n > 0 and event in WRITES.values()))
            step = event if failing and not step else step
        if failing and strike(child, fault, entering):
            _, status = os.waitpid(child, 0)
    return step, os.waitstatus_to_exitcode(status)


def _event(child: int) -> str:
    """The name of the system call that a child is about to make, if it may change anything."""
    number = ptrace(PEEKUSER, child, CALL)
    if number in OPENS and not ptrace(PEEKUSER, child, FLAGS[number]) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return ""
    return EVENTS.get(number, "")


def strike(child: int, fault: str, entering: bool) -> bool:
    """Kill, interrupt, or have the call do nothing and return an error. Is that the end of the child?"""
    if fault in ("kill", "interrupt"):
        if entering:
            os.kill(child, signal.SIGKILL if fault == "kill" else signal.SIGINT)
        return fault == "kill"
    error = errno.ENOSPC if fault == "full" else getattr(errno, fault)
    ptrace(POKEUSER, child, *((CALL, -1) if entering else (RESULT, -error)))
    return False


def ptrace(request: int, child: int, address: int = 0, data: int = 0) -> int:
    """The system call that watches another process; what it says about it, or an error."""
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
    _serve(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
