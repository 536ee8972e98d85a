"""Generated input, right and wrong, for every public function and the command line: `make fuzz`.

machine: draws cases, runs them, judges what happens · functions, files, command_line: what to call, and with what
texts: tables as the bytes of a file, drawn, spoilt and read slowly
"""

from .files import TARGETS as OF_FILES
from .functions import TARGETS as OF_FUNCTIONS

TARGETS = OF_FUNCTIONS | OF_FILES
