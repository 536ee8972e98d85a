"""The command that pip installs: a name of its own for what `python -m helpers` does."""

import subprocess
import sys
import tomllib

import pytest
from manuscript import ROOT

from helpers.cli import SCRIPT


def test_the_script_is_the_command_line():
    """The package declares the script under the name that the command line knows itself by."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {SCRIPT: "helpers.cli:main"} and SCRIPT != "helpers"


@pytest.mark.parametrize(("called", "name"), [("/usr/bin/spend-epsilon", SCRIPT), ("__main__.py", "python -m helpers")])
def test_help_shows_the_name_that_was_called(called, name):
    """Whoever types the script's name is shown it, in the usage and in the examples."""
    code = f"import sys; sys.argv = [{called!r}, '--help']; from helpers.cli import main; main()"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"usage: {name} [-h] COMMAND") and f"\n  {name} example --output patients.csv\n" in said
