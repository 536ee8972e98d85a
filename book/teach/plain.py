"""Turn the book's Markdown (MyST) into Markdown that any notebook program shows well, and that into HTML.

Boxes become quotations with a bold title, statements keep the book's numbers, references become their text, equations carry
their number as a tag, and the invisible comments that bind numbers to computations are left out.
"""

import html
import re

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from .labels import Book, Place
from .myst import Directive, blocks

COMMENT = re.compile(r"(?P<code>`[^`\n]*`)|<!--.*?-->", re.DOTALL)  # a comment in code is shown
MARKING = re.compile(r"<!--\s*marking:\s*(.*?)\s*-->", re.DOTALL)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
NUMBERED = re.compile(r"\$\$(?P<formula>[^$]+?)\$\$ *\((?P<label>[\w-]+)\)")
DISPLAYED = re.compile(r"\$\$[^$]+?\$\$")
ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<inside>[^`]+)`")
INSIDE = re.compile(r"(?s)(?P<text>.*?)\s*<(?P<target>[^<>]+)>")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>(?!https?:)[^)]+)\)")
# How every page of the pack begins.
HEAD = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Where to Spend ε</title>
<link rel="icon" href="data:,">
"""
PLAIN_FENCES = ("solution", "exercise", "div", "grid", "grid-item-card")


def plain(text: str, book: Book, links: bool = True) -> str:
    """A text of the book as ordinary Markdown; with `links`, references to other chapters lead to their notebooks."""
    parts = [block if isinstance(block, str) else boxed(block, book, links) for block in blocks(uncommented(text))]
    text = TARGET.sub("", "\n\n".join(parts))
    text = NUMBERED.sub(lambda found: tagged(found["formula"], book.places[found["label"]]), text)
    text = LINK.sub(lambda found: found["text"], text)  # pages of the website are not at hand
    return ROLE.sub(lambda found: reference(found["role"], found["inside"], book, links), text).strip()


def uncommented(text: str) -> str:
    """A text without its invisible comments."""
    return COMMENT.sub(lambda found: found["code"] or "", text)


def tagged(formula: str, place: Place) -> str:
    return f"$${formula.rstrip()} \\tag{{{place.text.strip('()')}}}\n$$"


def boxed(block: Directive, book: Book, links: bool) -> str:
    """A directive as a quotation with a bold title; one that only marks a place as its text."""
    if block.name in PLAIN_FENCES:
        return block.body
    if block.name == "figure":
        return f"![{block.options.get('alt', '')}]({block.argument})\n\n*{block.body}*"
    if block.name == "math":
        return f"$$\n{block.body}\n$$" + (f" ({block.label})" if block.label else "")
    title = statement(block, book) if block.name.startswith("prf:") else block.argument or block.name.capitalize()
    inside = plain(block.body, book, links)  # whole formulas on one line: a program would take a line's > for part of them
    inside = DISPLAYED.sub(lambda found: " ".join(found[0].split()), inside)
    return "\n".join(f"> {line}".rstrip() for line in f"**{title}**\n\n{inside}".splitlines())


def statement(block: Directive, book: Book) -> str:
    """The name of a statement, as in Theorem 1 (The optimum is bottom-heavy)."""
    kind = block.name.removeprefix("prf:").capitalize()
    name = book.places[block.label].text if block.label in book.places else kind
    return f"{name} ({block.argument})" if block.argument else name


def reference(role: str, inside: str, book: Book, links: bool) -> str:
    """A role as text: a title, a number, a citation."""
    named = INSIDE.fullmatch(inside)
    target, text = (named["target"], named["text"]) if named else (inside, "")
    if role.startswith("cite"):
        cited = [book.authors(key.strip()) for key in inside.split(",")]
        if role == "cite:t":
            return ", ".join(f"{names} ({year})" for names, year in cited)
        return "[" + "; ".join(f"{names}, {year}" for names, year in cited) + "]"
    place = book.places.get(target)
    if place is None or role == "doc":
        return text or target
    if re.search(r"\d$|\)$", place.text) or not place.stem:  # a number needs no link
        return text or place.text
    return f"[{text or place.text}]({place.stem}.ipynb)" if links else text or f"*{place.text}*"


def to_html(markdown: str) -> str:
    """Ordinary Markdown as HTML; formulas are left for MathJax.

    >>> to_html("half of $x$")
    '<p>half of <span class="math inline">\\\\(x\\\\)</span></p>\\n'
    """
    return PARSER.render(markdown)


def formula(content: str, options: dict) -> str:
    before, after = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{before}{html.escape(content.strip())}{after}"


PARSER = (
    MarkdownIt("commonmark", {"html": True})
    .enable("table")
    .use(dollarmath_plugin, renderer=formula, allow_space=True)
    .use(deflist_plugin)
)
