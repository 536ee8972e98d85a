"""`{status}` and `{status-table}`: what tools/execute.py measured, in a sentence and in a table."""

import json
from pathlib import Path

from sphinx.util.docutils import SphinxDirective


class Status(SphinxDirective):
    """On which machine and with which versions."""

    required_arguments = 1

    def lines(self, found):
        libraries = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
        yield f"Measured on {found['date']}, on {found['system']}, with {libraries.replace('python', 'Python', 1)}."

    def run(self):
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        return self.parse_text_to_nodes("\n".join(self.lines(found)))


class StatusTable(Status):
    """A line for each chapter, and their sum."""

    def lines(self, found):
        rows = found["chapters"]
        yield from ["| chapter | seconds | memory (MB) |", "|---|--:|--:|"]
        for row in rows:
            memory = row["megabytes"] or "not measured"  # some systems keep no record of it
            yield f"| [{row['title']}](../notebooks/{row['chapter']}.ipynb) | {row['seconds']:.1f} | {memory} |"
        yield f"| all chapters, one after the other | {sum(row['seconds'] for row in rows):.1f} | |"


def setup(app):
    app.add_directive("status", Status)
    app.add_directive("status-table", StatusTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
