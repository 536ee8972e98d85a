"""Put what is made from code, chapters and tables onto the pages: the rooms of the helpers, learning outcomes, the glossary.

A page says where with a comment, such as <!-- outcomes -->. The last two go into the instructor's pack as well (book/teach).
"""

from collections.abc import Callable

import rooms
from teach import words
from teach.labels import read_book

MADE: dict[str, Callable[[], str]] = {
    "picture of the rooms": lambda: f'```{{raw}} html\n<div class="rooms-box" tabindex="0">\n{rooms.picture()}\n</div>\n```',
    "rooms": rooms.table,
    "outcomes": lambda: words.outcomes_markdown(read_book()),
    "glossary": words.glossary_markdown,
}


def fill(app, page, source):
    for mark, make in MADE.items():
        if f"<!-- {mark} -->" in source[0]:
            source[0] = source[0].replace(f"<!-- {mark} -->", make())


def setup(app):
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
