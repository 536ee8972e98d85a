"""Slides: one Reveal deck for each part of the book, made from the cells of its chapters.

    slide: (title, Markdown) · deck: a title slide, then a column of slides for each chapter

A chapter's column has its objectives, its numbered formulas, statements and figures in their order, what broke, the summary,
the quiz and the list of exercises. Decks need no network: Reveal, MathJax and the figures lie beside them.
"""

import base64
import html
import re
from collections.abc import Iterator
from pathlib import Path

from _ext.offline import carried
from manuscript import png_size

from .bank import read_quiz
from .copies import Piece, exercises, pieces
from .labels import Book, Chapter
from .myst import Directive, blocks
from .plain import HEAD, NUMBERED, plain, statement, tagged, to_html, uncommented

PACKAGE, INSIDE = "sphinx-revealjs", "_static/revealjs/"
REVEAL = ("dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js", "LICENSE")
SECTION = re.compile(r"^##+ (.+)$", re.MULTILINE)
BOXES = {"breakit": "Break it", "caution": "", "summary": "Summary"}  # boxes that become slides, and their titles

DECK = """<link rel="stylesheet" href="../assets/reveal/reveal.css">
<link rel="stylesheet" href="../assets/deck.css">
</head>
<body>
<div class="reveal"><div class="slides">
{columns}
</div></div>
<script src="../assets/reveal/reveal.js"></script>
<script src="../assets/reveal/notes.js"></script>
<script src="../assets/deck.js"></script>
<script src="../assets/mathjax/tex-chtml.js"></script>
</body>
</html>
"""
FRONT = """<section class="front"><p class="kicker">Where to Spend ε</p><h1>{title}</h1><ul class="chapters">{names}</ul>\
<p class='licence'>Text and figures: CC BY 4.0. Space: next slide · Esc: overview · S: notes · ?: all keys</p></section>"""


def reveal_files() -> dict[str, Path]:
    """The files of Reveal that a deck needs, by name, from the Python package that carries them."""
    if not (found := carried(PACKAGE, INSIDE)):
        raise FileNotFoundError(f"Reveal is missing: run `pip install {PACKAGE}` and try again.")
    return {Path(name).name: found[name] for name in REVEAL}


def deck(part: str, chapters: list[Chapter], book: Book, figures: Path) -> str:
    """The deck of a part, as a page; writes its figures into the folder `figures`."""
    figures.mkdir(parents=True, exist_ok=True)
    names = "".join(f"<li><a href='#/chapter-{c.number}'>{c.number}. {html.escape(c.title)}</a></li>" for c in chapters)
    columns = [FRONT.format(title=html.escape(part), names=names)]
    for chapter in chapters:
        slides = "\n".join(column(chapter, book, figures))
        columns.append(f'<section id="chapter-{chapter.number}">\n{slides}\n</section>')
    return (HEAD + DECK).format(language="en", title=html.escape(part), columns="\n".join(columns))


def column(chapter: Chapter, book: Book, figures: Path) -> Iterator[str]:
    """The slides of a chapter."""
    kicker, section, lead = f"{chapter.number}. {chapter.title}", chapter.title, ""
    for piece in pieces(chapter):
        if piece.kind in ("exercise", "solution"):
            continue
        if piece.cell:
            yield from figure_slides(piece, kicker, section, book, figures)
            continue
        for block in blocks(uncommented(piece.text)):
            if isinstance(block, Directive):
                yield from box_slides(block, kicker, lead, book)
                continue
            for head, text in by_section(block):
                section, lead = head or section, text if head else lead
                yield from formula_slides(text, kicker, section, book)
    yield from quiz_slides(chapter, kicker)
    rows = [
        f"- **{one.name}**: {one.level}" + (f", {one.minutes} minutes" if one.minutes else "")
        for one in exercises(chapter, book).values()
    ]
    yield shown(kicker, "Exercises", to_html("\n".join(rows)))


def by_section(text: str) -> Iterator[tuple[str, str]]:
    """(heading, text) of the sections of a text; the heading of what comes before the first is empty."""
    first, *rest = SECTION.split(text)
    yield "", first
    yield from zip(rest[::2], rest[1::2], strict=True)


def shown(kicker: str, title: str, body: str, kind: str = "", notes: str = "") -> str:
    """A slide."""
    aside = f'<aside class="notes">{html.escape(notes)}</aside>' if notes else ""
    top = f'<p class="kicker">{html.escape(kicker)}</p><h2>{inline(title)}</h2>'
    return f'<section class="{kind}">{top}<div class="body">{body}</div>{aside}</section>'


def box_slides(block: Directive, kicker: str, lead: str, book: Book) -> Iterator[str]:
    kind = block.options.get("class", "")
    body = to_html(plain(block.body, book, links=False))
    if block.name.startswith("prf:") and block.name != "prf:proof":
        yield shown(kicker, plain(statement(block, book), book, links=False), body, "statement")
    elif kind == "objectives":
        number, _, title = kicker.partition(". ")
        yield shown(f"Chapter {number}", title, f"<p>{block.argument}</p>{body}", "opening")
    elif kind in BOXES:
        before = to_html(plain(lead, book, links=False)) if kind == "breakit" else ""
        yield shown(kicker, BOXES[kind] or block.argument, before + body, kind)


def formula_slides(text: str, kicker: str, section: str, book: Book) -> Iterator[str]:
    """A slide for each numbered formula, with the paragraph that leads to it."""
    for found in NUMBERED.finditer(text):
        before = text[: found.start()].rstrip().split("\n\n")[-1]
        formula = tagged(found["formula"], book.places[found["label"]])
        if before.startswith("$$"):
            before = ""
        if before[:1].islower():  # the end of the sentence before
            before = before.partition(". ")[2]
        yield shown(kicker, section, to_html(plain(f"{before}\n\n{formula}", book, links=False)), "formula")


def figure_slides(piece: Piece, kicker: str, section: str, book: Book, figures: Path) -> Iterator[str]:
    """The figure of a code cell with its caption and alternative text; nothing if the cell draws none."""
    about = piece.cell.metadata.get("mystnb", {})
    images = [out.data["image/png"] for out in piece.cell.outputs if "image/png" in out.get("data", {})]
    if "figure" not in about or not images:
        return
    name, alt = about["figure"]["name"], about["image"]["alt"]
    (figures / f"{name}.png").write_bytes(base64.b64decode(images[-1]))
    caption = to_html(plain(f"**{book.places[name].text}.** {about['figure']['caption']}", book, links=False))
    width, height = png_size(figures / f"{name}.png")
    shape = ' class="tall"' if height > 0.85 * width else ""
    image = f'<img src="figures/{name}.png" alt="{html.escape(alt)}">'
    body = f"<figure{shape}>{image}<figcaption>{caption}</figcaption></figure>"
    yield shown(kicker, section, body, "picture", notes=alt)


def quiz_slides(chapter: Chapter, kicker: str) -> Iterator[str]:
    for question in read_quiz(chapter):
        options = "".join(f"<li>{inline(option.text)}</li>" for option in question.options)
        [(letter, why)] = [(at, one.why) for at, one in zip("ABCDE", question.options, strict=False) if one.right]
        answer = f'<div class="fragment answer"><strong>{letter}.</strong> {inline(why)}</div>'
        yield shown(kicker, "Quiz", f"{to_html(question.ask)}<ol type='A'>{options}</ol>{answer}", "quiz")


def inline(markdown: str) -> str:
    return to_html(markdown).strip().removeprefix("<p>").removesuffix("</p>")
