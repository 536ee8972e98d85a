"""What is said when something is refused."""

import pytest

PLAIN = (ValueError, TypeError)


def refusal(call, *arguments, by=PLAIN, **options):
    """The sentence with which a call is refused: by a plain ValueError or TypeError, or by the kinds of error given."""
    with pytest.raises(by) as refused:
        call(*arguments, **options)
    assert by is not PLAIN or refused.type in PLAIN
    return str(refused.value)
