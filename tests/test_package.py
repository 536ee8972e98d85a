"""The package as a whole: what importing it does, which way data flows, and that everything public is documented."""

import ast
import importlib
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from manuscript import ROOT
from rooms import AROUND, CORE, ROOMS, imported, imports_of_rooms, modules, parsed, picture, purpose, room_of, table

import helpers

MODULES = [module for module in modules() if room_of(module) != "exercises"]
CONTRACT = [
    "Hierarchy", "bias", "variance", "mse", "uniform", "cube_root", "minimize_error", "minimize_budget", "project_simplex",
    "top_down", "release", "simulate", "load_state", "load_nation", "prior", "Allocation", "expected_error", "downstream",
]  # fmt: skip


def run(code):
    """Run Python code in a fresh interpreter at the root of the project; return what it printed."""
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


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
    with pytest.raises(AttributeError, match=r"^module 'helpers' has no attribute 'nothing'$"):
        _ = helpers.nothing


@pytest.mark.parametrize("name", ["plots", "panels"])
def test_drawing_is_loaded_by_name(name):
    """helpers.plots and helpers.panels are the modules of these names."""
    assert helpers.__getattr__(name) is importlib.import_module(f"helpers.figures.{name}")


WATCHED = """
import sys, pathlib
{before}
opened, network = [], []
def watch(event, args):
    if event == "open" and isinstance(args[0], (str, pathlib.Path)):
        opened.append(str(args[0]))
    if event.startswith("socket."):
        network.append(event)
sys.addaudithook(watch)
{watched}
seen, contacted = list(opened), list(network)
print(len(seen), "network" if contacted else "offline")
print(*sorted({{pathlib.Path(p).name for p in seen if not p.endswith((".py", ".pyc", ".so", ".pyd"))}}))
"""


def test_importing_opens_nothing_but_code():
    """Importing helpers makes no network call and opens no file that is not Python code."""
    opened, network, *others = run(WATCHED.format(before="import numpy, pandas", watched="import helpers"))
    assert int(opened) >= len(CORE)  # the watch saw the package's own modules, so it works
    assert network == "offline" and [name for name in others if not name.endswith(".zip")] == []


def test_loading_reads_the_package_data_only():
    """Loading counts makes no network call and opens the embedded files it needs, and no other."""
    before = 'import helpers; helpers.load_state("DE")'  # once, so that pandas has loaded what it needs
    _, network, *others = run(WATCHED.format(before=before, watched='helpers.prior("WY")'))
    assert network == "offline"
    assert others == ["SHA256SUMS", "wyoming_2010_blockgroups.csv.gz", "wyoming_2020_blocks.csv.gz"]


def test_importing_is_light():
    """Importing helpers loads the core alone; Matplotlib, SciPy, OpenDP, SymPy, tqdm and pooch come when asked for."""
    heavy = ("matplotlib", "scipy", "opendp", "sympy", "tqdm", "pooch", "requests")
    rooms = "sorted({m.split('.')[1] for m in sys.modules if m[:8] == 'helpers.'})"
    loaded = f"print(*[m for m in {heavy} if m in sys.modules], *{rooms})"
    assert run(f"import sys, helpers; {loaded}") == sorted(CORE)
    assert run(f"import sys, helpers; helpers.plots; {loaded}") == ["matplotlib", *sorted([*CORE, "figures"])]


@pytest.mark.parametrize("line", ["--help", "allocate --help", "verify --help"])
def test_help_loads_no_census_code(line):
    """Asking the command line what it can do reads no code of the census, and none that draws or makes exact noise."""
    code = f"""
import contextlib, sys
from helpers.cli import main
with contextlib.suppress(SystemExit):
    main({line.split()})
print("loaded:", *[m for m in ("helpers.census", "helpers.figures", "opendp", "matplotlib", "scipy") if m in sys.modules])
"""
    assert run(code)[-1] == "loaded:"


def test_every_file_is_in_a_room():
    """The package consists of these rooms and of nothing else."""
    found = {path.stem for path in (ROOT / "helpers").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert found - {"__init__", "__main__", "__pycache__", "data"} == {*ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_one_way(room):
    """A room imports from rooms before it alone, so the core knows nothing of what stands around it."""
    assert {*imports_of_rooms()[room]} <= {*ROOMS[: ROOMS.index(room)]}


def test_imports_are_found_wherever_they_stand():
    """At the top and inside a function, by name and by dots, of a module and of what is in it."""
    assert {"census": 1, "example": 1, "publishing": 7}.items() <= imports_of_rooms()["cli"].items()
    assert "helpers.census.bureau.official" in imported("census/embedded")  # inside a function
    assert {"helpers.checks", "numpy", "helpers.layout.Run"} <= {*imported("consistency/projection")}


def test_the_door_of_the_bureau_is_closed():
    """Only whoever is asked for the Bureau's own files opens that room."""
    knows = {module for module in MODULES if any(".bureau" in name for name in imported(module))}
    assert {module for module in knows if "bureau" not in module} == {"census/embedded", "cli/commands/verify"}


def test_no_module_imports_itself_by_a_detour():
    """The modules can be put in an order in which each imports only from those before it."""
    names = {f"helpers.{module.replace('/', '.')}": module for module in MODULES}
    graph = {}
    for name, module in names.items():
        sources = {found.rpartition(".")[0] for found in imported(module)} | {*imported(module)}
        graph[name] = sources & {*names}
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)  # a cycle raises an error


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    """A dot for each room that another imports from, all below the diagonal, and a line of the table for each room."""
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+"><title>(\w+) imports from (\w+), in (\d+)', picture())
    pairs = {(room, other): int(files) for _, _, room, other, files in dots}
    assert pairs == {(room, other): n for room, found in imports_of_rooms().items() for other, n in found.items()}
    rows = [sorted({float(y) for _, y, *_ in dots}).index(float(y)) for _, y, *_ in dots]
    assert len(set(rows)) == sum(bool(found) for found in imports_of_rooms().values())
    for name, row in zip(ROOMS, table().splitlines()[2:], strict=True):
        assert row.startswith(f"| `{name}") and purpose(name) in row and len(purpose(name)) > 10
    assert [*CORE, *AROUND] == [*ROOMS]


@pytest.mark.parametrize("module", MODULES)
def test_tests_mirror_the_rooms(module):
    """The tests of helpers/room/file.py are in tests/room/test_file.py; a command's are with those of the command line."""
    folder, _, name = module.rpartition("/")
    place = "cli/test_commands.py" if folder == "cli/commands" else f"{folder}/test_{name}.py"
    assert (ROOT / "tests" / place.removeprefix("/")).exists()


@pytest.mark.parametrize("module", MODULES)
def test_public_functions_are_documented_and_typed(module):
    """Every module, public function and method has a docstring, a type for each argument and one for the result."""
    tree = parsed(module)
    assert ast.get_docstring(tree)
    functions = list(public_functions(tree))
    assert functions
    for function, node in functions:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        untyped = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        assert ast.get_docstring(node) and node.returns is not None and not untyped, f"{module}: {function} {untyped}"


def test_names_that_are_loaded_late_are_those_that_a_type_checker_sees():
    """The table of names around the core and the imports for type checkers say the same."""
    tree = ast.parse((ROOT / "helpers" / "__init__.py").read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    assert {alias.name for node in block.body for alias in node.names} == set(helpers._AROUND)
    assert set(helpers._AROUND) < set(dir(helpers)) and set(helpers.__all__) <= set(dir(helpers))


def test_version_is_a_version():
    """The package says which version it is."""
    assert all(part.isdigit() for part in helpers.__version__.split("."))


def test_no_function_hides_its_module():
    """helpers.release and helpers.audit are functions, and no module has their names."""
    assert callable(helpers.release) and callable(helpers.audit)
    assert not {"release", "audit"} & {module.rpartition("/")[2] for module in MODULES if room_of(module) != "cli"}
