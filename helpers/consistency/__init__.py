"""A noisy tree in, a tree that adds up out. Every way to do so has the same first two arguments, and returns a list:

    top_down(hierarchy, noisy)              the paper's program (3), level by level
    bottom_up(hierarchy, noisy)             the sums of the leaves
    gls(hierarchy, noisy, variances)        least squares with every measurement; counts may be below zero
    integer_top_down(hierarchy, noisy)      as top_down, in whole numbers
    integer_fit(hierarchy, estimates)       the same after gls

`METHODS` are those that `release` and `simulate` know by name.
"""

from .integers import integer_fit, integer_top_down
from .least_squares import gls, gls_variances
from .methods import METHODS, Method, bottom_up, method_of
from .projection import fit_families, project_simplex, top_down

__all__ = [
    "METHODS", "Method", "bottom_up", "fit_families", "gls", "gls_variances", "integer_fit", "integer_top_down",
    "method_of",
    "project_simplex", "top_down",
]  # fmt: skip
