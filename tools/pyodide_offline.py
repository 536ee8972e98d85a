"""Pyodide put together from package registries, for tests on machines that reach nothing else. Never a part of the website.

    lock: Pyodide's own list of its packages, with the hash of each file

The runtime and the lock come from npm. The compiled packages come out of a wheel on PyPI that carries them; their hashes are
held against the lock. Pure Python packages that it does not carry come from PyPI in the lock's version: Pyodide repacks
those, so their hashes differ from PyPI's, and the test's own copy of the lock gets the hash of the file it has.
"""

import hashlib
import json
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from lite import PYODIDE, download

CARRIER = "open-webui==0.12.4"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
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


def runtime(folder: Path, work: Path) -> None:
    """Unpack the interpreter and the lock."""
    subprocess.run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=work, check=True, capture_output=True)
    with tarfile.open(work / f"pyodide-{PYODIDE}.tgz") as pack:
        for name in RUNTIME:
            member = pack.extractfile(f"package/{name}")
            assert member, f"{name} must be a file of pyodide@{PYODIDE}"
            (folder / name).write_bytes(member.read())


def compiled(folder: Path, work: Path, entries: list[dict]) -> None:
    """Unpack what the carrier has of the packages, if it is what the lock says."""
    download(work, CARRIER)
    with ZipFile(next(work.glob("open_webui*.whl"))) as carrier:
        carried = {Path(name).name: name for name in carrier.namelist() if "/pyodide/" in name}
        for entry in entries:
            if entry["file_name"] in carried:
                data = carrier.read(carried[entry["file_name"]])
                assert sha256(data) == entry["sha256"], f"{entry['file_name']} is not the file of the lock"
                (folder / entry["file_name"]).write_bytes(data)


def pure(folder: Path, entries: list[dict]) -> None:
    """Download the packages that are still missing, and note their hashes in their entries."""
    for entry in entries:
        file = folder / entry["file_name"]
        if not file.exists():
            download(folder, "--python-version=3.14", "--only-binary=:all:", f"{entry['name']}=={entry['version']}")
            assert file.exists(), f"{entry['name']} has no {file.name}"
            entry["sha256"] = sha256(file.read_bytes())


def assemble(folder: Path) -> Path:
    """The folder, with a Pyodide in it that has all the chapters need; it is put together once."""
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as work:
            runtime(folder, Path(work))
            lock = json.loads((folder / "pyodide-lock.json").read_text())
            entries = needed(lock["packages"])
            compiled(folder, Path(work), entries)
            pure(folder, entries)
        (folder / "pyodide-lock.json").write_text(json.dumps(lock))
        (folder / "complete").touch()
    return folder
