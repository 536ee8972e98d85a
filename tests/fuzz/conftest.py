"""Every law of this folder first proves that it can fail."""

import pytest


@pytest.fixture(autouse=True)
def can_fail(request):
    """No law takes nonsense for an answer, or lets another error or a refusal of everything pass."""
    assert getattr(request.function, "unnoticed", list)() == []
