"""`make readers`: how fast, and in how much memory, large made-up files in the Bureau's layouts are read.

millions: of rows, 3 unless told
"""

import subprocess
import sys
import tempfile

from support.official_files import write_large


def main(millions):
    """Measure each of the four readers in a process of its own."""
    code = """
import resource, sys, time
from helpers.census.bureau import official
path, source, year = sys.argv[1], sys.argv[2], int(sys.argv[3])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
table = official.read(path, "VT", source, year)
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{len(table)} {table.population.sum()} {seconds} {before / 1024} {peak / 1024}")
"""
    print(f"{'kind':15}{'rows':>12}{'MB':>8}{'blocks':>12}{'rows/CPU s':>12}{'start MB':>10}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in [("official", 2010), ("official", 2020), ("ppmf", 2010), ("ppmf", 2020)]:
            for rows in (int(millions * 500_000), int(millions * 1_000_000)):
                path = write_large(folder, kind, rows)
                command = [sys.executable, "-c", code, str(path), kind[0], str(kind[1])]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                blocks, _, seconds, before, peak = map(float, done.stdout.split())
                size = path.stat().st_size / 1e6
                name = f"{kind[0]} {kind[1]}"
                print(f"{name:15}{rows:12,}{size:8,.0f}{blocks:12,.0f}{rows / seconds:12,.0f}{before:10,.0f}{peak:10,.0f}")
                path.unlink()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3)
