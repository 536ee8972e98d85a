"""Made-up files in the Bureau's layouts, written field by field and independently of the helpers that read them."""

import zipfile
from pathlib import Path

BLOCKS = {  # of a made-up Vermont: code, people
    "500010001001000": 12, "500010001001001": 0, "500010001002000": 250, "500010002001000": 7,
    "500030001001000": 31, "500030001003999": 1,
}  # fmt: skip
POPULATED = {code: n for code, n in BLOCKS.items() if n}


def line_2020(level, code, people, postal="VT", name="Name"):
    """A geographic header of 2020: 97 fields, of which POP100 is the 91st, counted from 1."""
    fields = [""] * 97
    fields[:5] = ["PLST", postal, level, "00", "00"]
    fields[9], fields[12], fields[86], fields[87], fields[90] = code, code[:2], name, name, str(people)
    return "|".join(fields)


def line_2010(level, code, people, postal="VT", name="Name"):
    """A geographic header of 2010: 500 characters; positions count from 1, as in the documentation."""
    code = code[:2] if level == "040" else code
    from_1 = f"{'PLST':6}{postal:2}{level:3}{'00':16}"
    from_28 = f"{code[:2]:2}{code[2:5]:25}{code[5:11]:6}{code[11:12]:1}{code[11:15]:165}"  # county 30, tract 55, block 62
    from_227 = f"{name:92}{people:>9}"  # people 319
    return (from_1 + from_28 + from_227).ljust(500)


LINES = {2010: line_2010, 2020: line_2020}


def redistricting(year, blocks=BLOCKS, postal="VT", name="Doña Ana"):
    """The text of a geographic header file: the state, a county with a name that is not plain ASCII, and the blocks."""
    line, county = LINES[year], next(iter(blocks))[:5]
    rows = [line("040", county[:2], sum(map(int, blocks.values())), postal), line("050", county, 5, postal, name)]
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


def made_up(folder, kind, blocks=BLOCKS):
    """A small file of one of the four kinds, with Vermont in it."""
    source, year = kind
    if source == "official":
        return write_redistricting(folder / "vt.zip", year, redistricting(year, blocks))
    if year == 2020:
        return write_microdata(folder / "ppmf.zip", {"50": microdata(blocks), "51": microdata({"510010001001000": 3})})
    path = folder / "ppmf.csv"
    path.write_text(HEADER + "\n" + person("510010001001000") + "\n" + microdata(blocks).partition("\n")[2])
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
        yield from (LINES[year]("750", code, 3) + "\n" for code in many_blocks(rows))
        return
    yield HEADER + "\n"
    people = "".join(person(code) + "\n" for code in many_blocks(20_000))  # in 20,000 blocks, over and over
    elsewhere = people.replace("50,", "51,", 1).replace("\n50,", "\n51,")
    for i in range(rows // 20_000):
        yield elsewhere if source == "ppmf" and year == 2010 and i % 4 else people
