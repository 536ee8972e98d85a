"""Downloads from a server on this computer that does all a server can do wrong.

After each fault: a sentence that says what happened and what to do, nothing half-written under the file's name, and a next
call that works. No other address than 127.0.0.1 is ever asked.
"""

import errno
import hashlib
import io
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from manuscript import ROOT
from support.official_files import BLOCKS, POPULATED, made_up, redistricting, write_redistricting
from support.refusals import refusal

from helpers import load_state, prior
from helpers.census.bureau import downloads, official

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
        self.host = f"127.0.0.1:{self.server_port}"
        self.address = f"http://{self.host}"


class Handler(BaseHTTPRequestHandler):
    """Answers a request: faults are a status, all bytes, or a dict with `cut` (bytes sent), `stall` (s), `wrong_range`."""

    def do_GET(self):
        server, fault = self.server, self.server.faults.pop(0) if self.server.faults else {}
        server.asked.append(self.headers.get("Range"))
        server.headers.append(dict(self.headers))
        content = server.files.get(self.path)
        if isinstance(fault, bytes):
            self.wfile.write(fault)
        elif isinstance(content, str):  # moved there
            self.send_head(302, {"Location": content, "Content-Length": "0"})
        elif isinstance(fault, int) or content is None:
            self.send_error(fault or 404)
        else:
            start = self.start_of_answer(len(content), fault)
            self.send_bytes(content[start : start + fault.get("cut", len(content))], fault)

    def start_of_answer(self, size, fault):
        """Send the head of the answer; return where the body begins: at the end, if there is none."""
        server, wanted, start = self.server, self.headers.get("Range"), 0
        if server.ranges and wanted and self.headers.get("If-Range") == server.tag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        status = 200 if not start else 206 if start < size else 416
        place = {206: f"bytes {start + fault.get('wrong_range', 0)}-{size - 1}/{size}", 416: f"bytes */{size}"}.get(status)
        head = {"Content-Length": str(max(0, size - start)), "Content-Range": place, "ETag": server.tag}
        self.send_head(status, head)
        return start

    def send_head(self, status, headers):
        self.send_response(status)
        for name in filter(headers.get, headers):
            self.send_header(name, headers[name])
        self.end_headers()

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


def fetch(server, **options):
    return downloads.fetch(f"{server.address}/{NAME}", **options)


def names(cache):
    """The files of the cache, locks left out."""
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def assert_works_next(server, cache, left=None):
    """The next call brings the whole file and its record, and leaves nothing else; `left` are the files before it."""
    assert left is None or names(cache) == left
    assert fetch(server).read_bytes() == CONTENT
    assert set(names(cache)) - {f"{NAME}.damaged"} == {NAME, f"{NAME}.sha256"}


PARTS = [f"{NAME}.part", f"{NAME}.part.tag"]


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
    said = refusal(fetch, server, by=ConnectionError)
    kept = (cache / f"{NAME}.part").stat().st_size
    assert 0 < kept <= 100_000 and said.startswith("cannot download ")
    how = f"; {kept:,} bytes are kept, and the next call goes on from there. Try again later; {by_hand(server)}"
    assert said.endswith(how)
    assert_works_next(server, cache, left=PARTS)
    assert server.asked[-1] == f"bytes={kept}-"


POOR = {  # settings of the server that a call gets along with, and the requests that it takes
    "a little each time": ({"faults": [{"cut": 20_000}] * 14}, range(11, 16)),
    "no ranges": ({"faults": [{"cut": 100_000}], "ranges": False}, [2]),
    "a wrong range, which is not joined": ({"faults": [{"cut": 100_000}, {"wrong_range": 7}]}, [3]),
    "slow, but something comes": ({"pause": 0.02}, [1]),
}


@pytest.mark.parametrize("settings, requests", POOR.values(), ids=POOR)
def test_a_poor_server_is_good_enough(settings, requests, server, cache):
    """Whether it brings a little each time, cannot go on, goes on from another place than asked, or takes its time."""
    vars(server).update(settings)
    assert_works_next(server, cache)
    assert len(server.asked) in requests


def test_a_server_that_begins_again_and_again_is_given_up(server, cache):
    """Without ranges, cut at changing points: progress counts against the most that ever came, so this ends."""
    server.ranges, server.faults = False, [{"cut": n} for n in (50_000, 200_000, 50_000, 100_000, 150_000)] * 3
    with pytest.raises(ConnectionError, match=r"the next call goes on|nothing came"):
        fetch(server)
    assert len(server.asked) == 5
    server.faults = []
    assert_works_next(server, cache)


def answer_of(status, headers):
    """A server's answer, with what is read of it."""
    return SimpleNamespace(status_code=status, headers=headers)


def test_fewer_bytes_than_announced_are_a_cut(tmp_path):
    """Also where the library that makes the requests does not notice."""
    part = tmp_path / "part"
    part.write_bytes(b"1234")
    for headers, right in (
        ({"Content-Length": "4"}, True),
        ({"Content-Length": "5"}, False),
        ({}, True),
        ({"Content-Range": "bytes 2-3/4", "Content-Length": "2"}, True),
        ({"Content-Range": "bytes 2-3/9", "Content-Length": "2"}, False),
        ({"Content-Length": "-5"}, True),
        ({"Content-Range": "bytes 2-3/" + "9" * 5000, "Content-Length": "2"}, True),
        ({"Content-Range": "bytes 2-3/*", "Content-Length": "2"}, True),  # it does not say
    ):
        with nullcontext() if right else pytest.raises(OSError, match=r"4 of \d bytes came"):
            downloads._require_length(answer_of(200, headers), part)
    part.write_bytes(bytes(1234))
    long = answer_of(200, {"Content-Length": "5678"})
    assert refusal(downloads._require_length, long, part, by=OSError) == "1,234 of 5,678 bytes came"


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
    answer = answer_of(status, headers)
    with open(part, "ab") as file:
        downloads._make_ready(answer, file, part, 1000)
    assert (part.read_bytes(), tags.read_text(), answer.status_code) == (b"1234" if kept else b"", tag, after)


def test_nothing_is_never_all_of_a_file(tmp_path):
    """Without a byte, a server that has no more is not believed: a file is not empty."""
    assert not downloads._complete(answer_of(416, {"Content-Range": "bytes */0"}), 0)
    assert downloads._complete(answer_of(416, {"Content-Range": "bytes */1"}), 1)
    assert not downloads._complete(answer_of(416, {}), 1)
    assert not downloads._complete(answer_of(200, {"Content-Range": "bytes */1"}), 1)


def test_there_is_room_up_to_the_last_byte(tmp_path, monkeypatch):
    """A file that just fits is received, and one with a byte more is not."""
    rooms = {tmp_path: SimpleNamespace(free=1000)}
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda path: rooms[path])
    with open(tmp_path / "x.part", "ab") as file:
        downloads._make_ready(answer_of(200, {"Content-Length": "1000"}), file, tmp_path / "x.part", 2000)
        with pytest.raises(OSError) as error:
            downloads._make_ready(answer_of(200, {"Content-Length": "1001"}), file, tmp_path / "x.part", 2000)
        rooms[tmp_path].free = 0
        for headers in ({}, {"Content-Length": "1e9"}):  # if it does not say, it may be empty
            downloads._make_ready(answer_of(200, headers), file, tmp_path / "x.part", 2000)
            assert headers == {}
    assert error.value.errno == errno.ENOSPC and error.value.strerror == os.strerror(errno.ENOSPC)


def test_reasons_are_short():
    """Of a chain of reasons the last one is shown, which is what the system said: 120 characters, none to move a cursor."""
    from requests import RequestException

    inner = Exception("not this")
    inner.reason = OSError("a connection: failed to connect: [Errno 111] Connection refused")
    reasons = [RequestException(inner), RequestException("first: then: last"), RequestException("\x1b\n" + "x" * 130)]
    said = ["[Errno 111] Connection refused", "last", "??" + "x" * 118]
    assert [downloads._short(reason) for reason in reasons] == said and downloads._short(RequestException()) == ""


@pytest.mark.parametrize("tag", ["", 'W/"weak"'], ids=["none", "weak"])
def test_without_a_tag_a_download_starts_over(tag, server, cache):
    """Without a sure sign that it is the same file, no two pieces are joined."""
    server.tag, server.faults = tag, [{"cut": 100_000}]
    assert_works_next(server, cache)
    assert server.asked == [None, None]


FOUND = {  # a part that is there, its tag, and the first request
    "of an unknown version": (b"of another file", None, None),
    "whole": (CONTENT, '"one"', f"bytes={len(CONTENT)}-"),
    "too long": (CONTENT + b"more", '"one"', f"bytes={len(CONTENT) + 4}-"),
}


@pytest.mark.parametrize("part, tag, asked", FOUND.values(), ids=FOUND)
def test_a_part_that_is_found_is_used_if_it_is_one(part, tag, asked, server, cache):
    """Without its tag, all is asked for; a whole one (killed before it got its name) is the file; a longer one is none."""
    cache.mkdir()
    (cache / PARTS[0]).write_bytes(part)
    if tag:
        (cache / PARTS[1]).write_text(tag)
    assert_works_next(server, cache)
    assert server.asked == [asked, *[None] * (len(part) > len(CONTENT))]


def test_a_file_that_changes_in_between_is_not_mixed(server, cache):
    """If the server has a new version when the download goes on, all of the new one is fetched."""
    server.files[f"/{NAME}"] = bytes(len(CONTENT))
    server.faults = [{"cut": 100_000}, 503, 503, 503]
    with pytest.raises(ConnectionError):
        fetch(server)
    server.files[f"/{NAME}"], server.tag = CONTENT, '"two"'
    assert_works_next(server, cache)


MOVED = "has no such file: it may have moved"


@pytest.mark.parametrize("status, why", [(403, "refuses"), (404, MOVED), (410, MOVED)])
def test_a_refusal_is_not_repeated(status, why, server, cache):
    """404 and the like end at once, with the address, and what to do instead."""
    server.faults = [status]
    said = f"{server.host} {why} (status {status}). Look for it with a browser; {by_hand(server)}"
    assert refusal(fetch, server, by=ConnectionError) == said and len(server.asked) == 1
    assert_works_next(server, cache, left=[])


def test_a_file_that_has_moved_is_followed(server, cache):
    """A redirection is followed, also when a broken download goes on, and the file keeps the name that was asked for."""
    server.files |= {"/new/place": CONTENT, f"/{NAME}": "/new/place"}
    server.faults = [{}, {"cut": 100_000}]
    assert_works_next(server, cache)
    assert server.asked[:3] == [None, None, server.asked[3]] and server.asked[3].startswith("bytes=")


BUREAU = "https://www2.census.gov"
OWN = {  # where a server may send on to from /a/x.zip, and the address
    "a path": (BUREAU, "/b/y.zip", f"{BUREAU}/b/y.zip"),
    "a name": (BUREAU, "y.zip", f"{BUREAU}/a/y.zip"),
    "an address": (BUREAU, "HTTPS://WWW2.census.gov/y.zip", "https://WWW2.census.gov/y.zip"),
    "a port of its own": ("http://mirror:8000", "http://mirror:8000/y.zip", "http://mirror:8000/y.zip"),
    "from http to https": ("http://Mirror:8000", "https://mirror/y.zip", "https://mirror/y.zip"),
}
OTHERS = {  # and where not
    "another host": (BUREAU, "https://evil.example/x.zip"),
    "another host, in short": (BUREAU, "//evil.example/x.zip"),
    "a host beside it": (BUREAU, "https://www.census.gov/x.zip"),
    "a longer name": (BUREAU, "https://www2.census.gov.evil.example/x.zip"),
    "a user of another host": (BUREAU, "https://www2.census.gov@evil.example/x.zip"),
    "a slash that leans": (BUREAU, "https://www2.census.gov\\@evil.example/x.zip"),
    "from https to http": (BUREAU, "http://www2.census.gov/a/x.zip"),
    "another port": ("http://mirror:8000", "http://mirror:9000/x.zip"),
    "no port": ("http://mirror:8000", "http://mirror/x.zip"),
    "https of another": ("http://mirror", "https://mirror.evil.example/x.zip"),
    "a file": (BUREAU, "file:///etc/passwd"),
}


@pytest.mark.parametrize("server, location, there", OWN.values(), ids=OWN)
def test_a_server_may_send_on_to_itself(server, location, there):
    """Within the same host and port, or from http to https."""
    assert downloads._moved(f"{server}/a/x.zip", location) == there


@pytest.mark.parametrize("server, location", OTHERS.values(), ids=OTHERS)
def test_a_server_may_not_send_on_to_another(server, location):
    """Nobody chose the other one, and with http anybody on the way can be the server."""
    there = location if ":" in location else f"https:{location}"
    said = refusal(downloads._moved, f"{server}/a/x.zip", location, by=downloads._Refused)
    assert said == f"sends on to {there!r}, which is another server"


def test_another_server_is_never_asked(server, cache):
    """The refusal names it, and the way out, after one request."""
    there = f"http://localhost:{server.server_port}/new"
    server.files |= {"/new": CONTENT, f"/{NAME}": there}
    said = f"{server.host} sends on to {there!r}, which is another server. Look for it with a browser; {by_hand(server)}"
    assert refusal(fetch, server, by=ConnectionError) == said and server.asked == [None]
    server.files[f"/{NAME}"] = CONTENT
    assert_works_next(server, cache, left=[])


def test_a_server_may_send_on_five_times(server, cache):
    """Once more, and it is in a circle."""
    server.files |= {"/5": CONTENT, f"/{NAME}": "/1", **{f"/{i}": f"/{i + 1}" for i in range(1, 5)}}
    assert_works_next(server, cache)
    (cache / NAME).unlink()
    server.files["/5"] = "/1"
    said = f"{server.host} sends on more than 5 times. Look for it with a browser; {by_hand(server)}"
    assert refusal(fetch, server, by=ConnectionError) == said and len(server.asked) == 6 + 6


def answered(*headers, status="200 OK", body=CONTENT):
    """The bytes of an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1") + body


CHUNKED, NO_LENGTH = "Transfer-Encoding: chunked", ("abc", "-5", "", "5.0", "9" * 5000, "²")
SURVIVED = {  # answers that the next one, or what comes with it, makes up for
    **{f"length {length[:5]!r}": answered(f"Content-Length: {length}") for length in NO_LENGTH},
    "a range beyond numbers": answered(f"Content-Range: bytes 0-9/{'9' * 5000}", f"Content-Length: {len(CONTENT)}"),
    "too short": answered(f"Content-Length: {len(CONTENT) + 1}"),
    "two lengths": answered("Content-Length: 5", "Content-Length: 6"),
    "a chunk of less than nothing": answered(CHUNKED, body=b"-5\r\nhello"),
    "a chunk of what": answered(CHUNKED, body=b"zz\r\nhello"),
    "a long header": answered(f"X: {'x' * 70_000}"),
    "many headers": answered(*["X: x"] * 200),
    "no answer": b"hello",
    "nothing": b"",
    "nowhere": answered("Location: http://[::1", status="302 Found"),
    "a long tag": answered(f"ETag: {'x' * 60_000}", f"Content-Length: {len(CONTENT) + 1}"),
    "a tag of other letters": answered('ETag: "é\x85"', f"Content-Length: {len(CONTENT) + 1}"),
}


@pytest.mark.parametrize("raw", SURVIVED.values(), ids=SURVIVED)
def test_an_odd_answer_is_survived(raw, server, cache):
    """Headers that say nothing are not believed, and what is no answer is asked for again."""
    server.faults = [raw]
    assert_works_next(server, cache)
    assert server.asked in ([None], [None, None])


REFUSED = {  # answers that are no file, and what is said of them
    "no content": (answered(status="204 No Content", body=b""), "refuses (status 204)"),
    "a choice": (answered("Content-Length: 300000", status="300 Multiple Choices"), "refuses (status 300)"),
    "moved, not said where": (answered("Content-Length: 300000", status="302 Found"), "refuses (status 302)"),
    "not modified": (answered(status="304 Not Modified", body=b""), "refuses (status 304)"),
    "compressed": (answered("Content-Encoding: gzip"), "sends it compressed ('gzip'), though asked not to"),
    "elsewhere": (answered("Location: //\x9b2J", status="301 Moved"), "sends on to 'http://?2J', which is another server"),
}


@pytest.mark.parametrize("raw, why", REFUSED.values(), ids=REFUSED)
def test_what_is_no_file_is_refused(raw, why, server, cache):
    """Whatever comes with it is not kept, and the server is not asked again."""
    server.faults = [raw]
    said = f"{server.host} {why}. Look for it with a browser; {by_hand(server)}"
    assert refusal(fetch, server, by=ConnectionError) == said and server.asked == [None]
    assert_works_next(server, cache, left=[])


def test_bytes_that_are_said_to_be_as_they_are(server, cache):
    """Content-Encoding: identity is none."""
    server.faults = [answered("Content-Encoding: identity")]
    assert_works_next(server, cache)
    assert server.asked == [None]


SOME = len(CONTENT) - 1
TOO_LONG = {  # answers to a call that allows a byte less than there is
    "said": {},
    "not said": answered(),
    "in chunks": answered(CHUNKED, body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(CONTENT), CONTENT)),
    "in a chunk without end": answered(CHUNKED, body=b"fffffffff\r\n" + 2 * CONTENT),
}


@pytest.mark.parametrize("answer", TOO_LONG.values(), ids=TOO_LONG)
def test_a_file_is_so_long_and_no_longer(answer, server, cache):
    """As many bytes as the limit are kept; one more, said or not, and nothing is."""
    server.faults = [answer]
    said = f"{server.host} sends more than {SOME:,} bytes, and no such file has as many"
    assert refusal(fetch, server, limit=SOME, by=ConnectionError).startswith(f"{said}. Look for it ") and names(cache) == []
    assert len(server.asked) == 1
    assert fetch(server, limit=SOME + 1).read_bytes() == CONTENT


def test_a_part_counts_too(server, cache):
    """What was there before and what comes together are no more than the limit."""
    server.faults = [{"cut": 100_000}, 503, 503, 503]
    refusal(fetch, server, by=ConnectionError)
    assert "sends more than" in refusal(fetch, server, limit=SOME, by=ConnectionError) and names(cache) == []
    assert_works_next(server, cache)


def test_a_few_bytes_are_nothing_new(monkeypatch, tmp_path):
    """Three requests in a row that bring less than a chunk end a call: at a byte a second it would go on for years."""
    from requests import ConnectionError as Cut

    sizes, path = [], tmp_path / NAME
    part = tmp_path / PARTS[0]

    def receive(url, part, limit):
        size = sizes.pop(0)
        part.write_bytes(bytes(downloads._size(part) + size))
        raise Cut("cut")

    monkeypatch.setattr(downloads, "_receive", receive)
    whole, less = downloads.CHUNK, downloads.CHUNK - 1
    for brought in ([less] * 3, [whole, less, less, whole, 1, 1, 1]):
        part.unlink(missing_ok=True)
        sizes[:] = brought
        refusal(downloads._receive_all, "http://127.0.0.1/x", path, part, 10**9, by=ConnectionError)
        assert sizes == [] and part.stat().st_size == sum(brought)


SILENT = {"cut": 0, "stall": 0.6}
PASSING = {  # faults that a call survives, faults that it does not, the reason that it gives, and its patience
    "busy": ([503, 503], [503] * 3, "status 503", downloads.TIMEOUT),
    "silent": ([SILENT | {"cut": 100_000}], [SILENT] * 3, "[^;]*[Tt]imed out[^;]*", (1, 0.2)),
}


@pytest.mark.parametrize("once, always, reason, patience", PASSING.values(), ids=PASSING)
def test_a_busy_or_silent_server_is_asked_again(once, always, reason, patience, server, cache, monkeypatch):
    """503, or no byte for the time allowed, is tried again; after three in a row, a sentence says to come back later."""
    monkeypatch.setattr(downloads, "TIMEOUT", patience)
    server.faults = once
    assert_works_next(server, cache)
    (cache / NAME).unlink()
    server.faults = always
    said, tried = refusal(fetch, server, by=ConnectionError), f"cannot download from {server.host} in 3 tries "
    later = f"; nothing came. Try again later; {by_hand(server)}"
    assert re.fullmatch(rf"{re.escape(tried)}\({reason}\){re.escape(later)}", said)
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
    assert_works_next(server, cache, left=[])


NO_TAGS = {
    "blank": b" \n\t ", "zeros": bytes(70), "no UTF-8": b"\xff\xfe" * 40, "letters": "日本".encode(),
    "long": b'"' + b"a" * 300 + b'"', "two headers": b'"one"\r\nX-Evil: 1', "an end of line": b'"one"\n', "weak": b'W/"one"',
    "a blank before it": b' "one"', "control": b"\x01\x1b[31m", "endless": b"a" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("tag", NO_TAGS.values(), ids=NO_TAGS)
def test_a_tag_that_is_none_is_no_tag(tag, server, cache):
    """No header is made of it, and the part starts over."""
    cache.mkdir()
    (cache / PARTS[0]).write_bytes(CONTENT[:1000])
    (cache / PARTS[1]).write_bytes(tag)
    assert_works_next(server, cache)
    assert server.asked == [None] and not {"If-Range", "X-Evil"} & {*server.headers[0]}


def test_a_tag_is_short_and_plain():
    """Dates and tags as servers write them, up to 202 characters."""
    good = ['"one"', "x", "Wed, 21 Oct 2015 07:28:00 GMT", "~" * 202]
    assert [downloads._usable(tag) for tag in good] == good
    assert [downloads._usable(tag) for tag in ("", " ", "~" * 203, "a\x7f", "é")] == [""] * 5


BLANK = {"empty": b"", "blank": b" \r\n\t ", "zeros": bytes(80)}
NO_RECORDS = {
    "no UTF-8": b"\xff\xfe" * 40, "short": b"abc  x\n", "63 digits": b"a" * 63, "65 digits": b"a" * 65,
    "no digits": b"g" * 64, "long": b"a" * 100_000, "a name before it": b"x " + b"a" * 64, "control": b"\x1b[2J",
}  # fmt: skip


@pytest.mark.parametrize("record", BLANK.values(), ids=BLANK)
def test_a_blank_record_says_nothing(record, server, cache):
    """It is what a power cut leaves: the file is checked and recorded anew, without a request."""
    fetch(server)
    (cache / f"{NAME}.sha256").write_bytes(record)
    checked = []
    fetch(server, check=checked.append)
    assert checked == [cache / NAME]
    assert_works_next(server, cache)
    assert (cache / f"{NAME}.sha256").read_text().startswith(hashlib.sha256(CONTENT).hexdigest()) and server.asked == [None]


@pytest.mark.parametrize("record", NO_RECORDS.values(), ids=NO_RECORDS)
def test_a_record_that_is_none_is_refused(record, server, cache):
    """The sentence names it and shows how it begins; nothing is touched, and without it all is well."""
    fetch(server)
    (cache / f"{NAME}.sha256").write_bytes(record)
    got, how = repr(record.decode("latin-1").strip()[:20]), f"remove it, and {NAME} is checked and recorded anew"
    said = f"{cache / NAME}.sha256 must begin with a checksum of 64 digits, got {got}: {how}"
    assert refusal(fetch, server) == said
    assert names(cache) == [NAME, f"{NAME}.sha256"] and (cache / f"{NAME}.sha256").read_bytes() == record
    (cache / f"{NAME}.sha256").unlink()
    assert_works_next(server, cache)


@pytest.mark.parametrize("form", ["{}", "{}\n", "\n{}\t*data.bin\r\n"])
def test_records_of_other_programs_are_understood(form, server, cache):
    """Capitals, no name, another end of line."""
    fetch(server)
    (cache / f"{NAME}.sha256").write_text(form.format(hashlib.sha256(CONTENT).hexdigest().upper()))
    assert_works_next(server, cache)
    assert server.asked == [None]


def plant(kind, place, target):
    """Put something else in the place of a file."""
    make = {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to(target)}
    make.get(kind, lambda: place.symlink_to(target.with_name("none")))()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "link to nothing"])
@pytest.mark.parametrize("ending", ["", *(f".{ending}" for ending in downloads.OURS)])
def test_what_is_planted_in_the_cache_is_not_used(ending, kind, server, cache, tmp_path):
    """What a link leads to is not written, nothing waits for a pipe, and no file takes the place of a folder."""
    cache.mkdir()
    (tmp_path / "mine").write_text("mine")
    plant(kind, place := cache / f"{NAME}{ending}", tmp_path / "mine")
    if not ending and kind == "link":  # to a file that is kept elsewhere
        assert fetch(server).read_text() == "mine"
        return
    said = f"{place} must be a file, got a link, a folder or the like: remove it, or name another folder with BOOK_CACHE"
    assert refusal(fetch, server) == said and server.asked == []
    assert (tmp_path / "mine").read_text() == "mine" and not (tmp_path / "none").exists()
    place.rmdir() if kind == "folder" else place.unlink()
    assert_works_next(server, cache)


DAMAGE = {"a byte": CONTENT[:9] + b"xyz" + CONTENT[12:], "shorter": CONTENT[:-1], "longer": CONTENT + b"x", "empty": b""}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_found_out(damage, server, cache):
    """A file that is not as it came is refused and put aside, and the next call fetches it anew."""
    fetch(server)
    (cache / NAME).write_bytes(DAMAGE[damage])
    was, now = (hashlib.sha256(content).hexdigest() for content in (CONTENT, DAMAGE[damage]))
    assert refusal(fetch, server, by=ValueError) == (
        f"{cache / NAME} must have the checksum {was}, as when it was downloaded, got {now}: "
        f"it is now {NAME}.damaged, and the next call downloads it anew"
    )
    assert_works_next(server, cache, left=[f"{NAME}.damaged"])


@pytest.mark.parametrize("by_hand", [False, True], ids=["downloaded", "saved by hand"])
def test_a_file_that_fails_its_check_is_not_kept(by_hand, server, cache):
    """What came leaves no trace, and its address is said; what somebody without network brought stays to be replaced."""
    url, refused = f"{server.address}/{NAME}", []
    if by_hand:
        cache.mkdir()
        (cache / NAME).write_bytes(CONTENT)

    def check(path):
        refused.append((path, path.read_bytes()))
        raise ValueError("it must be better")

    how = f"It came from {url} and was not kept; call again to download it anew"
    how = f"Replace {cache / NAME}, or remove it to download it" if by_hand else how
    assert refusal(downloads.fetch, url, check, by=ValueError) == f"it must be better. {how}"
    assert refused == [(cache / (NAME if by_hand else PARTS[0]), CONTENT)]
    assert_works_next(server, cache, left=[NAME] * by_hand)
    assert len(server.asked) == (0 if by_hand else 2)


class FullDisk(io.FileIO):
    """A file on a disk with room for 100,000 bytes."""

    def write(self, data):
        return super().write(data) if self.tell() + len(data) <= 100_000 else fail(errno.ENOSPC)


def fail(number):
    raise OSError(number, os.strerror(number))


NO_ROOM = {  # what of `downloads` is how, where there is no room
    "the disk runs full": ("open", FullDisk),
    "less room than the server says is needed": ("shutil.disk_usage", lambda path: SimpleNamespace(free=1000)),
    "a quota": ("os.replace", lambda *paths: fail(errno.EDQUOT)),
}


@pytest.mark.parametrize("name, how", NO_ROOM.values(), ids=NO_ROOM)
def test_a_full_disk(name, how, server, cache, monkeypatch):
    """What came is removed, because it is of no use there, and the sentence names the folder."""
    with monkeypatch.context() as patch:
        patch.setattr(f"{downloads.__name__}.{name}", how, raising=False)
        said = refusal(fetch, server, by=OSError)
    what = f"no room for {server.address}/{NAME} in {cache}"
    assert said == f"{what}: make some, or name another folder with BOOK_CACHE. Nothing was kept"
    assert len(server.asked) == 1
    assert_works_next(server, cache, left=[])


def test_other_faults_stay_what_they_are(server, cache, monkeypatch):
    """What else the system says is not dressed up, and the part stays."""
    with monkeypatch.context() as patch:
        patch.setattr(downloads.os, "replace", lambda *paths: fail(errno.EIO))
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            fetch(server)
    assert_works_next(server, cache, left=PARTS)


def test_a_folder_that_cannot_be_written(server, cache, monkeypatch, tmp_path):
    """A cache that is a file, say: the sentence names it and the way out."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BOOK_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot write to .*file .*: name another folder with BOOK_CACHE"):
        fetch(server)


def test_a_folder_of_nobody(server, monkeypatch):
    """The home of somebody who does not exist."""
    monkeypatch.setenv("BOOK_CACHE", "~no such user/x")
    said = "BOOK_CACHE must be a folder, got '~no such user/x', a home that cannot be found"
    assert refusal(fetch, server) == said


def test_without_pooch(monkeypatch, server):
    """The package works without pooch until something has to be downloaded; then it says what is missing."""
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert refusal(fetch, server, by=ImportError) == (
        "the Bureau's own files are downloaded with the package pooch, which is missing; install it with: pip install pooch"
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
    for said, folder in {"  ": own, " ~/my files ": Path.home() / "my files"}.items():
        monkeypatch.setenv("BOOK_CACHE", said)
        assert downloads.folder() == folder


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
from helpers.census.bureau import downloads
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
    server.pause, kept = 0.0, part.stat().st_size
    assert_works_next(server, cache, left=PARTS)
    assert server.asked == [None, f"bytes={kept}-"]


def test_killed_before_the_record_was_written(server, cache):
    """A file without a record is checked and recorded on the next use, without a request."""
    fetch(server)
    (cache / f"{NAME}.sha256").unlink()
    assert_works_next(server, cache)
    assert server.asked == [None]


# From the call to the tree


@pytest.fixture
def bureau(server, monkeypatch, tmp_path):
    """The Bureau's files of a made-up Vermont, at their own paths."""
    monkeypatch.setenv("BOOK_CENSUS_URL", server.address)
    server.files = {path_of(server, *kind): made_up(tmp_path, kind).read_bytes() for kind in official.KINDS}
    return server


def path_of(server, source, year):
    return official.url("VT", source, year).removeprefix(server.address)


@pytest.mark.parametrize("source", official.SOURCES)
def test_one_call_brings_a_state(source, bureau):
    """`load_state` and `prior` fetch what they need, once, and it is the made-up state."""
    for _ in range(2):
        assert load_state("vermont", "populated", source=source).counts[-1].sum() == sum(BLOCKS.values())
        assert prior("VT", "populated", source=source).sizes[-1] == len(POPULATED)
    assert len(bureau.asked) == 2


NO_ZIP = r"file of Vermont \(vt2020\.pl\.zip\) must be a whole zip.* not kept; call again"
NOT_KEPT = r"of Vermont .* must .* was not kept"
SPOILT = {  # what comes in the place of the good file, and words of the refusal
    "half of it": (lambda good, file: good[: len(good) // 2], NO_ZIP),
    "a web page": (lambda good, file: b"<html>Maintenance</html>", NO_ZIP),
    "nothing": (lambda good, file: b"", NO_ZIP),
    "another state": (lambda good, file: zipped(file, text=redistricting(2020, {"510010001001000": 3})), NOT_KEPT),
    "a bomb": (lambda good, file: zipped(file, text="\n" * (1 << 23)), r"got 4,194,304 bytes of blank ones.* was not kept"),
    "no member": (lambda good, file: zipped(file, member="readme.txt"), NOT_KEPT),
}


def zipped(file, **options):
    return write_redistricting(file, 2020, **options).read_bytes()


@pytest.mark.parametrize("spoil, words", SPOILT.values(), ids=SPOILT)
def test_bad_files_of_the_server_are_not_kept(spoil, words, bureau, cache, tmp_path):
    """Faults of and in a zip are found before it gets its name, with the address; when the server is well, it works."""
    path = path_of(bureau, "official", 2020)
    good = bureau.files[path]
    bureau.files[path] = spoil(good, tmp_path / "x.zip")
    with pytest.raises(ValueError, match=words):
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
