"""Moments of every estimate, and what measurements count for in a region, against the matrix of the fit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.strategies import seeds, trees

from helpers import Hierarchy, gls, gls_variances
from helpers.consistency.uncertainty import largest_terms, node_moments, node_terms, region_gains, region_variance
