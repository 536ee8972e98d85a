"""The options of the command line: what --help says of each, what they turn into, and what they refuse."""

import pkgutil
import shlex

import pytest

from helpers.cli import COMMANDS as NAMES
from helpers.cli import PROG, commands, parser
from helpers.cli.commands import account, allocate, example, release, simulate, verify

COMMANDS = {"example": example, "allocate": allocate, "simulate": simulate, "release": release}  # those that write a file
OTHERS = {"account": account, "verify": verify}
CODES = "exit codes: 0 success, 2 wrong usage or a bad file, 130 interrupted (Ctrl-C)"
ON_NODES = "cube-root (default) and uniform look at the number of nodes alone"
TEXTS = {
    "-h, --help": "show this help message and exit",
    "--year {2023,2024}": "which year (default: 2024)",
    "--levels A,B": "columns that name the nodes, top level first",
    "--count NAME": "column of counts (default: population, or the only column of numbers left)",
    "--nodes FILE": "public table of all leaves: those without a row count zero, others are refused",
    "--rows-per-person K": "the most rows that one person has (default: 1); noise grows with it",
    "--person NAME": "column that names the person of each row: rows are counted, at most K of each person",
    "--account FILE": "book the release in this account, before anything is drawn",
    "--budget TOTAL": "all that may ever be spent: opens a new account",
    "--total EPSILON": "the whole privacy budget",
    "--tau ERROR": "instead of --total: keep the squared error, summed over all nodes and weighted, below this",
    "--budgets-from FILE": "a split that allocate --output wrote, instead of --total",
    "--weights W,W": "how much the error of each level matters (default: all the same)",
    "--rule {cube-root,uniform}": ON_NODES,
    "--rule {cube-root,uniform,optimal}": ON_NODES + "; optimal looks at the counts: for public or earlier data",
    "--trials TRIALS": "simulated releases (default: 200)",
    "--seed SEED": "of the simulated noise (default: 0)",
    "--plot FILE": "draw the spread of errors in each level (.svg, .png, .pdf)",
    "--json": "print JSON instead of a table",
    "--force": "overwrite files that are there already",
}
PEOPLE = ["--nodes FILE", "--rows-per-person K", "--person NAME"]
TABLE = ["--levels A,B", "--count NAME", *PEOPLE, "--total EPSILON"]  # what every command with a file takes first
ANY_RULE, BROUGHT, TRIALS = "--rule {cube-root,uniform,optimal}", "--budgets-from FILE", ["--trials TRIALS", "--seed SEED"]
TAKES = {  # options in the order of --help, and what --output writes
    "example": (["--year {2023,2024}"], "table"),
    "allocate": ([*TABLE, "--tau ERROR", "--weights W,W", ANY_RULE, "--json"], "split (JSON)"),
    "simulate": ([*TABLE, BROUGHT, "--weights W,W", ANY_RULE, *TRIALS, "--plot FILE", "--json"], "report (CSV)"),
    "release": ([*TABLE, BROUGHT, "--weights W,W", "--rule {cube-root,uniform}", "--account FILE", "--budget TOTAL"], None),
}
ALL: dict[str, object] = {"file": "a.csv", "levels": None, "count": None, "total": None, "weights": None, "rule": None}
ALL |= {"nodes": None, "person": None, "rows_per_person": 1}
LEFT_OUT = ALL | {"force": False}
DEFAULTS = {
    "example": {"year": 2024, "output": None, "force": False},
    "allocate": LEFT_OUT | {"tau": None, "json": False, "output": None},
    "simulate": LEFT_OUT | {"budgets_from": None, "trials": 200, "seed": 0, "plot": None, "json": False, "output": None},
    "release": ALL | {"budgets_from": None, "output": "b.csv", "account": None, "budget": None},
}
NEEDED = {"example": [], "allocate": ["a.csv"], "simulate": ["a.csv"], "release": ["a.csv", "--output", "b.csv"]}


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """A terminal that breaks no line, and shows no colours."""
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setenv("NO_COLOR", "1")


def shown(capsys, *line):
    """What --help prints after a command."""
    ended(0, *line, "--help")
    return capsys.readouterr().out


def refusal(capsys, *line):
    """The last line of what is said of wrong usage."""
    ended(2, *line)
    return capsys.readouterr().err.splitlines()[-1]


def words(*lines):
    """Text without its layout."""
    return " ".join(lines).split()


def parsed(*line):
    return vars(parser(line).parse_args(list(line)))


def ended(code, *line):
    """That a line ends the program, with this code."""
    with pytest.raises(SystemExit) as stop:
        parsed(*line)
    assert stop.value.code == code


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_all_of_a_command(capsys, command):
    """--help of a command is its usage, its purpose, a text for each option, its examples and the exit codes."""
    names, what = TAKES[command]
    writes = ["[--output FILE]", "[--force]"] if what else ["--output FOLDER"]
    usage = ["usage:", PROG, command, "[-h]", *[f"[{name}]" for name in names], *writes]
    texts = TEXTS | {"--output FILE": f"write the {what} to a file"}
    texts |= {"--output FOLDER": "write counts and record to a new folder"}
    listed = [f"{name} {texts[name]}" for name in ["-h, --help", *names, *[name.strip("[]") for name in writes]]]
    examples = [f"{PROG} {command} {line}" for line in COMMANDS[command].EXAMPLES]
    file = ["positional arguments:", "file CSV file with a header and one row a leaf"]
    with_file = command != "example"
    found = shown(capsys, command)
    assert found.split() == words(
        *usage, *["file"] * with_file, COMMANDS[command].ABOUT, *file * with_file, "options:", *listed,
        "examples:", *examples, CODES,
    )  # fmt: skip
    assert found.endswith("\n\nexamples:\n" + "".join(f"  {line}\n" for line in examples) + f"\n{CODES}\n")


def test_help_of_the_whole_lists_the_commands(capsys):
    """The front --help names each command with its purpose, and the first example of each that needs no network."""
    listed = [f"{command} {module.ABOUT}" for command, module in (COMMANDS | OTHERS).items()]
    offline = COMMANDS | {"account": account}
    examples = [f"  {PROG} {command} {module.EXAMPLES[0]}\n" for command, module in offline.items()]
    purpose = "Split a privacy budget over the levels of your own table."
    found = shown(capsys)
    assert found.split() == words(
        "usage:", PROG, "[-h] COMMAND ...", purpose, "options: -h, --help show this help message and exit",
        "commands: COMMAND", *listed, "examples:", *examples, CODES,
    )  # fmt: skip
    assert found.endswith("\n\nexamples:\n" + "".join(examples) + f"\n{CODES}\n")


def test_the_list_of_commands_is_the_folder():
    """Each file of the folder is a command, and each command a file with the four names that a command has."""
    assert set(NAMES) == {module.name for module in pkgutil.iter_modules(commands.__path__)}
    for module in (*COMMANDS.values(), *OTHERS.values()):
        assert module.ABOUT.endswith(".") and module.EXAMPLES and callable(module.add_options) and callable(module.run)


def test_help_of_verify_says_what_it_takes(capsys):
    """`verify` is described like the others, and takes folders or names of states."""
    found = shown(capsys, "verify")
    assert found.startswith(f"usage: {PROG} verify [-h] [--account FILE] [WHAT ...]\n\n{verify.ABOUT}\n\n")
    examples = "".join(f"  {PROG} verify {line}".rstrip() + "\n" for line in verify.EXAMPLES)
    assert found.endswith(f"\n\nexamples:\n{examples}\n{CODES}\n")
    assert parsed("verify", "vermont", "DE") == {"run": verify.run, "what": ["vermont", "DE"], "account": None}


def test_help_of_account_says_what_it_takes(capsys):
    """`account` takes a file, and prints it as a table or as JSON."""
    assert shown(capsys, "account").startswith(f"usage: {PROG} account [-h] [--json] file\n\n{account.ABOUT}\n\n")
    assert parsed("account", "a.db") == {"run": account.run, "file": "a.db", "json": False}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_left_out_has_its_default(command):
    """With nothing but what it needs, a command gets its own function and the defaults that --help names."""
    assert parsed(command, *NEEDED[command]) == DEFAULTS[command] | {"run": COMMANDS[command].run}


GIVEN = {  # (command, what is given, its name in the result, its value)
    "year": ("example", "--year 2023", "year", 2023), "output": ("example", "--output c.csv", "output", "c.csv"),
    "force": ("example", "--force", "force", True), "one level": ("allocate", "--levels region", "levels", ["region"]),
    "levels": ("allocate", "--levels 'region, store'", "levels", ["region", "store"]),
    "count": ("allocate", "--count people", "count", "people"),
    "least total": ("allocate", "--total 1e-9", "total", 1e-9), "most total": ("allocate", "--total 1e9", "total", 1e9),
    "least tau": ("allocate", "--tau 1e-9", "tau", 1e-9), "most tau": ("allocate", "--tau 1e18", "tau", 1e18),
    "weights": ("allocate", "--weights 1,0.5", "weights", [1.0, 0.5]),
    "one weight": ("release", "--weights 2", "weights", [2.0]), "optimal": ("allocate", "--rule optimal", "rule", "optimal"),
    "uniform": ("release", "--rule uniform", "rule", "uniform"), "JSON of a split": ("allocate", "--json", "json", True),
    "JSON of a report": ("simulate", "--json", "json", True),
    "split": ("simulate", "--budgets-from split.json", "budgets_from", "split.json"),
    "split of a release": ("release", "--budgets-from split.json", "budgets_from", "split.json"),
    "least trials": ("simulate", "--trials 4", "trials", 4), "least seed": ("simulate", "--seed 0", "seed", 0),
    "large seed": ("simulate", "--seed 12345678901234567890", "seed", 12345678901234567890),
    "figure": ("simulate", "--plot errors.pdf", "plot", "errors.pdf"),
}  # fmt: skip


@pytest.mark.parametrize("command, given, name, value", GIVEN.values(), ids=GIVEN)
def test_what_is_given_is_kept(command, given, name, value):
    """An option changes what it names, of its type, up to the limits themselves, and nothing else."""
    before, after = (parsed(command, *NEEDED[command], *shlex.split(extra)) for extra in ("", given))
    assert after == before | {name: value} and type(after[name]) is type(value)


LEVELS = "argument --levels: must be distinct column names with commas between them, got "
TOTAL = "argument --total: must be a number from 1e-9 to 1e+09, got "
SEED = "argument --seed: must be a whole number of at least 0, got "
REFUSED = {
    "no command": ("", "the following arguments are required: COMMAND"),
    "no file": ("allocate", "the following arguments are required: file"),
    "no output": ("release a.csv", "the following arguments are required: --output"),
    "levels twice": ("allocate a.csv --levels 'a,b, a'", LEVELS + "'a,b, a'"),
    "empty level": ("allocate a.csv --levels 'a, '", LEVELS + "'a, '"),
    "below the least": ("allocate a.csv --total 9.9e-10", TOTAL + "'9.9e-10'"),
    "above the most": ("allocate a.csv --total 1000000001", TOTAL + "'1000000001'"),
    "words": ("release a.csv --total one", TOTAL + "'one'"),
    "NaN": ("simulate a.csv --total nan", TOTAL + "'nan'"),
    "a huge tau": ("allocate a.csv --tau 1.001e18", "argument --tau: must be a number from 1e-9 to 1e+18, got '1.001e18'"),
    "a weight of zero": ("allocate a.csv --weights 1,0", "argument --weights: must be a number from 1e-9 to 1e+09, got '0'"),
    "too many rows": (
        f"simulate a.csv --rows-per-person {10**400}",
        f"argument --rows-per-person: must be a whole number of at most 1,000,000, got '{10**400}'",
    ),
    "one row too many": (
        "release a.csv --rows-per-person 1000001",
        "argument --rows-per-person: must be a whole number of at most 1,000,000, got '1000001'",
    ),
    "three trials": ("simulate a.csv --trials 3", "argument --trials: must be a whole number of at least 4, got '3'"),
    "half a seed": ("simulate a.csv --seed 0.5", SEED + "'0.5'"),
    "a seed in words": ("simulate a.csv --seed one", SEED + "'one'"),
    "another format":
        ("simulate a.csv --plot errors.txt", "argument --plot: must end in one of .svg, .png, .pdf, got 'errors.txt'"),
    "short for another": ("example --forc", "unrecognized arguments: --forc"),
}  # fmt: skip


@pytest.mark.parametrize("line, sentence", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_named_with_its_value(capsys, line, sentence):
    """A refusal is one sentence that says which option, what would be right, and what was given."""
    found = refusal(capsys, *shlex.split(line))
    assert found.startswith(PROG) and found.endswith(f": error: {sentence}")


@pytest.mark.parametrize("line", ["allocate a.csv --rule mine", "release a.csv --rule optimal", "example --year 1999"])
def test_a_choice_is_one_of_those_listed(capsys, line):
    """A rule or a year that the command does not know is refused by name."""
    assert f"error: argument {line.split()[-2]}: invalid choice: " in refusal(capsys, *line.split())


def test_a_whole_number_may_have_a_thousand_digits(capsys):
    """One more is refused before Python is asked to read it; a sentence says how many there may be."""
    line = ["simulate", "data.csv", "--levels", "a,b", "--total", "1", "--seed"]
    assert parsed(*line, "9" * 1000)["seed"] == 10**1000 - 1
    assert refusal(capsys, *line, "9" * 1001).endswith("must be a whole number of at most 1000 digits, got 1001")
