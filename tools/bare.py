"""`make test-bare`: each chapter alone in an empty folder, in a new environment with only the helpers' wheel.

Not a part of `make test`, which checks the imports of all chapters instead: here the environment is downloaded, and all
chapters take some minutes.
"""

import shutil
import subprocess
import sys

import pytest
from anywhere import build_wheel
from manuscript import CHAPTERS
from pins import LOCK, download

RUN = """
import sys, nbformat
from nbclient import NotebookClient
import helpers
assert "site-packages" in helpers.__file__, helpers.__file__
NotebookClient(nbformat.read(sys.argv[1], as_version=4), resources={"metadata": {"path": "."}}).execute()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Python of an environment with the wheel, what it says it needs, and what executes notebooks.

    It may say less than the chapters import, so pip has to follow what it says; the files it takes have their hash checked.
    """
    folder = tmp_path_factory.mktemp("bare")
    wheel = build_wheel(folder)
    download(folder / "files", LOCK.read_text(encoding="utf-8"))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", folder / "files"]
    subprocess.run([*install, f"{wheel}[notebooks]", "nbclient", "ipykernel"], check=True)
    return python


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_runs_alone(python, path, tmp_path):
    """A chapter needs the wheel, with its data and what it depends on, and no other file."""
    shutil.copy(path, tmp_path)
    environment = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(python.parent.parent), "TQDM_DISABLE": "1"}
    command = [python, "-I", "-c", RUN, path.name]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [p.name for p in tmp_path.iterdir() if p.name != ".ipynb_checkpoints"] == [path.name]  # and it leaves no other
