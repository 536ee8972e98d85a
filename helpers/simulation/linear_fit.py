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
