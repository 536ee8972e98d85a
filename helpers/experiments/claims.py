"""The ledger of the paper's claims: what it says, what was measured, and the verdict, from one file, data/claims.toml.

A claim's evidence is Python, evaluated in the names that its chapter leaves behind:

    holds: is the claim true as the paper states it? · qualified: if not, is it true with the qualification given?

The verdict follows from the two and from nothing else, and a test evaluates them all again.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

VERDICTS = ("reproduced", "reproduced with a qualification", "not reproduced")
MARKS = dict(zip(VERDICTS, "✓~✗", strict=True))
_BINDING = re.compile(r"<!--=.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """One statement, figure or sentence of the paper, and where this book checks it.

    `measured` and `reasoning` bind their numbers to expressions, as the text of a chapter does: `4.6<!--= expression -->`.
    """

    id: str
    part: str  # the part of the paper, for grouping
    where: str  # section, figure or page element of the paper
    says: str  # the claim, in our words
    measured: str  # what was found, in a sentence, with its uncertainty
    chapter: str  # file name of the chapter that shows it, without its ending
    cell: str  # label of the figure, statement or section in that chapter
    verdict: str
    holds: str
    qualified: str = "False"
    reasoning: str = ""  # why this reading of the sentence, why no other verdict, and whose threshold

    def found_verdict(self, names: Mapping[str, Any]) -> str:
        """The verdict that the evidence gives, in the names of the claim's chapter.

        >>> claim = Claim("one", "", "", "1 < 2", "", "", "", "reproduced", holds="small < 2")
        >>> claim.found_verdict({"small": 1}), claim.found_verdict({"small": 3})
        ('reproduced', 'not reproduced')
        """
        if eval(self.holds, dict(names)):
            return VERDICTS[0]
        return VERDICTS[1] if eval(self.qualified, dict(names)) else VERDICTS[2]


def load() -> list[Claim]:
    """All claims, in the paper's order.

    >>> load()[0].id
    'example-tree'
    """
    text = (files("helpers") / "data" / "claims.toml").read_bytes().decode()
    return [Claim(**row) for row in tomllib.loads(text)["claim"]]


def by_part(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """The claims of each part of the paper, in order.

    >>> list(by_part(load()))[0]
    'Setting'
    """
    parts: dict[str, list[Claim]] = {}
    for claim in claims:
        parts.setdefault(claim.part, []).append(claim)
    return parts


def as_markdown(claims: Sequence[Claim]) -> str:
    """The claims as text: mark, what is said, where in the paper and in the book, what was found, and the reasons, folded.

    >>> print(as_markdown(load()[:1]).splitlines()[0])
    - **✓ The example tree of Virginia has 450 people in two tracts and five blocks, and its levels add up.**
    """
    return "\n\n".join(_entry(claim) for claim in claims)


def _entry(claim: Claim) -> str:
    number = int(claim.chapter[:2])
    return (
        f"- **{MARKS[claim.verdict]} {claim.says}**\n"
        f"  ({claim.where}; [chapter {number}](#{claim.cell}))\n\n"
        f"  {_BINDING.sub('', claim.measured)}\n\n"
        f"  <details><summary>Why {claim.verdict}</summary>\n\n"  # folded, in Jupyter and on the site
        f"  {_BINDING.sub('', claim.reasoning)}\n\n"
        "  </details>"
    )
