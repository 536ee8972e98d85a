"""Mend what other extensions write, so that browsers, phones and screen readers get good pages."""

import re
import struct
from pathlib import Path

from docutils import nodes

# sphinx-proof and sphinx-exercise give the same id to every box of a kind; an id must be unique.
REPEATED_ID = re.compile(r' id="(?:proof|exercise|solution)-content"')
# sphinx-proof puts the id of an unnumbered box on its title as well.
TITLE_ID = re.compile(r'(<p class="admonition-title") id="[^"]+"')
MENDED = {
    'class="proof admonition" id="proof"': 'class="proof argument admonition"',
    # docutils puts entries with a withdrawn role into a list, which may hold list items only
    'role="doc-biblioentry"': 'role="listitem"',
}

# Wider than this, a figure has several panels, and would be too small to read on a phone: there it scrolls in its box.
WIDE = 900  # pixels


def box_wide_figures(app, doctree, page):
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"]
        if path.suffix == ".png" and struct.unpack(">I", path.read_bytes()[16:20])[0] > WIDE:  # the width in a PNG's header
            box = nodes.container(classes=["wide-figure"])
            image.replace_self(box)
            box += image


def mend(app, page, template, context, doctree):
    body = TITLE_ID.sub(r"\1", REPEATED_ID.sub("", context.get("body", "")))
    for wrong, right in MENDED.items():
        body = body.replace(wrong, right)
    if body:
        context["body"] = body


def setup(app):
    app.connect("doctree-resolved", box_wide_figures)
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
