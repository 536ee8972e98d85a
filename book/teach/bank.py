"""The quiz bank: the questions of book/quizzes as a page with answers, as a sheet without, and for a course system.

    bank: all questions of all chapters · GIFT: a text format that Moodle and others import

In GIFT the characters ~ = # { } : have a meaning and are escaped; a backslash, as in a formula, is written as its HTML code,
because `\\n` would become a new line.
"""

import re
from dataclasses import dataclass

import manuscript

from .labels import Book, Chapter
from .plain import to_html


@dataclass(frozen=True)
class Option:
    """An answer to choose, whether it is right, and why or why not."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question with its options; `name` is the chapter's number and its own."""

    name: str
    ask: str
    options: tuple[Option, ...]


def read_quiz(chapter: Chapter) -> list[Question]:
    """The questions of a chapter; none if it has no quiz yet."""
    return [
        Question(f"{chapter.key}-{count}", row["ask"], tuple(Option(**option) for option in row["option"]))
        for count, row in enumerate(manuscript.read_quiz(chapter.key), start=1)
    ]


def as_markdown(book: Book, answers: bool = True) -> str:
    """All questions; with `answers`, the right option is marked and every option explained."""
    lines = ["# Quiz bank" if answers else "# Quiz"]
    for chapter in book.chapters:
        questions = read_quiz(chapter)
        lines += [f"## Chapter {chapter.number}. {chapter.title}"] if questions else []
        for question in questions:
            options = [option_line(*lettered, answers) for lettered in zip("ABCDE", question.options, strict=False)]
            lines += [f"**{question.name}.** {question.ask}", "\n".join(options)]
    return "\n\n".join(lines) + "\n"


def option_line(letter: str, option: Option, answers: bool) -> str:
    if not answers:
        return f"- {letter}. {option.text}"
    right, wrong = f"- **{letter}. {option.text} ✓ Right.** {option.why}", f"- {letter}. {option.text} *{option.why}*"
    return right if option.right else wrong


def as_gift(book: Book) -> str:
    """All questions in GIFT, with the explanations as feedback."""
    lines = []
    for chapter in book.chapters:
        questions = read_quiz(chapter)
        lines += [f"$CATEGORY: Where to Spend ε/Chapter {chapter.key}", ""] if questions else []
        for question in questions:
            lines.append(f"::{question.name}::[html]{escaped(question.ask)} {{")
            lines += [f"{'=' if o.right else '~'}{escaped(o.text)}#{escaped(o.why)}" for o in question.options]
            lines += ["}", ""]
    return "\n".join(lines)


def escaped(markdown: str) -> str:
    """Markdown as one line of HTML that GIFT leaves alone.

    >>> escaped("shares like $n^{1/3}$")
    '<p>shares like <span class\\\\="math inline">&\\\\#92;(n^\\\\{1/3\\\\}&\\\\#92;)</span></p>'
    """
    line = " ".join(to_html(markdown).split()).replace("\\", "&#92;")
    return re.sub(r"([~=#{}:])", r"\\\1", line)
