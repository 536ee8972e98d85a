"""Tables of rows, wherever they lie, to a table of leaves: names that mean one place, and sums.

A table is added up where it lies, by one GROUP BY, and only its leaves come back: a DataFrame by pandas, a file of any size
by DuckDB, a table of a database by that database. No refusal shows a cell or says where one is.
"""

from .names import tidy
from .sums import leaves, rows_beyond, tree_from_table

__all__ = ["leaves", "rows_beyond", "tidy", "tree_from_table"]
