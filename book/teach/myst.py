"""Take a chapter's Markdown apart: text and directives.

directive: a fence of backticks or colons with a name in braces, like :::{admonition} · label: what a reference names
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin

PARSER = MarkdownIt("commonmark").disable("inline").use(colon_fence_plugin)
DIRECTIVE = re.compile(r"\{([\w:-]+)\} *(.*)")  # behind the fence
OPTIONS = re.compile(r"\A((?::[\w-]+:.*\n)*)")  # all of them, before the body
OPTION = re.compile(r"^:([\w-]+): *(.*?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Directive:
    """A fence with its name, what follows the name, its options and its text; `source` is all of it as it was written."""

    name: str
    argument: str
    options: dict[str, str]
    body: str
    source: str = field(repr=False)

    @property
    def label(self) -> str:
        return self.options.get("label") or self.options.get("name", "")


def blocks(text: str) -> Iterator[str | Directive]:
    """The text between directives, and the directives, in order. Ordinary code fences are text.

    >>> list(blocks("before\\n:::{note}\\n:class: tip\\ninside\\n:::"))
    ['before', Directive(name='note', argument='', options={'class': 'tip'}, body='inside')]
    """
    lines, at = text.split("\n"), 0
    for token in PARSER.parse(text):
        if token.map and not token.level and (opening := DIRECTIVE.fullmatch(token.info)):
            start, end = token.map
            yield from text_of(lines[at:start])
            _, options, body = OPTIONS.split(token.content, maxsplit=1)
            source = "\n".join(lines[start:end])
            yield Directive(opening[1], opening[2], dict(OPTION.findall(options)), body.strip("\n"), source)
            at = end
    yield from text_of(lines[at:])


def text_of(lines: list[str]) -> list[str]:
    text = "\n".join(lines).strip("\n")
    return [text] if text.strip() else []


def every_directive(text: str) -> Iterator[Directive]:
    """The directives of a text, also those inside others."""
    for block in blocks(text):
        if isinstance(block, Directive):
            yield block
            yield from every_directive(block.body)
