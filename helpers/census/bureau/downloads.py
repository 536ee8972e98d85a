"""Files of others, fetched once into a folder of the user's own: whole or not at all, and the same on every later use.

    path: the file, complete · path.part: what came before the connection broke · path.part.tag: which version that was of
    path.sha256: its checksum when it came · path.lock: held by the process that looks after it · path.damaged: put aside

`pooch` makes the requests, shows the progress bar and knows where a user's cache is. Added here: going on where a download
broke off, a lock, a record of the checksum (the Bureau publishes none), and a sentence for whatever goes wrong.
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO
from urllib.parse import urlsplit

TRIES, WAIT = 3, 1.0  # requests in a row that may bring nothing new, and seconds after the first (then twice as many)
TIMEOUT = (15, 60)  # seconds: to connect, and without a byte
CHUNK = 1 << 16
PASSING = {429, 500, 502, 503, 504}  # what servers say when they are busy


def folder() -> Path:
    """Where downloads are kept: the user's cache folder, or what the environment variable BOOK_CACHE says."""
    return Path(os.environ.get("BOOK_CACHE", "").strip() or _pooch().os_cache("where-to-spend-epsilon")).expanduser()


def fetch(url: str, check: Callable[[Path], Any] = lambda path: None) -> Path:
    """The path of a file, downloaded on first use, and compared with its recorded checksum on every later one.

    A new file is kept only if `check` does not refuse it. A file that was put there by hand is checked and recorded too. Any
    number of processes may call this at once: one downloads, the others wait.
    """
    path = folder() / urlsplit(url).path.rpartition("/")[2]
    with _locked(path):
        if not path.exists():
            _download(url, path, check)
        elif _size(_beside(path, "sha256")):  # an empty one, left by a power cut, says nothing
            _compare(path)
        else:
            _adopt(path, check)
    return path


def _adopt(path: Path, check: Callable[[Path], Any]) -> None:
    """Record a file that was saved by hand, or by a process that ended right before it could record it."""
    try:
        check(path)
    except ValueError as error:
        raise ValueError(f"{error}. Replace {path}, or remove it to download it") from None
    _record(path)


def _download(url: str, path: Path, check: Callable[[Path], Any]) -> None:
    part = _beside(path, "part")
    try:
        _receive_all(url, path, part)
        try:
            check(part)
        except ValueError as error:
            _forget(part)
            raise ValueError(f"{error}. It came from {url} and was not kept; call again to download it anew") from None
        os.replace(part, path)
        _forget(part)
        _record(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _forget(part)
            raise OSError(_no_room(path, url)) from error
        raise
    finally:
        if not _size(part):
            _forget(part)


def _receive_all(url: str, path: Path, part: Path) -> None:
    """Bring the rest of a file, in several requests if need be, as long as they bring something new."""
    from requests import HTTPError, RequestException

    failures, most = 0, _size(part)  # bytes ever had: a server that cannot go on may begin again and again
    while True:
        before = _size(part)
        try:
            return _receive(url, part)
        except HTTPError as error:
            status = error.response.status_code
            if _complete(error.response, before):
                return
            if status not in {*PASSING, 416}:
                raise ConnectionError(_refused(url, path, status)) from None
            reason = f"status {status}"
        except RequestException as error:
            reason = _short(error)
        failures = 0 if _size(part) > most else failures + 1
        most = max(most, _size(part))
        if failures == TRIES:
            raise ConnectionError(_unreachable(url, path, part, reason)) from None
        time.sleep(WAIT * 2 ** max(0, failures - 1))


def _receive(url: str, part: Path) -> None:
    """One request for what is missing of a file, added to its part.

    The server is asked to go on only if its file is still the one that the part began with. If it is not, or if the server
    cannot go on, it sends the whole file, and the part starts over.
    """
    have, tag = _size(part), _tag(part)
    headers = {"Accept-Encoding": "identity"}
    if have and tag:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    answers: list = []
    with open(part, "ab") as file:

        def begin(answer: Any, **_: Any) -> None:
            answers.append(answer)
            _make_ready(answer, file, part)

        hooks = {"response": begin}
        get = _pooch().HTTPDownloader(progressbar=True, chunk_size=CHUNK, timeout=TIMEOUT, headers=headers, hooks=hooks)
        try:
            get(url, file, None)
            file.flush()
            os.fsync(file.fileno())
        finally:
            for answer in answers:
                answer.close()
    _require_length(answers[-1], part)


def _make_ready(answer: Any, file: BinaryIO, part: Path) -> None:
    """Before the first byte is written: start the part over unless the answer goes on from its end, and look for room."""
    have = file.seek(0, os.SEEK_END)
    if answer.status_code not in (200, 206, 416) or _complete(answer, have):
        return
    if answer.status_code != 206 or not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        file.truncate(0)
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        tag = "" if tag.startswith("W/") else tag  # the same weak tag does not mean the same bytes
        _beside(part, "tag").write_bytes(tag.encode())
        if answer.status_code == 206:
            answer.status_code = 416  # it goes on from another place than asked: refuse it and ask for all
    if int(answer.headers.get("Content-Length", 0)) > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _complete(answer: Any, have: int) -> bool:
    """Whether the server says that there is nothing after the bytes we have."""
    return have > 0 and answer.status_code == 416 and answer.headers.get("Content-Range") == f"bytes */{have}"


def _require_length(answer: Any, part: Path) -> None:
    """Refuse a part that is shorter than the server said; not all versions of requests do."""
    from requests import ConnectionError as Cut

    said = answer.headers.get("Content-Range", "").rpartition("/")[2] or answer.headers.get("Content-Length", "")
    if said.isdecimal() and "Content-Encoding" not in answer.headers and _size(part) != int(said):
        raise Cut(f"{_size(part):,} of {int(said):,} bytes came")


def _compare(path: Path) -> None:
    """Refuse a file that is not the one that was recorded; it is put aside, so that the next call downloads it anew."""
    record = _beside(path, "sha256")
    recorded, found = record.read_bytes().decode().split()[0], _checksum(path)
    if found == recorded:
        return
    aside = _beside(path, "damaged")
    os.replace(path, aside)
    record.unlink()
    raise ValueError(
        f"{path} must have the checksum {recorded}, as when it was downloaded, got {found}: "
        f"it is now {aside.name}, and the next call downloads it anew"
    )


def _record(path: Path) -> None:
    """Write a file's checksum beside it, as `sha256sum --check` reads it."""
    new = _beside(path, "sha256.new")
    new.write_bytes(f"{_checksum(path)}  {path.name}\n".encode())
    os.replace(new, _beside(path, "sha256"))


def _checksum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. The system lets go of it when a process ends, however it ends, so none is ever stale."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(_beside(path, "lock"), "ab")
    except OSError as error:
        raise OSError(f"cannot write to {path.parent} ({error.strerror}): name another folder with BOOK_CACHE") from error
    with lock:
        _wait_for(lock)
        yield


def _wait_for(lock: BinaryIO) -> None:
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows
        windows = import_module("msvcrt")  # by name, because a type checker elsewhere finds nothing in it
        while True:
            with suppress(OSError):  # after ten seconds
                return windows.locking(lock.fileno(), windows.LK_LOCK, 1)
    flock(lock, LOCK_EX)


def _pooch() -> ModuleType:
    try:
        import pooch
    except ImportError:
        how = "install it with: pip install pooch"
        raise ImportError(f"the Bureau's own files are downloaded with the package pooch, which is missing; {how}") from None
    return pooch


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}.{ending}")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _tag(part: Path) -> str:
    tag = _beside(part, "tag")
    return tag.read_bytes().decode() if tag.exists() else ""


def _forget(part: Path) -> None:
    for file in (part, _beside(part, "tag")):
        file.unlink(missing_ok=True)


# What to do about it


def _by_hand(url: str, path: Path) -> str:
    return (
        f"you can also get {url} in another way and save it as {path}, "
        'or use the counts that ship with the package (source="embedded")'
    )


def _unreachable(url: str, path: Path, part: Path, reason: str) -> str:
    kept = f"{_size(part):,} bytes are kept, and the next call goes on from there" if _size(part) else "nothing came"
    what = f"cannot download from {urlsplit(url).netloc} in {TRIES} tries ({reason}); {kept}"
    return f"{what}. Try again later; {_by_hand(url, path)}"


def _refused(url: str, path: Path, status: int) -> str:
    why = "has no such file: it may have moved" if status in (404, 410) else "refuses"
    return f"{urlsplit(url).netloc} {why} (status {status}). Look for it with a browser; {_by_hand(url, path)}"


def _no_room(path: Path, url: str) -> str:
    return f"no room for {url} in {path.parent}: make some, or name another folder with BOOK_CACHE. Nothing was kept"


def _short(reason: Exception) -> str:
    inner = reason.args[0] if reason.args else reason  # what urllib3 said, and before it the system
    return str(getattr(inner, "reason", inner)).rpartition(": ")[2][:120]
