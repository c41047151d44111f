"""Units of measurement behind numbers, as in "12.5 kg" or "180cm"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

BLANK = " \t\u00a0\u2007\u2009\u202f"
LETTERS = "A-Za-z\u00b0\u00b5\u00ba\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u2103\u2109\u2126"
WORD = f"[{LETTERS}]{{1,12}}[.]?([\u00b2\u00b3]|\\^?-?[0-9])?"
MEASURE = f"({WORD}|[$\u20ac\u00a3\u00a5%]/{WORD})([/\u00b7* -][0-9]{{0,3}}{WORD}){{0,2}}"
SUFFIX = f"[0-9][.,]?([{BLANK}]*)({MEASURE})$"
"""The end of a number that has a unit: a blank or none, and the unit. RE2 and Python read it alike."""
ORDINAL = re.compile(r"(st|nd|rd|th)\b")  # 5th is no amount
PLURAL = re.compile(r"(?<=\w\w\w)s$")
SYMBOL = 3  # letters up to which case may tell units apart, as mPa and MPa
VOCABULARY = """
kg=kgs=kilo=kilos t g mg \u00b5g=\u03bcg=ug=mcg lb=lbs=pound=pounds oz
km m cm mm \u00b5m=\u03bcm=um nm mi=mile=miles ft=feet=foot in=inch=inches yd=yds
m\u00b2=m2=m^2=qm=sqm km\u00b2=km2=km^2 cm\u00b2=cm2=cm^2 mm\u00b2=mm2=mm^2 ha ft\u00b2=ft2=sqft acre=acres
l=L=liter=liters=litre=litres ml=mL cl=cL dl=dL hl=hL m\u00b3=m3=m^3 cm\u00b3=cm3=cm^3=cc=ccm gal
s=sec=secs=second=seconds=Sek=Sek. ms \u00b5s=\u03bcs=us min=mins=minute=minutes=min.=Minuten
h=hr=hrs=hour=hours=Std=Std.=Stunde=Stunden d=day=days=Tag=Tage week=weeks=Woche=Wochen
month=months=Monat=Monate yr=yrs=year=years=Jahr=Jahre
byte=bytes kB=KB MB GB TB KiB MiB GiB TiB kbit/s=kbps Mbit/s=Mbps Gbit/s=Gbps
V mV kV A mA W mW kW MW GW Wh kWh MWh GWh \u03a9=\u2126=ohm k\u03a9 Hz kHz MHz GHz VA kVA dB dBm
km/h=kmh=kph m/s mph kn=knots
\u00b0C=\u00baC=\u2103=C=degC \u00b0F=\u00baF=\u2109=F=degF K \u00b0=\u00ba Pa hPa kPa MPa bar mbar psi mmHg atm
N kN Nm J kJ MJ cal kcal hp=bhp PS
mg/dl=mg/dL g/dl=g/dL mg/l=mg/L g/l=g/L \u00b5g/l=\u00b5g/L=ug/l=ug/L ng/ml=ng/mL mmol/l=mmol/L
\u00b5mol/l=\u00b5mol/L=umol/l=umol/L \u00b5g/m\u00b3=\u00b5g/m3=ug/m3 mg/kg mol mmol U/l=U/L IU/l=IU/L ppm ppb
l/min=L/min m\u00b3/s=m3/s m\u00b3/h=m3/h l/100km=L/100km mpg rpm bpm px pt pcs=pc Stk=Stk.=St\u00fcck lm lx
k M Mio=Mio.=mn=mln B bn Mrd=Mrd.
"""
UNITS = {one: group.split("=")[0] for group in VOCABULARY.split() for one in group.split("=")}
"""Each spelling of a common unit, and the one that stands for all of them."""


ANY_CASE = frozenset(
    "kg kgs km cm mm lb lbs oz ft kwh khz kva kb gb tb hr hrs sec secs min mins yr yrs day rpm".split()  # noqa: SIM905
)
"""Symbols that mean one unit in upper and in lower case, unlike ml and ML, or mb and MB."""
LOWER = {
    spelling.lower(): unit
    for spelling, unit in UNITS.items()
    if spelling.lower() in ANY_CASE or (len(spelling) > SYMBOL and spelling.isalpha())
}
"""Words and such symbols in lower case, and their units."""


class Unit(NamedTuple):
    """A unit as it is written behind a number; `apart` says whether a blank is between them."""

    spelling: str
    apart: bool

    @property
    def key(self) -> str:
        """What all spellings of a unit have in common."""
        return unit_key(self.spelling)

    @property
    def common(self) -> bool:
        """Whether it is in the vocabulary."""
        return self.spelling in UNITS or self.spelling.lower() in LOWER

    @property
    def clear(self) -> bool:
        """Whether it is a unit even where other numbers of a column have none, or another: the a of 12a may be a part
        of a name.
        """
        return self.common and len(self.spelling) > 1

    @property
    def plausible(self) -> bool:
        """Whether it may be a unit where all numbers of a column have it."""
        return self.common or (self.apart and ORDINAL.match(self.spelling) is None)


def unit_key(spelling: str) -> str:
    """Return what all spellings of a unit have in common.

    Examples
    --------
    >>> from adaline.coding.units import unit_key
    >>> unit_key("hours") == unit_key("Std."), unit_key("KG"), unit_key("rooms") == unit_key("room")
    (True, 'kg', True)
    """
    lower = spelling.lower()
    return UNITS.get(spelling) or LOWER.get(lower) or (spelling if len(lower) <= SYMBOL else PLURAL.sub("", lower))


def without_unit(value: str) -> tuple[str, str]:
    """Return a text without the unit at its end, and the unit, "" where there is none.

    Examples
    --------
    >>> from adaline.coding.units import without_unit
    >>> without_unit("12.5 km/h"), without_unit("12.5")
    (('12.5', 'km/h'), ('12.5', ''))
    """
    trimmed = value.strip(BLANK)
    found = re.search(SUFFIX, trimmed)
    return (trimmed, "") if found is None else (trimmed[: found.start(1)], found.group(2))


def spellings_of(units: Iterable[str]) -> list[str]:
    """Return all known spellings of units, and those given."""
    given = list(units)
    keys = {unit_key(one) for one in given}
    return list(dict.fromkeys([*given, *(one for one, unit in UNITS.items() if unit in keys)]))
