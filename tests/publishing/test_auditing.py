"""Audits: honest mechanisms stay below their claim as often as promised, and broken ones are caught."""

from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import binomtest
from support.refusals import refusal

from helpers import audit
from helpers.publishing.auditing import Audit, _bound, _choose
from helpers.publishing.exact_noise import Noise


def laplace(scale, seed):
    """A mechanism with continuous noise of the scale given."""
    rng = np.random.default_rng(seed)
    return lambda n, trials: n + rng.laplace(scale=scale, size=trials)


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_bound_is_wrong_as_rarely_as_promised(confidence):
    """Of 600 audits of an honest mechanism, the share above the claim is at most 1 − confidence (4.5 standard errors)."""
    alpha = 1 - confidence
    found = [audit(laplace(1, seed), 0, 1, trials=400, confidence=confidence).eps for seed in range(600)]
    wrong = np.mean([eps > 1 for eps in found])
    assert wrong <= alpha + 4.5 * np.sqrt(alpha * (1 - alpha) / 600)
    assert np.mean(found) > 0.3  # the bound is not idle either


def test_a_mechanism_that_ignores_its_input_has_no_bound():
    """Where both inputs give the same outputs, ε = 0 is the truth, and the audit says little more, whatever it picks."""
    found = [audit(laplace(1, seed), 5, 5, trials=400, confidence=0.9).eps for seed in range(200)]
    wrong = np.mean([eps > 0 for eps in found])
    assert wrong <= 0.1 + 4.5 * np.sqrt(0.09 / 200)  # 4.5 standard errors of the share promised


@pytest.mark.parametrize("seed, trials, least, most", [(3, 200_000, 0.9, 1), (4, 20_000, 0.5, np.inf)])
def test_many_trials_come_close_to_the_truth(seed, trials, least, most):
    """With 200,000 trials the bound is within a tenth of ε = 1, and not above; with 20,000 a claim of 0.5 is caught."""
    assert least < audit(laplace(1, seed), 0, 1, trials=trials).eps <= most


def test_exact_noise_withstands_an_audit():
    """OpenDP's noise at ε = 0.7 is not caught; at such a confidence a false alarm comes once in a million runs."""
    noise = Noise.of(1, 0.7)
    found = audit(lambda n, trials: noise.add(np.full(trials, n)), 3, 4, trials=20_000, confidence=1 - 1e-6)
    assert 0.3 < found.eps <= 0.7


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_it_does_not_matter_which_input_comes_first(first, second):
    """An event is found in favour of either input."""

    def one_sided(n, trials):  # says 1 with chance 0.001 or 0.5: only "the output is 1" tells much
        return np.random.default_rng(5).random(trials) < (0.5 if n else 0.001)

    found = audit(lambda n, trials: one_sided(n, trials).astype(int), first, second, trials=4000)
    assert found.eps > 3 and found.event == "score ≥ 1" and sum(found.hits) == pytest.approx(1000, abs=150)


def test_the_event_is_counted_on_outputs_that_did_not_choose_it():
    """What tells the inputs apart in the first half only, where the event is chosen, gives no bound at all."""

    def early(n, trials):
        return np.where(np.arange(trials) < trials // 2, n, 0)

    assert audit(early, 0, 1, trials=1000).eps == 0
    assert audit(early, 0, 1, trials=1000).hits == (0, 0)


def test_an_event_can_be_given():
    """A score of True and False is an event of its own: the bound is that of its counts."""
    found = audit(laplace(1, 7), 0, 2, trials=2000, score=lambda y: y > 1)
    assert found.event == "score ≥ 1" and found.eps == pytest.approx(_bound(found.hits[1], found.hits[0], 1000, 0.05))


def test_scores_may_be_low_to_tell():
    """The tail below counts as well as the one above."""

    def below(n, trials):
        return np.where(np.random.default_rng(6).random(trials) < (0.3 if n else 0.001), -1, 0)

    assert audit(below, 0, 1, trials=4000).event == "score ≤ -1"


def test_limits_are_those_of_clopper_and_pearson():
    """The two limits are SciPy's exact binomial ones; at the ends, where one is 0 or 1, the bound is zero, as it must be."""
    for alpha in (0.05, 0.9):
        for p, q in [(37, 5), (100, 0), (50, 49), (0, 3), (0, 0), (1, 0), (2, 0), (100, 99), (100, 100), (99, 100)]:
            low = binomtest(p, 100, alternative="greater").proportion_ci(1 - alpha / 2).low
            high = binomtest(q, 100, alternative="less").proportion_ci(1 - alpha / 2).high
            assert _bound(p, q, 100, alpha) == pytest.approx(max(0, np.log(low / high)) if low else 0, abs=1e-9)


def test_every_third_of_598_scores_is_tried():
    """Two hundred thresholds are spread evenly from the lowest score to the highest, and the best of them is taken."""
    low, high = np.arange(299.0), np.arange(299.0, 598.0)
    assert _choose(high, low, 0.05) == (1, 300, False)  # 298 against 0; the threshold before it gives 299 against 2
    assert _choose(low, high, 0.05) == (1, 300, True)


def test_without_evidence_the_event_is_the_sure_one():
    """Where no event tells the inputs apart, it is the one that always happens, in favour of neither."""
    found = audit(lambda n, trials: 2.5 + n + 2 * (np.arange(trials) % 500), 0, 1, trials=1000)
    assert found == (0.0, "score ≥ 2.5", (500, 500), 500, 0.95)


def test_an_audit_says_what_it_found():
    """The short form has the bound, the confidence, the event and its counts."""
    found = Audit(eps=np.log(2), event="score ≥ 2", hits=(1200, 3), trials=10_000, confidence=0.95)
    assert repr(found) == "Audit(ε ≥ 0.693 at confidence 0.95; score ≥ 2: 1,200 against 3 of 10,000)"


def test_forty_sure_outputs_prove_something_and_twenty_do_not():
    """Scores are taken as they are, fractions and all; of the least number of trials, twenty, half are counted."""

    def sure(n, trials):
        return np.full(trials, 300.25 + n / 8)

    found, few = audit(sure, 0, 1, trials=40), audit(sure, 0, 1, trials=20)
    limit = 0.025 ** (1 / 20)  # 20 of 20 hits, by the formula of Clopper and Pearson
    assert found[1:] == ("score ≥ 300.4", (0, 20), 20, 0.95) and found.eps == pytest.approx(np.log(limit / (1 - limit)))
    assert (few.eps, few.trials) == (0.0, 10)


def test_tables_of_outputs_need_a_score():
    """A row is one output; a score makes one number of it, and without one a table is refused."""

    def pair(n, trials):
        return np.random.default_rng(n).laplace([n, -n], size=(trials, 2))

    assert audit(pair, 0, 3, trials=1000, score=lambda y: y[:, 0] - y[:, 1]).eps > 1
    with pytest.raises(ValueError, match=r"score must be one number for each of the 1000 outputs, got shape \(1000, 2\)"):
        audit(pair, 0, 3, trials=1000)
    said = refusal(audit, pair, 0, 3, trials=100, score=lambda y: np.where(np.arange(100) < 7, 0, np.nan), by=ValueError)
    assert said == "score must be finite, got nan at index 7"


SETTINGS = [
    ({"trials": 19}, "trials must be a whole number of at least 20, got 19"),
    ({"trials": 2.5}, "trials must be a whole number of at least 20, got 2.5"),
    ({"confidence": 1}, "confidence must lie between 0 and 1, got 1"),
    ({"confidence": 0}, "confidence must be a finite number above zero, got 0"),
    ({"trials": 10**12 + 1}, "trials must be a whole number of at most 1,000,000,000,000, got 1000000000001"),
]


@pytest.mark.parametrize(("change", "words"), SETTINGS)
def test_bad_settings_are_refused(change, words):
    """Too few trials, too many to end, and a confidence outside (0, 1) are refused before the mechanism is run."""
    never = Mock(side_effect=AssertionError("the mechanism was run"))
    assert refusal(audit, never, 0, 1, **{"trials": 100, **change}, by=(ValueError, TypeError)) == words
