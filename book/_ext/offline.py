"""Put MathJax into the built site, so that a page asks nobody else for anything.

Sphinx loads MathJax from a CDN. A reader on a train, in a classroom or behind a firewall
would see raw TeX, and every reader would tell the CDN which page they read.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from shutil import copyfile

from sphinx.errors import ExtensionError

PACKAGE = "sphinx-mathjax-offline"
FOLDER = "static/mathjax/"
# The package carries every input and output format, 15 MB. TeX drawn as HTML needs these:
# one script, its fonts, and the TeX extensions that the script loads when a formula asks for one.
NEEDED = ("tex-chtml.js", "output/chtml/fonts/woff-v2/", "input/tex/extensions/")


def carried(package: str, folder: str) -> dict[str, Path]:
    """Where the files are that a Python package carries in a folder, by their path inside it; none if it is missing."""
    # A package's folder may have hyphens in its name, so it cannot be imported: ask pip's record.
    try:
        record = files(package) or []
    except PackageNotFoundError:
        record = []
    return {file.as_posix().partition(folder)[2]: Path(file.locate()) for file in record}


def mathjax_files():
    """Map each file that the pages need, by its path inside MathJax, to where it is installed."""
    found = {name: path for name, path in carried(PACKAGE, FOLDER).items() if name.startswith(NEEDED)}
    if NEEDED[0] not in found:
        raise ExtensionError(f"MathJax is missing: run `pip install {PACKAGE}` and build again.")
    return found


def copy_mathjax(app, error):
    if error or app.builder.format != "html":
        return
    licence = {"LICENSE.txt": Path(app.srcdir, "book", "licenses", "mathjax.txt")}  # Apache-2.0 asks that a copy goes along
    for name, source in (mathjax_files() | licence).items():
        target = Path(app.outdir, "_static", "mathjax", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(source, target)


def setup(app):
    mathjax_files()  # fail before the build, not after it
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
