"""The laws of this folder see what they should, and every public function has one."""

import re
import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from support import laws
from support.laws import Spoilt, law

import helpers
from helpers import checks

# Public names without a law of their own name, and why.
ELSEWHERE = {
    "Allocation": "made by the rules, never by hand",
    "PrivateRelease": "made by private_release; its save has a law",
    "simulate_with": "takes a function; simulate draws through the same code",
    "downstream": "a module; its functions have laws",
    "experiments": "a module; its functions have laws",
    "Hierarchy": "from_counts and from_frame",
    "tree_from_table": "tests/tables/test_sums.py draws tables for every way that rows may lie",
    **dict.fromkeys(["bias", "variance", "mse"], "closed_forms"),
    **dict.fromkeys(["LAPLACE", "DISCRETE_LAPLACE", "GAUSSIAN"], "closed_forms_of_each_mechanism, noise_variance"),
}


def test_every_public_function_has_a_law():
    """Whoever adds a public name adds a law about it, or says why not."""
    sources = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    made = r"^(?:@law\((?:.|\n(?!\n))*?^def )?test_(\w+)(?:\(| = law\()"
    named = {name for text in sources for name in re.findall(made, text, re.M)}
    assert sorted(name for name in helpers.__all__ if name.lower() not in named and name not in ELSEWHERE) == []


FAULTS = {  # instead of half of n: what is called, with what, and what the law says to it
    "a good value refused": (lambda n: laws.raises(ValueError("not n")), 7, AssertionError, "refused, though all was right"),
    "a wrong answer": (lambda n: 4.5, 8, AssertionError, "== 8"),
    "another error": (lambda n: n.missing, 1, AttributeError, "missing"),
    "a warning": (lambda n: warnings.warn("nine", stacklevel=1), 9, UserWarning, "nine"),
    "no end": (lambda n: time.sleep(5), 10, TimeoutError, "not done"),
    "an argument written to": (lambda n: n.clear(), [1], AssertionError, "written to"),
    "a refusal that is none of the helpers": (
        lambda n: laws.raises(ValueError("n must be a number")), Spoilt("x"), AssertionError, "below the helpers"
    ),
    "a refusal without a name": (
        lambda n: checks.positive("m", n), Spoilt("x"), AssertionError, "without naming any of n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_law_sees(fault, monkeypatch):
    """Each kind of fault breaks a law."""
    monkeypatch.setattr(laws, "TOO_LONG", 0.02)
    call, value, error, words = FAULTS[fault]

    @law(call, n=st.just(value).map(copy), spoil=())
    def about_half(found, n):
        assert found * 2 == n

    with pytest.raises(error, match=words):
        about_half()


@pytest.mark.parametrize("value", [None, True, np.bool_(True), "1", b"1", [1, True], {}], ids=repr)
def test_what_is_no_number_must_not_pass_for_one(value):
    """An answer to such an argument breaks the law."""
    with pytest.raises(AssertionError, match="accepted as a number"):
        laws.plain(value)


def test_a_law_that_cannot_fail_is_noticed():
    """A judge that takes anything is found out; one that looks is not."""
    about_half = law(lambda n: n / 2, n=st.just(4), spoil=())
    assert about_half(lambda found, n: None).unnoticed() == ["no answer at all"]
    assert about_half(lambda found, n: found * 2 == n or laws.raises(AssertionError())).unnoticed() == []
