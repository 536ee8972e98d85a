"""What all tests share: the examples that Hypothesis draws, the website, built once, and a word on what was left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

if "support" not in sys.modules:  # mutmut runs pytest again in a process that has it
    pytest.register_assert_rewrite("support")

# The same examples on every machine and in every run, and no clock: a slow machine is not a wrong program.
settings.register_profile("book", deadline=None, max_examples=60, derandomize=True, print_blob=True)
# Of a mutant it is enough to know that it fails: nobody reads the smallest example.
settings.register_profile("mutants", settings.get_profile("book"), phases=[Phase.explicit, Phase.generate])
# Other examples in every run, and many: `make fuzz CASES=...` spreads so many over the laws of tests/fuzz by their shares.
LAWS = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("fuzz/test_*.py"))
SHARES = len(re.findall(r"^(?:@|test_\w+ = )law\(", LAWS, re.M)) + sum(
    int(share) - 1 for share in re.findall(r"share=(\d+)", LAWS)
)
CASES = int(os.environ.get("CASES") or 120_000)
settings.register_profile("fuzz", deadline=None, max_examples=max(1, CASES // (2 * SHARES)), print_blob=True)
settings.load_profile("mutants" if "MUTATION" in os.environ else "book")

# They are no place for examples in docstrings, and pytest would take the second for the first: both have the same name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The website, built as strictly as Sphinx can: how that ended, what was said, and the folder of pages.

    It is built once, by whichever of the processes of a test run asks first; the others wait at the lock.
    """
    from fcntl import LOCK_EX, flock

    from manuscript import ROOT

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    folder.mkdir(exist_ok=True)
    code, log = folder / "code", folder / "log"
    with open(folder / "lock", "w") as lock, open(log, "a") as out:
        flock(lock, LOCK_EX)
        if not code.exists():
            command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", ROOT]
            command += ["--all", "-W", "-n", "--keep-going", "--path-output", folder]
            done = subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
            code.write_text(str(done.returncode))
    return int(code.read_text()), log.read_text(encoding="utf-8"), folder / "_build" / "html"


@pytest.fixture(scope="session")
def site(built):
    """The folder of pages."""
    _, log, html = built
    if not html.is_dir():
        pytest.fail(f"the book was not built:\n{log[-2000:]}")
    return html


def pytest_terminal_summary(terminalreporter):
    """Say what was left out for want of a browser, and how to get it: nobody counts the letters s of a long run."""
    from support.browser import NO_BROWSER  # after its assertions were registered above

    left_out = sum(NO_BROWSER in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    if left_out:
        terminalreporter.write_line(
            f"{left_out} tests of the pages were left out for want of a browser: "
            "install Chromium (apt-get install chromium) and run make test again"
        )
