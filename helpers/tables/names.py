"""Names of places and of columns: which are the same, which say nothing, and which may be shown.

A name is what people see: how it is spelled in bytes, and blanks that nobody can tell apart, do not make two places of one.
"""

import unicodedata
from collections.abc import Iterable
from itertools import islice

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, zero-width blanks and joiners, byte order mark
_WITHOUT = str.maketrans("", "", _INVISIBLE)
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))  # the last one is the blank of East Asian scripts
VISIBLE = f"[^{_BLANKS}{_INVISIBLE}]"  # a regular expression that every engine reads: something to see
_SHOWN, _LETTERS = 20, 40  # column names in a sentence, and letters of each


def tidy(name: str) -> str:
    """The one spelling of a name: composed letters (NFC), nothing invisible, one blank between words and none around them.

    >>> tidy("  Sa\u0303o\u00a0\u00a0Paulo\u200b ")
    'São Paulo'
    """
    return " ".join(unicodedata.normalize("NFC", name).translate(_WITHOUT).split())


def shown(columns: Iterable[object]) -> str:
    """The names of a table's columns for a sentence, without those that look like numbers.

    If a file has no header, its first row is taken for one, and numbers in it are cells.

    >>> shown(["region", "007", "3.5", "1e5", "patients 2020"])
    'region, (a number), (a number), (a number), patients 2020'
    """
    names = [tidy(str(name)) for name in columns]
    some = [name[:_LETTERS] if _has_words(name) else "(a number)" for name in islice(names, _SHOWN)]
    return ", ".join([*some, f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else some)


def _has_words(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return any(map(str.isalpha, name))
    return False
