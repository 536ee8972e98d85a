"""Mutation tests: break the helpers in thousands of small ways, and see that the tests of each module notice.

    make mutants                               every module, from the start; about 40 minutes on two cores
    make mutants MODULES="layout allocation"   these only
    make mutants MODULES=layout AGAIN=1        only what survived last time, after new tests were written

    module: a file of the helpers by its path, as in cli/options; the chapters' checkers are one, exercises

mutmut makes the mutants: a plus becomes a minus, a number one more, an argument None, and so on. A module is judged by its
own tests alone, so that a mutant is not killed by accident far away. What survives and may, stands in tools/survivors with a
reason; this script fails if fewer than 95% are killed, or if a survivor has no reason.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys

from manuscript import ROOT, read_toml

WORK = ROOT / "_build" / "mutants"
REASONS = ROOT / "tools" / "survivors"
MUTMUT = ROOT / "tools" / "run_mutmut.py"
# Pictures, where a test that pins every size and colour would only forbid to change them.
LEFT_ALONE = {"figures"}
ENOUGH = 0.95
# What tests of the helpers read beside them.
BESIDE = "notebooks book tools conftest.py README.md requirements.txt Makefile _toc.yml _config.yml".split()
# Tests that judge modules beside their own; the tests of helpers/a/b.py are tests/a/test_b.py.
COMMANDS = [f"cli/commands/{name}" for name in ("account", "allocate", "example", "release", "simulate", "verify")]
ALSO = {
    "test_bad_input.py": [
        "allocation", "checks", "consistency/projection", "experiments/downstream", "experiments/sweeps", "hierarchy",
        "mechanisms/laplace", "releasing", "simulation/closed_form", "simulation/measured",
    ],
    "test_base.py": ["allocation", "mechanisms/discrete_laplace", "mechanisms/gaussian", "mechanisms/laplace"],
    "test_commands.py": [*COMMANDS, "cli/options", "cli/table", "publishing/files"], "test_options.py": COMMANDS,
    "test_verify.py": ["cli/commands/verify"], "test_accountant.py": ["checks"], "test_package.py": ["__init__"],
    "test_hierarchy.py": ["layout"], "test_methods.py": ["releasing"], "test_releasing.py": ["allocation"],
    "test_allocation.py": ["mechanisms/base"],
    "test_sums.py": ["tables/asked", "tables/engines", "tables/files", "tables/frames"],
}  # fmt: skip
# Tests that start another Python, which mutmut does not follow there, or that look at the clock, on a busy machine.
LEFT_OUT = [
    "test_commands.py::test_the_command_line_runs_as_a_module", "test_commands.py::test_a_reader_who_leaves_is_no_error",
    "test_commands.py::test_a_signal_ends_a_running_simulation", "test_commands.py::test_a_large_table_takes_seconds",
    "test_commands.py::test_names_that_a_terminal_cannot_show_do_not_end_the_work",
    "test_downloads.py::test_two_processes_at_once_download_once", "test_package.py::test_importing_opens_nothing_but_code",
    "test_downloads.py::test_a_killed_process_leaves_a_part_to_go_on_from",
]  # fmt: skip
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
    """Every module that is tested this way: those with a function that is no drawing."""
    paths = sorted((ROOT / "helpers").rglob("*.py"))
    names = {path: path.relative_to(ROOT / "helpers").with_suffix("") for path in paths}
    kept = [path for path, name in names.items() if not LEFT_ALONE & set(name.parts) and has_function(path)]
    return sorted({"exercises" if names[path].parts[0] == "exercises" else names[path].as_posix() for path in kept})


def has_function(path):
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def tests_of(module):
    """The files, or the folder, of tests that judge a module: for a package itself, all tests of its folder."""
    folder, _, name = f"tests/{module}".rpartition("/")
    own = [f"{folder}/test_{name}.py", f"tests/{module}", *([folder] if name == "__init__" and folder != "tests" else [])]
    also = [find_test(file) for file, judged in ALSO.items() if module in judged]
    return [path for path in own if (ROOT / path).exists()] + also


def find_test(name):
    """Where a file of tests is, or a test by its file and name: file names are unique."""
    file, *test = name.split("::")
    [path] = (ROOT / "tests").rglob(file)
    return "::".join([path.relative_to(ROOT).as_posix(), *test])


def folder_of(module):
    """Where mutmut works on a module."""
    return WORK / module.replace("/", ".")


def prepare(module):
    """The folder in which mutmut works on one module: the project as links, and settings for this module."""
    folder = folder_of(module)
    (folder / "mutants").mkdir(parents=True, exist_ok=True)
    for name in ("helpers", "tests"):
        link(folder / name, ROOT / name)
    for name in BESIDE:
        link(folder / "mutants" / name, ROOT / name)
    only = "helpers/exercises/*" if module == "exercises" else f"helpers/{module}.py"
    arguments = ["-o", "addopts=", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin"]
    arguments += [f"--deselect={find_test(one)}" for one in LEFT_OUT]
    settings = SETTINGS.format(only=json.dumps([only]), arguments=json.dumps(arguments), tests=json.dumps(tests_of(module)))
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
    if not again:
        shutil.rmtree(folder_of(module), ignore_errors=True)
    folder = prepare(module)
    before, known = results(folder), reasons(module)
    left = changes(module, alive(before)) if again else {}
    names = [name for name, what in left.items() if what not in known or before[name] in (255, None)]
    if again and not names:
        return before
    found = run(folder, names)
    failed = [name for name, code in found.items() if code == 255]
    if failed:  # by accident, when two processes made a folder at once; or always
        found = run(folder, failed)
    if 255 in found.values():
        raise RuntimeError("pytest did not find tests by the names that it gave them itself; see their parameters' ids")
    return found


def run(folder, names):
    """Run mutmut on these mutants, or on all; return how each one of the folder ended."""
    command = [sys.executable, MUTMUT, "run", *names]
    environment = os.environ | {"MUTATION": "1", "PYTHONPATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with (folder / "log").open("w") as log:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    found = results(folder)
    if done.returncode or None in found.values():
        raise RuntimeError(f"mutmut did not get through; what it printed is in {folder / 'log'}")
    return found


def changes(module, names):
    """{name: (function, the lines before, the lines after)} of mutants."""
    command = [sys.executable, MUTMUT, "--show", *names]
    shown = subprocess.run(command, cwd=folder_of(module), capture_output=True, text=True, check=True)
    return {name: describe(module, name, text) for name, text in json.loads(shown.stdout).items()}


def describe(module, name, diff):
    was, now = (
        "\n".join(line[1:].strip() for line in diff.splitlines() if line.startswith(sign) and not line.startswith(sign * 3))
        for sign in "-+"
    )
    inside = name.removeprefix(f"helpers.{module.replace('/', '.').removesuffix('__init__')}").removeprefix(".")
    function = inside.replace("x_", "", 1).replace("xǁ", "").replace("ǁ", ".").split("__mutmut_")[0]
    return function, was, now


def reasons(module):
    """{(function, before, after): why} of the survivors that may live."""
    path = REASONS / f"{module}.toml"
    listed = read_toml(path)["survivor"] if path.exists() else []
    return {(one["function"], one["was"], one["now"]): one["why"] for one in listed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=[])
    parser.add_argument("--again", action="store_true", help="only what survived last time")
    options = parser.parse_args()
    if unknown := set(options.modules) - set(modules()):
        parser.error(f"modules must be among {', '.join(modules())}, got {', '.join(sorted(unknown))}")
    made, killed, unfinished, unexplained, unneeded = 0, 0, 0, [], []
    for module in options.modules or modules():
        try:
            found = mutate(module, options.again)
        except RuntimeError as error:  # the other modules can still be judged
            unfinished += 1
            print(f"{module:24} {error}", flush=True)
            continue
        left, known = changes(module, alive(found)), reasons(module)
        made, killed = made + len(found), killed + len(found) - len(left)
        print(f"{module:24} {len(found) - len(left):4} of {len(found):4} killed", flush=True)
        unexplained += [(module, name, what) for name, what in left.items() if what not in known]
        unneeded += [(module, *what) for what in known if what not in left.values()]
    for module, function, was, now in unneeded:
        print(f"\nlisted in tools/survivors/{module}.toml, but killed or gone: {function}\n  - {was}\n  + {now}")
    for module, name, (function, was, now) in unexplained:
        was, now = (json.dumps(text, ensure_ascii=False) for text in (was, now))
        print(f"\n# {name}\n[[survivor]]  # for tools/survivors/{module}.toml, if it may live")
        print(f'function = "{function}"\nwas = {was}\nnow = {now}\nwhy = ""')
    share = killed / max(made, 1)
    print(f"\n{killed} of {made} mutants killed, {share:.1%}; {made - killed} survive, {len(unexplained)} without a reason")
    sys.exit(killed < ENOUGH * made or bool(unexplained) or bool(unfinished))


if __name__ == "__main__":
    main()
