"""The explorers' pages, put together from their scripts alone, without a build, and what one reads on them."""

import re
from pathlib import Path

from _ext.policy import with_policy
from manuscript import ROOT

EXPLORE = ROOT / "book" / "explore"
STATIC = EXPLORE / "static" / "explorers"
PAGES = ("one-count", "split", "own-tree", "watch")
PHONE = {"viewport": {"width": 390, "height": 844}}


def scripts(name: str) -> list[Path]:
    """The scripts that the explorer's page loads, as its directive says."""
    [others] = re.findall(r"```\{explorer\} \S+\n:with: (.*)", (EXPLORE / f"{name}.md").read_text(encoding="utf-8"))
    return [STATIC / f"{script}.js" for script in ["core", *others.split(), name]]


def page_of(name: str) -> str:
    """An explorer alone on a page, with the policy that pages of the site have."""
    style = (STATIC / "explorers.css").read_text(encoding="utf-8")
    code = "".join(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in scripts(name))
    box = f'<div class="explorer"><div data-explorer="{name}" hidden></div></div>'
    head = f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>{name}</title>'
    return with_policy(f"{head}<style>* {{ box-sizing: border-box }} {style}</style><body>{box}{code}")


def said(page) -> str:
    """The sentence above the picture."""
    return page.locator(".explorer-summary").text_content()


def table(page, place: int = 0) -> list[list[str]]:
    """A table of the page as rows of texts, heading first."""
    return [row.locator("th, td").all_text_contents() for row in page.locator("table").nth(place).locator("tr").all()]
