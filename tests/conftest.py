"""Settings that every test shares."""

import os

# Progress bars never end up in outputs: set before anything imports tqdm, and inherited by the kernels that nbval starts.
os.environ.setdefault("TQDM_DISABLE", "1")

from hypothesis import Phase, settings

# The same examples on every machine and in every run, and no clock: a slow machine is not a wrong program.
settings.register_profile("book", deadline=None, max_examples=60, derandomize=True, print_blob=True)
# Of a mutant it is enough to know that it fails: nobody reads the smallest example.
settings.register_profile("mutants", settings.get_profile("book"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutants" if "MUTATION" in os.environ else "book")
