"""For every run of pytest, also of a single notebook: no progress bar gets into an output, however slow the machine is."""

import os

# Before anything imports tqdm; the kernels that nbval starts inherit it.
os.environ.setdefault("TQDM_DISABLE", "1")
