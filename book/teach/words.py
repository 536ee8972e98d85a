"""Words: the glossary and its template for translators, the learning outcomes, and the marking rubric.

    template: a gettext file (.pot) with every text to translate · catalogue: the same with translations (.po)

Each is a short TOML file or the chapters themselves, turned into Markdown that serves the website and the pack alike.
"""

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po
from manuscript import ROOT, prose, read_toml

from .copies import Exercise, exercises
from .labels import Book, Chapter
from .myst import blocks

GLOSSARY = ROOT / "book" / "glossary.toml"
NOTATION = ROOT / "book" / "notation.md"
OUTCOMES = ROOT / "book" / "teach" / "outcomes.toml"
ROW = re.compile(r"^\| *(.*?) *\| *(.*?) *\| *(.*?) *\|$", re.MULTILINE)
# Of a catalogue's head, what is not about the text.
CLOCK = re.compile(rb'"(POT-Creation-Date|PO-Revision-Date|Last-Translator|Generated-By|Report-Msgid).*\n')
PROJECT = "Where to Spend ε, glossary and notation"


# The glossary


def glossary_markdown(catalogue: Catalog | None = None) -> str:
    """The terms in alphabetical order, each with its meaning and its chapter; in another language with a catalogue."""

    def said(text: str, context: str) -> str:
        message = catalogue.get(text, context) if catalogue else None
        return message.string if message and isinstance(message.string, str) and message.string else text

    terms = read_toml(GLOSSARY).items()
    rows = [(said(row["term"], f"{key}.term"), said(row["means"], f"{key}.means"), row["chapter"]) for key, row in terms]
    rows.sort(key=lambda row: row[0].casefold())
    return "\n\n".join(f"{term}\n: {means} {{ref}}`{chapter}`" for term, means, chapter in rows)


def messages() -> Iterator[tuple[str, str, str]]:
    """(context, text, comment) of everything that a translator translates. The context is stable, the text may change."""
    for key, row in read_toml(GLOSSARY).items():
        yield f"{key}.term", row["term"], ""
        yield f"{key}.means", row["means"], f"Meaning of: {row['term']}"
    for symbol, meaning, code in ROW.findall(NOTATION.read_text(encoding="utf-8")):
        if meaning not in ("meaning", "---"):
            yield f"notation {symbol or code}", meaning, f"Meaning of {symbol or code}"


def template() -> bytes:
    """The template for translators: copy it to book/locale/LANGUAGE.po and fill in the translations."""
    catalogue = Catalog(project=PROJECT, charset="utf-8", fuzzy=False, header_comment=f"# {PROJECT}. CC BY 4.0.")
    for context, text, comment in messages():
        catalogue.add(text, context=context, auto_comments=[comment] if comment else [])
    written = BytesIO()
    write_po(written, catalogue, omit_header=False, width=120)
    return CLOCK.sub(b"", written.getvalue())


def read_translation(path: Path) -> Catalog:
    """A translator's catalogue; its file is named by its language, like de.po."""
    return read_po(BytesIO(path.read_bytes()), locale=path.stem)


# Learning outcomes


def objectives(chapter: Chapter) -> str:
    """The bullet points of a chapter's box of objectives, and its line of times and prerequisites."""
    for block in blocks(prose(chapter.notebook)):
        if not isinstance(block, str) and block.options.get("class") == "objectives":
            return block.body
    raise ValueError(f"a chapter must have a box of objectives, and {chapter.stem} has none")


def chapter_label(chapter: Chapter) -> str:
    return re.findall(r"^\((chapter-[\w-]+)\)=", prose(chapter.notebook), re.MULTILINE)[0]


def mapped(book: Book) -> dict[str, dict]:
    """The outcomes by key, each with `text`, `chapters` (labels) and `exercises`.

    An exercise belongs to the outcomes that its chapter teaches, and to those that name it.
    """
    known = {label: one for chapter in book.chapters for label, one in exercises(chapter, book).items()}
    result = {}
    for key, row in read_toml(OUTCOMES).items():
        named = [known[label] for label in row.get("exercises", [])]  # a label that does not exist is an error
        practice = [one for one in known.values() if one in named or chapter_label(one.chapter) in row["chapters"]]
        result[key] = {"text": row["text"], "chapters": row["chapters"], "exercises": practice}
    return result


def outcomes_markdown(book: Book) -> str:
    """Outcomes with their chapters and exercises, then the objectives of every chapter."""
    lines = ["## What students can do at the end", ""]
    for count, row in enumerate(mapped(book).values(), start=1):
        chapters = ", ".join(f"{{ref}}`{label}`" for label in row["chapters"])
        lines += [f"**{count}. {row['text']}**", "", f"Taught in: {chapters}.", "", *table(row["exercises"]), ""]
    lines += ["## Chapter by chapter", ""]
    for chapter in book.chapters:
        lines += [f"### {chapter.number}. {chapter.title}", "", "After this chapter students can", ""]
        lines += [objectives(chapter), "", f"Notebook: {{ref}}`{chapter_label(chapter)}`. Exercises:", ""]
        lines += [*table(exercises(chapter, book).values()), ""]
    return "\n".join(lines)


def table(rows: Iterable[Exercise]) -> list[str]:
    head = ["| exercise | kind | minutes | checks itself |", "|---|---|--:|---|"]
    return head + [
        f"| {{ref}}`{title(one)} <{one.label}>` | {one.level} | {one.minutes or 'open'} | {'yes' if one.checked else 'no'} |"
        for one in rows
    ]


def title(one: Exercise) -> str:
    return one.name.removeprefix("Exercise ").replace("`", "")


# Marking


def rubric_markdown(book: Book) -> str:
    """What each exercise is worth, and what to look for."""
    lines = []
    for chapter in book.chapters:
        rows = exercises(chapter, book).values()
        lines += [f"## Chapter {chapter.number}. {chapter.title} ({sum(one.points for one in rows)} points)", ""]
        lines += ["| exercise | kind | minutes | points | what to look for |", "|---|---|--:|--:|---|"]
        for one in rows:
            facts = f"{one.level} | {one.minutes or 'open'} | {one.points}"
            lines.append(f"| {title(one)} | {facts} | {one.marking.replace('|', '∣')} |")
        lines.append("")
    return "\n".join(lines)
