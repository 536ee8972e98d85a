"""The rooms of `helpers`, read from the code itself: what each imports, in which order they stand, and a picture of both.

    module: a file of the package by its path, as in cli/options · room: a file or folder of `ls helpers`

Nothing here imports the package: the files are parsed. So the picture of the architecture page cannot go stale, and the
test that holds the layers looks at the same imports.
"""

import ast
from collections.abc import Iterator

from manuscript import ROOT

HELPERS = ROOT / "helpers"
# A room may import from those before it. The core comes first: it is the paper, and knows nothing of what stands around it.
CORE = (
    "checks", "layout", "hierarchy", "shape", "mechanisms", "allocation", "fitted", "consistency", "releasing", "simulation",
)  # fmt: skip
AROUND = ("tables", "census", "example", "publishing", "experiments", "figures", "cli", "exercises")
ROOMS = (*CORE, *AROUND)
_STEP, _LEFT, _TOP = 30, 118, 104  # pixels: of a row, and before the first column and row


def modules() -> list[str]:
    """Every file of the package but those that only collect names, by its path."""
    paths = [path.relative_to(HELPERS) for path in HELPERS.rglob("*.py")]
    return sorted(path.with_suffix("").as_posix() for path in paths if path.name not in ("__init__.py", "__main__.py"))


def room_of(module: str) -> str:
    """The room that a module stands in: the first part of its path."""
    return module.partition("/")[0]


def parsed(module: str) -> ast.Module:
    """The code of a module, or of a folder's own file."""
    folder, file = HELPERS / module / "__init__.py", HELPERS / f"{module}.py"
    return ast.parse((folder if folder.exists() else file).read_text(encoding="utf-8"))


def imported(module: str) -> Iterator[str]:
    """Dotted names that a module imports, at the top or inside a function: "helpers.cli.options.DATA", "numpy"."""
    here = ("helpers", *module.split("/")[:-1])
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.ImportFrom):
            above = ".".join(here[: len(here) + 1 - node.level]) if node.level else ""
            source = ".".join(part for part in (above, node.module) if part)
            yield from [f"{source}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from [alias.name for alias in node.names]


def imports_of_rooms() -> dict[str, dict[str, int]]:
    """For each room, from which others its modules import, and how many of its modules do."""
    found: dict[str, dict[str, int]] = {room: {} for room in ROOMS}
    for module in modules():
        own = room_of(module)
        others = {name.split(".")[1] for name in imported(module) if name.startswith("helpers.")} & {*ROOMS} - {own}
        for other in sorted(others):
            found[own][other] = found[own].get(other, 0) + 1
    return found


def purpose(room: str) -> str:
    """What a room is for: the first sentence of its docstring."""
    text = " ".join((ast.get_docstring(parsed(room)) or "").split())
    return text.partition(". ")[0].partition(": ")[0].rstrip(".")


def size(room: str) -> int:
    """Lines of code, docstrings and comments in a room."""
    paths = [HELPERS / f"{room}.py", *(HELPERS / room).rglob("*.py")]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths if path.exists())


def table() -> str:
    """A line of Markdown for each room: what it is for, and the files in it."""
    rows = []
    for room in ROOMS:
        files = [module.removeprefix(f"{room}/") for module in modules() if module.startswith(f"{room}/")]
        inside = " one file a chapter" if room == "exercises" else f" {', '.join(files)}"
        name = f"`{room}/`" if files else f"`{room}.py`"
        rows.append(f"| {name} | {purpose(room)}.{f' *In it:*{inside}.' if files else ''} | {size(room):,} |")
    return "\n".join(["| room | what it is for | lines |", "|---|---|--:|", *rows])


def picture() -> str:
    """The imports as an SVG: a row and a column for each room, and a dot where the row imports from the column.

    All dots are below the diagonal just when every room imports from rooms before it alone.
    """
    found, last = imports_of_rooms(), len(ROOMS) - 1
    width, height = _LEFT + _STEP * last + 16, _TOP + _STEP * (last + 1) + 8
    core = _STEP * len(CORE)
    parts = [f'<rect class="core" x="0" y="{_TOP}" width="{_LEFT + core}" height="{core}"/>']
    for i, room in enumerate(ROOMS):
        y = _TOP + _STEP * i + _STEP // 2
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{room}</text>')
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + _STEP * i}" y1="{y}" y2="{y}"/>')
        if i < last:
            x = _LEFT + _STEP * i + _STEP // 2
            parts.append(f'<text transform="translate({x + 4} {_TOP - 8}) rotate(-60)">{room}</text>')
            parts.append(f'<line x1="{x}" x2="{x}" y1="{y}" y2="{height - 8}"/>')
    for i, room in enumerate(ROOMS):
        for other, files in found[room].items():
            x, y = (_LEFT + _STEP * ROOMS.index(other) + _STEP // 2, _TOP + _STEP * i + _STEP // 2)
            title = f"{room} imports from {other}, in {files} {'file' if files == 1 else 'files'}"
            parts.append(f'<circle cx="{x}" cy="{y}" r="{4 + min(files, 8) * 0.75:g}"><title>{title}</title></circle>')
    label = "Which room imports from which. Every dot is below the diagonal: imports go one way."
    head = f'<svg class="rooms" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{label}">'
    return "\n".join([head, *parts, "</svg>"])
