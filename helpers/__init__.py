"""Helpers of *Where to Spend ε*: optimal privacy budgets on hierarchical data.

Data flows one way: census → hierarchy → allocation (uses mechanism, mechanisms) → release (uses mechanism, consistency)
→ simulation → downstream, experiments → plots, panels. `checks` refuses bad input for all of them; `layout` holds a tree's
arrays for `hierarchy`. A release that may be published is `private` (uses accountant, integers); `audit` tests its claim.
For your own table: `tables`, `splits`, `report` and the command line, `cli` (uses options), with `example` to try them on.
Counts that do not ship come to `census` from the Bureau's own files: states, records, downloads → official → census;
`verify` compares the two.
"""

from . import downstream, experiments
from .accountant import Accountant
from .allocation import Allocation, cube_root, minimize_budget, minimize_error, root_rule, uniform
from .audit import audit
from .consistency import bottom_up, project_simplex, top_down
from .example import load_example
from .hierarchy import Hierarchy, load_nation, load_state, prior
from .integers import integer_top_down
from .least_squares import gls, gls_variances
from .mechanism import bias, mse, variance
from .mechanisms import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE
from .private import PrivateRelease, private_release
from .release import noisy_counts, release
from .report import error_report, relative_errors
from .simulation import expected_error, simulate, simulate_with

__version__ = "0.1.0"

__all__ = [
    "Accountant",
    "Allocation",
    "DISCRETE_LAPLACE",
    "GAUSSIAN",
    "Hierarchy",
    "LAPLACE",
    "PrivateRelease",
    "audit",
    "bias",
    "bottom_up",
    "cube_root",
    "downstream",
    "error_report",
    "experiments",
    "expected_error",
    "gls",
    "gls_variances",
    "integer_top_down",
    "load_example",
    "load_nation",
    "load_state",
    "minimize_budget",
    "minimize_error",
    "mse",
    "noisy_counts",
    "prior",
    "private_release",
    "project_simplex",
    "relative_errors",
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
