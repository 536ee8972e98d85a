"""Widths against exact quantiles, and the coverage of intervals against what they say."""

import numpy as np
import pytest
from scipy import stats

from helpers.publishing.intervals import half_widths

CONFIDENCES = [0.5, 0.9, 0.95, 0.99]
zero, one = np.zeros(1), np.ones(1)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("scale", [0.3, 1.25, 7.0])
def test_whole_noise_alone_has_its_exact_quantile(confidence, scale):
    """The least whole t with P(|K| ≤ t) of at least the confidence: 1 − 2 α^(t+1) / (1 + α)."""
    alpha, t = np.exp(-1 / scale), np.arange(200)
    exact = t[1 - 2 * alpha ** (t + 1) / (1 + alpha) >= confidence][0]
    assert half_widths(confidence, scale, one, zero, zero)[0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_many_small_parts_are_normal_and_one_large_part_is_laplace(confidence):
    """Without a fourth cumulant, the normal quantile; with that of Laplace noise, 3 v², the Laplace quantile."""
    normal = half_widths(confidence, 0.0, zero, 4 * one, zero)[0]
    assert normal == pytest.approx(stats.norm.ppf(0.5 + confidence / 2, scale=2), rel=1e-3)
    laplace = half_widths(confidence, 0.0, zero, 4 * one, 48 * one)[0]
    assert laplace == pytest.approx(stats.laplace.ppf(0.5 + confidence / 2, scale=np.sqrt(2)), rel=1e-3)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    "scale, own, laplace, normal", [(1.25, 0.9, 0.5, 0.4), (0.3, 1.0, 0.0, 0.1), (60.0, 0.5, 90.0, 9.0)]
)
def test_a_mixture_is_covered_as_often_as_it_says(confidence, scale, own, laplace, normal):
    """400,000 draws of own · K + B + G, seed 1: four standard errors, so that a width 2% too short would show."""
    rng, draws = np.random.default_rng(1), 400_000
    alpha = np.exp(-1 / scale)
    whole = rng.geometric(1 - alpha, draws) - rng.geometric(1 - alpha, draws)
    error = own * whole + rng.laplace(0, np.sqrt(laplace / 2), draws) + rng.normal(0, np.sqrt(normal), draws)
    width = half_widths(confidence, scale, own * one, (laplace + normal) * one, 3 * laplace**2 * one)[0]
    covered = np.mean(np.abs(error) <= width)
    assert abs(covered - confidence) < 4 * np.sqrt(confidence * (1 - confidence) / draws) + 1e-4  # the last: five digits


def test_a_row_a_node_and_alike_nodes_alike():
    """Widths come in the order of the nodes, grow with the variance, and are the same for the same numbers."""
    found = half_widths(0.95, 1.0, np.ones(4), np.array([1.0, 4.0, 1.0, 9.0]), np.zeros(4))
    assert found[0] == found[2] < found[1] < found[3]
