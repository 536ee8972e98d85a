"""The law of a release: no sequence of commands, crashes or edits of a file leaves counts without a true record,
spends budget that the account does not show, or prints a count that was not released."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.faults import ENVIRONMENT, needs_tracing, struck, together

from helpers import Accountant, Hierarchy, cube_root, private_release
from helpers.cli import main
from helpers.publishing import ledger
from helpers.publishing.exact_noise import Noise
from helpers.publishing.files import write
from helpers.publishing.publish import CHECKED, DECLARED, WEIGHTED
from helpers.publishing.released import PrivateRelease

GOOD = "region,store,population\nN,a,31415\nN,b,0\nS,c,27182\n"
UNFINISHED = "unfinished: these counts are not a release, and their budget is spent"
SECRET = ("31415", "27182")  # true counts, which nothing may print
RELEASE = "release data.csv --levels region,store --total 1 --account a.db --budget 5 --output"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own, `here`, with a good file in it; copies of it lie beside it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("data.csv").write_text(GOOD)


def run(capsys, line):
    """Exit code, standard output and standard error of a command line, run in this process."""
    return main(line.split()), *capsys.readouterr()


def record_of(folder):
    return json.loads(Path(folder, "record.json").read_bytes())


def rewrite(folder, **changes):
    """Change fields of a record by hand."""
    Path(folder, "record.json").write_text(json.dumps(record_of(folder) | changes))


def unfinished(folder):
    return sorted(folder.glob(".unfinished-*"))


# Killed, interrupted or failing at any step


def check_law(found, before=0):
    """What holds after every run, however it ended; the lines of the account."""
    purse = Accountant.open(found.folder / "a.db") if (found.folder / "a.db").exists() else None
    lines = purse.entries if purse else ()
    assert [entry.eps for entry in lines] == [Fraction(1)] * len(lines), found
    assert len(lines) == before + 1 if found.drew else before <= len(lines) <= before + 1, found
    if (found.folder / "out").exists():
        assert PrivateRelease.read(found.folder / "out", purse).record["epsilon"] == 1, found
    for folder in unfinished(found.folder):
        check_leftover(folder, purse)
    assert not any(count in found.out + found.err for count in SECRET), found
    return len(lines)


def check_leftover(folder, purse):
    """Counts that a killed run leaves have a true record beside them: it calls them unfinished, or fits them."""
    if (folder / "counts.csv").exists():
        assert record_of(folder)["epsilon"] == 1.0
        if record_of(folder)["counts"] != UNFINISHED:
            PrivateRelease.read(folder, purse)


@needs_tracing
@pytest.mark.parametrize("before", [0, 1], ids=["a new account", "an account with a line"])
def test_a_killed_release_is_whole_or_absent(capsys, monkeypatch, tmp_path, before):
    """Killed before any of its writes, SQLite's too: the folder is whole or absent, what was drawn is booked, and the next
    run works and tells of what was left. Between the two files of a release there used to be old counts beside a new record.
    """
    if before:
        assert run(capsys, f"{RELEASE} first")[0] == 0
    runs = struck(tmp_path / "here", "kill", f"{RELEASE} out")
    assert {found.code for found in runs[:-1]} == {-9} and runs[-1].code == 0 and len(runs) > 40
    assert "rename fsync openat write" in " ".join(found.step for found in runs)  # no counts before a record is on the disk
    assert {(found.folder / "out").exists() for found in runs} == {True, False} == {found.drew for found in runs}
    for found in runs:
        lines, left = check_law(found, before), unfinished(found.folder)
        monkeypatch.chdir(found.folder)
        code, _, err = run(capsys, f"{RELEASE} next")
        assert code == 0 and all(f"note: {folder} was left unfinished" in err for folder in left), found
        assert err.count("note") == len(left)
        assert record_of("next")["account"]["line"] == lines + 1


@needs_tracing
def test_an_account_with_two_names_loses_no_line(tmp_path):
    """Killed at any step, while the account has a second name: what is spent by that name is still there by the first.

    SQLite undoes half a line by what lies beside the name in use; lines that came by the other name used to go with it.
    """
    Accountant.open("a.db", total=50).spend(1, "one")
    for found in struck(tmp_path / "here", "kill", f"{RELEASE} out".replace(" --budget 5", "")):
        (found.folder / "b.db").hardlink_to(found.folder / "a.db")
        try:
            Accountant.open(found.folder / "b.db").spend(7, "by the second name")
        except ValueError:
            continue
        assert "by the second name" in [line.what for line in Accountant.open(found.folder / "a.db").entries], found


def test_an_account_put_back_within_a_second_does_not_fit():
    """Three releases on three copies of one account, all at once: the account knows the last of them alone."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    Accountant.open("a.db", total=1)
    shutil.copy("a.db", "copy.db")
    for name in "xyz":
        shutil.copy("copy.db", "a.db")
        private_release(tree, cube_root(tree, total=1), accountant=Accountant.open("a.db")).save(name)
    PrivateRelease.read("z", Accountant.open("a.db"))
    for name in "xy":
        with pytest.raises(ValueError, match="that line of the account is another release's"):
            PrivateRelease.read(name, Accountant.open("a.db"))


FAULTS = {
    "interrupt": 130,  # Ctrl-C at every write
    "line": 130,  # and at every line in between
    "EIO": 2,  # a bad sector
    "full": 2,  # a disk that is full from then on; nothing can be said on a stream that goes there either
}


@needs_tracing
@pytest.mark.parametrize("fault, code", FAULTS.items(), ids=FAULTS)
def test_a_release_that_fails_leaves_nothing(tmp_path, fault, code):
    """Interrupted or failing at any step: a sentence, and no folder; or the release is there, and the exit code says so.

    With an error after the files were written, the exit code used to be 2. Ctrl-C between the making of the hidden folder
    and its filling used to leave it, and a disk that failed at the last renaming used to hide that the release was booked.
    """
    runs = struck(tmp_path / "here", fault, f"{RELEASE} out")
    assert {found.code for found in runs} == {0, code} and len(runs) > 40
    for found in runs:
        lines = check_law(found)
        assert (found.folder / "out").exists() == (found.code == 0), found
        assert {path.name for path in found.folder.iterdir()} <= {"data.csv", "a.db", "a.db-journal", "out"}, found
        assert "Traceback" not in found.err and "Errno" not in found.err, found
        if found.code and fault != "full":
            assert found.err.count("python -m helpers: ") == 1 and found.err.count("\n") == 1 + lines, found
            assert ("the release was booked, and stays so" in found.err) == bool(lines), found


def test_a_folder_that_is_removed_meanwhile_is_an_error(capsys, monkeypatch):
    """Somebody clears away the hidden folder while it is filled: exit code 2. It used to be 0, without a release."""
    add = Noise.add

    def swept(noise, counts):
        for folder in unfinished(Path()):
            shutil.rmtree(folder)
        return add(noise, counts)

    monkeypatch.setattr(Noise, "add", swept)
    code, out, err = run(capsys, f"{RELEASE} out")
    assert (code, out) == (2, "") and "No such file or directory" in err and "the release was booked" in err
    assert not Path("out").exists() and len(Accountant.open("a.db").entries) == 1


def test_an_interrupt_that_comes_too_late_changes_nothing(monkeypatch):
    """Ctrl-C when a folder has just taken its place: `save` says where it is, and it stays there."""
    tree, rename = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]]), os.rename

    def interrupted(*names):
        rename(*names)
        raise SystemExit  # as good as Ctrl-C, which would end the tests

    found = private_release(tree, cube_root(tree, total=1))
    monkeypatch.setattr(os, "rename", interrupted)
    assert PrivateRelease.read(found.save("out")).record["epsilon"] == 1 and sorted(os.listdir()) == ["data.csv", "out"]


def test_an_account_that_is_locked_is_waited_for_and_then_refused(capsys, monkeypatch):
    """Another process that never lets go of the account: a sentence in the end, and nothing drawn or left."""
    Accountant.open("a.db", total=5)
    monkeypatch.setattr(ledger, "PATIENCE", 0.01)
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    with closing(sqlite3.connect("a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, out, err = run(capsys, f"{RELEASE} out")
    assert (code, out) == (2, "") and "a.db cannot be used (database is locked)" in err
    assert sorted(os.listdir()) == ["a.db", "data.csv"] and Accountant.open("a.db").spent == 0


def test_the_account_is_not_the_release(capsys):
    """One name for both is refused before anything is spent; the release used to be booked, and then had no place."""
    code, _, err = run(capsys, RELEASE.replace("a.db", "out") + " out")
    assert code == 2 and "--account must be a file apart from the release" in err and os.listdir() == ["data.csv"]


def test_a_disk_without_links_keeps_the_first(monkeypatch):
    """Where files cannot have two names, of two new accounts the second is refused; it used to replace the first."""

    def no_links(new, path):
        Path(path).write_text("somebody else's, and charged by now")
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os.path, "exists", lambda _: False)  # as it was a moment ago
    with pytest.raises(FileExistsError, match="is there already"):
        write(Path("new.db"), lambda new: new.write_text("mine"), force=False)
    assert Path("new.db").read_text() == "somebody else's, and charged by now"
    assert sorted(os.listdir()) == ["data.csv", "new.db"]


# Disks and streams that are full, read-only, closed or gone

SMALL_DISKS = """
import io, json, os, subprocess, sys
from contextlib import redirect_stderr, redirect_stdout
from helpers import Accountant
from helpers.cli import main
from helpers.publishing.released import PrivateRelease

def tried(line):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        code = main(line.split())
    return code, err.getvalue()

def mount(*options):
    subprocess.run(["mount", *options, "disk"], check=True)

line = "release data.csv --levels region,store --total 1 --budget 5 --account {} --output {}"
os.mkdir("disk")
for size in range(4, 100, 4):
    mount("-t", "tmpfs", "-o", f"size={size}k", "none")
    code, err = tried(line.format("disk/a.db", "disk/out"))
    purse = Accountant.open("disk/a.db") if os.path.exists("disk/a.db") else None
    whole = os.path.exists("disk/out") and bool(PrivateRelease.read("disk/out", purse))
    print(json.dumps([code, err, sorted(os.listdir("disk")), len(purse.entries) if purse else 0, whole]))
    subprocess.run(["umount", "disk"], check=True)
mount("-t", "tmpfs", "-o", "size=1M", "none")
Accountant.open("disk/a.db", total=5)
mount("-o", "remount,ro")
print(json.dumps([*tried(line.format("a.db", "disk/out")), sorted(os.listdir())]))
print(json.dumps([*tried(line.format("disk/a.db", "out")), sorted(os.listdir())]))
"""


def has_own_mounts():
    """May this process have disks of its own, which nobody else sees?"""
    try:
        done = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@pytest.mark.skipif(not has_own_mounts(), reason="disks of one's own need unshare, and the right to use it")
def test_disks_that_are_full_or_read_only():
    """On disks of all small sizes: a sentence and exit code 2, then, with room enough, a whole release; never in between."""
    Path("data.csv").write_text(GOOD + "".join(f"S,c{i},0\n" for i in range(600)))
    command = ["unshare", "-rm", sys.executable, "-c", SMALL_DISKS]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *sizes, no_place, no_account = map(json.loads, done.stdout.splitlines())
    for code, err, left, lines, whole in sizes:
        assert (code == 0) == whole and (code == 2) == (err != "") and lines == err.count("was booked") + whole
        assert "Traceback" not in err and "Errno" not in err and set(left) <= {"a.db", "a.db-journal", "out"}, err
    assert {(lines, whole) for *_, lines, whole in sizes} == {(0, False), (1, False), (1, True)}
    assert no_place[0] == 2 and "Read-only file system" in no_place[1] and no_place[2] == ["data.csv", "disk"]
    assert no_account[0] == 2 and "readonly database" in no_account[1] and no_account[2] == ["data.csv", "disk"]


STREAMS = {  # a line for the shell, which streams are pipes that nobody reads, and the exit code
    "standard output full": (">/dev/full", [], 0),
    "standard output closed": (">&-", [], 0),
    "standard output gone": ("", ["stdout"], 0),
    "standard error full": ("2>/dev/full", [], 0),
    "standard error closed": ("2>&-", [], 0),
    "standard error gone": ("", ["stderr"], 0),
    "all closed": ("<&- >&- 2>&-", [], 0),
    "refused, and all closed": ("--total 6 >&- 2>&-", [], 2),
    "refused, and all gone": ("--total 6", ["stdout", "stderr"], 2),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How the commands of `STREAMS` ended, all started at once: folder, process, what was printed."""
    base = tmp_path_factory.mktemp("streams")
    reading, nobody = os.pipe()
    os.close(reading)
    started = {name: start(base / name, line, dict.fromkeys(gone, nobody)) for name, (line, gone, _) in STREAMS.items()}
    os.close(nobody)
    return {name: (base / name, process, *process.communicate()) for name, process in started.items()}


def start(folder, line, streams):
    """A process for a release in the shell, in a new folder where a killed run has left something."""
    (folder / ".unfinished-1-old").mkdir(parents=True)
    (folder / "data.csv").write_text(GOOD)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | streams
    command = f"exec {sys.executable} -m helpers {RELEASE} out {line}"
    return subprocess.Popen(command, shell=True, cwd=folder, env=ENVIRONMENT, **pipes)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("name", STREAMS)
def test_streams_that_are_full_or_closed_change_nothing(ended, name):
    """The exit code says whether the release is there, whatever became of what was printed. With >/dev/full it used to be 2,
    with >&- a traceback, both beside a release; with a leftover and errors that nobody reads, it was 0 without a release.
    """
    folder, process, out, err = ended[name]
    out, err = out or "", err or ""  # a stream that is gone has none
    assert process.returncode == STREAMS[name][2] and "Traceback" not in err and "Exception" not in err
    assert (folder / "out").exists() == (process.returncode == 0)
    if process.returncode == 0:
        PrivateRelease.read(folder / "out", Accountant.open(folder / "a.db"))
    assert "note" not in out and not any(count in out + err for count in SECRET)


# Several at once


def test_of_eight_with_one_name_one_is_there(tmp_path):
    """Eight releases into the same folder: one succeeds, and counts and record are its own. Two with --force used to leave
    the counts of one beside the record of the other.
    """
    runs = together(tmp_path / "here", [f"{RELEASE} out".replace("--budget 5", "--budget 99")] * 8)
    assert sorted(found.code for found in runs) == [0] + [2] * 7
    purse = Accountant.open("a.db")
    assert len(purse.entries) == sum(found.drew for found in runs) >= 1
    assert PrivateRelease.read("out", purse).record["epsilon"] == 1 and sorted(os.listdir()) == ["a.db", "data.csv", "out"]
    assert all("never overwritten; nothing was written" in found.err for found in runs if found.code)


@pytest.mark.parametrize("there", [True, False], ids=["there", "opened by all at once"])
def test_of_eight_with_budget_for_three_three_are_there(tmp_path, there):
    """One account, with budget for three of eight: three are booked, each on a line of its own, and five draw nothing."""
    if there:
        Accountant.open("a.db", total=3)
    runs = together(tmp_path / "here", [f"{RELEASE} out{i}".replace("--budget 5", "--budget 3") for i in range(8)])
    assert sorted(found.code for found in runs) == [0] * 3 + [2] * 5
    assert [found.drew for found in runs] == [found.code == 0 for found in runs]
    purse = Accountant.open("a.db")
    released = [PrivateRelease.read(folder, purse).record for folder in Path().glob("out*")]
    assert sorted(record["account"]["line"] for record in released) == [1, 2, 3] and purse.left == 0
    assert all("eps must be at most 0.0, which is all that is left" in found.err for found in runs if found.code)
    assert sorted(os.listdir()) == ["a.db", "data.csv", *(f"out{i}" for i, found in enumerate(runs) if not found.code)]


def test_an_account_that_two_open_has_one_total(tmp_path):
    """Of eight that open an account at once with two totals, those with the first's total are booked, the others refused."""
    lines = [f"{RELEASE} out{i}".replace("--budget 5", f"--budget {20 + i % 2}") for i in range(8)]
    runs = together(tmp_path / "here", lines)
    purse = Accountant.open("a.db")
    assert [found.code for found in runs] == [0 if 20 + i % 2 == purse.total else 2 for i in range(8)]
    assert len(purse.entries) == 4 and all("total must be" in found.err for found in runs if found.code)


# Splits that were chosen on the counts

WRITTEN = {  # the same counts, in other files
    "a blank line": GOOD + "\n",
    "a byte order mark": "\ufeff" + GOOD,
    "CRLF": GOOD.replace("\n", "\r\n"),
    "semicolons": GOOD.replace(",", ";"),
    "tabs": GOOD.replace(",", "\t"),
    "blanks": GOOD.replace(",", ", "),
    "quotes": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in GOOD.split()),
    "rows in another order": "region,store,population\nS,c,27182\nN,b,0\nN,a,31415\n",
    "columns in another order": "population,store,region\n31415,a,N\n0,b,N\n27182,c,S\n",
    "other names": GOOD.replace("N,", "East,").replace("c,", "somewhere,"),
    "one more column": "region,store,population,note\nN,a,31415,x\nN,b,0,y\nS,c,27182,z\n",
    "more empty leaves": GOOD + "N,d,0\nS,e,0\n",
    "an empty region": GOOD + "T,f,0\n",
    "without the empty leaf": GOOD.replace("N,b,0\n", ""),
    "zeros in front": GOOD.replace("31415", "0031415"),
}  # fmt: skip


@pytest.fixture
def splits(capsys):
    """Two splits of the good file, as dictionaries: by its nodes, and by its counts (which a release must not take)."""
    found = {}
    for rule in ("cube-root", "optimal"):
        line = f"allocate data.csv --levels region,store --total 1 --rule {rule} --output {rule}.json"
        assert run(capsys, line)[0] == 0
        found[rule] = json.loads(Path(f"{rule}.json").read_text())
    return found


BORROWED = "release data.csv --budgets-from optimal.json --account a.db --budget 5 --output out"


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_a_split_of_these_counts_is_refused_however_they_are_written(capsys, splits, text):
    """What counts is the counts, not the bytes of the file; with a blank line more, such a split used to pass as public."""
    Path("data.csv").write_bytes(text.encode())
    code, out, err = run(capsys, BORROWED)
    assert (code, out) == (2, "") and "budgets that were chosen on these very counts" in err
    assert not Path("out").exists() and not Path("a.db").exists() and not any(count in err for count in SECRET)


OTHER = "0" * 64
EDITED = {  # changes to the split by counts: refused, or released as what nobody checked
    "no digest": ({"digest": None}, "refused"),
    "a digest that is none": ({"digest": "x"}, "refused"),
    "one field more": ({"checked": True}, "refused"),
    "another total": ({"total": 2.0}, "refused"),
    "it says nodes": ({"chosen_on": "nodes"}, "refused"),
    "it says cube-root": ({"rule": "cube-root"}, "refused"),
    "it says cube-root and nodes": ({"rule": "cube-root", "chosen_on": "nodes"}, "refused"),
    "it says all that a split by nodes says": ({"rule": "cube-root", "chosen_on": "nodes", "digest": ...}, "refused"),
    "another digest": ({"digest": OTHER}, OTHER),
    "another digest and nodes": ({"rule": "cube-root", "chosen_on": "nodes", "digest": OTHER}, OTHER),
}


@pytest.mark.parametrize("changes, ending", EDITED.values(), ids=EDITED)
def test_a_split_that_was_edited_is_never_called_checked(capsys, splits, changes, ending):
    """A split by these counts, dressed up by hand: refused before anything is spent, or recorded as declared."""
    if changes.get("digest") is ...:
        changes = changes | {"digest": splits["cube-root"]["digest"]}
    Path("optimal.json").write_text(json.dumps(splits["optimal"] | changes))
    code, _, _ = run(capsys, BORROWED)
    if ending == "refused":
        assert code == 2 and not Path("out").exists() and not Path("a.db").exists()
    else:
        assert code == 0 and record_of("out")["budgets"] == {"origin": DECLARED, "digest": ending}
        assert record_of("out")["budgets_from"].startswith("declared public: rule ")


def test_weights_that_bend_a_rule_are_in_the_record(capsys, splits):
    """Weights can make a rule give any budgets, also those of the counts: the record shows them, and calls them declared.

    It used to say that such budgets follow from the list of nodes alone.
    """
    eps, nodes = np.array(splits["optimal"]["eps"]), [2, 3]
    bent = splits["cube-root"] | {"eps": eps.tolist(), "weights": (eps**3 / nodes).tolist()}
    Path("optimal.json").write_text(json.dumps(bent))
    assert run(capsys, BORROWED)[0] == 0
    assert record_of("out")["budgets"] == {"origin": WEIGHTED, "digest": bent["digest"], "weights": bent["weights"]}
    assert "weights, which are declared public, not checked" in run(capsys, "verify out")[1]
    assert run(capsys, f"{RELEASE} plain")[0] == 0 and record_of("plain")["budgets"]["origin"] == CHECKED


# Releases and accounts that were edited


def sub(path, old, new):
    """Replace a text in a file, where it is."""
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, 1))


def moved(name, make):
    """Put something else in the place of a file of the release `one`."""

    def edit():
        Path("one", name).unlink()
        make(Path("one", name))

    return edit


def levels(**changes):
    """The levels of the record of `one`, the first with changes."""
    first, *rest = record_of("one")["levels"]
    return [first | changes, *rest]


def more_in_the_first_region():
    """Add one to the first count, and the hash of that to the record."""
    lines = Path("one/counts.csv").read_text().splitlines(keepends=True)
    head, _, count = lines[1].rpartition(",")
    Path("one/counts.csv").write_text("".join([lines[0], f"{head},{int(count) + 1}\n", *lines[2:]]))
    rehash()


def rehash():
    sha256 = hashlib.sha256(Path("one/counts.csv").read_bytes()).hexdigest()
    rewrite("one", counts=record_of("one")["counts"] | {"sha256": sha256})


def half_the_cost():
    """Say everywhere in the record that half the budget was spent, on twice the noise."""
    halves = [level | {"epsilon": level["epsilon"] / 2, "scale": level["scale"] * 2} for level in record_of("one")["levels"]]
    rewrite("one", epsilon=0.5, levels=halves)


EDITS = {
    "one count": lambda: sub("one/counts.csv", "region,N,,", "region,N,,1"),
    "two rows": lambda: sub("one/counts.csv", "store,N,a,", "store,N,b,"),
    "a line at the end": lambda: Path("one/counts.csv").write_text(Path("one/counts.csv").read_text() + "\n"),
    "half a file": lambda: os.truncate("one/counts.csv", 40),
    "no bytes": lambda: os.truncate("one/counts.csv", 0),
    "the record of another": lambda: shutil.copy("two/record.json", "one/record.json"),
    "the counts of another": lambda: shutil.copy("two/counts.csv", "one/counts.csv"),
    "half a record": lambda: os.truncate("one/record.json", 40),
    "no record": lambda: os.truncate("one/record.json", 0),
    "a record that is a list": lambda: Path("one/record.json").write_text("[]"),
    "a record that is no text": lambda: Path("one/record.json").write_bytes(b"\xff"),
    "an endless record": lambda: Path("one/record.json").write_text("[" * 100_000),
    "counts gone": lambda: os.remove("one/counts.csv"),
    "record gone": lambda: os.remove("one/record.json"),
    "a folder": moved("counts.csv", Path.mkdir),
    "a link into nothing": moved("counts.csv", lambda path: path.symlink_to("nothing")),
    "a link to itself": moved("counts.csv", lambda path: path.symlink_to("counts.csv")),
    "a link to another's counts": moved("counts.csv", lambda path: path.symlink_to("../two/counts.csv")),
    "a link to another's record": moved("record.json", lambda path: path.symlink_to("../two/record.json")),
    "a pipe": moved("counts.csv", lambda path: os.mkfifo(path)),
    "marked unfinished": lambda: rewrite("one", counts=UNFINISHED),
    "a cheaper whole": lambda: rewrite("one", epsilon=0.5),
    "a cheaper level": lambda: rewrite("one", epsilon=0.5, levels=levels(epsilon=levels()[0]["epsilon"] - 0.5)),
    "less noise": lambda: rewrite("one", levels=levels(scale=levels()[0]["scale"] / 2)),
    "endless noise": lambda: rewrite("one", levels=levels(scale=float("inf"))),
    "noise that is no number": lambda: rewrite("one", levels=levels(scale="1/0")),
    "no sensitivity": lambda: rewrite("one", levels=levels(sensitivity=0)),
    "more rows a person": lambda: rewrite("one", rows_per_person=7),
    "rows that are no number": lambda: rewrite("one", rows_per_person="one"),
    "other neighbours": lambda: rewrite("one", neighbours="change one person's place"),
    "neighbours that are none": lambda: rewrite("one", neighbours="nobody"),
    "more nodes": lambda: rewrite("one", levels=levels(nodes=3)),
    "other levels": lambda: rewrite("one", levels=levels(level="country")),
    "no levels": lambda: rewrite("one", levels=[], epsilon=0),
    "another number of counts": lambda: rewrite("one", counts=record_of("one")["counts"] | {"rows": 4}),
    "no word on the budgets": lambda: rewrite("one", budgets={}),
    "a count with its hash": more_in_the_first_region,  # children do not add up
}  # fmt: skip


@pytest.fixture
def released(capsys):
    """Two releases of the same tree, at the same cost, in one account."""
    for name in ("one", "two"):
        assert run(capsys, f"{RELEASE} {name}")[0] == 0
    if Path("one/counts.csv").read_bytes() == Path("two/counts.csv").read_bytes():  # once in some thousand
        shutil.rmtree("two")
        assert run(capsys, f"{RELEASE} two")[0] == 0


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_release_is_refused(capsys, released, edit):
    """Counts and record that do not fit are refused in a sentence; nothing used to check them."""
    edit()
    code, out, err = run(capsys, "verify one")
    assert (code, out) == (2, "") and err.count("\n") == 1 and "one" in err
    assert run(capsys, "verify two --account a.db")[0] == 0  # and the other is as good as ever


def shifted():
    """Add one to the first region and to its first store, and write the hash of that into the record."""
    more_in_the_first_region()
    lines = Path("one/counts.csv").read_text().splitlines(keepends=True)
    head, _, count = lines[3].rpartition(",")
    Path("one/counts.csv").write_text("".join([*lines[:3], f"{head},{int(count) + 1}\n", *lines[4:]]))
    rehash()


UNNOTICED = {
    "counts that add up, with their hash": shifted,
    "words": lambda: rewrite("one", bounded_by="a law", released="the truth"),
    "a checked origin": lambda: rewrite("one", budgets={"origin": CHECKED, "digest": OTHER}),
    "the line of another": lambda: rewrite("one", account=record_of("two")["account"]),
}


@pytest.mark.parametrize("edit", UNNOTICED.values(), ids=UNNOTICED)
def test_who_rewrites_the_record_too_is_not_noticed(capsys, released, edit):
    """What verify cannot see, so that nobody trusts it with that: whoever writes the folder can write all of it anew."""
    edit()
    assert run(capsys, "verify one --account a.db")[0] == 0


def test_a_cost_that_is_rewritten_does_not_fit_the_account(capsys, released):
    """A record whose costs are all halved is true to itself, but not to the line that was booked."""
    half_the_cost()
    assert run(capsys, "verify one")[0] == 0
    code, _, err = run(capsys, "verify one --account a.db")
    assert code == 2 and "the account has no such line" in err


def test_an_account_that_is_put_back_does_not_fit(capsys):
    """A release whose line was lost with a newer copy of the account is not taken for the one on that line now.

    Nor is one that was booked on a copy. Both used to fit: a line of the same cost was enough.
    """
    assert run(capsys, f"{RELEASE} first")[0] == 0
    shutil.copy("a.db", "copy.db")
    assert run(capsys, f"{RELEASE} lost")[0] == 0
    shutil.move("a.db", "newer.db")
    shutil.copy("copy.db", "a.db")
    assert run(capsys, f"{RELEASE} again")[0] == 0
    assert run(capsys, "verify first again --account a.db")[0] == run(capsys, "verify first lost --account newer.db")[0] == 0
    for folder, account in (("lost", "a.db"), ("again", "newer.db")):
        code, _, err = run(capsys, f"verify {folder} --account {account}")
        assert code == 2 and "that line of the account is another release's" in err
    code, _, err = run(capsys, "verify lost --account copy.db")
    assert code == 2 and "the account has no such line" in err


BY_HAND = {  # tests of the ledger have more
    "a higher total": "UPDATE account SET total = '500/1'",
    "a cheaper line": "UPDATE lines SET eps = '1/2' WHERE number = 1",
    "a line less": "DELETE FROM lines WHERE number = 2",
}


@pytest.mark.parametrize("edit", BY_HAND.values(), ids=BY_HAND)
def test_an_account_that_was_edited_is_refused(capsys, monkeypatch, released, edit):
    """Whoever opens it as a database and changes a line or the total is found out, and nothing more is drawn from it.

    The total used to be free to change.
    """
    with closing(sqlite3.connect("a.db")) as database, database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute(edit)
        for _, made in triggers:
            database.execute(made)
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    for line in ("account a.db", "verify two --account a.db", f"{RELEASE} more".replace(" --budget 5", "")):
        code, out, err = run(capsys, line)
        assert (code, out) == (2, "") and "that nobody has edited" in err, line
    assert not Path("more").exists()


# Why an account is kept


def test_without_an_account_many_releases_give_the_counts_away(tmp_path):
    """300 releases of ε = 1, each with a record that says 1.0: their medians are the counts. An account ends that."""
    leaves = np.arange(40, 60)
    tree = Hierarchy.from_counts([[leaves.sum()], leaves], [None, np.zeros(20, dtype=int)])
    split = cube_root(tree, total=1)
    found = [private_release(tree, split, consistent=False) for _ in range(300)]
    assert {one.record["epsilon"] for one in found} == {1.0}
    assert (np.median([one.counts[1] for one in found], axis=0) == leaves).all()  # fails once in 10⁹ runs
    purse = Accountant.open(tmp_path / "people.account", total=10)
    for _ in range(10):
        private_release(tree, split, accountant=purse)
    with pytest.raises(ValueError, match=r"eps must be at most 0\.0, which is all that is left of 10\.0, got 1\.0"):
        private_release(tree, split, accountant=purse)
    assert (purse.spent, purse.left, len(purse.entries)) == (10, 0, 10)
