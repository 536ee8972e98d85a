"""Files of others, fetched once into a folder of the user's own: whole or not at all, and the same on every later use.

    path: the file, complete · path.part: what came before the connection broke · path.part.tag: which version that was of
    path.sha256: its checksum when it came · path.lock: held by the process that looks after it · path.damaged: put aside

`pooch` makes the requests, shows the progress bar and knows where a user's cache is. Added here: going on where a download
broke off, a lock, a record of the checksum (the Bureau publishes none), and a sentence for whatever goes wrong.

A server may send us on to another address of its own: the same host and port, or from http to https at the same host. Any
other is refused, because nobody chose that server. So is more than `limit` bytes, and a file that comes compressed though we
ask for it as it is. Where this module writes, a link or a folder is refused: what is behind it is not ours to change.
"""

import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

TRIES, WAIT = 3, 1.0  # requests in a row that may bring nothing new, and seconds after the first (then twice as many)
TIMEOUT = (15, 60)  # seconds: to connect, and without a byte
CHUNK = 1 << 16
PASSING = {429, 500, 502, 503, 504}  # what servers say when they are busy
MOVES = 5  # times that a server may send us on
LIMIT = 1 << 36  # bytes of a file: the largest of the Bureau, 308 million rows of microdata, has a fifth of that
OURS = ("part", "part.tag", "sha256", "sha256.new", "lock", "damaged")  # endings of the files that are written here
TAG = re.compile("(?!W/)[!-~]([ -~]{0,200}[!-~])?")  # a header may hold it; the same weak tag does not mean the same bytes


class _Refused(Exception):
    """Why a server is not asked again: the end of a sentence that begins with its name."""


def folder() -> Path:
    """Where downloads are kept: the user's cache folder, or what the environment variable BOOK_CACHE says."""
    said = os.environ.get("BOOK_CACHE", "").strip()
    try:
        return Path(said or _pooch().os_cache("where-to-spend-epsilon")).expanduser()
    except RuntimeError:  # there is no such user
        raise ValueError(f"BOOK_CACHE must be a folder, got {said!r}, a home that cannot be found") from None


def fetch(url: str, check: Callable[[Path], Any] = lambda path: None, limit: int = LIMIT) -> Path:
    """The path of a file, downloaded on first use, and compared with its recorded checksum on every later one.

    A new file is kept only if it has no more than `limit` bytes and `check` does not refuse it. A file that was put there by
    hand is checked and recorded too. Any number of processes may call this at once: one downloads, the others wait.
    """
    path = folder() / urlsplit(url).path.rpartition("/")[2]
    with _locked(path):
        if not path.exists():
            _download(url, path, check, limit)
        elif recorded := _recorded(path):
            _compare(path, recorded)
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


def _download(url: str, path: Path, check: Callable[[Path], Any], limit: int) -> None:
    part = _beside(path, "part")
    try:
        _receive_all(url, path, part, limit)
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


def _receive_all(url: str, path: Path, part: Path, limit: int) -> None:
    """Bring the rest of a file, in several requests if need be, as long as they bring something new."""
    from requests import HTTPError, RequestException

    failures, most = 0, _size(part)  # bytes ever had: a server that cannot go on may begin again and again
    while True:
        before = _size(part)
        try:
            return _receive(url, part, limit)
        except _Refused as why:
            raise ConnectionError(f"{urlsplit(url).netloc} {why}. {_by_browser(url, path)}") from None
        except HTTPError as error:
            if _complete(error.response, before):
                return
            reason = f"status {error.response.status_code}"
        except (RequestException, ValueError) as error:  # requests lets some ValueErrors of what is below it pass
            reason = _short(error)
        failures = 0 if _size(part) >= most + CHUNK else failures + 1  # less than a chunk would go on for years
        most = max(most, _size(part))
        if failures == TRIES:
            raise ConnectionError(_unreachable(url, path, part, reason)) from None
        time.sleep(WAIT * 2 ** max(0, failures - 1))


def _receive(url: str, part: Path, limit: int) -> None:
    """What is missing of a file, from its address, or from the one where the server says that it is."""
    from requests import HTTPError

    for _ in range(MOVES + 1):
        try:
            return _request(url, part, limit)
        except HTTPError as error:
            if error.response.is_redirect:
                url = _moved(url, error.response.headers["Location"])
            elif (status := error.response.status_code) not in {*PASSING, 416}:
                why = "has no such file: it may have moved" if status in (404, 410) else "refuses"
                raise _Refused(f"{why} (status {status})") from None
            else:
                raise
    raise _Refused(f"sends on more than {MOVES} times")


def _moved(url: str, location: str) -> str:
    """The address to which a server sends on, if it is one of its own."""
    here, there = urlsplit(url), urljoin(url, location)
    own = f"{here.scheme}://{here.netloc}/", f"https://{here.hostname}/"
    if there.lower().startswith(tuple(map(str.lower, own))):  # as text, because not everybody takes addresses apart alike
        return there
    raise _Refused(f"sends on to {one_line(there)!r}, which is another server")


def _request(url: str, part: Path, limit: int) -> None:
    """One request for what is missing of a file, added to its part.

    The server is asked to go on only if its file is still the one that the part began with. If it is not, or if the server
    cannot go on, it sends the whole file, and the part starts over.
    """
    have, tag = _size(part), _usable(_beginning(_beside(part, "tag")))
    headers = {"Accept-Encoding": "identity"}
    if have and tag:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    answers: list = []
    with open(part, "ab") as file:

        def begin(answer: Any, **_: Any) -> None:
            answers.append(answer)
            _make_ready(answer, file, part, limit)
            _require_file(answer)

        def write(data: bytes) -> None:
            _require_below(limit, file, len(data))
            file.write(data)

        options = {"timeout": TIMEOUT, "headers": headers, "hooks": {"response": begin}, "allow_redirects": False}
        get = _pooch().HTTPDownloader(progressbar=True, chunk_size=CHUNK, **options)
        try:
            get(url, SimpleNamespace(write=write, flush=file.flush), None)
            file.flush()
            os.fsync(file.fileno())
        finally:
            for answer in answers:
                answer.close()
    _require_length(answers[-1], part)


def _make_ready(answer: Any, file: BinaryIO, part: Path, limit: int) -> None:
    """Before the first byte is written: start the part over unless the answer goes on from its end, and look for room."""
    have = file.seek(0, os.SEEK_END)
    if answer.status_code not in (200, 206, 416) or _complete(answer, have):
        return
    if answer.status_code != 206 or not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        file.truncate(0)
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        _beside(part, "tag").write_bytes(_usable(tag).encode())
        if answer.status_code == 206:
            answer.status_code = 416  # it goes on from another place than asked: refuse it and ask for all
    length = _number(answer.headers.get("Content-Length", "0"))
    if length is None:
        del answer.headers["Content-Length"]  # pooch would stumble over it
    _require_below(limit, file, length or 0)
    if (length or 0) > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _require_file(answer: Any) -> None:
    """Refuse an answer that is not a file, or part of one, as it is."""
    from requests import HTTPError

    if answer.status_code not in (200, 206):  # requests is content with any below 400
        raise HTTPError(response=answer)
    if (encoding := answer.headers.get("Content-Encoding", "identity")) != "identity":  # its ranges are those of other bytes
        raise _Refused(f"sends it compressed ({one_line(encoding)!r}), though asked not to")


def _require_below(limit: int, file: BinaryIO, more: int) -> None:
    """Refuse more bytes than a file may have. What came is of no use, so it goes."""
    if file.seek(0, os.SEEK_END) + more > limit:
        file.truncate(0)
        raise _Refused(f"sends more than {limit:,} bytes, and no such file has as many")


def _complete(answer: Any, have: int) -> bool:
    """Whether the server says that there is nothing after the bytes we have."""
    return have > 0 and answer.status_code == 416 and answer.headers.get("Content-Range") == f"bytes */{have}"


def _require_length(answer: Any, part: Path) -> None:
    """Refuse a part that is shorter than the server said; not all versions of requests do."""
    from requests import ConnectionError as Cut

    said = answer.headers.get("Content-Range", "").rpartition("/")[2] or answer.headers.get("Content-Length", "")
    if (length := _number(said)) is not None and _size(part) != length:
        raise Cut(f"{_size(part):,} of {length:,} bytes came")


def _recorded(path: Path) -> str:
    """The checksum that is written beside a file. A blank one, left by a power cut, says nothing."""
    record = _beside(path, "sha256")
    text = _beginning(record).strip("\0 \t\r\n")
    if text and not re.match(r"[0-9a-fA-F]{64}(?!\S)", text):
        how = f"remove it, and {path.name} is checked and recorded anew"
        raise ValueError(f"{record} must begin with a checksum of 64 digits, got {text[:20]!r}: {how}")
    return text[:64].lower()


def _compare(path: Path, recorded: str) -> None:
    """Refuse a file that is not the one that was recorded; it is put aside, so that the next call downloads it anew."""
    found = _checksum(path)
    if found == recorded:
        return
    aside = _beside(path, "damaged")
    os.replace(path, aside)
    _beside(path, "sha256").unlink()
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
        _require_plain(path)
        lock = open(_beside(path, "lock"), "ab")
    except OSError as error:
        raise OSError(f"cannot write to {path.parent} ({error.strerror}): {_ELSEWHERE}") from error
    with lock:
        _wait_for(lock)
        yield


def _require_plain(path: Path) -> None:
    """Refuse links, folders and pipes where files are written; the file itself may be a link to one elsewhere."""
    for file in (path, *(_beside(path, ending) for ending in OURS)):
        if os.path.lexists(file) and (not file.is_file() or (file != path and file.is_symlink())):
            raise ValueError(f"{file} must be a file, got a link, a folder or the like: remove it, or {_ELSEWHERE}")


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


def _beginning(file: Path) -> str:
    """The first bytes of a small file that anybody may have written; nothing if it is not there."""
    if not file.exists():
        return ""
    with open(file, "rb") as stream:
        return stream.read(1000).decode("latin-1")


def _usable(tag: str) -> str:
    return tag if TAG.fullmatch(tag) else ""


def _number(text: str) -> int | None:
    """The number of bytes that a header says; none if it says something else."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def _forget(part: Path) -> None:
    for file in (part, _beside(part, "tag")):
        file.unlink(missing_ok=True)


# What to do about it

_ELSEWHERE = "name another folder with BOOK_CACHE"


def _by_hand(url: str, path: Path) -> str:
    return (
        f"you can also get {url} in another way and save it as {path}, "
        'or use the counts that ship with the package (source="embedded")'
    )


def _unreachable(url: str, path: Path, part: Path, reason: str) -> str:
    kept = f"{_size(part):,} bytes are kept, and the next call goes on from there" if _size(part) else "nothing came"
    what = f"cannot download from {urlsplit(url).netloc} in {TRIES} tries ({reason}); {kept}"
    return f"{what}. Try again later; {_by_hand(url, path)}"


def _by_browser(url: str, path: Path) -> str:
    return f"Look for it with a browser; {_by_hand(url, path)}"


def _no_room(path: Path, url: str) -> str:
    return f"no room for {url} in {path.parent}: make some, or {_ELSEWHERE}. Nothing was kept"


def _short(reason: Exception) -> str:
    inner = reason.args[0] if reason.args else reason  # what urllib3 said, and before it the system
    return one_line(str(getattr(inner, "reason", inner)).rpartition(": ")[2])


def one_line(text: str) -> str:
    """What others wrote, fit for a sentence: its first 120 characters, without those that would move the cursor.

    >>> one_line("two\\nlines")
    'two?lines'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text[:120])
