"""mutmut itself, in the folder that tools/mutants.py has prepared for a module; it imports nothing of the book.

run_mutmut.py run [mutants]: run them, or all · run_mutmut.py --show mutants: print what they change
"""

import json
import sys

import pytest

if __name__ == "__main__":
    # mutmut 3.8 reads an attribute that pytest 9.2 no longer has.
    pytest.MonkeyPatch().setattr(pytest.Item, "_nodeid", property(lambda item: item.nodeid), raising=False)
    from mutmut.__main__ import cli, find_mutant, get_diff_for_mutant

    what, *names = sys.argv[1:]
    if what == "--show":
        print(json.dumps({name: get_diff_for_mutant(name, path=find_mutant(name).path) for name in names}))
    else:
        cli([what, *names])
