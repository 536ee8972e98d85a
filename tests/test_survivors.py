"""The list of mutants that may survive (tests/survivors) is about the code as it is; `make mutants` looks at the rest."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LISTS = sorted((ROOT / "tests" / "survivors").glob("*.toml"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_survivors_are_changes_of_lines_that_exist(path):
    """Each has a reason, each changes something, and each changes lines of its module; none stands there twice."""
    sources = [ROOT / "helpers" / f"{path.stem}.py", *(ROOT / "helpers" / path.stem).glob("*.py")]
    lines = {line.strip() for source in sources if source.exists() for line in source.read_text("utf-8").splitlines()}
    listed = tomllib.loads(path.read_text("utf-8"))["survivor"]
    for one in listed:
        assert one["why"] and one["was"] != one["now"], one
        assert set(one["was"].split("\n")) <= lines, one
    assert len({(one["function"], one["was"], one["now"]) for one in listed}) == len(listed)
