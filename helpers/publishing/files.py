"""Files out: each appears whole or not at all, under a name that nobody could have planted.

What is written takes its place by one renaming, after it is on the disk. A failure, a full disk, Ctrl-C or a killed process
leaves what was there before; a killed one may leave a hidden file or folder beside it, which `leftovers` finds.
"""

import csv
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from .. import checks

_UNFINISHED = ".unfinished-"  # how hidden names begin
_SOME = 40  # letters of a name in that of a hidden file: a name may have 255 bytes, and a letter four of them


def save_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV. If a text holds a carriage return, which pandas does not quote, all texts get quotes."""
    texts = [pd.Series(table.columns), *(table[name] for name in table.select_dtypes(exclude="number"))]
    awkward = any(text.astype("str").str.contains("\r", regex=False).any() for text in texts)
    quoting = csv.QUOTE_NONNUMERIC if awkward else csv.QUOTE_MINIMAL
    table.to_csv(path, index=False, quoting=quoting, compression=None)  # plain text, whatever the file's name ends in


def check_target(path: str | Path, force: bool) -> Path:
    """Return where a file may be written: in a folder that is there, and over an existing file only with `force`."""
    path = checks.path("path", path)
    _check_place(path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be the name of a file to write, but is a folder or a device")
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already; nothing was written")
    return path.resolve()  # through a link, so that the file it leads to is replaced and not the link


def check_new_folder(path: str | Path) -> Path:
    """Return where a new folder may be made: in a folder that is there, under a name that nothing has."""
    path = checks.path("folder", path)
    _check_place(path)
    if path.exists():
        raise FileExistsError(f"{path} is there already, and a release is never overwritten; nothing was written")
    return path.parent.resolve() / path.name


def _check_place(path: Path) -> None:
    """Refuse a path that leads nowhere, before any work is done."""
    try:
        lost = path.is_symlink() and not path.exists()
        there = path.parent.is_dir()
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    if lost:
        raise ValueError(f"{path} must be the name of something to write, but is a link that leads nowhere")
    if not there:
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.name in ("", ".."):
        raise ValueError(f"{path} must be the name of something to write, but is a folder")


def write(path: Path, save: Callable[[Path], object], force: bool) -> None:
    """Write a file in one go: `save` fills a new one beside it, which then takes its place; a failure leaves the old one.

    A file that is replaced passes its permissions on. Without `force`, a file that somebody else has written there by then
    is left alone, and the new one is refused.
    """
    new = _hidden(path)
    mode = path.stat().st_mode & 0o7777 if path.exists() else None
    try:
        private = 0o666 if mode is None else 0o600
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, private))  # nobody's file, and no link, is written to
        save(new)
        sync(new)
        if mode is not None:
            new.chmod(mode)  # last, because the old file may be read-only
        if force:
            os.replace(new, path)
        else:
            _put_new(new, path)
        sync(path.parent)
    finally:
        new.unlink(missing_ok=True)


def _put_new(new: Path, path: Path) -> None:
    """Give a file its place under a name that nothing has; whoever was there first stays."""
    try:
        _link(new, path)
    except FileExistsError:
        raise FileExistsError(f"{path} is there already; nothing was written") from None


def _link(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a disk without links: take the name, which only one can, and then put the file there
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(new, path)
    else:
        new.unlink(missing_ok=True)  # whoever adds to a new account takes it away, too


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `path` at the end: whole, or not at all if filling it fails.

    Its hidden name is new and random, so no link can be planted under it. What is at `path` by then is never replaced.
    """
    fresh, made = _hidden(path), None
    try:
        fresh.mkdir()
        made = fresh.stat()
        yield fresh
        for file in fresh.iterdir():
            sync(file)
        sync(fresh)
        _rename_new(fresh, path)
    except BaseException as error:  # Ctrl-C too
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, Exception) or not _is(path, made):  # else this is Ctrl-C after the folder had its place
            raise
    with suppress(OSError, KeyboardInterrupt):  # it is there: nothing that happens now makes it undone
        sync(path.parent)


def _hidden(path: Path) -> Path:
    """A new name beside `path` that nobody could have guessed, with its ending, which tells a figure its format."""
    return path.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}-{path.name[-_SOME:]}")


def leftovers(path: Path) -> list[Path]:
    """Hidden files and folders beside `path` that a killed process left, or that one is still filling."""
    return sorted(path.parent.glob(f"{_UNFINISHED}*"))


def _is(path: Path, made: os.stat_result | None) -> bool:
    """Is this the folder that was made, under another name?"""
    try:
        return made is not None and os.path.samestat(path.stat(), made)
    except OSError:
        return False


def _rename_new(fresh: Path, path: Path) -> None:
    try:
        os.rename(fresh, path)  # onto a folder with anything in it, or onto a file, the system refuses this
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise FileExistsError(
                f"{path} is there by now, and a release is never overwritten; nothing was written"
            ) from None
        raise


def sync(path: Path) -> None:
    """Put a file, or the names in a folder, on the disk: after this they are there after a power cut too."""
    folder = path.is_dir()
    if folder and os.name == "nt":
        return  # Windows opens no folders, and needs none of this
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network disks cannot
            raise
    finally:
        os.close(handle)
