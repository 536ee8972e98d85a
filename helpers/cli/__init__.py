"""The command line: a CSV in; a split, an error report or a private release out.

One file a command in `commands`: what it is about, its options and its run. `options` holds what several commands share,
`sheet` reads the CSV. A release is private only if its budgets do not depend on the counts. So the default rule looks at the
number of nodes alone, `allocate` does not even read the counts for it, and `release` knows no rule that does.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

from .streams import interrupts_restored, note, silence, silence_if_full

SCRIPT = "spend-epsilon"  # what pip installs; the same as python -m helpers
PROG = SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m helpers"
COMMANDS = ("example", "allocate", "simulate", "release", "account", "verify")  # in the order of a first visit


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for a bad file or argument, 130 when interrupted."""
    if argv is None:  # a program of its own, which ends with this
        return _run(sys.argv[1:])
    with interrupts_restored():
        return _run(argv)


def _run(argv: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name must not end the work
    args = argparse.Namespace()
    try:
        args = parser(argv).parse_args(argv)
        args.run(args)
        if sys.stdout is not None:  # closed from the start, as by >&-
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `… | head`
        silence()
    except KeyboardInterrupt:
        return _refused("interrupted; nothing further was written", code=130)
    except FileExistsError as error:
        return _refused(f"{error}. Use --force to overwrite it" if hasattr(args, "force") else str(error))
    except OSError as error:
        said = error.strerror or str(error)
        return _refused(f"{error.filename}: {said}" if error.filename else said)
    except (ValueError, TypeError, ImportError) as error:
        return _refused(str(error))
    except MemoryError:
        return _refused("the table does not fit into memory; nothing was written")
    finally:
        silence_if_full()  # what --help printed, too
    return 0


def parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of a command line: every command by name, and the options of those that `argv` names."""
    modules = {name: import_module(f"{__name__}.commands.{name}") for name in COMMANDS}
    start = [f"{name} {module.EXAMPLES[0]}" for name, module in modules.items() if name != "verify"]  # without a network
    text = "Split a privacy budget over the levels of your own table."
    whole = _described(partial(argparse.ArgumentParser, prog=PROG), text, start)
    subparsers = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, module in modules.items():
        lines = [f"{name} {line}".strip() for line in module.EXAMPLES]
        one = _described(partial(subparsers.add_parser, name, help=module.ABOUT), module.ABOUT, lines)
        one.set_defaults(run=module.run)
        if name in argv:
            module.add_options(one)
    return whole


def _described(make: Callable[..., argparse.ArgumentParser], text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    lines = "\n".join(f"  {PROG} {line}" for line in examples)
    codes = "exit codes: 0 success, 2 wrong usage or a bad file, 130 interrupted (Ctrl-C)"
    look = argparse.RawDescriptionHelpFormatter
    return make(description=text, epilog=f"examples:\n{lines}\n\n{codes}", formatter_class=look, allow_abbrev=False)


def _refused(sentence: str, code: int = 2) -> int:
    note(f"{PROG}: {sentence}")
    return code
