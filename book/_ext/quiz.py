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
import tomllib
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

QUIZZES = Path("book", "quizzes")
CHAPTER = re.compile(r"notebooks/(\d\d)-")
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
        path = Path(self.env.srcdir) / QUIZZES / f"{self.arguments[0]}.toml"
        self.env.note_dependency(str(path))
        questions = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
        return [self.question(number, question) for number, question in enumerate(questions, start=1)]

    def question(self, number, question):
        box = nodes.container(classes=["quiz"])
        box += self.parsed(f"**{number}.** {question['ask']}")
        for option in question["option"]:
            right = option.get("right", False)
            verdict = "**Right.**" if right else "**Not this one.**"
            title = fold_title("", "", *self.parsed(option["text"])[0].children)
            box += fold("", title, *self.parsed(f"{verdict} {option['why']}"), classes=["right" if right else "wrong"])
        return box

    def parsed(self, text):
        found = nodes.Element()
        self.state.nested_parse(StringList(text.strip().splitlines(), self.env.docname), 0, found)
        return found.children


def add_quiz(app, page, source):
    """Put the quiz of a chapter before its exercises."""
    chapter = CHAPTER.match(page)
    if not chapter or not (Path(app.srcdir) / QUIZZES / f"{chapter[1]}.toml").exists():
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = EXERCISES.sub(QUIZ.format(chapter[1]), "".join(cell["source"]), count=1)
    source[0] = json.dumps(notebook)


def setup(app):
    def tags(before, after):
        return (lambda self, node: self.body.append(before), lambda self, node: self.body.append(after))

    def opened(self, node):
        self.body.append(f'<details class="quiz-option {node["classes"][0]}">')

    app.add_node(fold, html=(opened, tags("", "</details>")[1]))
    app.add_node(fold_title, html=tags("<summary>", "</summary>"))
    app.add_directive("quiz", Quiz)
    app.connect("source-read", add_quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
