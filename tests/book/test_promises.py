"""The page of promises: what it measures is measured here again, and what it tells people to type is there.

leaves: (224,) true counts of the region west · drawn: (300, 224) released ones · exact: share of leaves met to the person
"""

import re

import numpy as np
import pytest
from manuscript import ROOT, toc_parts
from scipy.stats import binom

from helpers import Accountant, Hierarchy, cube_root, load_example, private_release
from helpers.cli import COMMANDS, main
from helpers.example import LEVELS

PAGE = (ROOT / "book" / "promises.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
RELEASES = 300


def said(pattern):
    """The one number that the page says in such words."""
    [number] = re.findall(pattern, PAGE)
    return float(number)


def test_the_page_can_be_found():
    """The page is in the reference part, and the front page, the README and SECURITY.md lead to it."""
    assert "book/promises" in toc_parts()["Reference"]
    assert "<promises>" in (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(book/promises.md)" in readme and "(SECURITY.md)" in readme and "(book/promises.md)" in SECURITY


def test_every_source_is_a_version_that_stays():
    """Each link to another project is used, and leads to a commit or a thread, not to a page that may change."""
    links = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", PAGE, re.M))
    assert len(links) > 10 and set(links) == set(re.findall(r"\]\[([\w-]+)\]", PAGE))
    assert [url for url in links.values() if not re.search(r"/blob/[0-9a-f]{40}/|/discussions/\d+$", url)] == []


# What repetition gives away


@pytest.fixture(scope="module")
def west():
    """The tree of one region of the made-up hospitals, and the split that the command takes by default."""
    pytest.importorskip("opendp")
    tree = Hierarchy.from_frame(load_example().query("region == 'west'"), levels=LEVELS, count="patients")
    return tree, cube_root(tree, 1.0)


def drawn(tree, split, **options):
    """(300, leaves) counts of the leaves in as many releases."""
    released = (private_release(tree, split, budgets_from="node counts", **options) for _ in range(RELEASES))
    return np.array([one.counts[-1] for one in released])


def test_many_releases_give_every_leaf_away(west):
    """The median of 300 releases at ε = 1 is the true count of each leaf, but for one leaf in a run of a thousand."""
    tree, split = west
    alpha = np.exp(-split.eps[-1])
    above = alpha / (1 + alpha)  # the chance that noise is 1 or more, and that it is −1 or less
    assert 2 * tree.sizes[-1] * binom.sf(RELEASES // 2 - 1, RELEASES, above) < 1e-3
    assert said(r"The median of (\d+) releases") == RELEASES
    guess = np.median(drawn(tree, split, consistent=False), axis=0)
    assert (guess != tree.counts[-1]).sum() <= 1


def test_adding_up_blurs_and_biases(west):
    """As the command writes them, 7 leaves in 10 are exact (standard deviation 0.02), the rest off by 1; two biases."""
    tree, split = west
    leaves, counts = tree.counts[-1], drawn(tree, split)
    off = np.abs(np.rint(np.median(counts, axis=0)) - leaves)
    assert abs((off == 0).mean() - 0.72) < 0.12 and "about seven leaves in ten" in PAGE
    assert (off > 1).sum() <= 1  # one leaf is off by 2 in a few of ten thousand runs
    error = counts - leaves  # each mean below has a standard error of about 0.01
    assert abs(error[:, leaves == 0].mean() - said(r"too large by ([\d.]+) patients")) < 0.05
    assert -0.5 < error[:, leaves >= 4].mean() < -0.37 and "too small by almost half a patient" in PAGE


def test_an_account_refuses_the_second_release(west):
    """With an account of 1, one release at ε = 1 is made, and no other."""
    tree, split = west
    account = Accountant(1)
    private_release(tree, split, budgets_from="node counts", accountant=account)
    with pytest.raises(ValueError, match=r"eps must be at most 0\.0"):
        private_release(tree, split, budgets_from="node counts", accountant=account)


# What it tells people to type


def test_commands_and_options_of_the_page_exist(capsys):
    """Each command that the page and SECURITY.md name is one, and each option is one of `release` or `verify`."""
    text = PAGE + SECURITY
    assert set(re.findall(r"python -m helpers (\w+)", text)) <= set(COMMANDS)
    for name in ("release", "verify"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
    known = capsys.readouterr().out
    assert [option for option in set(re.findall(r"--[a-z][a-z-]+", text)) if option not in known] == []
