"""Put what is made from the chapters onto the teaching pages: learning outcomes, and the terms of the glossary.

A page says where with a comment, such as <!-- outcomes -->. The same texts go into the instructor's pack (book/teach).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for teach and what it imports

from teach import words
from teach.labels import read_book

MADE = {
    "book/teach/outcomes": ("<!-- outcomes -->", lambda: words.outcomes_markdown(read_book())),
    "book/glossary": ("<!-- glossary -->", words.glossary_markdown),
}


def fill(app, page, source):
    if page in MADE:
        mark, text = MADE[page]
        source[0] = source[0].replace(mark, text())


def setup(app):
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
