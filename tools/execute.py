"""`make notebooks`: execute every chapter, store its outputs, and measure what it costs.

    seconds: from the start of the kernel to the end of the last cell · megabytes: the kernel's peak of memory

The stored bytes depend on the chapter alone, not on the clock: executing again changes nothing, but for cells that show
times and are tagged so (nbval-ignore-output). Each notebook keeps a fingerprint of the code that its outputs come from, and
tests compare it: nbval looks at text only, and a figure could be old unnoticed. Writes book/status.json and its
plot, which the page book/status.md shows.
With `--into FOLDER` the notebooks and the record stay as they are, and executed copies go into the folder: `make full`.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path

import manuscript
import nbformat
from anywhere import is_setup
from manuscript import CHAPTERS, ROOT
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

JSON, PLOT = ROOT / "book" / "status.json", ROOT / "book" / "images" / "status.svg"
DRAWING = sorted((ROOT / "helpers" / "figures").glob("*.py"))
PID = attrgetter("km.provisioner.pid")  # of a client's kernel, which runs on this machine
LIBRARIES = ("numpy", "pandas", "matplotlib", "scipy", "sympy", "jupyter-book")


def execute(source: Path, target: Path) -> dict:
    """Execute a notebook in the folder of its source, store it as `target`, and return what was measured."""
    notebook = manuscript.read_notebook(source)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps that an editor left
    peaks = [0.0]
    client: NotebookClient = NotebookClient(
        notebook,
        coalesce_streams=True,  # what is printed in pieces is one text: a slow machine prints in more pieces
        record_timing=False,
        resources={"metadata": {"path": str(source.parent)}},
        on_cell_executed=lambda **_: peaks.append(peak_megabytes(PID(client))),
    )
    begun = time.perf_counter()
    client.execute()
    seconds = time.perf_counter() - begun
    notebook.metadata["executed"] = fingerprints(notebook)
    manuscript.store_notebook(notebook, target)
    chapter = {"chapter": source.stem, "title": manuscript.first_heading(notebook)}
    return chapter | {"seconds": round(seconds, 1), "megabytes": round(max(peaks))}


def fingerprints(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Of the chapter's code, without the setup cell, and, if it has figures, of the code that draws them."""
    code = [cell for cell in manuscript.code_cells(notebook) if not is_setup(cell)]
    drawn = any("image/" in kind for cell in code for output in cell.outputs for kind in output.get("data", {}))
    found = {"code": digest(cell.source for cell in code)}
    return found | {"drawing": digest(path.read_text(encoding="utf-8") for path in DRAWING)} if drawn else found


def digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def peak_megabytes(pid: int) -> float:
    """The most memory that a process has held so far; 0 where the system keeps no such record, as on macOS."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024 / 1e6  # the system says "kB" and means 1,024 bytes


def record(rows: list[dict]) -> None:
    """Write what was measured, and draw it."""
    found = {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "chapters": rows,
    }
    JSON.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draw(rows)


def draw(rows: list[dict]) -> None:
    """Seconds, and memory beside them, as bars, a chapter a line."""
    from matplotlib import pyplot as plt

    from helpers.figures.style import BLUE, SKY, STYLE

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(7.6, 0.8 + 0.3 * len(rows)), layout="constrained", sharey=True)
        for panel, key, colour in zip(axes, ("seconds", "megabytes"), (BLUE, SKY), strict=True):
            bars = panel.barh(range(len(rows)), [row[key] for row in rows], height=0.65, color=colour)
            panel.bar_label(bars, fmt="{:.0f}", padding=3)
            panel.set(xlabel=key, xmargin=0.12)
            panel.grid(axis="y", visible=False)
        axes[0].set_yticks(range(len(rows)), [f"chapter {manuscript.number(Path(row['chapter']))}" for row in rows])
        axes[0].invert_yaxis()
        figure.set_layout_engine("constrained", wspace=0.06)
        figure.savefig(PLOT, metadata={"Date": None})
        plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description="Execute the chapters, store their outputs, and measure what they cost.")
    parser.add_argument("notebooks", nargs="*", type=Path, default=CHAPTERS, help="which ones; all of them unless told")
    parts = list(manuscript.toc_parts())
    parser.add_argument("--part", choices=parts, metavar="CAPTION", help="those of this part of the book")
    parser.add_argument("--into", type=Path, help="write the executed copies into this folder")
    args = parser.parse_args()
    paths = manuscript.chapters_of(args.part) if args.part else args.notebooks
    os.environ["TQDM_DISABLE"] = "1"  # for the kernels: their progress bars would be stored as outputs
    if args.into:
        args.into.mkdir(parents=True, exist_ok=True)
    rows = []
    bar = tqdm(paths, unit="chapter", disable=None)  # a bar at a terminal, none in a log
    for path in bar:
        bar.set_description(path.stem)
        try:
            rows.append(execute(path, args.into / path.name if args.into else path))
        except CellExecutionError as error:
            print(f"{path}: a cell failed, so nothing was stored.\n{error}", file=sys.stderr)
            return 1
        tqdm.write("{chapter}: {seconds} s, {megabytes} MB".format(**rows[-1]))
    if not args.into and [row["chapter"] for row in rows] == [path.stem for path in CHAPTERS]:
        record(rows)  # only of a whole run: the rows of a table should come from one machine and one day
    return 0


if __name__ == "__main__":
    sys.exit(main())
