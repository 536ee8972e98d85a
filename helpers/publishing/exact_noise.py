"""Exact noise in whole numbers, from OpenDP: the only file that knows that library.

    eps: budget of the level · sensitivity: the most that a neighbour moves a level's counts, all together, in people
    scale = sensitivity / eps, in people · P(noise = k) ∝ exp(−|k|/scale) for every whole k

The noise comes from a cryptographic generator and has no seed to give: whoever knows a seed can take the noise off again.
OpenDP (0.16) asks OpenSSL for random bits, which has a generator for each thread, all seeded by way of the operating
system's, and seeded anew in a process that was forked. So no thread repeats the noise of another, and a draw is cut into
chunks that share nothing. Random bits take most of the time: a scale rounded to 20 binary digits would save 2%, so none is.
"""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Any

import numpy as np

from .. import checks
from .progress import progress

_CHUNK = 1 << 13  # counts a call: so few that a draw stops within a tenth of a second, and so many that calls cost nothing


@dataclass(frozen=True)
class Noise:
    """Discrete Laplace noise for counts that a neighbour moves by `sensitivity` in all; `epsilon` is what OpenDP proves."""

    sensitivity: int
    scale: float
    epsilon: Fraction
    measurement: Any

    @classmethod
    def of(cls, sensitivity: int, eps: float | Fraction) -> "Noise":
        """The least noise, to the last bit, whose privacy map stays within `eps`; `add` draws it.

        >>> noise = Noise.of(sensitivity=1, eps=0.5)
        >>> noise.scale, noise.measurement.map(1)
        (2.0, 0.5)
        """
        sensitivity, budget = checks.whole("sensitivity", sensitivity, least=1), checks.fraction("eps", eps)
        dp = opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        scale = sensitivity / float(budget)
        for _ in range(100):  # two or three bits are enough
            measurement = dp.m.make_laplace(*space, scale=scale)
            if Fraction(measurement.map(sensitivity)) <= budget:
                return cls(sensitivity, scale, budget, measurement)
            scale = nextafter(scale, inf)  # the map rounds up, so a scale that is right may seem a bit too small
        raise RuntimeError(f"OpenDP proves ε = {float(budget)} at no scale below {scale}")

    @property
    def reach(self) -> int:
        """The most that the noise moves a count, in people: 64 scales, which fewer than one draw in 10²⁷ exceeds.

        >>> Noise.of(sensitivity=1, eps=0.5).reach
        128
        """
        return ceil(64 * self.scale)

    def add(self, counts: np.ndarray) -> np.ndarray:
        """The counts, an int64 array, with fresh noise on each, drawn on all cores; a failure or Ctrl-C stops them all.

        >>> Noise.of(1, 40).add(np.array([3, 0, 7]))  # at such an ε the noise is zero but once in 10¹⁷
        array([3, 0, 7])
        """
        noisy = np.empty(len(counts), dtype=np.int64)
        chunks = [slice(start, start + _CHUNK) for start in range(0, len(counts), _CHUNK)]

        def draw(chunk: slice) -> int:
            noisy[chunk] = self.measurement(counts[chunk])  # the interpreter is free for other threads meanwhile
            return len(counts[chunk])

        pool = ThreadPoolExecutor(_cores(), thread_name_prefix="noise")
        try:
            drawn = as_completed([pool.submit(draw, chunk) for chunk in chunks])
            with progress("noise", len(counts), " counts") as bar:
                for done in drawn:
                    bar.update(done.result())
        finally:
            pool.shutdown(cancel_futures=True)  # waits for the chunks under way only
        return noisy


def _cores() -> int:
    """How many cores this process may use, which can be fewer than the machine has."""
    allowed = getattr(os, "sched_getaffinity", None)  # only Linux knows
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def opendp() -> Any:
    """The library, with the features that this file uses switched on; if it is missing, a sentence says what to install."""
    try:
        import opendp.prelude as dp
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "exact noise needs OpenDP, which is not installed: pip install opendp (there is none for the browser)"
        ) from None
    dp.enable_features("contrib")
    return dp


def opendp_version() -> str:
    """The version of OpenDP that is installed."""
    from importlib.metadata import version

    return version("opendp")
