"""`make lite`: the chapters in JupyterLite, which runs Python in the reader's own browser, as a part of the website.

    site: folder of the built pages · lite: the folder in it with JupyterLite

Made after the website is built, like its PDF and zip: the button "Run in your browser" appears with it. Pyodide, which is
Python for browsers, is a part of the website, and so are the helpers, with the census counts. NumPy and its like come from
Pyodide's usual place on the web: the site's own lock has the hash of each, and the browser refuses a file that differs.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from hashlib import sha512
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from anywhere import NAME, build_wheel, put_setup
from manuscript import CHAPTERS, ROOT, read_notebook
from pins import download, pinned

PYODIDE = "314.0.3"  # of the series that the kernel is made for, and the one that `make test-lite` can put together offline
INTEGRITY = (
    "sha512-sK40My6m8tmBUYtYH9au9rXUeh9x0wfahtHdOlGmJxZDsKBGKtP6KznyFB2+u/klbQTdDionR0uaVd176zVQzQ=="  # of npm's file
)
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LICENCE = f"""Pyodide {PYODIDE}: Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/
Source: https://github.com/pyodide/pyodide/tree/{PYODIDE}
python_stdlib.zip is the standard library of Python: https://docs.python.org/3/license.html
"""
PACKAGES = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"  # where the files of the lock are
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
CONFIG: dict[str, Any] = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "Where to Spend ε",
        # What is neither on the site nor in the lock is not installed: PyPI would send whatever is newest there.
        "litePluginSettings": {KERNEL: {"loadPyodideOptions": {"packageBaseUrl": PACKAGES}, "disablePyPIFallback": True}},
    },
}
APPS = ("notebooks", "lab")  # one chapter without distraction, and all of them
WHEELS = ("comm",)  # what the kernel needs and Pyodide does not have: from the site, so that no reader needs PyPI
SETUP = f'%pip install --quiet "{NAME}[notebooks]"'  # the wheel that the site brings
KERNELSPEC = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
PLACE = "<!-- run-in-browser -->"  # where pages want a link: see book/_templates/run.html and book/index.md
BUTTON = (
    '<a class="btn btn-sm run-in-browser" href="{address}" title="Open this chapter as a notebook that runs right here">'
    '<i class="fas fa-play" aria-hidden="true"></i> <span>Run in your browser</span></a>'
)
SENTENCE = (
    "<p>Or install nothing: the button <em>Run in your browser</em>, above each chapter, opens it as a notebook that works "
    'right there. <a href="{address}">All chapters in JupyterLab</a> open in the same way.</p>'
)


def for_the_browser(path: Path) -> str:
    """A chapter as JupyterLite opens it: the same cells and outputs, but for the setup cell and the kernel's name."""
    notebook = read_notebook(path)
    put_setup(notebook, SETUP)
    notebook.metadata["kernelspec"] = KERNELSPEC
    return nbformat.writes(notebook)


def collect(source: Path) -> None:
    """Put all that `jupyter lite build` reads into a new folder: chapters, wheels, Pyodide, settings."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "files").mkdir(parents=True)
    for path in CHAPTERS:
        (source / "files" / path.name).write_text(for_the_browser(path), encoding="utf-8")
    build_wheel(source / "pypi")
    download(source / "pypi", pinned(*WHEELS))
    fetch_pyodide(source / "static" / "pyodide")  # where `jupyter lite build` looks for one
    (source / "jupyter-lite.json").write_text(json.dumps(CONFIG, indent=1, ensure_ascii=False), encoding="utf-8")


def fetch_pyodide(folder: Path) -> None:
    """Get the interpreter and its lock from npm."""
    if shutil.which("npm") is None:
        sys.exit("npm, which brings Pyodide, was not found: install `npm` and try again.")
    with TemporaryDirectory() as work:
        subprocess.run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=work, check=True, capture_output=True)
        unpack(Path(work, f"pyodide-{PYODIDE}.tgz").read_bytes(), folder)


def unpack(pack: bytes, folder: Path, integrity: str = INTEGRITY) -> None:
    """Unpack what a browser needs of Pyodide, if it is the file whose hash stands above."""
    found = f"sha512-{b64encode(sha512(pack).digest()).decode()}"
    if found != integrity:
        sys.exit(
            f"pyodide@{PYODIDE} of npm must have the hash {integrity}, got {found}: it is another file than the one tested."
        )
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(pack)) as files:
        for name in RUNTIME:
            member = files.extractfile(f"package/{name}")
            assert member, f"{name} must be a file of pyodide@{PYODIDE}"
            (folder / name).write_bytes(member.read())
    (folder / "LICENSE.txt").write_text(LICENCE, encoding="utf-8")


def build(source: Path, lite: Path, tool: Path) -> None:
    """Run `jupyter lite build` on what was collected."""
    shutil.rmtree(lite, ignore_errors=True)
    command = [str(tool.resolve()), "build", "--lite-dir", ".", "--output-dir", str(lite.resolve())]
    command += ["--no-sourcemaps", "--no-unused-shared-packages"]
    command += [argument for app in APPS for argument in ("--apps", app)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"JupyterLite was not built.\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def link(site: Path) -> None:
    """Put the button on every chapter's page whose notebook JupyterLite has, and a sentence on the front page."""
    for notebook in sorted((site / "lite" / "files").glob("*.ipynb")):
        fill(site / "notebooks" / f"{notebook.stem}.html", BUTTON, f"../lite/notebooks/index.html?path={notebook.name}")
    fill(site / "book" / "index.html", SENTENCE, "../lite/lab/index.html")


def fill(page: Path, text: str, address: str) -> None:
    """Put a text with a link to the address in its place on a page, if there is such a page."""
    if page.exists():
        html = page.read_text(encoding="utf-8")
        page.write_text(html.replace(PLACE, text.format(address=address)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Put the chapters into the website as notebooks that run in a browser.")
    parser.add_argument("--build", type=Path, default=ROOT / "_build", help="the folder with html/, which `make book` wrote")
    parser.add_argument("--tool", type=Path, default=Path(sys.executable).with_name("jupyter-lite"))
    args = parser.parse_args()
    site = args.build / "html"
    collect(args.build / "lite")
    build(args.build / "lite", site / "lite", args.tool)
    link(site)
    size = sum(file.stat().st_size for file in (site / "lite").rglob("*") if file.is_file())
    print(f"The chapters run in a browser ({size / 1e6:.0f} MB): put _build/html on a web server.")


if __name__ == "__main__":
    main()
