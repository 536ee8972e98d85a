"""`python -m fuzzing`: many cases of every target, until all have run or the time is up.

python -m fuzzing --cases 120000 --minutes 20      spread evenly over the targets; what `make fuzz` does
python -m fuzzing uniform 1234                     one case again
"""

import argparse
import os
import sys
import time
from collections import Counter

os.environ.setdefault("TQDM_DISABLE", "1")

from fuzzing import TARGETS
from fuzzing.machine import Finding, run_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", nargs="?", choices=sorted(TARGETS), metavar="target", help="one target; all unless told")
    parser.add_argument("number", nargs="?", type=int, help="one case of it")
    parser.add_argument("--cases", type=int, default=120_000, help="how many, over all targets (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=20, help="stop after so many (default: %(default)s)")
    options = parser.parse_args()
    if options.number is not None:
        run_case(options.target, TARGETS[options.target], options.number)
        return 0
    names = [options.target] if options.target else sorted(TARGETS)
    end = time.monotonic() + 60 * options.minutes
    answered, refused, found = Counter(), Counter(), Counter()
    for number in range(-(-options.cases // len(names))):
        for name in names:
            if time.monotonic() > end:
                break
            try:
                outcome = answered if run_case(name, TARGETS[name], number) else refused
                outcome[name] += 1
            except Finding as finding:
                found[name] += 1
                if found[name] <= 3:
                    print(finding, "\n", flush=True)
    for name in names:
        print(f"{name:28} {answered[name]:6} answered {refused[name]:6} refused {found[name]:4} findings")
    total = answered.total() + refused.total() + found.total()
    print(f"{total} cases, {answered.total()} answered, {refused.total()} refused, {found.total()} findings")
    return found.total() > 0


if __name__ == "__main__":
    sys.exit(main())
