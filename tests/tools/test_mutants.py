"""The list of mutants that may survive (tools/survivors) is about the code as it is; `make mutants` looks at the rest."""

import mutants
import pytest
from manuscript import ROOT, read_toml

LISTS = sorted(mutants.REASONS.rglob("*.toml"))


def name(path):
    """The module that a list is about."""
    return path.relative_to(mutants.REASONS).with_suffix("").as_posix()


@pytest.mark.parametrize("path", LISTS, ids=name)
def test_survivors_are_changes_of_lines_that_exist(path):
    """Each has a reason, each changes something, and each changes lines of its module; none stands there twice."""
    sources = [ROOT / "helpers" / f"{name(path)}.py", *(ROOT / "helpers" / name(path)).glob("*.py")]
    lines = {line.strip() for source in sources if source.exists() for line in source.read_text("utf-8").splitlines()}
    listed = read_toml(path)["survivor"]
    for one in listed:
        assert one["why"] and one["was"] != one["now"], one
        assert set(one["was"].split("\n")) <= lines, one
    assert len({(one["function"], one["was"], one["now"]) for one in listed}) == len(listed)


def test_every_module_has_tests_to_judge_it():
    """The tests of helpers/a/b.py are tests/a/test_b.py or stand in ALSO, which names modules and tests that exist."""
    assert [module for module in mutants.modules() if not mutants.tests_of(module)] == []
    judged = {module for modules in mutants.ALSO.values() for module in modules}
    assert judged | set(map(name, LISTS)) <= set(mutants.modules())
    assert all(map(mutants.find_test, [*mutants.ALSO, *mutants.LEFT_OUT]))
    assert {"exercises", "__init__"} <= set(mutants.modules()) and "__main__" not in mutants.modules()


@pytest.mark.parametrize(
    ("module", "mutant", "function"),
    [
        ("layout", "helpers.layout.x_distinct__mutmut_1", "distinct"),
        ("cli/options", "helpers.cli.options.x__tall__mutmut_12", "_tall"),
        ("hierarchy", "helpers.hierarchy.xǁHierarchyǁfrom_frame__mutmut_3", "Hierarchy.from_frame"),
        ("exercises", "helpers.exercises.chapter06.x__three__mutmut_2", "chapter06._three"),
        ("__init__", "helpers.x___getattr____mutmut_2", "__getattr__"),
        ("cli/__init__", "helpers.cli.x_main__mutmut_2", "main"),
    ],
)
def test_a_mutant_is_known_by_its_function_and_lines(module, mutant, function):
    """A list does not change when its module moves: functions are named within it."""
    diff = "--- a\n+++ b\n-    x = 1\n+    x = 2\n"
    assert mutants.describe(module, mutant, diff) == (function, "x = 1", "x = 2")
