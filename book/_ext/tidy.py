"""Mend what other extensions write, so that browsers, phones and screen readers get good pages."""

import re
from pathlib import Path

from docutils import nodes
from manuscript import png_size
from PIL import Image

# pandas writes the names of a table's rows into a line of their own.
ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
CELL = re.compile(r"<th.*?</th>", re.DOTALL)
# A claim of the ledger, by the mark of its verdict.
CLASSES = {"✓": "holds", "~": "qualified", "✗": "fails"}

# "ε = 1" and "chapter 3" stay in one line.
NO_BREAK = "\u00a0"
TOGETHER = re.compile(r"(?<=[ετ₃]) ([=<>≤≥≈]) (?=[\d−])|(?<=\b[Cc]hapter) (?=\d)")
NOT_TEXT = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)

# What the theme writes around the text.
FRAME = {
    # 1.5 MB of script that draws icons, on every page; the theme's own style sheet and font draw the same ones
    re.compile(r'\s*<script defer src="[^"]*/fontawesome\.js[^"]*"></script>'): "",
    # a script in an attribute, which the pages' policy refuses: book.js does it
    re.compile(r' onclick="window\.print\(\)"'): "",
    # the sidebar is part of no landmark, so a screen reader cannot jump to the logo and the search in it
    re.compile(r'(<div id="pst-primary-sidebar")(?! role)'): r'\1 role="navigation" aria-label="Book"',
}
# The search's tools and index, for results while one types: that is switched off, so only the search page needs them.
SEARCH = {re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>'): ""}
UNUSED = ("_static/scripts/fontawesome.*", "_static/*webpack-macros.html")

# Shrunk to the width of a phone, letters would be too small to read: there a figure scrolls in its box. One that is wider
# than this has several panels, and needs more room.
WIDE = 900  # pixels


def box_figures(app, doctree, page):
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"]
        # a PNG has its width in its header; the drawings of the other pages have two panels
        wide = path.suffix != ".png" or png_size(path)[0] > WIDE
        box = nodes.container(classes=["figure-box", *["wide-figure"] * wide])
        image.replace_self(box)
        box += image


def keep_together(app, doctree, page):
    for text in list(doctree.findall(nodes.Text)):
        kept = TOGETHER.sub(lambda found: found[0].replace(" ", NO_BREAK), text)
        if kept != text and not isinstance(text.parent, NOT_TEXT):
            text.parent.replace(text, nodes.Text(kept))


def one_head(head):
    """The head of a table, with the names of its rows in the corner of its last line, where that is empty."""
    above, last = ["", "", *ROW.findall(head)][-2:]
    columns, names = CELL.findall(above), CELL.findall(last)
    corner = next((i for i, cell in enumerate(columns) if cell != "<th></th>"), 0)
    if not corner or names[:corner] == columns[:corner] or set(names[corner:]) - {"<th></th>"}:
        return head
    return head.replace(last, "").replace(above, f"<tr>{''.join(names[:corner] + columns[corner:])}</tr>")


# What the extensions write into the text, mended in this order.
BODY = {
    # comments in the text are for its makers: what binds a number, and notes for whoever marks an exercise
    re.compile(r"<!--(?:=| marking:).*?-->", re.DOTALL): "",
    # sphinx-proof and sphinx-exercise give the same id to every box of a kind; an id must be unique
    re.compile(r' id="(?:proof|exercise|solution)-content"'): "",
    # sphinx-proof puts the id of an unnumbered box on its title as well
    re.compile(r'(<p class="admonition-title") id="[^"]+"'): r"\1",
    # a formula is a box to the browser, which would let the comma behind it begin the next line
    re.compile(r'[(“‘]?<span class="math [^>]*>[^<]*</span>[,.;:!?)”’–-]*'): r'<span class="unbroken">\g<0></span>',
    re.compile(r"<li>(?=<p><strong>([✓~✗]) )"): lambda found: f'<li class="claim {CLASSES[found[1]]}">',
    re.compile(r"<thead>.*?</thead>", re.DOTALL): lambda found: one_head(found[0]),
    re.compile(r'class="proof admonition" id="proof"'): 'class="proof argument admonition"',
    # docutils puts entries with a withdrawn role into a list, which may hold list items only
    re.compile(r'role="doc-biblioentry"'): 'role="listitem"',
    # the empty corner of a table is the header of nothing
    re.compile(r'<th( class="head")?>(<p></p>)?</th>'): r"<td\1>\2</td>",
}


def mended(text, table):
    """The text with what each pattern of the table finds replaced."""
    for wrong, right in table.items():
        text = wrong.sub(right, text)
    return text


def mend(app, page, template, context, doctree):
    if body := context.get("body"):
        context["body"] = mended(body, BODY)


def mend_frames(app, error):
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(mended(text, FRAME if page.stem == "search" else FRAME | SEARCH), encoding="utf-8")
    for file in (file for pattern in UNUSED for file in Path(app.outdir).glob(pattern)):
        file.unlink()


def lighten_figures(app, error):
    """Store each figure with a palette of 256 colours: half the bytes, and no difference that an eye could see."""
    if error or app.builder.format != "html":
        return
    for file in Path(app.outdir, "_images").glob("*.png"):
        with Image.open(file) as figure:
            if figure.mode == "P":
                continue
            flat = figure.convert("RGB") if figure.getextrema()[-1] == (255, 255) else None  # of an opaque figure
        if flat:
            flat.quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def setup(app):
    app.add_js_file("book.js", loading_method="defer")
    app.connect("doctree-resolved", box_figures)
    app.connect("doctree-resolved", keep_together)
    app.connect("html-page-context", mend)
    app.connect("build-finished", mend_frames)
    app.connect("build-finished", lighten_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
