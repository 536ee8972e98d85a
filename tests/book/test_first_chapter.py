"""Chapter 1 measures privacy on outputs, so what it runs must fail when the noise is wrong: each line breaks it once."""

import matplotlib
import pytest
from manuscript import CHAPTERS, code_cells, read_notebook

DRAWN = "noise = rng.laplace(scale=1 / eps, size=(outputs, len(counts)))"
TREE = "return np.hstack([add_noise(n, e, outputs) for n, e in pairs])"
CALL = "return release(tree, eps=budget, seed=seed, consistent=consistent)"
SAME = "Z = rng.laplace(size=(outputs, 1))\n    return np.hstack([n + Z / e for n, e in pairs])"
LEFT_OUT = "z = np.hstack([add_noise(n, e, outputs) for n, e in pairs])\n    z[:, 4] = tree.counts[2][1]\n    return z"
WRONG = {
    "no noise": (DRAWN, "noise = np.zeros((outputs, len(counts)))"),
    "ten times too small": (DRAWN, DRAWN.replace("1 / eps", "0.1 / eps")),
    "20% too small": (DRAWN, DRAWN.replace("1 / eps", "0.8 / eps")),
    "ten times too large": (DRAWN, DRAWN.replace("1 / eps", "10 / eps")),
    "one noise for the nodes of a level": (DRAWN, DRAWN.replace("len(counts)", "1")),
    "no noise in the tree": (TREE, TREE.replace("(n, e, ", "(n, 1e9, ")),
    "20% too small in the tree": (TREE, TREE.replace("(n, e, ", "(n, e / 0.8, ")),
    "the same noise in every level": (TREE, SAME),
    "one block without noise": (TREE, LEFT_OUT),
    "ten times the budget": (CALL, CALL.replace("eps=budget", "eps=10 * budget")),
    "a tenth of the budget": (CALL, CALL.replace("eps=budget", "eps=budget / 10")),
    "more budget if consistent": (CALL, CALL.replace("eps=budget", "eps=budget * (1.25 if consistent else 1)")),
}


@pytest.mark.parametrize("right, wrong", WRONG.values(), ids=WRONG)
def test_wrong_noise_fails_an_assertion(right, wrong):
    """With the noise as it is the chapter runs (the tests of its outputs see to that); with this change it does not."""
    matplotlib.use("agg")
    cells = [cell.source for cell in code_cells(read_notebook(CHAPTERS[0]))]
    code = "\n".join(source for source in cells if "sp.symbols" not in source)  # slow, and no noise in it
    assert code.count(right) == 1
    with pytest.raises(AssertionError):
        exec(compile(code.replace(right, wrong), CHAPTERS[0].name, "exec"), {})
