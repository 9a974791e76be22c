"""A converter of units: exact until the result is rounded."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import ClassVar, NamedTuple

from llmarena_envs.simulation.engines.lines import LineEngine, Refused

DIGITS = 6
"""Significant digits of a result."""
PLAIN = range(-6, 15)
"""Powers of ten of the first digit at which a result is written without an exponent."""

_FACTORS = {
    "length": "mm 0.001, cm 0.01, m 1, km 1000, in 0.0254, ft 0.3048, yd 0.9144, mi 1609.344, nmi 1852",
    "mass": "mg 0.001, g 1, kg 1000, t 1000000, oz 28.349523125, lb 453.59237, st 6350.29318",
    "time": "ms 0.001, s 1, min 60, h 3600, d 86400, wk 604800",
    "speed": "m/s 1, km/h 5/18, mph 0.44704, kn 463/900, ft/s 0.3048",
    "area": "cm2 0.0001, m2 1, ha 10000, km2 1000000, in2 0.00064516, ft2 0.09290304, ac 4046.8564224, mi2 2589988.110336",
    "volume": "ml 0.001, l 1, m3 1000, tsp 0.00492892159375, tbsp 0.01478676478125, floz 0.0295735295625,"
    " cup 0.2365882365, pt 0.473176473, qt 0.946352946, gal 3.785411784",
    "data": "b 1/8, B 1, kB 1000, MB 1000000, GB 1000000000, TB 1000000000000,"
    " KiB 1024, MiB 1048576, GiB 1073741824, TiB 1099511627776",
}
"""Units of each kind, with their size in the unit of size 1."""


class Unit(NamedTuple):
    """A unit.

    Attributes:
        name: as requests write it.
        kind: what it measures.
        size: in the first unit of its kind.
        offset: what is added to a number of this unit before it is multiplied by the size.
    """

    name: str
    kind: str
    size: Fraction
    offset: Fraction = Fraction(0)


_TEMPERATURES = (
    Unit("C", "temperature", Fraction(1), Fraction("273.15")),
    Unit("F", "temperature", Fraction(5, 9), Fraction("459.67")),
    Unit("K", "temperature", Fraction(1)),
)


def _units() -> dict[str, Unit]:
    found = {unit.name: unit for unit in _TEMPERATURES}
    for kind, text in _FACTORS.items():
        for entry in text.split(","):
            name, size = entry.split()
            found[name] = Unit(name, kind, Fraction(size))
    return found


UNITS = _units()
"""All units by name."""

_UNIT = r"[^ 0-9.+-][^ ]*+"
_QUANTITY = re.compile(rf" ?([+-]?[0-9]{{1,15}}(?:\.[0-9]{{1,15}})?(?:[eE][+-]?[0-9]{{1,2}}(?![0-9]))?) ?({_UNIT})")
_READABLE = "cannot read that; write for example: 12 km to mi"


class UnitConverter(LineEngine):
    """Answers ``12 km to mi`` with ``12 km = 7.45645 mi``; several quantities before ``to`` are added."""

    name: ClassVar[str] = "unit_converter"

    def _run(self, command: str) -> str:
        words = command.split()
        if words[0].lower() == "units" and len(words) == 2:
            names = [unit.name for unit in UNITS.values() if unit.kind == words[1].lower()]
            if not names:
                raise Refused(f"unknown kind {words[1]}")
            return " ".join(names)
        if words[0].lower() == "convert":
            del words[0]
        if len(words) < 3 or words[-2].lower() != "to" or not re.fullmatch(_UNIT, words[-1]):
            raise Refused(_READABLE)
        return _convert(_quantities(" ".join(words[:-2])), words[-1])

    def state(self) -> str:
        """Returns that there is none: the converter remembers nothing."""
        return "no state"


def _quantities(text: str) -> list[tuple[str, str]]:
    """Returns numbers and units as they are written one after the other."""
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        match = _QUANTITY.match(text, place)
        if match is None:
            raise Refused(_READABLE)
        found.append((match[1], match[2]))
        place = match.end()
    return found


def _convert(quantities: list[tuple[str, str]], target: str) -> str:
    for name in (*(name for _, name in quantities), target):
        if name not in UNITS:
            raise Refused(f"unknown unit {name}")
    to = UNITS[target]
    total = Fraction(0)
    for number, name in quantities:
        unit = UNITS[name]
        if unit.kind != to.kind:
            raise Refused(f"{name} is {unit.kind}, {target} is {to.kind}")
        total += (Fraction(number) + unit.offset) * unit.size
    if to.kind == "temperature":
        if len(quantities) > 1:
            raise Refused("temperatures cannot be added")
        if total < 0:
            raise Refused("below absolute zero")
    asked = " ".join(f"{number} {name}" for number, name in quantities)
    return f"{asked} = {rounded(total / to.size - to.offset)} {target}"


def rounded(value: Fraction) -> str:
    """Returns a number with six significant digits, halves rounded away from zero, without zeros at the end."""
    context = Context(prec=DIGITS, rounding=ROUND_HALF_UP)
    number = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    power = number.adjusted()
    if not number or power in PLAIN:
        return f"{number:f}"
    return f"{number.scaleb(-power):f}e{power}"
