"""The package as a whole: what importing it does, which way data flows, and that everything public is documented."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import helpers

ROOT = Path(__file__).resolve().parent.parent
# Data flows one way: a file may import from those before it.
ORDER = [
    "checks", "states", "records", "downloads", "official", "census", "layout", "hierarchy", "verify", "tables",
    "mechanism", "noise", "mechanisms", "guarantees", "allocation", "consistency", "least_squares", "release", "simulation",
    "accountant", "integers", "exact_noise", "private", "audit", "downstream", "experiments", "claims", "plots",
    "panels", "example", "splits", "report", "options", "cli",
]  # fmt: skip
CONTRACT = [
    "Hierarchy", "bias", "variance", "mse", "uniform", "cube_root", "minimize_error", "minimize_budget", "project_simplex",
    "top_down", "release", "simulate", "load_state", "load_nation", "prior", "Allocation", "expected_error", "downstream",
]  # fmt: skip


def run(code):
    """Run Python code in a fresh interpreter at the root of the project; return what it printed."""
    command = [sys.executable, "-B", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def parsed(name):
    return ast.parse((ROOT / "helpers" / f"{name}.py").read_text(encoding="utf-8"))


def imported_siblings(tree):
    """Names of the package's own modules that a module imports, at the top or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "helpers":
            yield from node.module.split(".")[1:2] or [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("helpers."))


def public_functions(tree, prefix=""):
    """(name, node) of each function and method whose name does not begin with an underscore."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node, f"{node.name}.")


@pytest.mark.parametrize("name", CONTRACT)
def test_contract_names_are_importable(name):
    """Everything the contract names can be imported from helpers, and is listed in __all__."""
    assert hasattr(helpers, name) and name in helpers.__all__


def test_unknown_names_are_refused():
    """Asking for a name that is not there fails as it does with any module."""
    with pytest.raises(AttributeError) as refusal:
        _ = helpers.nothing
    assert str(refusal.value) == "module 'helpers' has no attribute 'nothing'"


@pytest.mark.parametrize("name", ["plots", "panels"])
def test_drawing_is_loaded_by_name(name):
    """helpers.plots and helpers.panels are the modules of these names."""
    assert helpers.__getattr__(name) is importlib.import_module(f"helpers.{name}")


IMPORT_UNDER_WATCH = """
import sys, numpy, pandas
opened, network = [], []
def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        opened.append(args[0])
    if event.startswith("socket."):
        network.append(event)
sys.addaudithook(watch)
import helpers
seen, contacted = list(opened), list(network)
print(len(seen), "network" if contacted else "offline")
print(*[path.replace(" ", "?") for path in seen if not path.endswith((".py", ".pyc", ".so", ".pyd", ".zip"))])
"""


def test_importing_opens_nothing_but_code():
    """Importing helpers makes no network call and opens no file that is not Python code."""
    opened, network, *others = run(IMPORT_UNDER_WATCH)
    assert int(opened) >= len(ORDER) - 1  # the watch saw the package's own modules, so it works
    assert network == "offline" and others == []


LOAD_UNDER_WATCH = """
import sys, pathlib, helpers
helpers.load_state("DE")  # once, so that pandas has loaded what it needs
opened, network = [], []
def watch(event, args):
    if event == "open" and isinstance(args[0], (str, pathlib.Path)):
        opened.append(str(args[0]))
    if event.startswith("socket."):
        network.append(event)
sys.addaudithook(watch)
helpers.prior("WY")
print("network" if network else "offline")
print(*sorted({pathlib.Path(p).name for p in opened if not p.endswith((".py", ".pyc", ".so"))}))
"""


def test_loading_reads_the_package_data_only():
    """Loading counts makes no network call and opens the embedded files it needs, and no other."""
    network, *others = run(LOAD_UNDER_WATCH)
    assert network == "offline"
    assert others == ["SHA256SUMS", "wyoming_2010_blockgroups.csv.gz", "wyoming_2020_blocks.csv.gz"]


def test_importing_is_light():
    """Matplotlib, SciPy, OpenDP, SymPy, tqdm and pooch are not imported with helpers; plots and panels when asked for."""
    heavy = ("matplotlib", "scipy", "opendp", "sympy", "tqdm", "pooch", "requests", "helpers.plots", "helpers.panels")
    loaded = f"print(*[m for m in {heavy} if m in sys.modules])"
    assert run(f"import sys, helpers; {loaded}") == []
    assert run(f"import sys, helpers; helpers.plots; {loaded}") == ["matplotlib", "helpers.plots"]
    assert run(f"import sys, helpers; helpers.panels; {loaded}") == ["matplotlib", "helpers.plots", "helpers.panels"]


def test_every_file_has_its_place_in_the_order():
    """The package consists of the files in ORDER and of no other."""
    assert {path.stem for path in (ROOT / "helpers").glob("*.py")} == {*ORDER, "__init__", "__main__"}


@pytest.mark.parametrize("name", ORDER)
def test_data_flows_one_way(name):
    """A file imports only from files to its left."""
    assert set(imported_siblings(parsed(name))) <= set(ORDER[: ORDER.index(name)])


@pytest.mark.parametrize("name", ORDER)
def test_public_functions_are_documented_and_typed(name):
    """Every module, public function and method has a docstring, a type for each argument and one for the result."""
    tree = parsed(name)
    assert ast.get_docstring(tree)
    functions = list(public_functions(tree))
    assert functions
    for function, node in functions:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        untyped = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        assert ast.get_docstring(node) and node.returns is not None and not untyped, f"{name}.{function} {untyped}"


def test_version_is_a_version():
    """The package says which version it is."""
    assert all(part.isdigit() for part in helpers.__version__.split("."))


def test_modules_are_reachable_where_functions_hide_them():
    """helpers.release is the function, and the module of the same name can still be imported."""
    assert callable(helpers.release)
    assert importlib.import_module("helpers.release").release is helpers.release
