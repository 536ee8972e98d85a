"""An account in a file: added to by any number of processes, never taken from, and refused once somebody edits it."""

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from manuscript import ROOT
from support.refusals import refusal

from helpers import Accountant
from helpers.publishing import files, ledger
from helpers.publishing.ledger import Ledger, Line

EDITED = "must be an account that nobody has edited, but its lines do not fit together: restore it from a copy"


@pytest.fixture
def place(tmp_path):
    """The file of an account of 3, of which three lines spend 1/3, 1/4 and 0.1."""
    purse = Accountant.open(tmp_path / "an.account", 3)
    for eps, what in [(Fraction(1, 3), "blocks"), (Fraction(1, 4), "tracts"), (0.1, "counties")]:
        purse.spend(eps, what)
    return tmp_path / "an.account"


def edit(place, *statements):
    """Edit an account by hand, past its triggers, which stand there afterwards as before."""
    database = sqlite3.connect(place)
    triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    for statement in [*statements, *(sql for _, sql in triggers)]:
        database.execute(statement)
    database.commit()
    database.close()


def refused(place, by=ValueError):
    """What is said to whoever asks for the lines, once it is clear that whoever spends is told the same."""
    words = refusal(lambda: Accountant.open(place).entries, by=by)
    assert refusal(lambda: Accountant.open(place).spend(0.1, "x"), by=by) == words
    return words


def test_lines_are_kept_as_they_were_written(place):
    """Numbers, dates, words and exact budgets come back, for whoever opens the file, by whatever path."""
    link = place.with_name("link")
    link.symlink_to(place)
    for path in (place, str(place), link, place.parent / "." / "an.account"):
        found = Ledger.open(path, None)
        assert [(line.number, line.what, line.eps) for line in found.lines()] == [
            (1, "blocks", Fraction(1, 3)), (2, "tracts", Fraction(1, 4)), (3, "counties", Fraction(1, 10)),
        ]  # fmt: skip
        assert (found.total, found.path) == (3, place.resolve()) and all(isinstance(line, Line) for line in found.lines())
    assert [path.name for path in sorted(place.parent.iterdir())] == ["an.account", "link"]


def test_a_line_is_seen_by_all_at_once(place):
    """Whoever has the account open sees what others have spent since."""
    mine, theirs = Accountant.open(place), Accountant.open(place)
    theirs.spend(2, "all but a little")
    assert len(mine.entries) == 4 and mine.left == theirs.left < 0.32
    assert "at most 0.31" in refusal(mine.spend, 1, "more", by=ValueError)


def test_the_account_is_where_it_was_when_one_moves_on(place, monkeypatch):
    """A path is taken from where it was opened, also if the program goes to another folder."""
    monkeypatch.chdir(place.parent)
    purse = Accountant.open("an.account")
    (place.parent / "away").mkdir()
    monkeypatch.chdir(place.parent / "away")
    purse.spend(0.1, "x")
    assert len(Accountant.open(place).entries) == 4 and [*Path().iterdir()] == []


# ---- opening ----


@pytest.mark.parametrize("total", [3, 3.0, Fraction(3)])
def test_the_same_total_is_the_same_account(place, total):
    """Whoever says the total again finds what was spent."""
    assert len(Accountant.open(place, total).entries) == 3


def test_another_total_is_refused(place):
    """Nobody gets a larger budget, or a smaller one, by opening the account with another total."""
    for total in (2, 30, 3.0000000000000004):
        words = f"total must be 3.0, which is that of the account {place}, got {float(total)}"
        assert refusal(Accountant.open, place, total, by=ValueError) == words
    assert Accountant.open(place).total == 3


def test_a_missing_account_is_not_made_without_a_total(tmp_path):
    """Whoever mistypes a name is told so, and gets no fresh budget."""
    path = tmp_path / "no.account"
    words = f"there is no account {path}: give a total to open a new one"
    assert refusal(Accountant.open, path, by=ValueError) == words and [*tmp_path.iterdir()] == []


def test_places_where_no_account_can_be_are_refused(tmp_path):
    """A folder that is not there, a link that leads nowhere, and what is no path; nothing is left behind."""
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    lost = f"{tmp_path / 'link'} must be an account or a new name, but is a link that leads nowhere"
    away = f"there is no folder {tmp_path / 'no'} for the account {tmp_path / 'no' / 'x'}"
    assert refusal(Accountant.open, tmp_path / "link", 1, by=ValueError) == lost
    assert refusal(Accountant.open, tmp_path / "no" / "x", 1, by=ValueError) == away
    assert refusal(Accountant.open, 7, 1, by=TypeError) == "path must be a path, as text or a Path, got 7"
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_a_name_of_any_length_may_be_that_of_an_account(tmp_path):
    """As long as the disk allows, with the eight letters that SQLite adds."""
    purse = Accountant.open(tmp_path / ("n" * 247), 1)
    purse.spend(0.5, "half")
    assert purse.left == 0.5


def no_account(place, kind):
    """Something else in place of the account."""
    if kind == "another database":
        edit(place, "PRAGMA application_id = 7")
        return "but is something else"
    place.write_bytes({"text": b"name,total\nmine,3\n" * 40, "empty": b"", "cut off": place.read_bytes()[:5000]}[kind])
    return {"text": "but is not (file is not a database)", "empty": "but is something else"}.get(
        kind, "but is not (database disk"
    )


@pytest.mark.parametrize("kind", ["text", "empty", "another database", "cut off"])
def test_what_is_no_account_is_refused(place, kind):
    """And left as it is: it may be somebody's."""
    words = no_account(place, kind)
    before = place.read_bytes()
    assert refused(place).startswith(f"{place} must be an account that this program wrote, {words}")
    assert "must be an account" in refusal(Accountant.open, place, 3, by=ValueError)
    assert place.read_bytes() == before


def test_a_folder_is_no_account(tmp_path):
    """It cannot even be opened."""
    words = f"the account {tmp_path} cannot be opened (unable to open database file); nothing was spent"
    assert refusal(Accountant.open, tmp_path, 1, by=OSError) == words


def test_whoever_opens_it_first_sets_the_total(tmp_path, monkeypatch):
    """If another process has made the account meanwhile, theirs is taken, and another total refused."""
    place, made, seen = tmp_path / "an.account", ledger._new_account, []

    def slow(total):
        monkeypatch.setattr(ledger, "_new_account", made)
        Accountant.open(place, 2).spend(0.5, "theirs")
        seen.append(place.read_bytes())
        return made(total)

    monkeypatch.setattr(ledger, "_new_account", slow)
    assert "total must be 2.0" in refusal(Accountant.open, place, 3, by=ValueError)
    assert [place.read_bytes()] == seen and [path.name for path in tmp_path.iterdir()] == ["an.account"]
    place.unlink()
    monkeypatch.setattr(ledger, "_new_account", slow)
    assert Accountant.open(place, 2).left == 1.5


def test_an_account_is_made_whole_or_not_at_all(tmp_path, monkeypatch):
    """If the disk is full when it is made, there is none, and nothing else either."""

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "sync", full)
    assert "No space left" in refusal(Accountant.open, tmp_path / "an.account", 1, by=OSError)
    assert [*tmp_path.iterdir()] == []


# ---- editing ----

UNTOUCHED = "an account is only added to"
NEW_LINE = "INSERT INTO lines (date, what, eps, salt, seal) VALUES ('2024-01-01', 'x', '1/10', '0', 'abc')"
FORBIDDEN = {
    "a line changed": "UPDATE lines SET eps = '1/100'",
    "a line deleted": "DELETE FROM lines",
    "the total changed": "UPDATE account SET total = '100/1'",
    "the head deleted": "DELETE FROM account",
}


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN)
def test_sqlite_itself_only_adds(place, statement):
    """Whoever opens the file with another program cannot change or delete a line, or the total, by a plain statement."""
    database = sqlite3.connect(place)
    with pytest.raises(sqlite3.IntegrityError, match=UNTOUCHED):
        database.execute(statement)
    database.close()
    assert len(Accountant.open(place).entries) == 3


EDITS = {
    "a smaller budget": "UPDATE lines SET eps = '1/100' WHERE number = 2",
    "a larger budget": "UPDATE lines SET eps = '2/1' WHERE number = 3",
    "a negative budget": "UPDATE lines SET eps = '-1/1' WHERE number = 1",
    "no number": "UPDATE lines SET eps = 'little' WHERE number = 1",
    "a number that never ends": "UPDATE lines SET eps = '1e999999999' WHERE number = 1",
    "bytes": "UPDATE lines SET what = x'00ff' WHERE number = 2",
    "other words": "UPDATE lines SET what = 'nothing' WHERE number = 1",
    "another date": "UPDATE lines SET date = '1999-01-01' WHERE number = 1",
    "another number": "UPDATE lines SET number = 7 WHERE number = 3",
    "another salt": "UPDATE lines SET salt = 'abc' WHERE number = 3",
    "another seal": "UPDATE lines SET seal = 'abc' WHERE number = 3",
    "the last line gone": "DELETE FROM lines WHERE number = 3",
    "the first line gone": "DELETE FROM lines WHERE number = 1",
    "all lines gone": "DELETE FROM lines",
    "a line more": NEW_LINE,
    "a line before": "INSERT INTO lines SELECT 0, date, what, eps, salt, seal FROM lines WHERE number = 1",
    "a line replaced": "INSERT OR REPLACE INTO lines SELECT 3, date, what, eps, salt, seal FROM lines WHERE number = 2",
    "the numbering gone": "DELETE FROM sqlite_sequence",
    "a larger total": "UPDATE account SET total = '100/1'",
    "another name": "UPDATE account SET name = 'mine'",
    "two heads": "INSERT INTO account SELECT * FROM account",
    "no head": "DELETE FROM account",
    "lines that are not taken": "CREATE TRIGGER mine BEFORE INSERT ON lines BEGIN SELECT RAISE(IGNORE); END",
    "a trigger that waits": "CREATE TRIGGER mine AFTER INSERT ON lines WHEN new.number > 9 BEGIN DELETE FROM lines; END",
    "a table more": "CREATE TABLE mine (number)",
}


def test_a_missing_trigger_shows(place):
    """Whoever takes away what keeps plain statements from changing lines has edited the account."""
    with closing(sqlite3.connect(place)) as database:
        database.execute("DROP TRIGGER lines_UPDATE")
    assert refused(place) == f"{place} {EDITED}"


@pytest.mark.parametrize("statement", EDITS.values(), ids=EDITS)
def test_an_edited_account_is_refused(place, statement):
    """A line or head that was changed, deleted or inserted by hand shows; nothing can be spent until a copy is back."""
    copy = shutil.copy(place, place.with_name("copy"))
    edit(place, statement)
    assert refused(place) == f"{place} {EDITED}"
    shutil.copy(copy, place)
    assert Accountant.open(place).left == pytest.approx(3 - 1 / 3 - 1 / 4 - 0.1)


def test_an_edit_shows_to_whoever_has_it_open(place):
    """Each time the account is looked at."""
    purse = Accountant.open(place)
    edit(place, "UPDATE account SET total = '100/1'")
    assert refusal(purse.spend, 0.1, "x", by=ValueError) == f"{place.resolve()} {EDITED}"


def test_a_line_is_read_as_it_was_added(place):
    """With its number, date (of the whole world), words, budget and seal."""
    book = Ledger.open(place, None)
    with book.exclusive() as page:
        line = page.append("more", Fraction(1, 7))
    assert book.lines()[-1] == line and line.date.endswith("+00:00") and len(line.seal) == 64
    assert (line.number, line.what, line.eps) == (4, "more", Fraction(1, 7))


def test_an_untouched_total_is_sealed_too(tmp_path):
    """Before the first line as well."""
    Accountant.open(tmp_path / "an.account", 1)
    edit(tmp_path / "an.account", "UPDATE account SET total = '100/1'")
    assert refused(tmp_path / "an.account") == f"{tmp_path / 'an.account'} {EDITED}"


def test_lines_belong_to_their_account(place):
    """The lines of another account under this head do not fit, with all their seals."""
    other = Accountant.open(place.with_name("other.account"), 3)
    other.spend(0.01, "little")
    database = sqlite3.connect(place.with_name("other.account"))
    values = ", ".join(map(repr, database.execute("SELECT * FROM lines").fetchone()))
    database.close()
    edit(place, "DELETE FROM lines", f"INSERT INTO lines VALUES ({values})", "UPDATE sqlite_sequence SET seq = 1")
    assert refused(place) == f"{place} {EDITED}"


def test_seals_can_be_checked_by_others(place):
    """Each is SHA-256 over the seal before it, number, date, words, budget and salt; the first seal is over the head."""
    database = sqlite3.connect(place)
    [(name, total, seal)] = database.execute("SELECT * FROM account").fetchall()
    assert total == "3/1" and seal == hashlib.sha256(f"{name}\0{total}".encode()).hexdigest()
    for number, date, what, eps, salt, found in database.execute("SELECT * FROM lines ORDER BY number").fetchall():
        seal = hashlib.sha256("\0".join([seal, str(number), date, what, eps, salt]).encode()).hexdigest()
        assert found == seal and Fraction(eps) in (Fraction(1, 3), Fraction(1, 4), Fraction(1, 10))
    assert database.execute("PRAGMA application_id").fetchone()[0].to_bytes(4, "big") == b"eps1"
    database.close()


# ---- files that cannot be used ----


def test_an_account_that_is_taken_away_is_not_made_again(place):
    """Whoever has it open is told, and no empty one takes its place."""
    purse = Accountant.open(place)
    place.unlink()
    words = f"the account {place.resolve()} cannot be opened (unable to open database file); nothing was spent"
    assert refusal(purse.spend, 0.1, "x", by=OSError) == words and [*place.parent.iterdir()] == []


def test_another_account_in_its_place_is_refused(place):
    """A fresh account under the same name is not the one that was opened, whatever its total."""
    purse = Accountant.open(place)
    place.unlink()
    for total in (3, 5):
        Accountant.open(place, total)
        words = f"{place.resolve()} must be the account that was opened, but another one has taken its place"
        assert refusal(purse.spend, 0.1, "x", by=ValueError) == words
        assert refusal(lambda: purse.entries, by=ValueError) == words
        place.unlink()


def test_a_locked_account_is_waited_for_and_then_refused(place, monkeypatch):
    """While another process writes, this one waits; if that never ends, a sentence says so, and nothing is spent."""
    monkeypatch.setattr(ledger, "PATIENCE", 0.05)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    words = f"the account {place.resolve()} cannot be used (database is locked)"
    purse = Accountant.open(place)
    assert refusal(purse.spend, 0.1, "x", by=OSError) == words
    assert len(purse.entries) == 3  # what is there can be read meanwhile
    other.execute("ROLLBACK")
    other.close()
    purse.spend(0.1, "x")
    assert len(purse.entries) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no alarm")
def test_whoever_waits_for_a_locked_account_can_leave(place, monkeypatch):
    """Ctrl-C while another process has the account is heard within a second. It used to wait until the end of a minute."""

    def leave(*_):
        raise InterruptedError

    monkeypatch.setattr(ledger, "PATIENCE", 20)
    before = signal.signal(signal.SIGALRM, leave)  # as good as Ctrl-C, which would end the tests
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")  # nothing can even be read
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(InterruptedError):
                Accountant.open(place)
            assert time.monotonic() - start < 5
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def test_an_account_with_two_names_is_not_added_to(place):
    """After a crash, what SQLite has to undo lies beside the name in use then, and whoever comes by the other name adds to a
    file that the first will undo. So nothing is spent by either; lines can be read.
    """
    other = place.with_name("other.account")
    other.hardlink_to(place)
    for name in (place, other):
        words = f"{name} must be an account with one name, but has another (a hard link): remove that one"
        assert refusal(Accountant.open(name).spend, 0.1, "x", by=ValueError) == words
        assert len(Accountant.open(name).entries) == 3
    other.unlink()
    Accountant.open(place).spend(0.1, "x")
    assert len(Accountant.open(place).entries) == 4


def test_the_first_name_of_a_new_account_is_cleared_away(place):
    """Whoever makes an account may be killed when it has taken its place and still has its hidden name."""
    hidden, theirs = (place.with_name(f".unfinished-{i}-an.account") for i in "12")
    hidden.hardlink_to(place)
    theirs.write_text("theirs")
    gone = place.with_name(".unfinished-3-an.account")
    gone.symlink_to("nowhere")  # as if it went away meanwhile
    Accountant.open(place).spend(0.1, "x")
    assert sorted(path.name for path in place.parent.iterdir()) == [theirs.name, gone.name, "an.account"]


def test_a_read_only_account_can_be_read(place):
    """Of a copy in an archive, lines can be listed, and nothing spent."""
    content = bytearray(place.read_bytes())
    assert content[18] == 1
    content[18] = 9  # the version of the format in which it may be written: none that there is, also for root
    place.write_bytes(content)
    purse = Accountant.open(place)
    assert len(purse.entries) == 3
    words = f"the account {place.resolve()} cannot be used (attempt to write a readonly database)"
    assert refusal(purse.spend, 0.1, "x", by=OSError) == words


def test_a_piece_that_is_refused_leaves_the_file_as_it_was(place):
    """To the last byte: too large a piece, words that are none, an error of the caller while the account is locked."""
    before = place.read_bytes()
    purse = Accountant.open(place)
    for eps, what in [(5, "too much"), (0.1, ""), (-1, "less")]:
        refusal(purse.spend, eps, what)

    def fail():
        with Ledger.open(place, None).exclusive() as page:
            page.append("half done", Fraction(1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert place.read_bytes() == before and [path.name for path in place.parent.iterdir()] == ["an.account"]


# ---- processes ----

SPENDER = """
import sys
from helpers import Accountant
purse, got = Accountant.open(sys.argv[1], 1), 0
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    try:
        purse.spend(0.05, sys.argv[2])
        got += 1
    except ValueError as error:
        assert "eps must be at most 0.0" in str(error), error
print(got)
"""


def test_processes_cannot_spend_the_same_budget(tmp_path):
    """Three processes open a new account and ask for all of it in pieces of a twentieth at once: twenty pieces are spent."""
    place = tmp_path / "an.account"
    command = [sys.executable, "-c", SPENDER, str(place)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    spenders = [subprocess.Popen([*command, f"process {i}"], **pipes) for i in range(3)]
    assert [one.stdout.readline() for one in spenders] == ["ready\n"] * 3
    for one in spenders:
        one.stdin.write("go\n")
        one.stdin.flush()
    got = [int(one.communicate()[0]) for one in spenders]
    purse = Accountant.open(place)
    assert sum(got) == len(purse.entries) == 20 and purse.left == 0
    assert [sum(entry.what == f"process {i}" for entry in purse.entries) for i in range(3)] == got
    assert [path.name for path in tmp_path.iterdir()] == ["an.account"]
