"""A copy of the project, in which recipes are followed."""

import os
import subprocess
import sys


def insert(path, before, after):
    """Put a text behind the first place of another in a file."""
    head, found, tail = path.read_text(encoding="utf-8").partition(before)
    assert found, before
    path.write_text(head + found + after + tail, encoding="utf-8")


def run(project, *arguments):
    """What Python does in the copy; the helpers are those of the copy."""
    path = os.pathsep.join(str(project / name) for name in ("", "book", "tools", "tests"))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run([sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True)


def run_tests(project, tests, chosen):
    """What pytest does with some tests of the copy."""
    return run(project, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-vv", "-rf", *tests, "-k", chosen)
