"""Refuse bad input with a sentence that names the argument, its value and what would be right."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite
from numbers import Integral, Rational, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

# Counts, budgets, weights and variances beyond these have squares that a double cannot hold.
LEAST, MOST = 1e-150, 1e150
MOST_TRIALS = 10**12  # would run for years

Numbers = Sequence[float] | np.ndarray
Seed = int | np.random.Generator | np.random.SeedSequence | None


def positive(name: str, value: Any) -> float:
    """Return `value` as a float if it is a finite number above zero.

    >>> positive("total", 2)
    2.0
    >>> positive("total", -1)
    Traceback (most recent call last):
    ValueError: total must be a finite number above zero, got -1
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a finite number above zero, got {value!r}")
    number = _float(value)
    if not isfinite(number) or number <= 0:
        raise ValueError(f"{name} must be a finite number above zero, got {value}")
    return between(name, number, LEAST, MOST)


def fraction(name: str, value: float | Fraction) -> Fraction:
    """Return a positive number as a fraction; a float is taken for the decimal that it prints.

    >>> fraction("eps", 0.1)
    Fraction(1, 10)
    """
    number = positive(name, value)
    return Fraction(int(value.numerator), int(value.denominator)) if isinstance(value, Rational) else Fraction(repr(number))


def between(name: str, number: float, least: float, most: float) -> float:
    """Return `number` if it is not so small or large that doubles fail.

    >>> between("total", 1e-200, 1e-40, 1e40)
    Traceback (most recent call last):
    ValueError: total must be between 1e-40 and 1e+40, got 1e-200
    """
    if not least <= number <= most:
        raise ValueError(f"{name} must be between {least:g} and {most:g}, got {number:g}")
    return number


def flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False: any other text or number would be taken for one of them by accident.

    >>> flag("consistent", "no")
    Traceback (most recent call last):
    TypeError: consistent must be True or False, got 'no'
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def not_negative(name: str, value: Any) -> float:
    """Return `value` as a float if it is a finite number of zero or more.

    >>> not_negative("total", float("nan"))
    Traceback (most recent call last):
    ValueError: total must be finite, got nan
    """
    array = numbers(name, value)
    if array.ndim:
        raise TypeError(f"{name} must be a single number, got an array of shape {array.shape}")
    refuse_if_any(name, "zero or more", array, array < 0)
    return float(array)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` as an int if it is a whole number of at least `least` and, if given, at most `most`.

    >>> whole("trials", 1, least=2)
    Traceback (most recent call last):
    ValueError: trials must be a whole number of at least 2, got 1
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number of at least {least}, got {value!r}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be a whole number of at most {most:,}, got {value}")
    return number


def numbers(name: str, values: Any) -> np.ndarray:
    """Return `values` as an array of real, finite numbers; whole numbers stay whole.

    >>> numbers("counts", [1, 2])
    array([1, 2])
    >>> numbers("counts", ["a", 2])
    Traceback (most recent call last):
    TypeError: counts must be numbers, got 'a'
    """
    array = _as_array(name, values)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a wider float may be too large for a double, which is then infinite
            array = array.astype(np.float64, copy=False)
        refuse_if_any(name, "finite", array, ~np.isfinite(array))
        return array
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        return array.astype(np.float64)  # as an int64 it would turn negative
    return array.astype(np.int64, copy=False)


def counts(name: str, values: Any) -> np.ndarray:
    """Return `values` as an array of finite numbers that are not negative.

    >>> counts("n", [3, -1])
    Traceback (most recent call last):
    ValueError: n must be zero or more, got -1 at index 1
    """
    array = numbers(name, values)
    refuse_if_any(name, "zero or more", array, array < 0)
    if array.dtype.kind == "f":
        refuse_if_any(name, f"at most {MOST:g}", array, array > MOST)
    return array


def positives(name: str, values: Any) -> np.ndarray:
    """Return `values` as an array of finite floats above zero.

    >>> positives("eps", [0.5, 0])
    Traceback (most recent call last):
    ValueError: eps must be above zero, got 0.0 at index 1
    """
    array = numbers(name, values).astype(np.float64)
    refuse_if_any(name, "above zero", array, array <= 0)
    return all_between(name, array, LEAST, MOST)


def all_between(name: str, array: np.ndarray, least: float, most: float) -> np.ndarray:
    """`between` for every entry of an array.

    >>> all_between("eps", np.array([1.0, 1e99]), 1e-60, 1e60)
    Traceback (most recent call last):
    ValueError: eps must be between 1e-60 and 1e+60, got 1e+99 at index 1
    """
    refuse_if_any(name, f"between {least:g} and {most:g}", array, (array < least) | (array > most))
    return array


def per_level(name: str, values: Any, levels: Sequence[str], unmeasured: float | None = None) -> np.ndarray:
    """Return `values` as floats above zero, one for each of `levels`.

    If given, `unmeasured` (a budget of 0, a variance of inf) stands for a level that is not measured: any but the lowest.

    >>> per_level("weights", [1, 1], ["state", "tract", "block"])
    Traceback (most recent call last):
    ValueError: weights must have one entry for each of the 3 levels (state, tract, block), got 2
    >>> per_level("eps", [0, 1], ["state", "block"], unmeasured=0.0)
    array([0., 1.])
    """
    array = _as_array(name, values)
    skipped = np.zeros(array.shape, dtype=bool) if unmeasured is None else array == unmeasured
    array = positives(name, np.where(skipped, 1.0, array) if skipped.any() else values)
    if array.shape != (len(levels),):
        got = array.size if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"{name} must have one entry for each of the {len(levels)} levels ({', '.join(levels)}), got {got}")
    if skipped[-1:].any():
        got = f"{unmeasured} at index {len(levels) - 1}"
        raise ValueError(f"{name} must measure the lowest level, {levels[-1]}, which is no sum of others, got {got}")
    array[skipped] = unmeasured
    return array


def fitting(**arrays: np.ndarray) -> None:
    """Refuse arrays, given by name, whose shapes do not broadcast.

    >>> fitting(n=np.zeros(2), eps=np.ones(3))
    Traceback (most recent call last):
    ValueError: n and eps must have shapes that broadcast, got (2,) and (3,)
    """
    shapes = [array.shape for array in arrays.values()]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        got = " and ".join(map(str, shapes))
        raise ValueError(f"{' and '.join(arrays)} must have shapes that broadcast, got {got}") from None


def one_of(name: str, value: Any, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`.

    >>> one_of("tree", "oak", ["published", "populated"])
    Traceback (most recent call last):
    ValueError: tree must be one of published, populated, got 'oak'
    """
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(options)}, got {value!r}")
    return value


def generator(seed: Seed) -> np.random.Generator:
    """Return a random generator from a seed: a whole number, a Generator, a SeedSequence, or None for a fresh one.

    >>> generator(-1)
    Traceback (most recent call last):
    ValueError: seed must be a whole number of at least 0, got -1
    """
    if seed is None or isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(whole("seed", seed, least=0))


def path(name: str, value: Any) -> Path:
    """Return `value` as a path if it can be one.

    >>> path("folder", 7)
    Traceback (most recent call last):
    TypeError: folder must be a path, as text or a Path, got 7
    """
    if not isinstance(value, str | PathLike):
        raise TypeError(f"{name} must be a path, as text or a Path, got {value!r}")
    if "\0" in str(value):
        raise ValueError(f"{name} must be a path, which has no null character, got {str(value)!r}")
    return Path(value)


def _as_array(name: str, values: Any) -> np.ndarray:
    if _misleads(values):
        raise TypeError(f"{name} must be numbers, got {values!r}")
    try:
        array = np.asarray(values)
    except ValueError:  # ragged nesting has no rectangular array
        raise TypeError(f"{name} must be a plain array of numbers, got {values!r}") from None
    if array.dtype.kind in "iuf":
        return array
    if array.dtype.kind == "O":  # pandas keeps missing values and mixed columns as objects
        values = [_number(name, v) for v in array.ravel()]
        fits = all(isinstance(v, Integral) and abs(int(v)) <= np.iinfo(np.int64).max for v in values)
        plain = np.array(values, dtype=np.int64) if fits else np.array([_float(v) for v in values])
        return plain.reshape(array.shape)
    first = array.ravel()[0] if array.size else values
    raise TypeError(f"{name} must be numbers, got {first.item() if isinstance(first, np.generic) else first!r}")


def _misleads(values: Any) -> bool:
    """Does it hold what NumPy would take for a number: True in a list for 1, or the number under a mask?"""
    if isinstance(values, (list, tuple)):
        return any(map(_misleads, values))
    return isinstance(values, (bool, np.bool_)) or np.ma.is_masked(values)


def _number(name: str, value: Any) -> Real | float:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return float("nan")  # refused as not finite, with its index, by `numbers`
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be numbers, got {value!r}")
    return value


def _float(value: Real | float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number or a fraction beyond the largest float
        return -inf if value < 0 else inf


def refuse_if_any(name: str, right: str, array: np.ndarray, wrong: np.ndarray) -> None:
    """Refuse an array if any entry is marked as wrong, with the first such entry and its index.

    >>> refuse_if_any("n", "even", np.array([2, 3]), np.array([False, True]))
    Traceback (most recent call last):
    ValueError: n must be even, got 3 at index 1
    """
    if not wrong.any():
        return
    index = np.unravel_index(wrong.argmax(), array.shape)
    where = f" at index {', '.join(map(str, index))}" if index else ""
    raise ValueError(f"{name} must be {right}, got {array[index]}{where}")
