"""Show the docstrings of `helpers` on the page of its functions.

They are written to be read in a terminal: `code` stands in single backticks, and an indented block is a glossary or a table
whose columns line up. Sphinx reads reStructuredText, where the first is a role without a name and the second a quotation.
"""

import re

CODE = re.compile(r"(?<![`:])`([^`]+)`(?!`)")
MARK = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")  # Σ|e|², mu*, e_: marks that reStructuredText would take for its own


def to_rst(lines):
    """The lines of a docstring as reStructuredText."""
    out, example, block = [], False, False
    for line in lines:
        example = line.startswith(">>>") or (example and line != "")
        indented = line.startswith("    ") and not example
        if indented and not block:
            out += [".. code-block:: text", ""]  # what follows is shown as it stands
        block = indented or (block and line == "")
        if example:
            out.append(line)
        elif indented:  # a page has room for one entry of a glossary a line
            out += [f"    {entry.strip()}" for entry in line.split(" · ")] if " · " in line else [line]
        else:  # code stays as it is; in the words between, marks are only marks
            pieces = CODE.split(line)
            out.append("".join(f"``{p}``" if i % 2 else MARK.sub(r"\\\1", p) for i, p in enumerate(pieces)))
    return out


def show(app, what, name, thing, options, lines):
    if name.startswith("helpers"):
        lines[:] = to_rst(lines)


def setup(app):
    app.connect("autodoc-process-docstring", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
