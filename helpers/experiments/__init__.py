"""What the paper does with all this: its sweeps over budgets, its downstream task, and the ledger of its claims."""

from .leaves import leaf_bias
from .sweeps import (
    GRID,
    TOTALS,
    Experiment,
    Rule,
    agreement,
    budgets,
    compared_rules,
    consistency_change,
    measure,
    over_levels,
    predicted_gain,
    prior_regret,
    promises,
    ratio,
    recut,
    regret,
    state_experiment,
    sweep,
    trials,
    z_scores,
)

__all__ = [
    "Experiment", "GRID", "Rule", "TOTALS", "agreement", "budgets", "compared_rules", "consistency_change", "leaf_bias",
    "measure", "over_levels", "predicted_gain", "prior_regret", "promises", "ratio", "recut", "regret", "state_experiment",
    "sweep", "trials", "z_scores",
]  # fmt: skip
