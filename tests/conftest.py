"""Settings that every test shares."""

import os

# Progress bars never end up in outputs: set before anything imports tqdm, and inherited by the kernels that nbval starts.
os.environ.setdefault("TQDM_DISABLE", "1")

from hypothesis import settings

# The same examples on every machine and in every run, and no clock: a slow machine is not a wrong program.
settings.register_profile("book", deadline=None, max_examples=60, derandomize=True, print_blob=True)
settings.load_profile("book")
