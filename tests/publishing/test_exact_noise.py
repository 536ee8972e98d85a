"""Exact noise: the right distribution, a privacy map that keeps its word, and a helpful sentence where OpenDP is missing."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from unittest.mock import ANY, MagicMock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.refusals import refusal

from helpers.publishing import exact_noise
from helpers.publishing.exact_noise import Noise, opendp, opendp_version


@given(st.integers(1, 5), st.one_of(st.integers(1, 10**7).map(lambda n: n / 10**6), st.floats(1e-6, 20)))
def test_the_privacy_map_stays_within_the_budget(sensitivity, eps):
    """What OpenDP proves for neighbours at that distance is at most eps, as exact numbers, and less by a few bits only."""
    noise = Noise.of(sensitivity, eps)
    proved, asked = Fraction(noise.measurement.map(sensitivity)), Fraction(repr(eps))
    assert proved <= asked <= proved * (1 + Fraction(1, 10**14))
    assert noise.scale == pytest.approx(sensitivity / eps, rel=1e-14)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_the_noise_is_discrete_laplace(scale):
    """50,000 draws pass the chi-square test against P(k) ∝ exp(−|k|/scale); a right sampler fails it once in a billion."""
    noise = Noise.of(1, 1 / scale).add(np.full(50_000, 7)) - 7
    alpha = np.exp(-1 / scale)
    edge = int(6 * scale)
    ks = np.arange(-edge, edge + 1)
    shares = (1 - alpha) / (1 + alpha) * alpha ** np.abs(ks)
    seen = np.append((noise[:, None] == ks).sum(axis=0), (np.abs(noise) > edge).sum())
    assert stats.chisquare(seen, 50_000 * np.append(shares, 1 - shares.sum())).pvalue > 1e-9


def in_chunks(monkeypatch, size, threads=4):
    """Let noise be drawn in chunks of that size by so many threads, however many cores there are."""
    monkeypatch.setattr(exact_noise, "_CHUNK", size)
    monkeypatch.setattr(exact_noise, "_cores", lambda: threads)


def test_chunks_and_threads_keep_the_law(monkeypatch):
    """Variance and correlations of 200,000 draws in chunks of 100 are right within six standard errors.

    Exact noise has no seed, so this is not the same twice; a right sampler fails once in a hundred million runs. A variance
    that is off by 2%, or a correlation of 2% between neighbours or neighbouring chunks, would be seen; 13% at the ends of
    chunks, where only 2,000 pairs meet. Dependence without correlation would not, unless one chunk repeats another.
    """
    in_chunks(monkeypatch, 100)
    x = Noise.of(1, 0.5).add(np.zeros(200_000, dtype=np.int64)).reshape(2000, 100)
    alpha = np.exp(-0.5)
    variance = 2 * alpha / (1 - alpha) ** 2
    fourth = 2 * (alpha + 10 * alpha**2 + alpha**3) / (1 - alpha) ** 4  # E x⁴, so that (x²) has variance E x⁴ − variance²
    assert abs(x.mean()) < 6 * np.sqrt(variance / x.size)
    assert abs((x**2).mean() - variance) < 6 * np.sqrt((fourth - variance**2) / x.size)
    pairs = {"neighbours": (x[:, 1:], x[:, :-1]), "chunks": (x[1:], x[:-1]), "ends": (x[1:, 0], x[:-1, -1])}
    for name, (one, other) in pairs.items():
        assert abs((one * other).mean() / variance) < 6 / np.sqrt(one.size), name
    assert len({chunk.tobytes() for chunk in x}) == 2000


@pytest.mark.parametrize("size", [1, 7, 100, 101])
def test_every_count_keeps_its_place(size, monkeypatch):
    """With noise that is zero but once in 10¹⁷, counts come back as they went in, wherever the chunks end."""
    in_chunks(monkeypatch, size)
    counts = np.arange(100)
    assert Noise.of(1, 40).add(counts).tolist() == counts.tolist()


class Library:
    """A measurement that adds 1000 and remembers what it was asked for."""

    def __init__(self):
        self.chunks = []

    def __call__(self, counts):
        self.chunks.append(counts.tolist())
        return counts + 1000


def test_a_draw_asks_for_a_few_counts_at_a_time(monkeypatch):
    """Each count is asked for once, in chunks of 8,192 at most, so that memory does not grow with the library's lists."""
    library = Library()
    counts = np.arange(20_000)
    assert Noise(1, 1.0, Fraction(1), library).add(counts).tolist() == (counts + 1000).tolist()
    assert sorted(map(len, library.chunks)) == [20_000 - 2 * 8192, 8192, 8192]
    assert sorted(n for chunk in library.chunks for n in chunk) == counts.tolist()


def fail():
    raise RuntimeError("no more random bits")


def press_control_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize(("happens", "error"), [(fail, RuntimeError), (press_control_c, KeyboardInterrupt)])
def test_a_failure_or_control_c_stops_all_threads(happens, error, monkeypatch):
    """The error comes out and nothing else; of a thousand chunks, those under way are the last; no thread is left."""
    in_chunks(monkeypatch, 1, threads=3)
    waiting, stopped, library = threading.Event(), threading.Event(), Library()
    collect, shutdown = exact_noise.as_completed, ThreadPoolExecutor.shutdown

    def measure(counts):
        event = waiting if counts[0] == 1 else stopped
        assert threading.current_thread().name.startswith("noise") and event.wait(10), "nobody stopped the other threads"
        if event is waiting:
            happens()
        return library(counts)

    def stop(pool, **options):  # those under way may end once no other can begin
        shutdown(pool, wait=False, **options)
        stopped.set()
        shutdown(pool)

    monkeypatch.setattr(exact_noise, "as_completed", lambda futures: waiting.set() or collect(futures))
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", stop)
    with pytest.raises(error):
        Noise(1, 1.0, Fraction(1), measure).add(np.arange(1000))
    assert len(library.chunks) <= 4 and not [t for t in threading.enumerate() if t.name.startswith("noise")]


def test_a_bar_shows_how_many_counts_are_done(monkeypatch):
    """The bar knows all counts, is told of each chunk, and waits a second before it shows at all."""
    seen = MagicMock()
    monkeypatch.setattr("tqdm.tqdm", seen)
    Noise(1, 1.0, Fraction(1), Library()).add(np.arange(10_000))
    assert seen.call_args.kwargs == {
        "file": ANY,  # see test_progress.py
        "total": 10_000, "desc": "noise", "unit": " counts", "unit_scale": True, "delay": 1, "leave": False,
    }  # fmt: skip
    bar = seen.return_value.__enter__.return_value
    assert sorted(call.args for call in bar.update.call_args_list) == [(10_000 - 8192,), (8192,)]


@pytest.mark.parametrize(("allowed", "there", "cores"), [({0, 3}, 8, 2), (None, 8, 8), (None, None, 1)])
def test_threads_are_as_many_as_the_cores_that_are_allowed(allowed, there, cores, monkeypatch):
    """On Linux those of this process; elsewhere all that there are, and one if nobody knows."""
    monkeypatch.setattr(os, "cpu_count", lambda: there)
    if allowed is None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    else:
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: allowed if process == 0 else set(), raising=False)
    assert exact_noise._cores() == cores


@pytest.mark.parametrize("eps", [1e-9, 0.1, 0.735, 1, 3, 40])
def test_noise_beyond_its_reach_is_not_seen(eps):
    """P(|noise| > m) = 2 αᵐ⁺¹/(1 + α) with α = exp(−1/scale) is below 10⁻²⁷ at the reach, which is 64 scales rounded up."""
    noise = Noise.of(1, eps)
    alpha = np.exp(-1 / noise.scale)
    assert 2 * np.exp(-(noise.reach + 1) / noise.scale) / (1 + alpha) < 1e-27 and 0 <= noise.reach - 64 * noise.scale < 1


def test_noise_is_whole_and_different_each_time():
    """The result is int64, the counts are left alone, and two draws are not alike."""
    counts = np.arange(1000)
    first, second = (Noise.of(1, 0.1).add(counts) for _ in range(2))
    assert first.dtype == np.int64 and (first != second).any() and counts.tolist() == list(range(1000))


def test_a_missing_library_is_named(monkeypatch):
    """Without OpenDP the error says what to install."""
    for name in [name for name in sys.modules if name.split(".")[0] == "opendp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opendp", None)
    words = "exact noise needs OpenDP, which is not installed: pip install opendp (there is none for the browser)"
    assert refusal(opendp, by=ModuleNotFoundError) == words


def test_the_version_is_the_installed_one():
    """The version is that of the files from which the library is imported."""
    assert f"opendp-{opendp_version()}.dist-info" in {path.name for path in Path(opendp().__file__).parents[1].iterdir()}


NONSENSE = [
    (0, 1, "sensitivity must be a whole number of at least 1, got 0"),
    (1.5, 1, "sensitivity must be a whole number of at least 1, got 1.5"),
    (1, 0, "eps must be a finite number above zero, got 0"),
    (1, -1, "eps must be a finite number above zero, got -1"),
]


@pytest.mark.parametrize(("sensitivity", "eps", "words"), NONSENSE)
def test_noise_that_makes_no_sense_is_refused(sensitivity, eps, words):
    """Sensitivity is a whole number of at least one, and eps is above zero."""
    assert refusal(Noise.of, sensitivity, eps, by=(ValueError, TypeError)) == words


@pytest.mark.parametrize(("sensitivity", "eps", "scale"), [(1, 0.5, 2.0), (2, 0.5, 4.0), (1, Fraction(1, 4), 4.0)])
def test_noise_says_what_it_is(sensitivity, eps, scale):
    """Where sensitivity/eps is a float whose map is exact, that is the scale, to the last bit, and the budget is exact."""
    noise = Noise.of(sensitivity, eps)
    assert (noise.sensitivity, noise.scale, noise.epsilon) == (sensitivity, scale, Fraction(eps))


def test_no_nodes_are_no_trouble():
    """Noise for no counts is an empty array of whole numbers."""
    none = Noise.of(1, 1).add(np.array([], dtype=np.int64))
    assert none.shape == (0,) and none.dtype == np.int64


def test_a_library_that_does_not_prove_the_budget_is_not_used(monkeypatch):
    """If a hundred scales, bit by bit from the right one up, are all said to cost more, there is no noise but an error."""
    tried, library = [], MagicMock()

    def make(*_, scale):
        tried.append(scale)
        return MagicMock(map=lambda sensitivity: 0.75 * sensitivity)

    library.m.make_laplace = make
    monkeypatch.setattr(exact_noise, "opendp", lambda: library)
    bits = 2.0 + np.arange(101) * np.spacing(2.0)
    assert refusal(Noise.of, 1, 0.5, by=RuntimeError) == f"OpenDP proves ε = 0.5 at no scale below {bits[100]}"
    assert tried == bits[:100].tolist()
