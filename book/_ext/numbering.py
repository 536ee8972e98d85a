"""Number propositions and theorems as the paper does: 1, 2, 3 … through the whole book, not anew in each chapter.

Sphinx numbers every kind of figure by chapter (2.1, 2.2, 3.1). That is right for figures, exercises and equations. But
"Proposition 3" has to be the paper's Proposition 3, on whichever page it stands.

And let a plain link, [chapter 3](#prop-convex), lead to a statement, as it leads to a figure or a section. And let
{part}`The experiments` say which chapters that part has, by the table of contents.
"""

from docutils import nodes
from manuscript import chapter_range

THROUGHOUT = ("proposition", "theorem")


def renumber(app, env):
    for kind in THROUGHOUT:
        number = 0
        for page in env.toc_fignumbers.values():  # pages come in the order of the table of contents
            for node in page.get(kind, {}):
                number += 1
                page[kind][node] = (number,)
    return []  # no page has to be read again


def link_statements(app, env):
    standard = env.domains["std"]
    for label, statement in env.proof_list.items():
        standard.anonlabels.setdefault(label, (statement["docname"], label))
        standard.labels.setdefault(label, (statement["docname"], label, label))
    return []


def part(name, rawtext, caption, line, inliner, options=None, content=()):
    return [nodes.strong("", caption), nodes.Text(f" ({chapter_range(caption)})")], []


def setup(app):
    app.add_role("part", part)
    app.connect("env-updated", link_statements)
    app.connect("env-get-updated", renumber, priority=900)  # after Sphinx has given its own numbers
    return {"parallel_read_safe": True, "parallel_write_safe": True}
