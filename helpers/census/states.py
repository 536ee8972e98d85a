"""Names of the states: the Bureau's 50, D.C. and Puerto Rico, by name, postal code or FIPS code.

name: as the package writes it, "new_mexico" · postal: "NM" · fips: the first two digits of every code in the state, "35"
"""

_TABLE = """
alabama AL 01, alaska AK 02, arizona AZ 04, arkansas AR 05, california CA 06, colorado CO 08, connecticut CT 09,
delaware DE 10, district_of_columbia DC 11, florida FL 12, georgia GA 13, hawaii HI 15, idaho ID 16, illinois IL 17,
indiana IN 18, iowa IA 19, kansas KS 20, kentucky KY 21, louisiana LA 22, maine ME 23, maryland MD 24,
massachusetts MA 25, michigan MI 26, minnesota MN 27, mississippi MS 28, missouri MO 29, montana MT 30, nebraska NE 31,
nevada NV 32, new_hampshire NH 33, new_jersey NJ 34, new_mexico NM 35, new_york NY 36, north_carolina NC 37,
north_dakota ND 38, ohio OH 39, oklahoma OK 40, oregon OR 41, pennsylvania PA 42, rhode_island RI 44,
south_carolina SC 45, south_dakota SD 46, tennessee TN 47, texas TX 48, utah UT 49, vermont VT 50, virginia VA 51,
washington WA 53, west_virginia WV 54, wisconsin WI 55, wyoming WY 56, puerto_rico PR 72
"""
STATES = {name: (postal, fips) for name, postal, fips in (row.split() for row in _TABLE.split(","))}
EMBEDDED = ("wyoming", "new_mexico", "delaware")  # those whose blocks ship with the package, with their codes
EMBEDDED_2010 = ("delaware",)  # those whose blocks of 2010 ship as well


def state_name(state: str) -> str:
    """The package's name of a state given by name, postal code or FIPS code.

    >>> state_name("New Mexico"), state_name("nm"), state_name("35"), state_name("District of Columbia")
    ('new_mexico', 'new_mexico', 'new_mexico', 'district_of_columbia')
    """
    wanted = str(state).strip().lower().replace(" ", "_")
    for name, codes in STATES.items():
        if wanted in (name, codes[0].lower(), codes[1]):
            return name
    shipped = ", ".join(f"{name} ({', '.join(STATES[name])})" for name in EMBEDDED)
    raise ValueError(f"state must be a state's name, postal or FIPS code, such as {shipped}, got {state!r}")


def embedded_name(state: str) -> str:
    """The name of a state whose counts ship with the package; any other is refused, with the way to get its counts.

    >>> embedded_name("VT")
    Traceback (most recent call last):
    ValueError: state must be one of wyoming, new_mexico, delaware, whose counts ship with the package, got 'VT':
    source="official" downloads the counts of Vermont
    """
    name = state_name(state)
    if name not in EMBEDDED:
        shipped = f"one of {', '.join(EMBEDDED)}, whose counts ship with the package"
        raise ValueError(f'state must be {shipped}, got {state!r}: source="official" downloads the counts of {title(name)}')
    return name


def embedded_2010_name(state: str) -> str:
    """The name of a state whose blocks of 2010 ship with the package; any other is refused, with the ways to a prior.

    >>> embedded_2010_name("WY")
    Traceback (most recent call last):
    ValueError: state must be delaware, whose blocks of 2010 ship with the package, got 'WY': source="official" downloads
    those of Wyoming, and source="embedded" spreads the block groups of wyoming, new_mexico, delaware
    """
    name = state_name(state)
    if name not in EMBEDDED_2010:
        raise ValueError(
            f"state must be {', '.join(EMBEDDED_2010)}, whose blocks of 2010 ship with the package, got {state!r}: "
            f'source="official" downloads those of {title(name)}, '
            f'and source="embedded" spreads the block groups of {", ".join(EMBEDDED)}'
        )
    return name


def title(name: str) -> str:
    """The name of a state as people write it.

    >>> title("district_of_columbia")
    'District of Columbia'
    """
    return name.replace("_", " ").title().replace(" Of ", " of ")
