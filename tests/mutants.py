"""Mutation tests: break the helpers in thousands of small ways, and see that the tests of each module notice.

    make mutants                               every module, from the start; about 40 minutes on two cores
    make mutants MODULES="layout noise"        these only
    make mutants MODULES=layout AGAIN=1        only what survived last time, after new tests were written

mutmut makes the mutants: a plus becomes a minus, a number one more, an argument None, and so on. A module is judged by its
own tests alone, so that a mutant is not killed by accident far away. What survives and may, stands in tests/survivors with a
reason; this script fails if fewer than 95% are killed, or if a survivor has no reason.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "_build" / "mutants"
REASONS = ROOT / "tests" / "survivors"
# Pictures, where a test that pins every size and colour would only forbid to change them; and one call, without a function.
LEFT_ALONE = {"plots", "panels", "__main__"}
ENOUGH = 0.95
# Modules whose tests stand elsewhere than in test_<module>.py, or also elsewhere.
TESTS = {
    "__init__": ["package"],
    "allocation": ["allocation", "bad_input", "mechanisms"],
    "checks": ["checks", "bad_input"],
    "consistency": ["consistency", "bad_input"],
    "downstream": ["downstream", "bad_input"],
    "experiments": ["experiments", "bad_input"],
    "hierarchy": ["hierarchy", "bad_input"],
    "mechanism": ["mechanism", "bad_input"],
    "release": ["release", "bad_input"],
    "simulation": ["simulation", "bad_input"],
}
# Tests that start another Python, which mutmut does not follow there, or that look at the clock, on a busy machine.
LEFT_OUT = [
    "tests/test_cli.py::test_the_command_line_runs_as_a_module",
    "tests/test_cli.py::test_a_reader_who_leaves_is_no_error",
    "tests/test_cli.py::test_a_signal_ends_a_running_simulation",
    "tests/test_cli.py::test_names_that_a_terminal_cannot_show_do_not_end_the_work",
    "tests/test_cli.py::test_a_large_table_takes_seconds",
    "tests/test_downloads.py::test_two_processes_at_once_download_once",
    "tests/test_downloads.py::test_a_killed_process_leaves_a_part_to_go_on_from",
    "tests/test_package.py::test_importing_opens_nothing_but_code",
]
SETTINGS = """
[tool.mutmut]
source_paths = ["helpers"]
only_mutate = {only}
pytest_add_cli_args = {arguments}
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"
timeout_multiplier = 3.0
timeout_constant = 5.0
use_git_change_detection = false
"""


def modules():
    """Every module of the helpers that is tested this way; the chapters' checkers count as one."""
    names = {path.stem for path in (ROOT / "helpers").glob("*.py")} - LEFT_ALONE
    return [*sorted(names), "exercises"]


def prepare(module):
    """The folder in which mutmut works on one module: the project as links, and settings for this module."""
    folder = WORK / module
    (folder / "mutants").mkdir(parents=True, exist_ok=True)
    for name in ("helpers", "tests"):
        link(folder / name, ROOT / name)
    for name in ("notebooks", "book", "README.md", "requirements.txt", "Makefile", "_toc.yml", "_config.yml"):
        link(folder / "mutants" / name, ROOT / name)
    only = "helpers/exercises/*" if module == "exercises" else f"helpers/{module}.py"
    tests = [f"tests/test_{name}.py" for name in TESTS.get(module, [module])]
    arguments = ["-o", "addopts=", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin"]
    arguments += [f"--deselect={one}" for one in LEFT_OUT]
    settings = SETTINGS.format(only=json.dumps([only]), arguments=json.dumps(arguments), tests=json.dumps(tests))
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8") + settings
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def link(path, target):
    if not path.is_symlink():
        path.symlink_to(target)


def results(folder):
    """How each mutant ended: its name and mutmut's exit code.

    0 for a survivor, 33 for one that no test reaches, 255 if pytest did not run (which mutmut calls a timeout).
    """
    found = {}
    for path in sorted(folder.glob("mutants/helpers/**/*.meta")):
        found |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return found


def alive(found):
    return [name for name, code in found.items() if code in (0, 33, 255, None)]


def mutate(module, again):
    """Run mutmut on one module; return how each mutant ended."""
    folder = WORK / module
    if not again and folder.exists():
        shutil.rmtree(folder)
    prepare(module)
    before, known = results(folder), reasons(module)
    left = changes(module, alive(before)) if again else {}
    names = [name for name, what in left.items() if what not in known or before[name] in (255, None)]
    if again and not names:
        return results(folder)
    found = run(folder, names)
    failed = [name for name, code in found.items() if code == 255]
    if failed:  # by accident, when two processes made a folder at once; or always
        found = run(folder, failed)
    if 255 in found.values():
        raise RuntimeError("pytest did not find tests by the names that it gave them itself; see their parameters' ids")
    return found


def run(folder, names):
    """Run mutmut on these mutants, or on all; return how each one of the folder ended."""
    command = [sys.executable, __file__, "--mutmut", "run", *names]
    environment = os.environ | {"MUTATION": "1", "PYTHONPATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with (folder / "log").open("w") as log:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    found = results(folder)
    if done.returncode or None in found.values():
        raise RuntimeError(f"mutmut did not get through; what it printed is in {folder / 'log'}")
    return found


def changes(module, names):
    """{name: (function, the lines before, the lines after)} of mutants."""
    command = [sys.executable, __file__, "--show", *names]
    shown = subprocess.run(command, cwd=WORK / module, capture_output=True, text=True, check=True)
    return {name: describe(name, text) for name, text in json.loads(shown.stdout).items()}


def describe(name, diff):
    was, now = (
        "\n".join(line[1:].strip() for line in diff.splitlines() if line.startswith(sign) and not line.startswith(sign * 3))
        for sign in "-+"
    )
    function = name.removeprefix("helpers.").replace("x_", "", 1).replace("xǁ", "").replace("ǁ", ".").split("__mutmut_")[0]
    return function, was, now


def reasons(module):
    """{(function, before, after): why} of the survivors that may live."""
    path = REASONS / f"{module}.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["survivor"] if path.exists() else []
    return {(one["function"], one["was"], one["now"]): one["why"] for one in listed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=[])
    parser.add_argument("--again", action="store_true", help="only what survived last time")
    options = parser.parse_args()
    unknown = set(options.modules) - set(modules())
    if unknown:
        parser.error(f"modules must be among {', '.join(modules())}, got {', '.join(sorted(unknown))}")
    made = killed = unfinished = 0
    unexplained, unneeded = [], []
    for module in options.modules or modules():
        try:
            found = mutate(module, options.again)
        except RuntimeError as error:  # the other modules can still be judged
            unfinished += 1
            print(f"{module:16} {error}", flush=True)
            continue
        left, known = changes(module, alive(found)), reasons(module)
        made, killed = made + len(found), killed + len(found) - len(left)
        print(f"{module:16} {len(found) - len(left):4} of {len(found):4} killed", flush=True)
        unexplained += [(module, name, what) for name, what in left.items() if what not in known]
        unneeded += [(module, *what) for what in known if what not in left.values()]
    for module, function, was, now in unneeded:
        print(f"\nlisted in tests/survivors/{module}.toml, but killed or gone: {function}\n  - {was}\n  + {now}")
    for module, name, (function, was, now) in unexplained:
        was, now = (json.dumps(text, ensure_ascii=False) for text in (was, now))
        print(f"\n# {name}\n[[survivor]]  # for tests/survivors/{module}.toml, if it may live")
        print(f'function = "{function}"\nwas = {was}\nnow = {now}\nwhy = ""')
    share = killed / max(made, 1)
    print(f"\n{killed} of {made} mutants killed, {share:.1%}; {made - killed} survive, {len(unexplained)} without a reason")
    sys.exit(killed < ENOUGH * made or bool(unexplained) or bool(unfinished))


def mutmut(arguments):
    """mutmut itself, in the folder of a module."""
    import pytest

    # mutmut 3.8 reads an attribute that pytest 9.2 no longer has.
    pytest.Item._nodeid = property(lambda item: item.nodeid)
    from mutmut.__main__ import cli, find_mutant, get_diff_for_mutant

    if arguments[0] == "--show":
        print(json.dumps({name: get_diff_for_mutant(name, path=find_mutant(name).path) for name in arguments[1:]}))
    else:
        cli(arguments[1:])


if __name__ == "__main__":
    if sys.argv[1:2] in (["--mutmut"], ["--show"]):
        mutmut(sys.argv[1:])
    else:
        main()
