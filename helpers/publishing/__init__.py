"""A release that people may see: exact noise, an account of what it cost, a record, and a test of the claim from outside."""

from .accountant import Accountant
from .auditing import audit
from .publish import private_release
from .released import PrivateRelease
from .split import Split

__all__ = ["Accountant", "PrivateRelease", "Split", "audit", "private_release"]
