"""Laws of calls: arguments are drawn as they should be, then some are spoilt, and only these things may happen.

- All is right: an answer, which the law's judge has to find right.
- Something is spoilt: one sentence that names an argument, raised by the helpers themselves as ValueError or TypeError;
  or an answer, if what was drawn is still a number (a Fraction, a Series), and the judge has to find it right.

Anything else breaks the law: another error, a warning, a refusal of what is right, a wrong answer, an argument that was
written to, more than TOO_LONG seconds.

    @law(helpers.uniform, hierarchy=trees(), total=amounts())
    def test_uniform(found, hierarchy): ...            the judge: takes the answer, and by name the arguments that it needs
"""

import re
import signal
import traceback
import warnings
from collections import namedtuple
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from helpers import Hierarchy

HELPERS = Path(__file__).resolve().parents[2] / "helpers"
TOO_LONG = 30  # seconds, for one call on a busy machine
NAN, INF = float("nan"), float("inf")
REFUSALS = (ValueError, TypeError)
# Arguments that are no numbers: what is odd about them may be fine, and the judge sees them as they are.
NO_NUMBERS = frozenset(
    "hierarchy truth mechanism seed weight consistent levels parents columns count budgets_from neighbours bounded_by "
    "nodes_from name rule state source tree year".split()
)
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


def odd(right):
    """Something else than `right`: a value from the list, or `right` with something done to it."""
    listed = st.sampled_from(ODD).map(copy)
    if isinstance(right, (list, tuple, np.ndarray)) and len(right):
        return bent(list(right)) | bent(list(right)) | listed
    if isinstance(right, dict) and right:
        without = st.sampled_from([*right]).map(lambda key: {k: v for k, v in right.items() if k != key})
        spoilt = st.sampled_from([*right]).flatmap(lambda key: odd(right[key]).map(lambda value: right | {key: value}))
        return without | spoilt | spoilt | listed
    if isinstance(right, str):
        return st.sampled_from([right.upper(), right + " ", right[:-1], [right], right.encode()]) | listed
    if isinstance(right, Real):
        forms = [-right, Fraction(right), np.array(right), [right], str(right), complex(right), right * 1e30]
        return st.sampled_from(forms) | listed | listed
    return listed


@st.composite
def bent(draw, items):
    """A list with an entry spoilt, lost or doubled, or in another form."""
    at = draw(st.integers(0, len(items) - 1))
    return draw(st.sampled_from([
        lambda: [*items[:at], draw(odd(items[at])), *items[at + 1 :]],
        lambda: [*items[:at], *items[at + 1 :]],
        lambda: [*items, items[at]],
        lambda: tuple(items),
        lambda: [items],
        lambda: np.array(items, dtype=object) if len({np.shape(item) for item in items}) == 1 else items[::-1],
        lambda: pd.Series(items, index=range(len(items), 0, -1)),
        lambda: dict(enumerate(items)),
    ]))()  # fmt: skip


Spoilt = namedtuple("Spoilt", "value")  # a drawn value that is wrong by itself, as the bytes of a broken file are
Case = namedtuple("Case", "arguments spoilt wrong")  # wrong: whether anything is, an argument or what is in it


@st.composite
def cases(draw, arguments, spoil):
    """Arguments as they should be, then in most cases one or two of them spoilt."""
    names = [name for name in arguments if spoil is None or name in spoil]
    many = min(len(names), draw(st.sampled_from([0, 0, 1, 1, 1, 2])))
    spoilt = draw(st.lists(st.sampled_from(names), min_size=many, max_size=many, unique=True)) if many else []
    drawn, wrong = {}, False
    for name, make in arguments.items():
        value = draw(make if isinstance(make, st.SearchStrategy) else make(drawn))
        wrong |= isinstance(value, Spoilt)
        drawn[name] = value.value if isinstance(value, Spoilt) else value
    for name in spoilt:
        drawn[name] = draw(odd(drawn[name]))
    return Case(drawn, spoilt, wrong or bool(spoilt))


def law(call, /, *, pool=None, words=(), promised=REFUSALS, spoil=None, no_numbers=NO_NUMBERS, share=1, **arguments):
    """Make the judge below a law about `call`.

    An argument is a strategy, or a function from the arguments drawn before it to one; of `pool`, those are drawn too that
    the call has. `spoil`: which of them may be spoilt, all unless told; `words`: what a refusal may name beside them;
    `promised`: the errors that are refusals; `share`: how many functions the law stands for.
    """
    parameters = signature(call).parameters
    arguments = {name: make for name, make in (pool or {}).items() if name in parameters} | arguments
    signature(call).bind(**arguments)  # a name that the call does not know is an error here

    def decorate(judge):
        def test(call, **options):
            def holds(case):
                answered, found = outcome(call, case, promised, [*arguments, *words])
                event("answered" if answered else "refused")
                if answered:
                    left_out = {k for k, p in parameters.items() if p.default is None and case.arguments.get(k) is None}
                    numbers = {k: plain(case.arguments[k]) for k in {*case.spoilt} - no_numbers - left_out}
                    wanted = {k: v for k, v in (case.arguments | numbers).items() if k in signature(judge).parameters}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # a judge may divide by zero where the helpers do not
                        judge(found, **wanted)

            holds.__name__, holds.__doc__, holds.__module__ = judge.__name__, judge.__doc__, judge.__module__
            return settings(suppress_health_check=list(HealthCheck), **options)(given(case=cases(arguments, spoil))(holds))

        found = test(call, max_examples=2 * share * settings().max_examples)
        found.judge, found.unnoticed = judge, lambda: [name for name, fault in FAULTS.items() if not fails(test, fault)]
        return found

    return decorate


def outcome(call, case, promised, names):
    """(whether the call was answered, the answer); raises if what happened is neither an answer nor a good refusal."""
    before = contents(case.arguments)
    try:
        with time_limit(TOO_LONG), warnings.catch_warnings():
            warnings.simplefilter("error")
            return True, call(**case.arguments)
    except promised as error:
        assert case.wrong, "refused, though all was right"
        source = Path(traceback.extract_tb(error.__traceback__)[-1].filename).resolve()
        assert HELPERS in source.parents, "refused by something below the helpers"
        named = re.search(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)", str(error))
        assert named, f"refused without naming any of {', '.join(names)}"
        return False, None
    finally:
        assert contents(case.arguments) == before, "an argument was written to"


def raises(error):
    raise error


FAULTS = {
    "no answer at all": lambda **_: object(),
    "another error": lambda **_: raises(AttributeError("missing")),
    "a refusal of everything": lambda **_: raises(ValueError("no")),
}


def fails(test, fault):
    """Does a law fail if something else is called?"""
    try:
        test(fault, max_examples=50, derandomize=True, database=None, phases=[Phase.generate])()
    except Exception:
        return True
    return False


def contents(value):
    """What an argument holds, to see later whether it was written to."""
    if isinstance(value, Hierarchy):
        value = [value.levels, value.counts, value.parents]
    if isinstance(value, dict):
        return [(key, contents(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [contents(item) for item in value]
    if isinstance(value, (np.ndarray, pd.Series, pd.DataFrame)):
        array = np.asarray(value)  # of objects, it holds where they lie; text may lie elsewhere each time it is asked for
        return array.shape, repr(array.tolist()) if array.dtype == object else array.tobytes()
    return value


def plain(value):
    """A number, or nested lists of numbers; anything else must not have been accepted as such."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, Real) and not isinstance(value, bool):
        return value
    if isinstance(value, pd.DataFrame):
        return value.to_numpy(dtype=np.float64)
    assert isinstance(value, (list, tuple, np.ndarray, pd.Series, range)), f"{value!r} was accepted as a number"
    return [plain(item) for item in value]


@contextmanager
def time_limit(seconds):
    """Raise TimeoutError in the block after some seconds."""
    before = signal.signal(signal.SIGALRM, lambda *_: raises(TimeoutError(f"not done after {seconds} s")))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
