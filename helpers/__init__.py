"""Helpers of *Where to Spend ε*: optimal privacy budgets on hierarchical data.

The core is the paper, and imports nothing around it: `hierarchy` (a tree of counts, with its `layout` in memory and its
`shape`) → `mechanisms` (noise on one count) → `allocation` and `fitted` (who gets which budget) → `consistency` (making
things add up) → `releasing` (noise, clip, consistency) → `simulation` (the error of a release). `checks` refuses bad input.

Around it, each importing the core: `census` and `tables` (where counts come from), `publishing` (a release that people may
see), `experiments` (what the paper does), `figures`, `cli` (the command line), `exercises`, and `example`, a table to try.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .allocation import Allocation, cube_root, minimize_budget, minimize_error, root_rule, uniform
from .consistency import bottom_up, gls, gls_variances, integer_top_down, project_simplex, top_down
from .fitted import minimize_fitted_error
from .hierarchy import Hierarchy
from .mechanisms import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, bias, mse, variance
from .releasing import noisy_counts, release
from .simulation import error_report, expected_error, relative_errors, simulate, simulate_with

if TYPE_CHECKING:
    from . import census as census
    from . import exercises as exercises
    from . import experiments
    from . import figures as figures
    from . import publishing as publishing
    from .census import load_nation, load_state, prior
    from .example import load_example
    from .experiments import claims as claims
    from .experiments import downstream
    from .figures import panels as panels
    from .figures import plots as plots
    from .publishing import Accountant, PrivateRelease, audit, private_release
    from .tables import tree_from_table

__version__ = "0.1.0"

# What stands around the core is loaded when it is asked for: public name → the module that it is in, or that it is.
_AROUND = {
    "Accountant": "publishing",
    "PrivateRelease": "publishing",
    "audit": "publishing",
    "census": "census",
    "claims": "experiments.claims",
    "downstream": "experiments.downstream",
    "exercises": "exercises",
    "experiments": "experiments",
    "figures": "figures",
    "load_example": "example",
    "load_nation": "census",
    "load_state": "census",
    "panels": "figures.panels",
    "plots": "figures.plots",
    "prior": "census",
    "private_release": "publishing",
    "publishing": "publishing",
    "tree_from_table": "tables",
}

__all__ = [
    "Accountant", "Allocation", "DISCRETE_LAPLACE", "GAUSSIAN", "Hierarchy", "LAPLACE", "PrivateRelease", "audit",
    "bias", "bottom_up", "cube_root", "downstream", "error_report", "experiments", "expected_error", "gls",
    "gls_variances", "integer_top_down", "load_example", "load_nation", "load_state", "minimize_budget",
    "minimize_error", "minimize_fitted_error", "mse", "noisy_counts", "prior", "private_release", "project_simplex",
    "relative_errors", "release", "root_rule", "simulate", "simulate_with", "top_down", "tree_from_table", "uniform",
    "variance",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _AROUND:
        raise AttributeError(f"module 'helpers' has no attribute {name!r}")
    module = import_module(f"helpers.{_AROUND[name]}")
    return module if module.__name__.endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_AROUND})
