"""An account in a file: an SQLite database that lines are added to and nothing is taken from.

    head: name and total · line: when, what for, how much · salt: random, so that no two lines ever are the same
    seal: SHA-256 over the head, or over a line and the seal before it, so that an edit by hand shows

The only file that knows SQLite. Each call opens the file, locks it against every other process, and closes it again; a line
is on the disk before `append` returns. A crash in between leaves the account as it was: SQLite then undoes half a line.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import checks
from .files import leftovers, write

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x65707331  # "eps1": how a file of ours is told from any other database
PATIENCE = 60.0  # seconds to wait for another process
_TURN = 0.1  # of them at a time: SQLite hears no Ctrl-C while it waits
_TABLES = """
CREATE TABLE account (name TEXT NOT NULL, total TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE lines (number INTEGER PRIMARY KEY AUTOINCREMENT, date TEXT NOT NULL, what TEXT NOT NULL, eps TEXT NOT NULL,
                    salt TEXT NOT NULL, seal TEXT NOT NULL);
"""
_APPEND_ONLY = """
CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'an account is only added to'); END;
"""
_SCHEMA = _TABLES + "".join(
    _APPEND_ONLY.format(table=table, verb=verb) for table in ("account", "lines") for verb in ("UPDATE", "DELETE")
)


class Line(NamedTuple):
    """One line of an account in a file, as it was written."""

    number: int
    date: str
    what: str
    eps: Fraction
    seal: str = ""


class Ledger:
    """The lines of an account in a file, and its total. Build one with `open`."""

    def __init__(self, path: Path, name: str, total: Fraction) -> None:
        self.path, self.name, self.total = path, name, total

    @classmethod
    def open(cls, path: str | Path, total: Fraction | None) -> "Ledger":
        """The account of a file; with a `total`, a new one if there is none. An account with another total is refused."""
        place = checks.path("path", path)
        if not place.exists():
            _create(place, total)
        place = place.resolve()
        with _database(place) as found:
            name, kept, _ = _head(found, place)
        if total not in (None, kept):
            raise ValueError(f"total must be {float(kept)}, which is that of the account {path}, got {float(total)}")
        return cls(place, name, kept)

    @contextmanager
    def exclusive(self) -> Iterator["Page"]:
        """All lines, and a way to add one, while no other process can add any."""
        with _database(self.path) as found:
            _ask(found, "BEGIN IMMEDIATE")
            seal = self._check_same(found)
            _check_one_name(self.path)
            yield Page(found, _lines(found, self.path, seal), seal)
            _ask(found, "COMMIT")

    def lines(self) -> tuple[Line, ...]:
        """Every line so far, first line first."""
        with _database(self.path) as found:
            _ask(found, "BEGIN")  # one moment, whoever writes meanwhile
            return _lines(found, self.path, self._check_same(found))

    def _check_same(self, found: "sqlite3.Connection") -> str:
        """The seal of the head, if that is the one of this account."""
        name, total, seal = _head(found, self.path)
        if (name, total) != (self.name, self.total):
            raise ValueError(f"{self.path} must be the account that was opened, but another one has taken its place")
        return seal


class Page:
    """The open end of a ledger, inside `Ledger.exclusive`."""

    def __init__(self, database: "sqlite3.Connection", lines: tuple[Line, ...], head: str) -> None:
        self._database, self._lines, self._head = database, lines, head

    def lines(self) -> tuple[Line, ...]:
        """Every line so far."""
        return self._lines

    def append(self, what: str, eps: Fraction) -> Line:
        """Add a line. It is on the disk when `exclusive` ends without an error."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        row = len(self._lines) + 1, date, what, _text(eps), secrets.token_hex(8)
        seal = _seal(self._lines[-1].seal if self._lines else self._head, *row)
        _ask(self._database, "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", *row, seal)
        return Line(*row[:3], eps, seal)


def _create(path: Path, total: Fraction | None) -> None:
    """A new account, whole or not at all, unless another is there by then."""
    if total is None:
        raise ValueError(f"there is no account {path}: give a total to open a new one")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for the account {path}")
    if path.is_symlink():
        raise ValueError(f"{path} must be an account or a new name, but is a link that leads nowhere")
    content = _new_account(total)
    with suppress(FileExistsError):  # somebody else opened it meanwhile: theirs is the account
        write(path, lambda new: new.write_bytes(content), force=False)


def _new_account(total: Fraction) -> bytes:
    """The file of an account without lines: made in memory, so that nothing is left lying around if it fails."""
    import sqlite3

    head = secrets.token_hex(8), _text(total)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        fresh.executescript(_SCHEMA)
        fresh.execute("INSERT INTO account VALUES (?, ?, ?)", (*head, _seal(*head)))
        fresh.execute(f"PRAGMA application_id = {APPLICATION}")
        return fresh.serialize()


@cache
def _own_schema() -> list[tuple]:
    """The tables and triggers that an account has; one more could make lines vanish, and no seal would show it."""
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(_SCHEMA)
        return _schema(fresh)


def _schema(found: "sqlite3.Connection") -> list[tuple]:
    return _ask(found, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@contextmanager
def _database(path: Path) -> Iterator["sqlite3.Connection"]:
    """The database of a file that is there, durable at every commit; whatever goes wrong in it is said in a sentence."""
    import sqlite3  # here, because a browser's Python has none, and needs none until an account in a file is asked for

    try:
        found = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_TURN, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(f"the account {path} cannot be opened ({error}); nothing was spent") from None
    try:
        _ask(found, "PRAGMA synchronous = EXTRA")
        yield found
    except sqlite3.OperationalError as error:  # locked too long, disk full, read-only, taken away
        raise OSError(f"the account {path} cannot be used ({error})") from None
    except sqlite3.Error as error:
        raise ValueError(f"{path} must be an account that this program wrote, but is not ({error})") from None
    finally:
        found.close()  # undoes what was not committed


def _head(found: "sqlite3.Connection", path: Path) -> tuple[str, Fraction, str]:
    """Name, total and seal of the account, of a database that is one."""
    if _ask(found, "PRAGMA application_id").fetchone() != (APPLICATION,):
        raise ValueError(f"{path} must be an account that this program wrote, but is something else")
    heads = _ask(found, "SELECT name, total, seal FROM account").fetchall()
    if len(heads) != 1 or heads[0][2] != _seal(*heads[0][:2]) or _schema(found) != _own_schema():
        raise ValueError(_changed(path))
    name, total, seal = heads[0]
    return name, Fraction(total), seal


def _lines(found: "sqlite3.Connection", path: Path, seal: str) -> tuple[Line, ...]:
    """Every line, if each has its number and its seal, after that of the head, and none is missing at the end."""
    rows = _ask(found, "SELECT number, date, what, eps, salt, seal FROM lines ORDER BY number").fetchall()
    most = _ask(found, "SELECT seq FROM sqlite_sequence WHERE name = 'lines'").fetchone()
    lines: list[Line] = []
    for place, (number, date, what, eps, salt, own) in enumerate(rows, start=1):
        seal = _seal(seal, number, date, what, eps, salt)
        if number != place or own != seal:
            raise ValueError(_changed(path))
        lines.append(Line(number, date, what, Fraction(eps), seal))
    if len(lines) != (most[0] if most else 0):
        raise ValueError(_changed(path))
    return tuple(lines)


def _ask(found: "sqlite3.Connection", statement: str, *values: Any) -> "sqlite3.Cursor":
    """What SQLite answers; while another process has the file, it is asked anew, so that Ctrl-C is heard in between."""
    import sqlite3

    end = time.monotonic() + PATIENCE
    while True:
        try:
            return found.execute(statement, values)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise


def _check_one_name(path: Path) -> None:
    """Refuse to add to a file that has a second name, a hard link.

    After a crash, what SQLite has to undo lies beside the name in use then. Under the other name it is not found, and what
    is added there in the meantime is undone too, as soon as somebody comes back with the first.
    """
    for other in leftovers(path):  # the name of a new account before it took its place, if its maker was killed just then
        with suppress(OSError):
            if os.path.samefile(other, path):
                other.unlink()
    if path.stat().st_nlink > 1:
        raise ValueError(f"{path} must be an account with one name, but has another (a hard link): remove that one")


def _changed(path: Path) -> str:
    return f"{path} must be an account that nobody has edited, but its lines do not fit together: restore it from a copy"


def _seal(*parts: Any) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def _text(eps: Fraction) -> str:
    return f"{eps.numerator}/{eps.denominator}"
