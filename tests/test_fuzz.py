"""The first cases of `make fuzz` for every target, and that the machine sees what it should."""

import inspect
import warnings

import pytest
from fuzzing import TARGETS
from fuzzing.machine import Finding, Target, run_case

import helpers

CASES = 250  # of each target; `make fuzz` runs thousands
# Public names with no case of their own, and why.
ELSEWHERE = {
    "Allocation": "made by the rules, never by hand",
    "PrivateRelease": "made by private_release",
    "simulate_with": "takes a function; simulate draws through the same code",
    "downstream": "a module; its functions have cases",
    "experiments": "a module; its functions have cases",
    **dict.fromkeys(["LAPLACE", "DISCRETE_LAPLACE", "GAUSSIAN"], "their methods have cases, by the name of the noise"),
    "Hierarchy": "from_counts and from_frame",
}


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_no_case_finds_anything(name):
    """Right arguments get a right answer, spoilt ones a sentence that names them, and nothing else happens."""
    for number in range(CASES):
        run_case(name, TARGETS[name], number)


def test_every_public_function_has_cases():
    """Whoever adds a public name adds a target, or says why not."""
    assert sorted(set(helpers.__all__) - set(TARGETS) - set(ELSEWHERE)) == []


def half(n):
    """A function with faults: refuses 7, is wrong for 8, warns of 9, breaks on text, and says nothing useful of None."""
    if isinstance(n, str):
        return len(n.missing)
    if n is None:
        raise ValueError("no")
    if n == 7:
        raise ValueError("n must not be 7")
    if n == 9:
        warnings.warn("nine", stacklevel=1)
    return 4.5 if n == 8 else n / 2


FAULTS = {
    "a good value refused": (7, "refused, though all was right"),
    "a wrong answer": (8, "that is wrong"),
    "another error": ("text", "AttributeError"),
    "a warning": (9, "UserWarning"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_machine_sees(fault):
    """Each kind of fault is a finding, and it names the case."""
    value, words = FAULTS[fault]

    def check(found, n):
        assert found * 2 == n

    with pytest.raises(Finding, match=words) as caught:
        run_case("half", Target(half, {"n": lambda draw, _: value}, check, spoil=frozenset()), 1)
    assert str(caught.value).startswith("half 1: ") and "n = " in str(caught.value)


def test_the_machine_sees_a_refusal_that_is_none_of_the_helpers():
    """An error from below the helpers is a finding even if its type is right."""
    target = Target(lambda n: half(None), {"n": lambda draw, _: 1}, lambda found, n: None)
    spoilt = next(number for number in range(50) if _found(target, number))
    with pytest.raises(Finding, match=r"n \(spoilt\)"):
        run_case("half", target, spoilt)


def _found(target, number):
    try:
        run_case("half", target, number)
    except Finding as finding:
        return "(spoilt)" in str(finding)
    return False


def test_cases_are_the_same_on_every_machine():
    """A case is known by its target and number: its arguments do not change from run to run."""
    seen = []
    target = Target(lambda n: n, {"n": lambda draw, _: draw.random()}, lambda found, n: seen.append(n), spoil=frozenset())
    for _ in range(2):
        run_case("twice", target, 3)
    assert seen == [0.22020872117177626] * 2


def test_targets_call_what_they_name():
    """A target's arguments are parameters of what it calls."""
    for name, target in TARGETS.items():
        parameters = inspect.signature(target.call).parameters
        assert set(target.arguments) <= set(parameters), name
