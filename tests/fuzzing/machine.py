"""Draw the arguments of a call, spoil some of them, call, and judge what happens.

A case is known by its target and its number, so it can be run again alone: `python -m fuzzing uniform 1234`. Arguments are
first drawn as they should be; in most cases one or two are then spoilt. What may happen:

- all arguments right: an answer, which the target's oracle has to find right;
- some spoilt: a sentence that names an argument, raised by the helpers themselves as ValueError or TypeError; or an answer,
  if what was drawn is still a number (a Fraction, a Series), and the oracle has to find it right.

Anything else is a finding: another error, a warning, a refusal of what is right, a wrong answer, more than TOO_LONG seconds.
"""

import signal
import traceback
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from numbers import Real
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

HELPERS = Path(__file__).resolve().parent.parent.parent / "helpers"
TOO_LONG = 30  # seconds, for one call on a busy machine
NAN, INF = float("nan"), float("inf")

# Values that somebody might pass by accident or on purpose, as they are: most are no numbers.
ODD = [
    None, True, False, NAN, INF, -INF, -1, -0.0, 0, 10**400, -(10**400), 2**63, 1e308, 5e-324, "", "1", b"1", "ε\x00\n", 1j,
    [], [[]], (), {}, {"a": 1}, set(), object(), int, len, Fraction(1, 3), Decimal("0.5"), pd.NA, pd.NaT,
    datetime(2020, 4, 1), np.datetime64("2020-04-01"), np.array(2.0), np.array([]), np.array([[1, 2], [3, 4]]),
    np.array(["a"]), np.array([True]), np.array([1 + 1j]), np.ma.masked_array([1.0, 2.0], [True, False]),
    pd.Series([1.0, 2.0], index=["b", "a"]), pd.DataFrame(), iter([1, 2]), range(3), slice(1), np.float16(1.5), np.int8(3),
    [None], [1, "2"], [[1], [1, 2]], [NAN], [True, False], ["state"], np.bool_(True), [10**400], [object()], {1.0, 2.0},
    "wyoming", Path("x"), Exception("x"),
]  # fmt: skip


class Draw(Random):
    """A source of arguments; the same name and number give the same ones on every machine."""

    spoilt = False  # a maker sets this to True when it has spoilt what it drew, such as the bytes of a file

    def power(self, low: float, high: float) -> float:
        """10 to a power, evenly between the two."""
        return 10.0 ** self.uniform(low, high)

    def odd(self, right: Any) -> Any:
        """Something else than `right`: a value from the list, or `right` with something done to it."""
        if isinstance(right, (list, tuple, np.ndarray)) and len(right) and self.random() < 0.7:
            return self.bent(list(right))
        if isinstance(right, str) and self.random() < 0.5:
            return self.choice([right.upper(), right + " ", right[:-1], [right], right.encode()])
        if isinstance(right, Real) and self.random() < 0.3:
            return self.choice([-right, Fraction(right), np.array(right), [right], str(right), complex(right), right * 1e30])
        return copy(self.choice(ODD))

    def bent(self, items: list) -> Any:
        """A list with an entry spoilt, lost or doubled, or in another form."""
        at = self.randrange(len(items))
        return self.choice([
            lambda: [*items[:at], self.odd(items[at]), *items[at + 1 :]],
            lambda: [*items[:at], *items[at + 1 :]],
            lambda: [*items, items[at]],
            lambda: tuple(items),
            lambda: [items],
            lambda: np.array(items, dtype=object) if len({np.shape(item) for item in items}) == 1 else items[::-1],
            lambda: pd.Series(items, index=range(len(items), 0, -1)),
            lambda: dict(enumerate(items)),
        ])()  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A function to call: how to draw each argument, and an oracle for its answers.

    An argument's maker takes a Draw and the arguments drawn before it. `check` takes the answer and them; it returns
    False if the answer is itself a refusal, such as an exit code of 2.
    `flat` names the arguments that are not numbers, whose odd values may be fine (labels, seeds): `check` sees them so.
    """

    call: Callable
    arguments: Mapping[str, Callable[[Draw, dict], Any]]
    check: Callable[..., None]
    words: tuple[str, ...] = ()  # what a message may name beside the arguments
    promised: tuple[type[Exception], ...] = (ValueError, TypeError)
    flat: frozenset[str] = field(default_factory=frozenset)
    spoil: frozenset[str] | None = None  # which arguments may be spoilt; all, unless told


class Finding(AssertionError):
    """Something that must not happen, with the case in which it did."""


def run_case(name: str, target: Target, number: int) -> bool:
    """Run a case; True if the call was answered, False if it was refused. Raises a Finding."""
    draw = Draw(f"{name} {number}")
    arguments: dict[str, Any] = {}
    for argument, make in target.arguments.items():
        arguments[argument] = make(draw, arguments)
    spoilable = [argument for argument in arguments if target.spoil is None or argument in target.spoil]
    spoilt = draw.sample(spoilable, min(len(spoilable), draw.choice([0, 0, 1, 1, 1, 2])))
    for argument in spoilt:
        arguments[argument] = draw.odd(arguments[argument])

    def finding(what: str) -> Finding:
        shown = "\n".join(f"  {k}{' (spoilt)' if k in spoilt else ''} = {_show(v)}" for k, v in arguments.items())
        return Finding(f"{name} {number}: {what}\n{shown}")

    try:
        with time_limit(TOO_LONG), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = target.call(**arguments)
    except target.promised as error:
        wrong = spoilt or draw.spoilt
        problem = _unkept_promise(error, [*arguments, *target.words]) if wrong else "refused, though all was right"
        if problem:
            raise finding(f"{problem}\n{_trace(error)}") from None
        return False
    except Exception as error:
        raise finding(_trace(error)) from None
    try:
        plain = {k: _plain(v) if k in spoilt and k not in target.flat else v for k, v in _not_default(target, arguments)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an oracle may divide by zero where the helpers do not
            return target.check(found, **arguments | plain) is not False
    except Exception as error:
        raise finding(f"answered {_show(found)}, and that is wrong:\n{_trace(error)}") from None


def _unkept_promise(error: Exception, words: list[str]) -> str:
    """What is wrong with a refusal: it must be the helpers' own, and name an argument."""
    frames = traceback.extract_tb(error.__traceback__)
    if HELPERS not in Path(frames[-1].filename).resolve().parents:
        return "refused by something below the helpers"
    if not any(word in str(error) for word in words):
        return f"refused without naming any of {', '.join(words)}"
    return ""


def _not_default(target: Target, arguments: dict) -> list[tuple[str, Any]]:
    """The arguments that are not simply left at None."""
    known = signature(target.call).parameters
    return [(k, v) for k, v in arguments.items() if not (v is None and k in known and known[k].default is None)]


def _plain(value: Any) -> Any:
    """A number or nested lists of numbers as what they are; anything else must not have been accepted."""
    if isinstance(value, (bool, np.bool_)) or value is None:
        raise AssertionError(f"{value!r} was accepted as a number")
    if isinstance(value, Real):
        return value
    if isinstance(value, pd.DataFrame):
        return value.to_numpy(dtype=np.float64)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _plain(value[()])
    if isinstance(value, (list, tuple, np.ndarray, pd.Series, range)):
        return [_plain(item) for item in value]
    raise AssertionError(f"{value!r} was accepted as a number")


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 600 else text[:600] + "…"


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error)[-6:])


class time_limit:
    """Raise TimeoutError in the block after some seconds."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def late(*_):
            raise TimeoutError(f"not done after {self.seconds} s")

        self.before = signal.signal(signal.SIGALRM, late)
        signal.alarm(self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)
