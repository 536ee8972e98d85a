"""The recipe for a chapter, tried: with the files it names, a chapter that nobody has seen passes what chapters must pass.

chapter: a small one, added behind the last to a copy of the project · left out: what the recipe asks for beside it
"""

import re
import shutil

import pytest
from anywhere import TAGS, repository, setup_source
from execute import fingerprints
from manuscript import CHAPTERS, quiz_path, store_notebook
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from support.project import insert, run_tests

KEY = f"{len(CHAPTERS) + 1:02}"
OPENING = """(chapter-dry-run)=
# A dry run

:::{admonition} After this chapter you will be able to
:class: objectives
- halve a number.

Reading time: 1 minute. Running time: 1 second. You need nothing.
:::"""
CLOSING = """:::{admonition} Summary
:class: summary
Half of one is a half.
:::

## Exercises"""
CHECKED = """```{{exercise}} Half
:label: ex-{key}-half
*Warm-up, 2 minutes.* Halve 7, and let the notebook check what you have found.
```"""
FENCED = """```{{exercise}} Number {n}
:label: ex-{key}-{n}
*{level}, 5 minutes.* Find another way to halve a number.
```

```{{solution}} ex-{key}-{n}
:class: dropdown
Way number {n} is to cut the number in two, and to weigh both of the pieces.
The pieces of way number {n} weigh the same, so each of them is a half.
```"""
CHECKER = '''"""The exercises of the dry run."""

from . import Exercise, Mistake

EXERCISES = {{
    "ex-{key}-half": Exercise(
        lambda: 3.5, "Divide.", Mistake(lambda: 14, "That is twice as much."), Mistake(lambda: 7, "That is the whole.")
    ),
}}
'''


def chapter():
    """A chapter with all that a chapter must have, and no more."""
    check = f'check("ex-{KEY}-half", answer)'
    gates = [f"````{{solution-start}} ex-{KEY}-half\n:class: dropdown\n````", "Divide.\n\n````{solution-end}\n````"]
    levels = ("Standard", "Standard", "Hard", "Open-ended")
    cells = [
        new_markdown_cell(OPENING),
        new_code_cell(setup_source(repository()), metadata={"tags": TAGS}),
        new_code_cell("from helpers.exercises import check"),
        new_markdown_cell(CLOSING + "\n\n" + CHECKED.format(key=KEY)),
        new_code_cell(f"answer = ...\n{check}"),
        new_markdown_cell(gates[0]),
        new_code_cell(f"answer = 7 / 2\n{check}"),
        new_markdown_cell(gates[1]),
        *(new_markdown_cell(FENCED.format(key=KEY, n=n, level=level)) for n, level in enumerate(levels, start=2)),
    ]
    made = new_notebook(cells=cells)
    made.metadata["executed"] = fingerprints(made)
    return made


@pytest.fixture
def root(project):
    """A copy of the project with what makes this a chapter: its notebook, its line in _toc.yml, and its checkers."""
    store_notebook(chapter(), project / "notebooks" / f"{KEY}-dry-run.ipynb")
    insert(project / "_toc.yml", f"notebooks/{CHAPTERS[-1].stem}\n", f"      - file: notebooks/{KEY}-dry-run\n")
    (project / "helpers" / "exercises" / f"chapter{KEY}.py").write_text(CHECKER.format(key=KEY), encoding="utf-8")
    return project


def failures(root):
    """Which tests of the chapter, and of the book with it, fail."""
    files = "manuscript prose quizzes teach teach_pack execute lite anywhere exercises"
    tests = [next((root / "tests").rglob(f"test_{name}.py")) for name in files.split()]
    about = f"dry-run or ex-{KEY} or chapter{KEY} or [{KEY}] or table_of_contents or outcomes or quiz or gift or rubric"
    said = run_tests(root, tests, about).stdout
    assert re.search(r"\b[2-9]\d passed", said), said
    return set(re.findall(r"^FAILED \S+::(\w+)", said, re.MULTILINE))


def test_a_chapter_made_by_the_recipe_passes(root):
    """With quiz, outcome and answers nothing else has to be touched: numbers and titles come from the contents."""
    shutil.copyfile(quiz_path("01"), root / "book" / "quizzes" / f"{KEY}.toml")
    insert(root / "book" / "teach" / "outcomes.toml", 'chapters = ["', 'chapter-dry-run", "')
    [answers] = (root / "tests").rglob("answers.toml")
    insert(answers, "\n", f"\n[ex-{KEY}-half]\nright = 3.5\nwrong = [14, 7]\n")
    assert failures(root) == set()


def test_what_the_recipe_asks_for_is_missed(root):
    """Without quiz, outcome and answers, a test for each says so."""
    wanted = {"test_each_chapter_has_a_quiz", "test_outcomes_cover_the_book", "test_answers_are_those_of_the_answer_sheet"}
    assert failures(root) == wanted
