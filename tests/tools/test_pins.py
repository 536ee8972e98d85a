"""What is installed, and from where: every file of other people is known by its hash."""

import ast
import re
import shlex
import tomllib
from itertools import pairwise

import pytest
import yaml
from manuscript import ROOT
from pins import LOCK, PIN, pinned, pins

BINDER = ROOT / "binder" / "requirements.txt"
OFFLINE = ROOT / "tools" / "pyodide_offline.txt"
SPARK = ROOT / "tools" / "spark.txt"


def text(path):
    return path.read_text(encoding="utf-8")


# The files


@pytest.mark.parametrize("path", [LOCK, BINDER, OFFLINE, SPARK], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_pin_has_a_hash(path):
    """A requirements file is pins with hashes and comments, and no line of it is anything else."""
    rest = re.sub(r"^#.*|^--only-binary :all:$", "", PIN.sub("", text(path)), flags=re.MULTILINE)
    assert pins(text(path)) and rest.strip() == ""


UNSAFE = {
    "no hash": "comm==0.2.3",
    "no version": f"comm --hash=sha256:{64 * '0'}",
    "a range": f"comm>=0.2 --hash=sha256:{64 * '0'}",
    "half a hash": "comm==0.2.3 --hash=sha256:00",
    "a weak hash": f"comm==0.2.3 --hash=md5:{32 * '0'}",
}


@pytest.mark.parametrize("line", UNSAFE.values(), ids=UNSAFE)
def test_what_is_no_pin(line):
    """A package without an exact version or without a whole hash is no pin."""
    assert pins(line) == {}


def normal(name):
    """The name of a package as the lock spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def version(pin):
    return re.search(r"==([^ ;]+)", pin)[1]


def test_the_lock_has_what_the_book_uses():
    """Every line of requirements.in is an exact version, and the lock has the same. If not: run `make lock`."""
    wanted = [line.partition("#")[0].strip() for line in text(LOCK.with_suffix(".in")).splitlines() if line[0] != "#"]
    locked = pins(text(LOCK))
    for line in wanted:
        name, number = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?==([\w.]+)", line).groups()
        assert [version(pin) for pin in locked[normal(name)]] == [number], f"{line}: run `make lock`"


def test_the_lock_is_for_every_platform():
    """What only Windows or only a Mac needs is in it, and so are NumPy's files for all of them."""
    locked = pins(text(LOCK))
    assert "sys_platform == 'win32'" in locked["colorama"][0] and "sys_platform == 'darwin'" in locked["appnope"][0]
    assert locked["numpy"][0].count("--hash") > 40


def test_the_lock_names_no_place():
    """Where packages are downloaded is up to the machine."""
    assert not re.search(r"://|--index|--find-links|--trusted", text(LOCK) + text(BINDER) + text(OFFLINE) + text(SPARK))


def test_some_pins_out_of_all():
    """Asked for some packages, the lines are those of the lock, hashes included, and an unknown one is an error."""
    assert [*pins(pinned("comm", "numpy"))] == ["comm", "numpy"] and pinned("numpy") in text(LOCK)
    with pytest.raises(KeyError):
        pinned("no-such-package")


# What runs them


RUNNERS = [ROOT / "Makefile", ROOT / "binder" / "postBuild", ROOT / ".ci" / "run"]
FETCHES = re.compile(
    r"\b(?:pip3? (?:install|download|wheel)|uv (?:pip install|sync|run|tool)|uvx|pipx|conda|npx|npm|curl|wget|git clone)\b"
)
NEWEST = "$(LATEST)/bin/pip install --quiet --requirement $(LATEST)/newest.txt"  # what is newest has no hash in any file


def commands():
    """(file, line) of every command of the runners and the workflows that could bring something from elsewhere."""
    for path in RUNNERS:
        lines = text(path).replace("\\\n", " ").splitlines()
        yield from ((path, line.strip()) for line in lines if FETCHES.search(line.partition("#")[0]))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(text(path))["jobs"].values()
        runs = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
        yield from ((path, run) for run in runs if FETCHES.search(run))


def is_safe(line):
    """Does the command take what has a hash, or what is here already, and nothing else?"""
    words = shlex.split(line)
    here = "--no-deps" in words and "--no-build-isolation" in words and words[-1] == "."
    files = [ROOT / after for word, after in pairwise(words) if word == "--requirement"]
    return here or ("--require-hashes" in words and files != [] and all(file in (LOCK, BINDER, SPARK) for file in files))


def test_nothing_is_installed_without_a_hash():
    """Makefile, workflows, Binder and .ci/run install by hash; the one that is for the newest of everything cannot."""
    found = list(commands())
    assert [(path.name, line) for path, line in found if not is_safe(line)] == [("Makefile", NEWEST)]
    assert len(found) == 7  # it looks at something: the book's own two, the newest's two, Spark's one, Binder's two


LINES = {
    "pip install numpy": False,
    "pip install --requirement requirements.txt": False,
    "pip install --require-hashes --requirement other.txt": False,
    "pip install --require-hashes numpy": False,
    "pip install .": False,
    "pip install --no-deps .": False,
    "pip install --no-deps --no-build-isolation .": True,
    "pip install --require-hashes --requirement requirements.txt": True,
}


@pytest.mark.parametrize(("line", "safe"), LINES.items())
def test_what_is_safe(line, safe):
    """A command is safe if it wants hashes of a file that has them, or brings nothing at all."""
    assert FETCHES.search(line) and is_safe(line) == safe


def pip_calls(path):
    """The words that a tool gives to pip, list by list."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.List):
            words = [item.value for item in node.elts if isinstance(item, ast.Constant)]
            if "pip" in words:
                yield words


def test_tools_download_by_hash():
    """A tool that calls pip downloads by hash, or lets pip have no network, or builds what is here with what is here."""
    calls = [(path.name, words) for path in sorted((ROOT / "tools").glob("*.py")) for words in pip_calls(path)]
    safe = [{"--require-hashes"}, {"--no-index"}, {"--no-deps", "--no-build-isolation"}]
    assert {name for name, _ in calls} == {"anywhere.py", "bare.py", "pins.py"}
    assert [(name, words) for name, words in calls if not any(flags <= {*words} for flags in safe)] == []


# Binder


def test_binder_has_the_versions_of_the_book():
    """Each pin of Binder is that of the book, line by line, and the chapters' own requirements are among them."""
    ours, book = pins(text(BINDER)), pins(text(LOCK))
    assert {name: book[name] for name in ours} == ours
    project = tomllib.loads(text(ROOT / "pyproject.toml"))
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *extras["notebooks"],
        *extras["release"],
        *project["build-system"]["requires"],
    ]
    assert {normal(re.match(r"[\w.-]+", one)[0]) for one in wanted} <= {*ours}


def test_binder_has_the_python_of_the_workflows():
    """One version of Python on Binder, as exact as Binder allows, and the one that the workflows test with."""
    [python] = re.findall(r"^python-(3\.\d+)\n$", text(ROOT / "binder" / "runtime.txt"))
    assert f'python-version: "{python}"' in text(ROOT / ".github" / "workflows" / "book.yml")
