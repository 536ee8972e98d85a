"""What the requirements pin: packages by version, and each file by its hash, so that nobody can put another in its place.

pin: the lines of one package in a requirements file, a version and its hashes
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from manuscript import ROOT

LOCK = ROOT / "requirements.txt"
HASH = r"--hash=sha256:[0-9a-f]{64}"
PIN = re.compile(rf"^([\w.-]+)(?:\[[\w,-]+\])?==\S+(?: ; [^\\\n]+)?(?:(?: \\\n +| ){HASH})+$", re.MULTILINE)


def pins(text: str) -> dict[str, list[str]]:
    """The pins of a requirements file by the name of their package; it has two where versions of Python need different ones.

    >>> pins("comm==0.2.3 --hash=sha256:" + 64 * "0")  # doctest: +ELLIPSIS
    {'comm': ['comm==0.2.3 --hash=sha256:000...']}
    """
    found: dict[str, list[str]] = {}
    for pin in PIN.finditer(text):
        found.setdefault(pin[1], []).append(pin[0])
    return found


def pinned(*names: str) -> str:
    """A requirements file with some of the packages of requirements.txt, and nothing that they need."""
    all_pins = pins(LOCK.read_text(encoding="utf-8"))
    return "\n".join(pin for name in names for pin in all_pins[name])


def download(folder: Path, requirements: str, *options: str) -> None:
    """Download the files of a requirements file: without what they need in turn, and none without a hash."""
    with TemporaryDirectory() as work:
        wanted = Path(work, "requirements.txt")
        wanted.write_text(requirements, encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
        ]
        subprocess.run([*command, *options, "--dest", str(folder), "--requirement", str(wanted)], check=True)
