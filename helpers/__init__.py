"""Helpers of *Where to Spend ε*: optimal privacy budgets on hierarchical data.

Data flows one way: census → hierarchy → allocation (uses mechanism, mechanisms) → release (uses mechanism, consistency)
→ simulation → downstream, experiments → plots, panels. `checks` refuses bad input for all of them; `layout` holds a tree's
arrays for `hierarchy`. Counts that do not ship come to `census` from the Bureau's own files: states, records, downloads →
official → census; `verify` compares the two.
"""

from . import downstream, experiments
from .allocation import Allocation, cube_root, minimize_budget, minimize_error, root_rule, uniform
from .consistency import bottom_up, project_simplex, top_down
from .hierarchy import Hierarchy, load_nation, load_state, prior
from .mechanism import bias, mse, variance
from .mechanisms import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE
from .release import noisy_counts, release
from .simulation import expected_error, simulate, simulate_with

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "DISCRETE_LAPLACE",
    "GAUSSIAN",
    "Hierarchy",
    "LAPLACE",
    "bias",
    "bottom_up",
    "cube_root",
    "downstream",
    "experiments",
    "expected_error",
    "load_nation",
    "load_state",
    "minimize_budget",
    "minimize_error",
    "mse",
    "noisy_counts",
    "prior",
    "project_simplex",
    "release",
    "root_rule",
    "simulate",
    "simulate_with",
    "top_down",
    "uniform",
    "variance",
]


def __getattr__(name: str):
    """Load `plots` or `panels`, and Matplotlib with it, only when somebody draws."""
    if name not in ("plots", "panels"):
        raise AttributeError(f"module 'helpers' has no attribute {name!r}")
    import importlib

    return importlib.import_module(f"helpers.{name}")
