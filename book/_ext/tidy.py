"""Mend what other extensions write, so that browsers and screen readers get valid pages."""

import re

# sphinx-proof and sphinx-exercise give the same id to every box of a kind; an id must be unique.
REPEATED_ID = re.compile(r' id="(?:proof|exercise|solution)-content"')
# sphinx-proof puts the id of an unnumbered box on its title as well.
TITLE_ID = re.compile(r'(<p class="admonition-title") id="[^"]+"')
MENDED = {
    'class="proof admonition" id="proof"': 'class="proof argument admonition"',
    # docutils puts entries with a withdrawn role into a list, which may hold list items only
    'role="doc-biblioentry"': 'role="listitem"',
}


def mend(app, page, template, context, doctree):
    body = TITLE_ID.sub(r"\1", REPEATED_ID.sub("", context.get("body", "")))
    for wrong, right in MENDED.items():
        body = body.replace(wrong, right)
    if body:
        context["body"] = body


def setup(app):
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
