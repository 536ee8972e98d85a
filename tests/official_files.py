"""Made-up files in the Bureau's layouts, written field by field and independently of `helpers.records`.

Run as a script, it writes large ones and measures how fast, and in how much memory, they are read:

    python tests/official_files.py [millions of rows, 3]
"""

import sys
import zipfile
from pathlib import Path

BLOCKS = {  # of a made-up Vermont: code, people
    "500010001001000": 12,
    "500010001001001": 0,
    "500010001002000": 250,
    "500010002001000": 7,
    "500030001001000": 31,
    "500030001003999": 1,
}


def line_2020(level, code, people, postal="VT", name="Name"):
    """A geographic header of 2020: 97 fields, of which POP100 is the 91st, counted from 1."""
    fields = [""] * 97
    fields[:5] = ["PLST", postal, level, "00", "00"]
    fields[9], fields[12], fields[86], fields[87] = code, code[:2], name, name
    fields[90] = str(people)
    return "|".join(fields)


def line_2010(level, code, people, postal="VT", name="Name"):
    """A geographic header of 2010: 500 characters; positions count from 1, as in the documentation."""
    line = [" "] * 500

    def put(start, size, value, right=False):
        line[start - 1 : start - 1 + size] = str(value).rjust(size) if right else str(value).ljust(size)

    put(1, 6, "PLST"), put(7, 2, postal), put(9, 3, level), put(12, 2, "00"), put(28, 2, code[:2])
    if level != "040":
        put(30, 3, code[2:5]), put(55, 6, code[5:11]), put(61, 1, code[11:12]), put(62, 4, code[11:15])
    put(227, 90, name), put(319, 9, people, right=True)
    return "".join(line)


LINES = {2010: line_2010, 2020: line_2020}


def redistricting(year, blocks=BLOCKS, postal="VT", name="Doña Ana"):
    """The text of a geographic header file: the state, a county with a name that is not plain ASCII, and the blocks."""
    line, fips = LINES[year], next(iter(blocks))[:2]
    county = next(iter(blocks))[:5]
    rows = [line("040", fips, sum(map(int, blocks.values())), postal), line("050", county, 5, postal, name)]
    return "\n".join([*rows, *(line("750", code, n, postal) for code, n in blocks.items())]) + "\n"


def write_redistricting(path, year, text=None, postal="vt", member=None, encoding="latin-1"):
    """A zip as the Bureau publishes it: the geographic header and one of the tables."""
    text = redistricting(year) if text is None else text
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{postal}000012{year - 2000:03}.pl", "PLST|VT|000|01|0000001|329\n")
        archive.writestr(member or f"{postal}geo{year}.pl", text.encode(encoding))
    return path


HEADER = "TABBLKST,TABBLKCOU,TABTRACTCE,TABBLKGRPCE,TABBLK,RTYPE,GQTYPE,RELSHIP,QSEX,QAGE,CENHISP,CENRACE,LIVE_ALONE"


def person(code):
    """A row of microdata: somebody in a block."""
    return f"{code[:2]},{code[2:5]},{code[5:11]},{code[11]},{code[11:]},3,000,20,1,036,1,01,1"


def microdata(blocks=BLOCKS, header=HEADER):
    """One row for each person of the blocks."""
    return "\n".join([header, *(person(code) for code, n in blocks.items() for _ in range(n))]) + "\n"


def write_microdata(path, texts):
    """A zip with the microdata of each state: texts by FIPS code."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for fips, text in texts.items():
            archive.writestr(f"2020_ppmf_bystate/2020_ppmf_person_{fips}.csv", text)
    return path


# Large files, for measuring


def many_blocks(rows):
    """`rows` block codes of Vermont, in order."""
    for i in range(rows):
        yield f"50{i // 4_000_000 * 2 + 1:03}{i // 4000 % 1000 * 100 + 100:06}{i % 4000 + 1000:04}"


def write_large(folder, kind, rows):
    """A file of that many rows, written line by line, so that writing needs no memory either."""
    source, year = kind
    path = Path(folder) / f"{source}-{year}"
    member = {("official", 2010): "vtgeo2010.pl", ("official", 2020): "vtgeo2020.pl"}.get(kind)
    member = member or ("2020_ppmf_bystate/2020_ppmf_person_50.csv" if year == 2020 else None)
    archive = member and zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    out = archive.open(member, "w", force_zip64=True) if archive else open(path, "wb")
    with out:
        for part in _large_text(source, year, rows):
            out.write(part.encode("latin-1"))
    if archive:
        archive.close()
    return path


def _large_text(source, year, rows):
    if source == "official":
        yield LINES[year]("040", "50", 3 * rows) + "\n"
        sample = LINES[year]("750", "1" * 15, 3)  # filled in below, because building each line anew takes long
        for code in many_blocks(rows):
            if year == 2020:
                yield sample.replace("1" * 15, code).replace("|11|", "|50|") + "\n"
            else:
                parts = sample[:27], code[:5], sample[32:54], code[5:11], code[11], code[11:], sample[65:]
                yield "".join(parts) + "\n"
        return
    yield HEADER + "\n"
    people = "".join(person(code) + "\n" for code in many_blocks(20_000))  # in 20,000 blocks, over and over
    elsewhere = people.replace("50,", "51,", 1).replace("\n50,", "\n51,")
    for i in range(rows // 20_000):
        yield elsewhere if source == "ppmf" and year == 2010 and i % 4 else people


def main(millions):
    """Measure each of the four readers in a process of its own."""
    import subprocess
    import tempfile

    code = """
import resource, sys, time
from helpers import official
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
