"""`{explorer} name`: a figure to play with, drawn in the page by book/explore/static/explorers/name.js.

    ```{explorer} split
    :with: trees solver

    A picture and a sentence that stand in for it in print, in the PDF, and where there is no JavaScript.
    ```

A page loads core.js, the scripts named after `with`, and the explorer's own, and no page loads what it does not use.
"""

from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

STATIC = Path("book", "explore", "static")


class Explorer(SphinxDirective):
    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"with": directives.unchanged}

    def run(self):
        name = self.arguments[0]
        scripts = ["core", *self.options.get("with", "").split(), name]
        wanted = self.env.metadata[self.env.docname].setdefault("explorers", [])
        wanted.extend(script for script in scripts if script not in wanted)
        fallback = nodes.container("", *self.parse_content_to_nodes(), classes=["explorer-fallback"])
        box = nodes.container(classes=["explorer"], ids=[f"explorer-{name}"])
        box += [nodes.raw("", f'<div class="explorer-live" data-explorer="{name}" hidden></div>', format="html"), fallback]
        return [box]


def add_static(app, config):
    # Not in _config.yml: Jupyter Book would put everything in a static folder on every page.
    config.html_static_path.append(str(Path(app.srcdir) / STATIC))


def load_scripts(app, page, template, context, doctree):
    names = app.env.metadata.get(page, {}).get("explorers", [])
    if names:
        app.add_css_file("explorers/explorers.css")
    for name in names:
        app.add_js_file(f"explorers/{name}.js", loading_method="defer")


def setup(app):
    app.add_directive("explorer", Explorer)
    app.connect("config-inited", add_static, priority=900)
    app.connect("html-page-context", load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
