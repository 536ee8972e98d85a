"""Simulated noise: fast, reproducible from a seed, drawn with floating-point numbers. Never publish anything with it.

    rng: a NumPy Generator · out: the array that is filled, so that a simulation allocates nothing
"""

import numpy as np

# (256, 8) the bits of every byte as signs: one look-up turns a random byte into eight random signs.
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)


def simulated_laplace(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with Laplace noise, for simulation only: exponential sizes with random signs, without a logarithm.

    >>> noise = np.empty(1000)
    >>> simulated_laplace(np.random.default_rng(1), 2.0, noise)
    >>> float(np.abs(noise).mean().round(1))  # the mean size is the scale
    2.0
    """
    rng.standard_exponential(out=out)
    coins = np.frombuffer(rng.bytes(-(-out.size // 8)), dtype=np.uint8)
    out *= (scale * _SIGNS).take(coins, axis=0).ravel()[: out.size]


def simulated_discrete_laplace(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with whole numbers k of probability ∝ exp(−|k|/scale), for simulation only.

    An exponential number rounded down is geometric, and the difference of two geometric numbers is discrete Laplace.

    >>> noise = np.empty(1000)
    >>> simulated_discrete_laplace(np.random.default_rng(1), 1.0, noise)
    >>> bool((noise == noise.round()).all())
    True
    """
    rng.standard_exponential(out=out)
    out *= scale
    np.floor(out, out=out)
    out -= np.floor(scale * rng.standard_exponential(out.size))


def simulated_gaussian(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with normal noise of standard deviation `scale`, for simulation only.

    >>> noise = np.empty(1000)
    >>> simulated_gaussian(np.random.default_rng(1), 2.0, noise)
    >>> float(noise.std().round(0))
    2.0
    """
    rng.standard_normal(out=out)
    out *= scale
