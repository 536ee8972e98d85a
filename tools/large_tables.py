"""`make test-tables`, `make test-spark`: every engine makes one tree of a large made-up table, DuckDB in 2 GB.

    python tools/large_tables.py MILLIONS ENGINE …    engines: duckdb, pandas, spark; for example: 5 duckdb pandas

    place: a leaf of the public list; every twelfth is empty · row: one of the 1 to 4 of a person
    names: SHA-256 of all names, links and counts of a tree · digest: `Hierarchy.digest`, of the counts of its leaves alone
    peak: of the Python process that asks, in which DuckDB and pandas work; Spark works in another, of Java

The table is written into _build/large, and taken from there the next time. Every engine adds it up in a process of its own,
with at most two rows of a person. Ends with exit code 1 if two trees differ, or if DuckDB's process takes more than 2 GB.
"""

import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LARGE = Path(__file__).resolve().parents[1] / "_build" / "large"
LEVELS = ["state", "county", "town"]
PLACES, SEED, MOST_GB = 120_000, 16, 2.0
# Place i, of 50 states with 40 counties with 60 towns; a county has its name in every state, a town in every county.
NAMES = "'State ' || i // 2400 AS state, 'County ' || i // 60 % 40 AS county, 'Town ' || i % 60 AS town"
# The k-th row of every person p who has so many. Places are large and small, because their draw is squared. One row in four
# is where the person's first is, and one in a thousand has a blank too many.
ROWS = f"""
    WITH own AS (SELECT p, if(hash(p, {{k}}) % 4 = 0, 0, {{k}}) AS k FROM range({{persons}}) r(p) WHERE p % 4 >= {{k}}),
    drawn AS (SELECT p, k, floor({PLACES // 12 * 11} * pow(hash(p, k, {SEED}) / pow(2, 64), 2))::BIGINT AS n FROM own),
    named AS (SELECT p, k, {NAMES} FROM (SELECT p, k, n // 11 * 12 + n % 11 + 1 AS i FROM drawn))
    SELECT 'P' || p AS person, state, county, if(hash(k, p) % 1000 = 0, town || ' ', town) AS town FROM named
"""


def write(folder: Path, persons: int) -> dict[str, Any]:
    """The public list of places, and the rows: the second of a person are in another file than the first."""
    import duckdb

    with TemporaryDirectory(dir=folder.parent) as part, duckdb.connect(config={"memory_limit": "1GB"}) as engine:
        engine.execute("SET preserve_insertion_order = false")
        engine.execute(f"COPY (SELECT {NAMES} FROM range({PLACES}) r(i)) TO '{part}/places.parquet'")
        for k in range(4):
            engine.execute(f"COPY ({ROWS.format(k=k, persons=persons)}) TO '{part}/rows-{k}.parquet'")
        Path(part).rename(folder)  # so what is there is whole
        Path(part).mkdir()  # for the end of `with`
    return {}


def by_duckdb(rows: str) -> Any:
    """The path itself, which the helpers hand to DuckDB."""
    return rows


def by_pandas(rows: str) -> Any:
    """All rows in memory."""
    import pandas as pd

    return pd.concat(map(pd.read_parquet, sorted(Path(rows).parent.glob(Path(rows).name))), ignore_index=True)


def by_spark(rows: str) -> Any:
    """A table of Spark, on the cores of this machine."""
    import ibis
    from pyspark.sql import SparkSession

    options = {"spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.local.dir": str(LARGE)}
    session = SparkSession.builder.master("local[*]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return ibis.pyspark.connect(session).read_parquet(rows)


ENGINES = {"duckdb": by_duckdb, "pandas": by_pandas, "spark": by_spark}


def added_up(engine: str, folder: Path) -> dict[str, Any]:
    """What one engine finds, and what that took."""
    from helpers.tables import tree_from_table

    begun = time.perf_counter()
    table = ENGINES[engine](f"{folder}/rows-*.parquet")
    tree = tree_from_table(table, LEVELS, person="person", rows_per_person=2, nodes=folder / "places.parquet")
    seconds = time.perf_counter() - begun
    arrays = [array.tolist() for array in (*tree.counts, *tree.links, *(tree.labels or ()))]
    names = hashlib.sha256(json.dumps(arrays).encode()).hexdigest()
    empty = int((tree.counts[-1] == 0).sum())
    return {"tree": repr(tree), "empty": empty, "digest": tree.digest, "names": names, "seconds": seconds}


def in_a_process(*words: object) -> dict[str, Any]:
    """What this file finds if it is called with these words."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def one(job: str, folder: Path, persons: int) -> None:
    """Write the table or add it up, then print what was found, and the peak memory of this process in GB."""
    found = write(folder, persons) if job == "write" else added_up(job, folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(found | {"GB": peak / 1e9}))


def main(millions: float, engines: list[str]) -> int:
    """Let every engine add the table up; 1 if two trees differ or DuckDB took too much memory, else 0."""
    persons = int(millions * 400_000)  # each has two rows and a half on average
    folder = LARGE / str(persons)
    LARGE.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        in_a_process("write", folder, persons)
    trees, modest = set(), True
    for engine in engines:
        found = in_a_process(engine, folder, persons)
        trees.add((found["tree"], found["digest"], found["names"]))
        modest &= engine != "duckdb" or found["GB"] <= MOST_GB
        print(f"{millions:g} million rows by {engine}: {found['seconds']:.1f} s, peak {found['GB']:.2f} GB", end="; ")
        print(f"{found['tree']}, {found['empty']} empty\n  digest {found['digest']}\n  names  {found['names']}", flush=True)
    print("one tree" if len(trees) == 1 else "TREES DIFFER", "" if modest else f"· DuckDB took MORE THAN {MOST_GB} GB")
    return int(len(trees) > 1 or not modest)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    elif len(sys.argv) > 2 and {*sys.argv[2:]} <= {*ENGINES}:
        sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
    else:
        sys.exit(f"call it with millions of rows and engines, of {', '.join(ENGINES)}: large_tables.py 5 duckdb pandas")
