"""What a run of pytest does by itself: it keeps progress bars out of outputs, and says what it left out."""

import os
import re
import subprocess
import sys

import pytest
from manuscript import CHAPTERS, ROOT


def run(code, *arguments, **environment):
    """What Python prints that runs this code at the root of the project, as from a new terminal."""
    own = ("PYTEST_", "TQDM_")  # of the run that this test is part of
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    command = [sys.executable, "-c", code, "-p", "no:cacheprovider", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=inherited | environment, capture_output=True, text=True).stdout


@pytest.mark.parametrize("processes", [0, 1])
def test_a_run_says_what_it_left_out_for_want_of_a_browser(processes, tmp_path):
    """Without Chromium a line before the last counts the tests that were skipped, in all processes, and says what helps."""
    said = run("import pytest; pytest.main()", "-n", processes, "tests/book/test_explorers_watch.py", PATH=str(tmp_path))
    *_, line, last = said.splitlines()
    skipped = re.match(r"(\d+) skipped", last)[1]
    assert int(skipped) > 10 and line == (
        f"{skipped} tests of the pages were left out for want of a browser: "
        "install Chromium (apt-get install chromium) and run make test again"
    )


def test_a_run_that_left_nothing_out_says_nothing(tmp_path):
    """Where no test needs the browser, none is missed."""
    said = run("import pytest; pytest.main()", "-n0", "tests/book/test_quizzes.py", PATH=str(tmp_path))
    assert "100%" in said and "left out" not in said


def test_a_notebook_alone_shows_no_progress_bars():
    """`pytest notebooks/…`, without make or tests, gives the kernels TQDM_DISABLE; a reader's own value stays."""
    code = "import os, pytest; pytest.main(); print(os.environ['TQDM_DISABLE'])"
    assert run(code, "-n0", "--collect-only", CHAPTERS[0]).split()[-1] == "1"
    assert run(code, "-n0", "--collect-only", CHAPTERS[0], TQDM_DISABLE="0").split()[-1] == "0"
