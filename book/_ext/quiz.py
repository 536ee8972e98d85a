"""`{quiz} 04`: the questions of book/quizzes/04.toml, each option a fold that says right or wrong, and why.

    [[question]]
    ask = "Text of the question, in Markdown"
    [[question.option]]
    text = "An answer"
    right = true          # left out for a wrong one
    why = "What this answer gets right or wrong"

A fold needs no script: it opens with mouse, keyboard and screen reader, from the file system, and in print. A chapter with a
quiz shows it before its exercises; the notebook itself does not mention it, so that it stays a plain notebook.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from manuscript import key, quiz_path, read_quiz
from sphinx.util.docutils import SphinxDirective

EXERCISES = re.compile(r"^## Exercises", re.MULTILINE)
QUIZ = """## Quiz

Choose an answer and open it: it says whether it is right, and why.

```{{quiz}} {}
```

## Exercises"""


class fold(nodes.container): ...


class fold_title(nodes.inline): ...


class Quiz(SphinxDirective):
    """All questions of a chapter."""

    required_arguments = 1

    def run(self):
        self.env.note_dependency(str(quiz_path(self.arguments[0])))
        return [self.question(number, question) for number, question in enumerate(read_quiz(self.arguments[0]), start=1)]

    def question(self, number, question):
        box = nodes.container(classes=["quiz"])
        box += self.parse_text_to_nodes(f"**{number}.** {question['ask']}")
        for option in question["option"]:
            right = option.get("right", False)
            verdict = "**Right.**" if right else "**Not this one.**"
            title = fold_title("", "", *self.parse_text_to_nodes(option["text"])[0].children)
            why = self.parse_text_to_nodes(f"{verdict} {option['why']}")
            box += fold("", title, *why, classes=["right" if right else "wrong"])
        return box


def add_quiz(app, page, source):
    """Put the quiz of a chapter before its exercises."""
    chapter = key(Path(page))
    if not page.startswith("notebooks/") or not read_quiz(chapter):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = EXERCISES.sub(QUIZ.format(chapter), "".join(cell["source"]), count=1)
    source[0] = json.dumps(notebook)


def setup(app):
    def tag(text):
        return lambda writer, node: writer.body.append(text.format(*node["classes"]))

    app.add_node(fold, html=(tag('<details class="quiz-option {}">'), tag("</details>")))
    app.add_node(fold_title, html=(tag("<summary>"), tag("</summary>")))
    app.add_directive("quiz", Quiz)
    app.connect("source-read", add_quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
