"""The Census Bureau's own files, any state, straight out of the zip: the same two columns as the counts that ship.

    source: "official", the redistricting file (PL 94-171), or "ppmf", the Privacy-Protected Microdata File · kind: a file

Where a file is, is written here; what is in its lines, in `lines`; how it gets here and stays intact, in `downloads`.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import pandas as pd

from ... import checks
from .. import states
from . import downloads, lines

BUREAU = "https://www2.census.gov"
SOURCES = ("official", "ppmf")
# Bytes that a file may have, and what is unpacked of it. The lines of a state are most in Texas in 2010: 914,231 of blocks,
# with those of other places less than 1 GB.
STATE_LIMIT, NATION_LIMIT = 1 << 31, downloads.LIMIT
# What `zipfile` raises on a broken zip: ValueError for a name that is no text, OSError and OverflowError for places before
# its beginning and beyond all places, RuntimeError if it is encrypted.
DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError, OSError, OverflowError)
_DECENNIAL = "programs-surveys/decennial/2020"
_SUITE = f"{_DECENNIAL}/program-management/data-product-planning/2010-demonstration-data-products"
_SUITE += "/04-Demonstration_Data_Products_Suite/2023-04-03/2023-04-03_Privacy-Protected_Microdata_File"


@dataclass(frozen=True)
class Kind:
    """One of the Bureau's files. `url` and `member` (None: no zip) take a state's {folder}, {postal} and {fips}."""

    title: str
    url: str
    member: str | None
    counts: Callable[[Iterable[bytes], str], lines.Counts]
    of_nation: bool = False

    @property
    def limit(self) -> int:
        """How many bytes it may have, packed or not."""
        return NATION_LIMIT if self.of_nation else STATE_LIMIT


KINDS = {
    ("official", 2020): Kind(
        "2020 redistricting file",
        f"{_DECENNIAL}/data/01-Redistricting_File--PL_94-171/{{folder}}/{{postal}}2020.pl.zip",
        "{postal}geo2020.pl",
        lines.redistricting_2020,
    ),
    ("official", 2010): Kind(
        "2010 redistricting file",
        "census_2010/01-Redistricting_File--PL_94-171/{folder}/{postal}2010.pl.zip",
        "{postal}geo2010.pl",
        lines.redistricting_2010,
    ),
    ("ppmf", 2020): Kind(
        "2020 microdata file",
        f"{_DECENNIAL}/data/privacy-protected-microdata-file/2020_ppmf_bystate.zip",
        "2020_ppmf_bystate/2020_ppmf_person_{fips}.csv",
        lines.microdata_of_state,
        of_nation=True,
    ),
    ("ppmf", 2010): Kind(
        "2010 demonstration microdata file",
        f"{_SUITE}/2023-04-03-ppmf_p.csv",
        None,
        lines.microdata_of_nation,
        of_nation=True,
    ),
}


def blocks(state: str, source: str, year: int) -> pd.DataFrame:
    """The blocks of a state in 2010 or 2020, downloaded if need be: columns `geoid` (text) and `population`.

    Empty blocks are in the redistricting files ("official"), but not in the microdata ("ppmf"). Both files of microdata
    hold the whole country, so their download takes long, whatever the state.
    """
    kind, name = _kind(source, year), states.state_name(state)
    path = downloads.fetch(url(state, source, year), lambda file: _check(kind, file, name), kind.limit)
    try:
        return _read(kind, path, name)
    except ValueError as error:
        raise ValueError(f"{error}. Remove {path} to download it anew") from None


def read(path: str | Path, state: str, source: str, year: int) -> pd.DataFrame:
    """The blocks of a state in a file of the Bureau that is on this computer already, in the order of their codes."""
    return _read(_kind(source, year), checks.path("path", path), states.state_name(state))


def url(state: str, source: str, year: int) -> str:
    """Where the file of a state is. The environment variable BOOK_CENSUS_URL replaces the Bureau's server.

    >>> url("VT", "official", 2010)
    'https://www2.census.gov/census_2010/01-Redistricting_File--PL_94-171/Vermont/vt2010.pl.zip'
    """
    return f"{_server()}/{_kind(source, year).url.format(**_names(states.state_name(state)))}"


def _server() -> str:
    base = os.environ.get("BOOK_CENSUS_URL", "").strip().rstrip("/") or BUREAU
    with suppress(ValueError):  # brackets without an end, a port that is no number
        parts = urlsplit(base)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return base
    raise ValueError(f"BOOK_CENSUS_URL must be an address such as {BUREAU}, got {base!r}")


def _kind(source: str, year: int) -> Kind:
    checks.one_of("source", source, SOURCES)
    if year not in (2010, 2020):
        raise ValueError(f"year must be 2010 or 2020, got {year!r}")
    return KINDS[source, year]


def _names(state: str) -> dict[str, str]:
    postal, fips = states.STATES[state]
    return {"folder": states.title(state).replace(" ", "_"), "postal": postal.lower(), "fips": fips}


def _read(kind: Kind, path: Path, state: str) -> pd.DataFrame:
    with _opened(kind, path, state) as (stream, size):
        codes, people = kind.counts(lines.pieces(stream, size), states.STATES[state][1])
        if not len(codes):
            raise lines.BadFile("must list blocks of it, got none: it is another file, or in another encoding")
    return pd.DataFrame({"geoid": [f"{code:015}" for code in codes.tolist()], "population": people})


def _check(kind: Kind, path: Path, state: str) -> None:
    """Refuse a file that cannot be used. One of a state is read; of one for the nation only the header is."""
    if not kind.of_nation:
        _read(kind, path, state)
        return
    with _opened(kind, path, state) as (stream, _):
        lines.header(iter([stream.read(lines.PIECE)]))


@contextmanager
def _opened(kind: Kind, path: Path, state: str) -> Iterator[tuple[IO[bytes], int]]:
    """The text of a file and its length in bytes. Whatever is found wrong with it becomes a sentence."""
    what = f"the {kind.title} of {states.title(state)} ({path.name.removesuffix('.part')})"
    member = kind.member and kind.member.format(**_names(state))
    try:
        if member is None:
            with open(path, "rb") as stream:
                yield stream, path.stat().st_size
            return
        with _InPieces(path) as file, zipfile.ZipFile(file) as archive:
            info = _member(archive, member, kind.limit)
            with archive.open(info) as stream:
                yield stream, info.file_size
    except lines.BadFile as error:
        raise ValueError(f"{what} {error}") from None
    except DAMAGE as error:
        if isinstance(error, OSError) and (member is None or error.filename):  # the file itself cannot be opened or read
            raise
        why = downloads.one_line(str(error)) or "it ends too early"
        raise ValueError(f"{what} must be a whole zip, got a damaged one: {why}") from None


class _InPieces(io.FileIO):
    """A file that is never read as a whole: the list of members of a zip could be as long as the file."""

    def read(self, size: int | None = -1, /) -> bytes:
        if (size or 0) > lines.PIECE:
            raise zipfile.BadZipFile(f"its list of members has {size:,} bytes")
        return super().read(size) or b""


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> zipfile.ZipInfo:
    """A member of a zip, if it can be unpacked piece by piece and does not grow without end."""
    if name not in archive.namelist():
        names = downloads.one_line(", ".join(archive.namelist()[:5])) or "an empty one"
        raise lines.BadFile(f"must be a zip with the member {name}, got {names}")
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others are unpacked into memory as a whole
        raise lines.BadFile(f"must be packed with deflate, got method {info.compress_type}")
    if info.file_size > limit:  # no more than it says is ever unpacked
        raise lines.BadFile(f"must have at most {limit:,} bytes of text, got {info.file_size:,}")
    return info
