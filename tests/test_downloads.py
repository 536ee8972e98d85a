"""Downloads from a server on this computer that does all a server can do wrong.

After each fault: a sentence that says what happened and what to do, nothing half-written under the file's name, and a next
call that works. No other address than 127.0.0.1 is ever asked.
"""

import errno
import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from official_files import BLOCKS, microdata, redistricting, write_microdata, write_redistricting

from helpers import downloads, load_state, official, prior

ROOT = Path(__file__).resolve().parent.parent
CONTENT = random.Random(1).randbytes(300_000)
NAME = "data.bin"


class Server(ThreadingHTTPServer):
    """Serves `files`; each of `faults`, in turn, changes how one request is answered."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.faults, self.asked = {}, [], []  # asked: the Range of each request, None for all
        self.headers = []  # of each request
        self.ranges, self.tag, self.pause = True, '"one"', 0.0

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers a request: faults are a status, or a dict with `cut` (bytes sent), `stall` (seconds), `wrong_range`."""

    def do_GET(self):
        server, fault = self.server, self.server.faults.pop(0) if self.server.faults else {}
        server.asked.append(self.headers.get("Range"))
        server.headers.append(dict(self.headers))
        content = server.files.get(self.path)
        if isinstance(content, str):  # moved there
            self.send_response(302)
            self.send_header("Location", content)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if isinstance(fault, int) or content is None:
            self.send_error(fault or 404)
            return
        start = self.start_of_answer(len(content), fault)
        if start is not None:
            self.send_bytes(content[start : start + fault.get("cut", len(content))], fault)

    def start_of_answer(self, size, fault):
        """Send the head of the answer; return where the body begins, if there is one."""
        server, wanted = self.server, self.headers.get("Range")
        start = 0
        if server.ranges and wanted and self.headers.get("If-Range") == server.tag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        beyond = start and start >= size
        self.send_response(416 if beyond else 206 if start else 200)
        if beyond:
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
        else:
            self.send_header("Content-Length", str(size - start))
            if start:
                self.send_header("Content-Range", f"bytes {start + fault.get('wrong_range', 0)}-{size - 1}/{size}")
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        return None if beyond else start

    def send_bytes(self, body, fault):
        step = 20_000 if self.server.pause else len(body) or 1
        try:
            for i in range(0, len(body), step):
                self.wfile.write(body[i : i + step])
                time.sleep(self.server.pause)
            time.sleep(fault.get("stall", 0))
        except OSError:
            pass  # the other side has gone

    def log_message(self, *args):
        pass


@pytest.fixture(name="server")
def running_server():
    server = Server()
    server.files[f"/{NAME}"] = CONTENT
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True, name="cache")
def own_cache(tmp_path, monkeypatch):
    """A cache of its own for each test, and no waiting."""
    monkeypatch.setenv("BOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(downloads, "WAIT", 0.0)
    monkeypatch.setattr(downloads, "CHUNK", 1 << 14)
    return tmp_path / "cache"


def fetch(server):
    return downloads.fetch(f"{server.address}/{NAME}")


def names(cache):
    """The files of the cache, locks left out."""
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def assert_works_next(server, cache):
    """The next call brings the whole file and its record, and leaves nothing else."""
    assert fetch(server).read_bytes() == CONTENT
    assert set(names(cache)) - {f"{NAME}.damaged"} == {NAME, f"{NAME}.sha256"}


def by_hand(server):
    """The way out of every refusal: what to get, and where to put it."""
    return (
        f"you can also get {server.address}/{NAME} in another way and save it as {downloads.folder() / NAME}, "
        'or use the counts that ship with the package (source="embedded")'
    )


def test_a_file_is_fetched_once(server, cache):
    """The second use makes no request."""
    assert_works_next(server, cache)
    assert_works_next(server, cache)
    assert server.asked == [None]


def test_the_record_is_one_that_other_programs_read(server, cache):
    """`sha256sum --check` understands the record."""
    fetch(server)
    done = subprocess.run(["sha256sum", "--check", f"{NAME}.sha256"], cwd=cache, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("at", [0, 1, 16_384, 150_000, len(CONTENT) - 1])
def test_a_cut_connection_is_taken_up_where_it_broke(at, server, cache):
    """Cut at any point, the download goes on from what came, in the same call."""
    server.faults = [{"cut": at}]
    assert_works_next(server, cache)
    whole = at // downloads.CHUNK * downloads.CHUNK  # what is written
    assert server.asked == [None, f"bytes={whole}-" if whole else None]


def test_a_connection_that_is_always_cut_keeps_what_came(server, cache):
    """When three tries bring nothing new: a sentence, the part is kept, and the next call goes on from there."""
    server.faults = [{"cut": 100_000}, *[{"cut": 0}] * 3]
    with pytest.raises(ConnectionError, match=r"cannot download .* bytes are kept, and the next call goes on") as error:
        fetch(server)
    assert str(error.value).endswith(f" and the next call goes on from there. Try again later; {by_hand(server)}")
    assert names(cache) == [f"{NAME}.part", f"{NAME}.part.tag"]
    kept = (cache / f"{NAME}.part").stat().st_size
    assert 0 < kept <= 100_000 and f"; {kept:,} bytes" in str(error.value)
    assert_works_next(server, cache)
    assert server.asked[-1] == f"bytes={kept}-"


def test_many_cuts_are_survived_while_something_new_comes(server, cache):
    """A poor connection that brings a little each time gets there."""
    server.faults = [{"cut": 20_000}] * 14
    assert_works_next(server, cache)
    assert len(server.asked) > 10


def test_without_ranges_a_download_starts_over(server, cache):
    """A server that cannot go on sends the whole file, and it is whole."""
    server.ranges, server.faults = False, [{"cut": 100_000}]
    assert_works_next(server, cache)


def test_a_server_that_begins_again_and_again_is_given_up(server, cache):
    """Without ranges, cut at changing points: progress counts against the most that ever came, so this ends."""
    server.ranges, server.faults = False, [{"cut": n} for n in (50_000, 200_000, 50_000, 100_000, 150_000)] * 3
    with pytest.raises(ConnectionError, match=r"the next call goes on|nothing came"):
        fetch(server)
    assert len(server.asked) == 5
    server.faults = []
    assert_works_next(server, cache)


def test_fewer_bytes_than_announced_are_a_cut(tmp_path):
    """Also where the library that makes the requests does not notice."""
    part = tmp_path / "part"
    part.write_bytes(b"1234")
    for headers, right in (({"Content-Length": "4"}, True), ({"Content-Length": "5"}, False), ({}, True)):
        check_length(headers, part, right)
    check_length({"Content-Range": "bytes 2-3/4", "Content-Length": "2"}, part, True)
    check_length({"Content-Range": "bytes 2-3/9", "Content-Length": "2"}, part, False)


    check_length({"Content-Length": "5", "Content-Encoding": "gzip"}, part, True)  # the length of something else
    check_length({"Content-Range": "bytes 2-3/*", "Content-Length": "2"}, part, True)  # it does not say
    part.write_bytes(bytes(1234))
    with pytest.raises(OSError) as error:
        downloads._require_length(Answer(200, {"Content-Length": "5678"}), part)
    assert str(error.value) == "1,234 of 5,678 bytes came"


class Answer:
    """A server's answer, with what is read of it."""

    def __init__(self, status, headers):
        self.status_code, self.headers = status, headers


def check_length(headers, part, right):
    if right:
        downloads._require_length(Answer(200, headers), part)
        return
    with pytest.raises(OSError, match=r"4 of \d bytes came"):
        downloads._require_length(Answer(200, headers), part)


ANSWERS = {  # status and headers, then: are the four bytes kept, the tag, the status
    "goes on": (206, {"Content-Range": "bytes 4-9/10", "ETag": "new"}, True, "old", 206),
    "goes on elsewhere": (206, {"Content-Range": "bytes 40-99/100", "ETag": "new"}, False, "new", 416),
    "does not say where it goes on": (206, {}, False, "", 416),
    "all of it": (200, {"ETag": "new", "Last-Modified": "today"}, False, "new", 200),
    "all of it, with a date": (200, {"Last-Modified": "today"}, False, "today", 200),
    "all of it, without a sign": (200, {}, False, "", 200),
    "all of it, with a weak sign": (200, {"ETag": "W/new", "Last-Modified": "today"}, False, "", 200),
    "all of it, though it has a place": (200, {"Content-Range": "bytes 4-9/10"}, False, "", 200),
    "nothing beyond": (416, {"Content-Range": "bytes */4"}, True, "old", 416),
    "less than that": (416, {"Content-Range": "bytes */3", "ETag": "new"}, False, "new", 416),
    "beyond what": (416, {}, False, "", 416),
    "moved": (302, {"ETag": "new"}, True, "old", 302),
    "busy": (503, {"ETag": "new"}, True, "old", 503),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_part_is_kept_only_if_the_answer_goes_on_from_its_end(case, tmp_path):
    """Otherwise it starts over, with the tag of what comes now; an answer without the file changes nothing."""
    status, headers, kept, tag, after = ANSWERS[case]
    part, tags = tmp_path / "x.part", tmp_path / "x.part.tag"
    part.write_bytes(b"1234")
    tags.write_text("old")
    answer = Answer(status, headers)
    with open(part, "ab") as file:
        downloads._make_ready(answer, file, part)
    assert (part.read_bytes(), tags.read_text(), answer.status_code) == (b"1234" if kept else b"", tag, after)


def test_nothing_is_never_all_of_a_file(tmp_path):
    """Without a byte, a server that has no more is not believed: a file is not empty."""
    assert not downloads._complete(Answer(416, {"Content-Range": "bytes */0"}), 0)
    assert downloads._complete(Answer(416, {"Content-Range": "bytes */1"}), 1)
    assert not downloads._complete(Answer(416, {}), 1)
    assert not downloads._complete(Answer(200, {"Content-Range": "bytes */1"}), 1)


def test_there_is_room_up_to_the_last_byte(tmp_path, monkeypatch):
    """A file that just fits is received, and one with a byte more is not."""
    rooms = {tmp_path: SimpleNamespace(free=1000)}
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda path: rooms[path])
    with open(tmp_path / "x.part", "ab") as file:
        downloads._make_ready(Answer(200, {"Content-Length": "1000"}), file, tmp_path / "x.part")
        with pytest.raises(OSError) as error:
            downloads._make_ready(Answer(200, {"Content-Length": "1001"}), file, tmp_path / "x.part")
        rooms[tmp_path].free = 0
        downloads._make_ready(Answer(200, {}), file, tmp_path / "x.part")  # if it does not say, it may be empty
    assert error.value.errno == errno.ENOSPC and error.value.strerror == os.strerror(errno.ENOSPC)


def test_reasons_are_short():
    """Of a chain of reasons the last one is shown, which is what the system said, and no more than 120 characters."""
    from requests import RequestException

    inner = Exception("not this")
    inner.reason = OSError("a connection: failed to connect: [Errno 111] Connection refused")
    reasons = [RequestException(inner), RequestException("first: then: last"), RequestException("x" * 130)]
    said = ["[Errno 111] Connection refused", "last", "x" * 120]
    assert [downloads._short(reason) for reason in reasons] == said and downloads._short(RequestException()) == ""


@pytest.mark.parametrize("tag", ["", 'W/"weak"'], ids=["none", "weak"])
def test_without_a_tag_a_download_starts_over(tag, server, cache):
    """Without a sure sign that it is the same file, no two pieces are joined."""
    server.tag, server.faults = tag, [{"cut": 100_000}]
    assert_works_next(server, cache)
    assert server.asked == [None, None]


def test_a_part_of_which_nobody_knows_the_version_starts_over(server, cache):
    """A part whose tag has gone is not gone on with: all of the file is asked for."""
    cache.mkdir()
    (cache / f"{NAME}.part").write_bytes(b"of another file")
    assert_works_next(server, cache)
    assert server.asked == [None]


def test_a_file_that_changes_in_between_is_not_mixed(server, cache):
    """If the server has a new version when the download goes on, all of the new one is fetched."""
    server.files[f"/{NAME}"] = bytes(len(CONTENT))
    server.faults = [{"cut": 100_000}, 503, 503, 503]
    with pytest.raises(ConnectionError):
        fetch(server)
    server.files[f"/{NAME}"], server.tag = CONTENT, '"two"'
    assert_works_next(server, cache)


def test_a_wrong_range_is_not_joined(server, cache):
    """A server that goes on from another place than asked is asked again."""
    server.faults = [{"cut": 100_000}, {"wrong_range": 7}]
    assert_works_next(server, cache)
    assert len(server.asked) == 3


def test_a_whole_part_is_not_fetched_again(server, cache):
    """Killed after the last byte, before the file got its name: the server has no more, so the part is the file."""
    cache.mkdir()
    (cache / f"{NAME}.part").write_bytes(CONTENT)
    (cache / f"{NAME}.part.tag").write_text(server.tag)
    assert_works_next(server, cache)
    assert server.asked == [f"bytes={len(CONTENT)}-"]


def test_a_part_that_is_too_long_starts_over(server, cache):
    """A part with more bytes than the file is no part of it."""
    cache.mkdir()
    (cache / f"{NAME}.part").write_bytes(CONTENT + b"more")
    (cache / f"{NAME}.part.tag").write_text(server.tag)
    assert_works_next(server, cache)


MOVED = "has no such file: it may have moved"


@pytest.mark.parametrize("status, why", [(403, "refuses"), (404, MOVED), (410, MOVED)])
def test_a_refusal_is_not_repeated(status, why, server, cache):
    """404 and the like end at once, with the address, and what to do instead."""
    server.faults = [status]
    with pytest.raises(ConnectionError) as error:
        fetch(server)
    host = server.address.removeprefix("http://")
    assert str(error.value) == f"{host} {why} (status {status}). Look for it with a browser; {by_hand(server)}"
    assert names(cache) == [] and len(server.asked) == 1
    assert_works_next(server, cache)


def test_a_file_that_has_moved_is_followed(server, cache):
    """A redirection is followed, also when a broken download goes on, and the file keeps the name that was asked for."""
    server.files |= {"/new/place": CONTENT, f"/{NAME}": "/new/place"}
    server.faults = [{}, {"cut": 100_000}]
    assert_works_next(server, cache)
    assert server.asked[:3] == [None, None, server.asked[3]] and server.asked[3].startswith("bytes=")


def test_a_busy_server_is_asked_again(server, cache):
    """503 is tried again; after three, a sentence says to come back later."""
    server.faults = [503, 503]
    assert_works_next(server, cache)
    (cache / NAME).unlink()
    server.faults = [503] * 3
    with pytest.raises(ConnectionError) as error:
        fetch(server)
    host = server.address.removeprefix("http://")
    said = f"cannot download from {host} in 3 tries (status 503); nothing came. Try again later; {by_hand(server)}"
    assert str(error.value) == said
    assert_works_next(server, cache)


@pytest.mark.parametrize("faults, waits", [([503] * 3, [1.5, 3.0]), ([{"cut": 100_000}, *[503] * 3], [1.5, 1.5, 3.0])])
def test_between_tries_it_waits_longer_and_longer(faults, waits, server, monkeypatch):
    """Twice as long after each try that brought nothing, and after one that brought something as at first."""
    waited = []
    monkeypatch.setattr(downloads, "WAIT", 1.5)
    monkeypatch.setattr(downloads, "time", type("Clock", (), {"sleep": waited.append}))
    server.faults = faults
    with pytest.raises(ConnectionError, match="in 3 tries"):
        fetch(server)
    assert waited == waits


def test_requests_ask_for_the_bytes_as_they_are(server, cache):
    """Nothing is to be compressed on the way; a range is asked for only of the version that the part began with."""
    cache.mkdir()
    (cache / f"{NAME}.part.tag").write_text(server.tag)  # of a part that has gone
    server.faults = [{"cut": 100_000}]
    assert_works_next(server, cache)
    first, second = server.headers
    assert first["Accept-Encoding"] == second["Accept-Encoding"] == "identity"
    assert "Range" not in first and "If-Range" not in first
    assert second["Range"] == server.asked[1] and second["If-Range"] == server.tag


def test_a_bar_shows_the_progress_in_bytes(server, monkeypatch):
    """The library that makes the requests shows it."""
    import pooch

    totals = []

    class Bar(pooch.downloaders.tqdm):
        def __init__(self, **options):
            totals.append((options["total"], options["unit"]))
            super().__init__(**options)

    monkeypatch.setattr(pooch.downloaders, "tqdm", Bar)
    fetch(server)
    assert totals == [(len(CONTENT), "B")]


def test_no_network(server, cache):
    """Where nobody answers: the address, where to save the file by hand, and what works without it."""
    with pytest.raises(ConnectionError, match=r"http://127\.0\.0\.1:9/data\.bin in another way and save it as .*embedded"):
        downloads.fetch("http://127.0.0.1:9/data.bin")
    assert names(cache) == []
    assert_works_next(server, cache)


def test_a_slow_server_is_waited_for(server, cache):
    """As long as something comes, slowly, the download goes on."""
    server.pause = 0.02
    assert_works_next(server, cache)
    assert server.asked == [None]


def test_a_server_that_falls_silent_is_asked_again(server, cache, monkeypatch):
    """No byte for the time allowed counts as a cut; a server that is always silent gets a sentence."""
    monkeypatch.setattr(downloads, "TIMEOUT", (1, 0.2))
    server.faults = [{"cut": 100_000, "stall": 0.6}]
    assert_works_next(server, cache)
    (cache / NAME).unlink()
    server.faults = [{"cut": 0, "stall": 0.6}] * 3
    with pytest.raises(ConnectionError, match=r"[Tt]imed out"):
        fetch(server)
    server.faults = []
    assert_works_next(server, cache)


DAMAGE = {"a byte": CONTENT[:9] + b"xyz" + CONTENT[12:], "shorter": CONTENT[:-1], "longer": CONTENT + b"x", "empty": b""}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_found_out(damage, server, cache):
    """A file that is not as it came is refused and put aside, and the next call fetches it anew."""
    fetch(server)
    (cache / NAME).write_bytes(DAMAGE[damage])
    was, now = (hashlib.sha256(content).hexdigest() for content in (CONTENT, DAMAGE[damage]))
    with pytest.raises(ValueError) as error:
        fetch(server)
    assert str(error.value) == (
        f"{cache / NAME} must have the checksum {was}, as when it was downloaded, got {now}: "
        f"it is now {NAME}.damaged, and the next call downloads it anew"
    )
    assert names(cache) == [f"{NAME}.damaged"]
    assert_works_next(server, cache)


def test_a_file_that_fails_its_check_is_not_kept(server, cache):
    """What `check` refuses leaves no trace, and the sentence says where it came from."""

    def check(path):
        assert path.read_bytes() == CONTENT and path.name == f"{NAME}.part"
        raise ValueError("it must be better")

    url = f"{server.address}/{NAME}"
    with pytest.raises(ValueError) as error:
        downloads.fetch(url, check)
    said = f"it must be better. It came from {url} and was not kept; call again to download it anew"
    assert str(error.value) == said
    assert names(cache) == []
    assert_works_next(server, cache)


def test_a_file_saved_by_hand_is_taken_and_recorded(server, cache):
    """Somebody without network can bring the file; one that is no good is refused, and stays for its owner to replace."""
    cache.mkdir()
    (cache / NAME).write_bytes(CONTENT)

    def check(path):
        assert path == cache / NAME
        raise ValueError("it must be better")

    with pytest.raises(ValueError) as error:
        downloads.fetch(f"{server.address}/{NAME}", check)
    assert str(error.value) == f"it must be better. Replace {cache / NAME}, or remove it to download it"
    assert names(cache) == [NAME]
    assert_works_next(server, cache)
    assert server.asked == []


class FullDisk:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)


def test_a_full_disk(server, cache, monkeypatch):
    """When the disk runs full, what came is removed, because it is of no use there, and the sentence names the folder."""
    with monkeypatch.context() as patch:
        patch.setattr(downloads, "open", lambda *args: FullDisk(open(*args), 100_000), raising=False)
        with pytest.raises(OSError) as error:
            fetch(server)
    what = f"no room for {server.address}/{NAME} in {cache}"
    assert str(error.value) == f"{what}: make some, or name another folder with BOOK_CACHE. Nothing was kept"
    assert names(cache) == []
    assert_works_next(server, cache)


def test_a_quota_is_a_full_disk_and_other_faults_stay_what_they_are(server, cache, monkeypatch):
    """A user without room of his own is told so; what else the system says is not dressed up, and the part stays."""
    for number, words in ((errno.EDQUOT, "no room for"), (errno.EIO, os.strerror(errno.EIO))):
        with monkeypatch.context() as patch:
            patch.setattr(downloads.os, "replace", lambda *paths, number=number: fail(number))
            with pytest.raises(OSError, match=words):
                fetch(server)
        assert names(cache) == ([] if number == errno.EDQUOT else [f"{NAME}.part", f"{NAME}.part.tag"])
    assert_works_next(server, cache)


def fail(number):
    raise OSError(number, os.strerror(number))


def test_a_disk_with_too_little_room(server, cache, monkeypatch):
    """If the server says that the file is larger than the room there is, nothing is written at all."""
    with monkeypatch.context() as patch:
        patch.setattr(downloads.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000}))
        with pytest.raises(OSError, match=r"no room for .* Nothing was kept"):
            fetch(server)
    assert names(cache) == []
    assert_works_next(server, cache)


def test_a_folder_that_cannot_be_written(server, cache, monkeypatch, tmp_path):
    """A cache that is a file, say: the sentence names it and the way out."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BOOK_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot write to .*file .*: name another folder with BOOK_CACHE"):
        fetch(server)


def test_without_pooch(monkeypatch, server):
    """The package works without pooch until something has to be downloaded; then it says what is missing."""
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError) as error:
        fetch(server)
    assert str(error.value) == (
        "the Bureau's own files are downloaded with the package pooch, which is missing; "
        "install it with: pip install pooch"
    )


def test_without_the_locks_of_unix_those_of_windows_are_used(monkeypatch, server, cache):
    """They give up after ten seconds, and are asked for again until they are held: for the first byte of the lock."""
    asked = []

    def locking(number, mode, size):
        asked.append((os.fstat(number).st_ino, mode, size))
        if len(asked) < 3:
            raise OSError("not within ten seconds")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", type("Windows", (), {"LK_LOCK": 1, "locking": locking}))
    assert_works_next(server, cache)
    assert asked == [((cache / f"{NAME}.lock").stat().st_ino, 1, 1)] * 3


def test_the_default_folder_is_the_users_own(monkeypatch):
    """Without BOOK_CACHE, downloads go to the user's cache folder."""
    import pooch

    monkeypatch.delenv("BOOK_CACHE")
    own = pooch.os_cache("where-to-spend-epsilon")
    assert downloads.folder() == own and own.name == "where-to-spend-epsilon"
    monkeypatch.setenv("BOOK_CACHE", "  ")
    assert downloads.folder() == own
    monkeypatch.setenv("BOOK_CACHE", " ~/my files ")
    assert downloads.folder() == Path.home() / "my files"


def test_a_file_has_the_last_name_of_its_address(server, cache):
    """Folders and questions of an address are no part of it, and a folder that is not there yet is made."""
    server.files["/a/b/c.bin?d=e/f"] = CONTENT
    assert downloads.fetch(f"{server.address}/a/b/c.bin?d=e/f") == cache / "c.bin"
    assert (cache / "c.bin.sha256").read_bytes() == f"{hashlib.sha256(CONTENT).hexdigest()}  c.bin\n".encode()


# Other processes


def start(server):
    """A process that fetches the file and prints its checksum."""
    code = f"""
import hashlib
from helpers import downloads
print(hashlib.sha256(downloads.fetch("{server.address}/{NAME}").read_bytes()).hexdigest())
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, text=True, **pipes)


def test_two_processes_at_once_download_once(server, cache):
    """One downloads, the other waits; both get the whole file."""
    server.pause = 0.03
    both = [start(server), start(server)]
    printed = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    assert printed[0][0] == printed[1][0] and len(server.asked) == 1
    server.pause = 0.0
    assert_works_next(server, cache)


def test_a_killed_process_leaves_a_part_to_go_on_from(server, cache):
    """Killed in the middle (kill -9): no file, no lock that stays, and the next call goes on from what came."""
    server.pause = 0.1
    process, part = start(server), cache / f"{NAME}.part"
    until = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size > 40_000) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert names(cache) == [part.name, f"{part.name}.tag"]
    server.pause, kept = 0.0, part.stat().st_size
    assert_works_next(server, cache)
    assert server.asked == [None, f"bytes={kept}-"]


def test_killed_before_the_record_was_written(server, cache):
    """A file without a record, or with an empty one, is checked and recorded on the next use, without a request."""
    fetch(server)
    (cache / f"{NAME}.sha256").unlink()
    assert_works_next(server, cache)
    (cache / f"{NAME}.sha256").write_bytes(b"")
    assert_works_next(server, cache)
    assert server.asked == [None]


# From the call to the tree


@pytest.fixture
def bureau(server, monkeypatch, tmp_path):
    """The Bureau's files of a made-up Vermont, at their own paths."""
    monkeypatch.setenv("BOOK_CENSUS_URL", server.address)
    made = {
        ("official", 2010): write_redistricting(tmp_path / "a.zip", 2010),
        ("official", 2020): write_redistricting(tmp_path / "b.zip", 2020),
        ("ppmf", 2020): write_microdata(tmp_path / "c.zip", {"50": microdata()}),
    }
    for (source, year), path in made.items():
        server.files[path_of(server, source, year)] = path.read_bytes()
    server.files[path_of(server, "ppmf", 2010)] = microdata().encode()
    return server


def path_of(server, source, year):
    return official.url("VT", source, year).removeprefix(server.address)


@pytest.mark.parametrize("source", official.SOURCES)
def test_one_call_brings_a_state(source, bureau):
    """`load_state` and `prior` fetch what they need, once, and it is the made-up state."""
    for _ in range(2):
        assert load_state("vermont", "populated", source=source).counts[-1].sum() == sum(BLOCKS.values())
        assert prior("VT", "populated", source=source).sizes[-1] == sum(n > 0 for n in BLOCKS.values())
    assert len(bureau.asked) == 2


@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"<html>Maintenance</html>", lambda c: b""])
def test_bad_files_of_the_server_are_not_kept(damage, bureau, cache):
    """A truncated zip or a web page in its place is refused with the address; as soon as the server is well, it works."""
    path = path_of(bureau, "official", 2020)
    good = bureau.files[path]
    bureau.files[path] = damage(good)
    with pytest.raises(ValueError, match=r"file of Vermont \(vt2020\.pl\.zip\) must be a whole zip.* not kept; call again"):
        load_state("VT", source="official")
    assert names(cache) == []
    bureau.files[path] = good
    assert load_state("VT", source="official").counts[0].tolist() == [301]


def test_wrong_states_and_missing_members_are_not_kept(bureau, cache, tmp_path):
    """Faults inside the file are found before it gets its name."""
    path = path_of(bureau, "official", 2020)
    good = bureau.files[path]
    other = write_redistricting(tmp_path / "x.zip", 2020, redistricting(2020, {"510010001001000": 3}))
    for bad in (other, write_redistricting(tmp_path / "y.zip", 2020, member="readme.txt")):
        bureau.files[path] = bad.read_bytes()
        with pytest.raises(ValueError, match=r"of Vermont .* must .* was not kept"):
            load_state("VT", source="official")
        assert names(cache) == []
    bureau.files[path] = good
    assert load_state("VT", source="official").counts[0].tolist() == [301]


def test_a_fault_deep_in_microdata_names_the_file_to_remove(bureau, cache):
    """Only the header of a file for the whole country is checked at once; a fault below says which file to remove."""
    path = path_of(bureau, "ppmf", 2010)
    good = bureau.files[path]
    bureau.files[path] = good + b"50,x,000100,1,1000,3\n"
    with pytest.raises(ValueError, match=r"TABBLKCOU 'x'.*Remove (.*) to download it anew") as error:
        prior("VT", source="ppmf")
    bureau.files[path] = good
    Path(str(error.value).rpartition("Remove ")[2].removesuffix(" to download it anew")).unlink()
    assert prior("VT", source="ppmf").counts[0].tolist() == [301]
