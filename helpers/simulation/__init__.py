"""The error of a release, level by level, in people squared: in closed form, and measured."""

from .closed_form import COLUMNS, expected_error, relative_errors
from .linear_fit import LinearFit
from .measured import error_report, simulate, simulate_with
from .stream import ESTIMATES, ErrorStream

__all__ = [
    "COLUMNS", "ESTIMATES", "ErrorStream", "LinearFit", "error_report", "expected_error", "relative_errors", "simulate",
    "simulate_with",
]  # fmt: skip
