"""The part of a release's error that needs no simulation.

Without its inequality, the top-down fit is linear: a family with too many people takes the excess off its members in fixed
shares. The linear fit of the same clipped counts is almost the release itself, and everything about it is known. So only
what is left has to be simulated.

    N: (n,) true counts of a level · b: (n,) their bias once clipped · z: (n,) clipped count − N − b, whose mean is zero
    w: (n,) share of its family's excess that a node takes · v: (n,) Var(z)
    u = z − w (Σ z − u_parent), summed over the family: error of the linear fit, without its mean; at the top, u = z

Whatever the shares are, u has mean zero and a variance in closed form: bad ones make a simulation noisy, never wrong.
"""

from collections.abc import Sequence

import numpy as np

from ..consistency.least_squares import gls_variances
from ..hierarchy import Hierarchy
from ..mechanisms import Mechanism


class LinearFit:
    """The linear fit of a tree's clipped counts; with `fitted` False, the clipped counts as they are (w = 0).

    >>> from helpers.mechanisms import LAPLACE
    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> state, blocks = LinearFit(tree, np.array([0.5, 0.5]), LAPLACE).errors([np.array([7.0]), np.array([1.0, 3.0])])
    >>> bool(np.isclose(state, blocks.sum()))
    True
    """

    def __init__(self, hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism, fitted: bool = True) -> None:
        self._families = [
            (fertile, starts, np.diff(starts, append=n))
            for (fertile, starts), n in zip(hierarchy.families, hierarchy.sizes[1:], strict=True)
        ]
        self.centres, self.shares = list[np.ndarray](), list[np.ndarray]()  #: (n,) N + b, and w, of each level
        self.noise = list[np.ndarray]()  #: (n,) v of each level
        self.means = list[np.ndarray]()  #: (n,) mean error of the linear fit: a first guess of the bias of a release
        self.variances = list[np.ndarray]()  #: (n,) Var(u), in people squared
        for level, (n, e) in enumerate(zip(hierarchy.floats, eps, strict=True)):
            b = mechanism.bias_unchecked(n, e)
            v = mechanism.mse_unchecked(n, e) - b * b
            self.centres.append(n + b)
            self.noise.append(v)
            # A node at zero has nothing to give, so shares go by the chance of being above it: exact for Laplace noise.
            above = 1 - np.exp(-n * np.sqrt(2 / mechanism.noise_variance(e))) / 2
            w = above / self._spread(level, self._sums(level, above)) if level and fitted else np.zeros_like(n)
            self.shares.append(w)
            if level:
                fertile = self._families[level - 1][0]
                b = b - w * self._spread(level, self._sums(level, b) - self.means[-1][fertile])
                v = v * (1 - 2 * w) + w * w * self._spread(level, self._sums(level, v) + self.variances[-1][fertile])
            self.means.append(b)
            self.variances.append(v)

    def errors(self, clipped: Sequence[np.ndarray]) -> list[np.ndarray]:
        """u of every level, in place of the clipped counts."""
        out = list[np.ndarray]()
        for level, u in enumerate(clipped):
            u -= self.centres[level]
            if level:
                gap = self._spread(level, self._sums(level, u) - out[-1][self._families[level - 1][0]])
                gap *= self.shares[level]
                u -= gap
            out.append(u)
        return out

    def _sums(self, level: int, x: np.ndarray) -> np.ndarray:
        """(f,) sum over each family of a level."""
        return np.add.reduceat(x, self._families[level - 1][1])

    def _spread(self, level: int, x: np.ndarray) -> np.ndarray:
        """(n,) for each node of a level, what its family has."""
        return x.repeat(self._families[level - 1][2])


class GlsFit:
    """The same for least squares that are made non-negative top-down: above the leaves, almost nothing is ever below zero.

    So there u is the error of `gls` itself, which is linear. The leaves of a family keep their distances, up to clipping:

        u = z − w (Σ z − u_parent), as above, where z and u_parent now share noise: Cov(z_i, u_parent) = c (MSE_i + N_i b_i)

    with c = Var(u_parent)/(k v), what one of k leaves of noise variance v counts for in the estimate of their parent. (Of a
    clipped count and its noise X, E[max(−N, X) X] = MSE + N b: what is clipped is −N − X.)
    """

    def __init__(self, hierarchy: Hierarchy, eps: np.ndarray, mechanism: Mechanism, v: np.ndarray) -> None:
        n, e = hierarchy.floats[-1], eps[-1]
        b, mse = mechanism.bias_unchecked(n, e), mechanism.mse_unchecked(n, e)
        noise = mse - b * b
        self._truth, self._centre = hierarchy.floats, n + b
        self.variances = [*gls_variances(hierarchy, v)[:-1], noise]  #: (n,) Var(u) of each level
        self.means = [*(np.zeros(size) for size in hierarchy.sizes[:-1]), b]  #: (n,) mean of the linear fit
        self._share = np.zeros_like(n)
        if len(eps) == 1:
            return
        self._fertile, self._starts = hierarchy.families[-1]
        self._sizes = np.diff(self._starts, append=len(n))
        above = 1 - np.exp(-n * np.sqrt(2 / v[-1])) / 2
        w = self._share = above / self._spread(self._sums(above))
        parent = self.variances[-2][self._fertile]
        shared = self._spread(parent / self._sizes / v[-1]) * (mse + n * b)
        gap = self._sums(noise - 2 * shared) + parent
        self.variances[-1] = noise - 2 * w * (noise - shared) + w * w * self._spread(gap)
        self.means[-1] = b - w * self._spread(self._sums(b))

    def errors(self, fitted: Sequence[np.ndarray], noisy: np.ndarray) -> list[np.ndarray]:
        """u of every level, from the estimates of `gls` and the noisy leaves."""
        out = [x - n for x, n in zip(fitted[:-1], self._truth, strict=False)]
        z = np.maximum(noisy, 0.0) - self._centre
        if out:
            z -= self._share * self._spread(self._sums(z) - out[-1][self._fertile])
        return [*out, z]

    def _sums(self, x: np.ndarray) -> np.ndarray:
        return np.add.reduceat(x, self._starts)

    def _spread(self, x: np.ndarray) -> np.ndarray:
        return x.repeat(self._sizes)
