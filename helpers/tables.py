"""Tables of rows, wherever they lie, to a table of leaves: names that mean one place, and sums.

A name is what people see: how it is spelled in bytes, and blanks that nobody can tell apart, do not make two places of one.
"""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u200d\u2060\ufeff]"
)  # soft hyphen, zero-width blanks and joiners, byte order mark


def tidy(name: str) -> str:
    """The one spelling of a name: composed letters (NFC), nothing invisible, one blank between words and none around them.

    >>> tidy("  Sa\u0303o\u00a0\u00a0Paulo\u200b ")
    'São Paulo'
    """
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", name)).split())
