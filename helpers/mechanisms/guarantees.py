"""What a budget promises: from pure differential privacy to zCDP, and from zCDP to (ε, δ).

    eps: ε of pure or approximate differential privacy · rho: ρ of zCDP · delta: δ, the chance to grant beyond ε
    μ = √(2ρ): how far one person moves a Gaussian release, in standard deviations, all levels together

A guarantee of one kind implies one of another kind, at a loss. None of these functions makes two guarantees the same.
"""

from math import exp, log, sqrt

from .. import checks

_EPS, _RHO = (1e-6, 1e6), (1e-12, 1e12)  # where the formulas keep nine digits


def rho_of_pure(eps: float) -> float:
    """ρ = ε²/2: the zCDP that every ε-differentially private release has (Bun and Steinke, 2016).

    >>> rho_of_pure(0.5)
    0.125
    """
    return checks.positive("eps", eps) ** 2 / 2


def eps_of_rho(rho: float, delta: float) -> float:
    """ε = ρ + 2√(ρ ln(1/δ)): every ρ-zCDP release is (ε, δ)-differentially private (Bun and Steinke, 2016).

    >>> round(eps_of_rho(0.5, 1e-6), 3)
    5.757
    """
    rho, delta = _within("rho", rho, _RHO), _chance(delta)
    return rho + 2 * sqrt(rho * -log(delta))


def least_eps_of_rho(rho: float, delta: float) -> float:
    """The least ε = αρ + ln(1/(αδ))/(α−1) + ln(1−1/α) over α > 1: as `eps_of_rho`, and smaller (Canonne et al., 2020).

    The slope in α is ρ − ln(1/(αδ))/(α−1)², so it has one root.

    >>> round(least_eps_of_rho(0.5, 1e-6), 3)
    5.222
    """
    from scipy.optimize import brentq

    rho, delta = _within("rho", rho, _RHO), _chance(delta)

    def slope(x: float) -> float:  # x = α − 1
        return rho * x * x + log(delta * (1 + x))

    x = brentq(slope, 0, sqrt(-log(delta) / rho), xtol=1e-300, maxiter=1000)
    return max(0.0, (1 + x) * rho - log(delta * (1 + x)) / x + log(x / (1 + x)))


def gaussian_delta(eps: float, rho: float) -> float:
    """δ = Φ(μ/2 − ε/μ) − exp(ε) Φ(−μ/2 − ε/μ), exact for Gaussian noise of variance 1/(2ρ) (Balle and Wang, 2018).

    A release of several levels with budgets ρ_l has the δ of one count with budget Σ ρ_l.

    >>> round(gaussian_delta(1, 0.5), 4)
    0.1269
    """
    eps = checks.between("eps", checks.not_negative("eps", eps), 0, _EPS[1])
    return _gaussian_delta(eps, _within("rho", rho, _RHO))


def _gaussian_delta(eps: float, rho: float) -> float:
    from scipy.special import erfcx, ndtr

    mu = sqrt(2 * rho)
    near, far = eps / mu - mu / 2, eps / mu + mu / 2
    if near < 0:
        return float(ndtr(-near) - exp(-near * near / 2) * erfcx(far / sqrt(2)) / 2)
    # Φ(−t) = exp(−t²/2) erfcx(t/√2)/2, and the two exponentials are equal: nothing underflows before δ does.
    return exp(-near * near / 2) * float(erfcx(near / sqrt(2)) - erfcx(far / sqrt(2))) / 2


def gaussian_rho(eps: float, delta: float) -> float:
    """The largest ρ for which Gaussian noise of variance 1/(2ρ) is (ε, δ)-differentially private.

    >>> rho = gaussian_rho(1, 1e-6)
    >>> round(rho, 4), round(gaussian_delta(1, rho) / 1e-6, 6)
    (0.028, 1.0)
    """
    from scipy.optimize import brentq

    eps, delta = _within("eps", eps, _EPS), _chance(delta)

    def excess(log_rho: float) -> float:
        return _gaussian_delta(eps, exp(log_rho)) - delta

    return exp(brentq(excess, -690, 690))  # any ρ from 1e-299 to 1e299


def _within(name: str, value: float, limits: tuple[float, float]) -> float:
    return checks.between(name, checks.positive(name, value), *limits)


def _chance(delta: float) -> float:
    delta = checks.positive("delta", delta)
    if delta >= 1:
        raise ValueError(f"delta must be below 1, got {delta:g}")
    return delta
