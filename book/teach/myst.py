"""Take a chapter's Markdown apart: text and directives.

    directive: a fence of backticks or colons with a name in braces, like :::{admonition} · label: what a reference names
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

OPENING = re.compile(r"^(?P<fence>`{3,}|:{3,})(?P<name>\{[\w:-]+\}|\w*) *(?P<argument>.*)$")
OPTION = re.compile(r"^:([\w-]+): *(.*)$")


@dataclass(frozen=True)
class Directive:
    """A fence with its name, what follows the name, its options and its text."""

    name: str
    argument: str = ""
    options: dict[str, str] = field(default_factory=dict)
    body: str = ""

    @property
    def label(self) -> str:
        return self.options.get("label") or self.options.get("name", "")


def blocks(text: str) -> Iterator[str | Directive]:
    """The text between directives, and the directives, in order. Ordinary code fences are text.

    >>> list(blocks("before\\n:::{note}\\n:class: tip\\ninside\\n:::"))
    ['before', Directive(name='note', argument='', options={'class': 'tip'}, body='inside')]
    """
    lines, plain, at = text.splitlines(), [], 0
    while at < len(lines):
        opening = OPENING.match(lines[at])
        end = at if opening is None else closing(lines, at, opening["fence"])
        if opening is None or not opening["name"].startswith("{"):
            plain += lines[at : end + 1]
        else:
            yield from text_of(plain)
            plain = []
            yield directive(opening, lines[at + 1 : end])
        at = end + 1
    yield from text_of(plain)


def text_of(lines: list[str]) -> list[str]:
    text = "\n".join(lines).strip("\n")
    return [text] if text.strip() else []


def closing(lines: list[str], start: int, fence: str) -> int:
    """Where a fence ends; a fence that is never closed goes to the end of the text."""
    return next((at for at in range(start + 1, len(lines)) if lines[at].rstrip() == fence), len(lines))


def directive(opening: re.Match, inside: list[str]) -> Directive:
    options, at = {}, 0
    while at < len(inside) and (found := OPTION.match(inside[at])):
        options[found[1]] = found[2].strip()
        at += 1
    return Directive(opening["name"].strip("{}"), opening["argument"].strip(), options, "\n".join(inside[at:]).strip("\n"))


def every_directive(text: str) -> Iterator[Directive]:
    """The directives of a text, also those inside others."""
    for block in blocks(text):
        if isinstance(block, Directive):
            yield block
            yield from every_directive(block.body)
