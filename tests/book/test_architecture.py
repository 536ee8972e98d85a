"""The architecture page and the recipes of CONTRIBUTING: followed, with a tracer and in a copy of the project."""

import io
import os
import re
import sys
from contextlib import redirect_stdout

import pytest
from manuscript import ROOT
from support.project import insert, run, run_tests

from helpers.cli import main

PAGE = (ROOT / "book" / "architecture.md").read_text(encoding="utf-8")
RECIPES = dict(
    re.findall(r"^### ([^\n:]+)[^\n]*\n(.*?)(?=^##)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.S | re.M)
)
COMMAND = "release patients.csv --levels region,hospital,ward,diagnosis --total 1 --output released"
COMMAND += " --account patients.account --budget 3"


def test_the_way_of_a_release_is_the_one_on_the_page(tmp_path, monkeypatch):
    """The files that a release passes, in the order in which it first reaches them, are those that the page lists."""
    pytest.importorskip("opendp")
    monkeypatch.chdir(tmp_path)
    folder, passed = str(ROOT / "helpers") + os.sep, []

    def watch(frame, event, argument):
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and path.startswith(folder) and name != "<module>":  # importing a file is not passing it
            passed.append(path.removeprefix(folder).replace(os.sep, "/"))

    with redirect_stdout(io.StringIO()):
        assert main(["example", "--output", "patients.csv"]) == 0
        sys.setprofile(watch)
        try:
            code = main(COMMAND.split())
        finally:
            sys.setprofile(None)
    assert code == 0
    listed = re.findall(r"^\d+\. `([\w/.]+)`", PAGE, re.MULTILINE)
    assert list(dict.fromkeys(passed)) == listed


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_name_files_that_exist(recipe):
    """Each file that a recipe tells to change is there, and each folder that it tells to put one into."""
    assert list(RECIPES) == ["A mechanism", "A consistency method", "A chapter", "A command"]
    named = re.findall(r"`([\w/.<>-]+\.\w+)`", RECIPES[recipe])
    assert len(named) >= 5
    for name in (name for name in named if "/" in name or "<" not in name):
        place = ROOT / (name.rpartition("/")[0] if "<" in name else name)
        found = place.exists() or any((ROOT / "helpers").rglob(name))  # a bare file name, explained where it stands
        assert found, name


MECHANISM = '''"""Laplace noise with the budget of zCDP: ε = √(2ρ)."""

import numpy as np

from .base import Mechanism
from .laplace import LAPLACE


class _LaplaceByRho(Mechanism):
    name, symbol, power, empty_mse = "Laplace by ρ", "ρ", 2, 0.5

    def bias_unchecked(self, n, b):
        return LAPLACE.bias_unchecked(n, np.sqrt(2 * b))

    def mse_unchecked(self, n, b):
        return LAPLACE.mse_unchecked(n, np.sqrt(2 * b))

    def derivatives(self, n, b):
        eps = np.sqrt(2 * b)
        slope, curvature = LAPLACE.derivatives(n, eps)
        return slope / eps, curvature / eps**2 + slope / eps**3

    def draw(self, rng, budget, out):
        LAPLACE.draw(rng, np.sqrt(2 * budget), out)


LAPLACE_BY_RHO = _LaplaceByRho()
'''


def test_a_mechanism_made_by_the_recipe_passes(project):
    """With one file and one entry, every law that holds for all mechanisms is tried on the new one, and holds."""
    room = project / "helpers" / "mechanisms"
    (room / "laplace_by_rho.py").write_text(MECHANISM, encoding="utf-8")
    entries = room / "__init__.py"
    insert(entries, "from .laplace import LAPLACE, bias, mse, variance", "\nfrom .laplace_by_rho import LAPLACE_BY_RHO")
    insert(entries, "(LAPLACE, DISCRETE_LAPLACE, GAUSSIAN", ", LAPLACE_BY_RHO")
    again = '\n    if mechanism.name == "Laplace by ρ":\n        return precise(LAPLACE, n, mpmath.sqrt(2 * b))'
    insert(project / "tests" / "support" / "oracles.py", "    n = mpmath.mpf(n)", again)
    done = run_tests(project, ["tests/mechanisms/test_base.py"], "by")
    laws = re.findall(r"::(test_\w+)\[[^]]*Laplace by", done.stdout)
    assert len(set(laws)) >= 10 and done.returncode == 0, done


METHOD = '''"""Scale each family to its parent."""

import numpy as np


def proportional(hierarchy, noisy):
    out = [np.maximum(noisy[0], 0.0)]
    for x, link, size in zip(noisy[1:], hierarchy.links, hierarchy.sizes, strict=False):
        x = np.maximum(x, 0.0) + 1e-9
        out.append(x * (out[-1] / np.maximum(np.bincount(link, x, size), 1e-300))[link])
    return out
'''


def test_a_consistency_method_made_by_the_recipe_passes(project):
    """With one file and one entry, `release` and `simulate` know it by name, and it is tried like the others."""
    room = project / "helpers" / "consistency"
    (room / "proportional.py").write_text(METHOD, encoding="utf-8")
    insert(room / "methods.py", "from .projection import top_down", "\nfrom .proportional import proportional")
    entry = '\n"proportional": lambda tree, noisy, v: '
    insert(room / "methods.py", '        "clip": clip,', entry + "proportional(tree, noisy),")
    tests = project / "tests" / "consistency" / "test_methods.py"
    insert(tests, "BY_HAND = {  # each method out of its parts", entry + 'METHODS["proportional"](tree, noisy, v),')
    done = run_tests(project, [tests, room / "methods.py"], "method or release")
    assert done.stdout.count("[proportional]") >= 3 and done.returncode == 0, done


HELLO = '''"""`hello`: greet somebody."""

import argparse

ABOUT = "Greet somebody."
EXAMPLES = ("Ada",)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Whom to greet."""
    parser.add_argument("name", help="who it is")


def run(args: argparse.Namespace) -> None:
    """Greet."""
    print(f"Hello {args.name}")
'''


def test_a_command_made_by_the_recipe_works(project):
    """With one file and one word, the command is listed, explained and run."""
    cli = project / "helpers" / "cli"
    (cli / "commands" / "hello.py").write_text(HELLO, encoding="utf-8")
    insert(cli / "__init__.py", 'COMMANDS = ("example", ', '"hello", ')
    asked = {"hello Ada": "Hello Ada\n", "--help": "Greet somebody.", "hello --help": "who it is"}
    done = {words: run(project, "-m", "helpers", *words.split()) for words in asked}
    assert all(one.returncode == 0 and asked[words] in one.stdout for words, one in done.items()), done
    assert done["hello Ada"].stdout == "Hello Ada\n"
