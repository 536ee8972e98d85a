"""The commands, one file each, with the same four names: ABOUT, EXAMPLES, `add_options` and `run`.

The tests run every example, so --help shows what works.
"""
