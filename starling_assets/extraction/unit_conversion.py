"""Units: what a printed unit means, and conversion to a task's unit without crossing dimensions.

A dose per kilogram of body weight, a mass fraction and a count per animal are different dimensions here, although all
look like mass per mass. Amounts become masses only with a molar mass. What cannot be converted is flagged, never
guessed.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from .values import Quantity

_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "": 1.0, "k": 1e3}
#: Base symbols that take a prefix -> pint name. Case matters: M is molar, m is metre.
_BASES = {"g": "gram", "mol": "mole", "M": "molar", "L": "litre", "l": "litre", "m": "metre"}
_WHOLE = {
    "U": "activity",
    "IU": "activity",
    "U.": "activity",
    "units": "activity",
    "unit": "activity",
    "animal": "animal",
    "mouse": "animal",
    "rat": "animal",
    "bird": "animal",
    "mice": "animal",
    "rabbit": "animal",
    "%": "percent",
    "percent": "percent",
    "fold": "fold",
    "times": "fold",
    "h": "hour",
    "hr": "hour",
    "min": "minute",
    "s": "second",
    "d": "day",
    "day": "day",
    "days": "day",
}
_DOSED = frozenset({"gram", "mole", "activity"})
_SPELLED = {
    "gram": "g",
    "grams": "g",
    "milligram": "mg",
    "milligrams": "mg",
    "microgram": "ug",
    "micrograms": "ug",
    "mcg": "ug",
    "micromolar": "uM",
    "nanomolar": "nM",
    "millimolar": "mM",
    "molar": "M",
    "litre": "L",
    "liter": "L",
    "kilogram": "kg",
    "kilograms": "kg",
    "moles": "mol",
    "mole": "mol",
    "millimole": "mmol",
    "micromole": "umol",
}
_BODY = re.compile(
    r"\bkg[\s-]*(?:of\s+)?(?:\(?(?:b\.?\s?w\.?t?\.?|b\.?\s?wt\.?|body[\s-]?(?:weight|wt\.?|mass)|rat|mouse)\)?\s*)+(?:\(BW\))?",
    re.IGNORECASE,
)
_NOISE = re.compile(r"\ba\.?\s?i\.?(?=\s*/)|\bof\s+[\w-]+(?=\s*(?:/|per\b))", re.IGNORECASE)
_DIET = re.compile(r"\b(?:diet|feed|food|chow|air|soil|water|tissue|wet|dry|organ|sample)\b", re.IGNORECASE)
_TOKEN = re.compile(r"(?P<count>\d+(?:\.\d+)?)?\s*(?P<symbol>[A-Za-z%.]+)\s*(?:\^?\s*(?P<power>-?\d))?")
_DEFINITIONS = (
    "gram = [mass] = g",
    "mole = [substance] = mol",
    "metre = [length]",
    "second = [time] = s",
    "litre = 1e-3 * metre ** 3",
    "molar = mole / litre",
    "bodykg = [bodyweight]",
    "animal = [animal]",
    "activity = [activity]",
    "percent = [percent]",
    "fold = [fold]",
    "minute = 60 * second",
    "hour = 3600 * second",
    "day = 86400 * second",
)


@dataclass(frozen=True, slots=True)
class Converted:
    """A quantity in the wanted unit; ``flag`` says why there is none, or what was assumed."""

    unit: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    qualifier: str | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class _Factor:
    count: float
    prefix: float
    name: str
    power: int

    @property
    def is_per_kilogram(self) -> bool:
        return self.name == "gram" and self.prefix == 1e3 and self.power == -1


class UnknownUnit(ValueError):
    """The printed unit is not understood; the message quotes it."""


def convert(quantity: Quantity, target: str, molar_mass: float | None = None) -> Converted:
    """``quantity`` in ``target``: a unit (``mg/kg``, ``%``), ``log10(unit)`` or a p-scale (``pIC50``, in mol/L).

    In a dose ``kg`` means body weight. ``molar_mass`` is in g/mol. A p-scale turns bounds and relation round.
    """
    if quantity.value is None and quantity.low is None and quantity.high is None:
        return Converted(target, flag=quantity.flag or "no number in the text")
    if not quantity.unit:
        return Converted(target, flag="no unit printed")
    try:
        source, source_log = _scale(quantity.unit)
        wanted, wanted_log = _scale(target)
        factor = _factor(source, wanted, molar_mass)
    except UnknownUnit as error:
        return Converted(target, flag=str(error))
    if factor is None:
        return Converted(target, flag=f"{quantity.unit!r} is no {target}: the dimensions differ")
    if math.isnan(factor):
        return Converted(target, flag=f"{quantity.unit!r} to {target} needs the molar mass, and no structure is known")
    numbers = [
        _apply(number, factor, source_log, wanted_log) for number in (quantity.value, quantity.low, quantity.high)
    ]
    if any(number is not None and not math.isfinite(number) for number in numbers):
        return Converted(target, flag=f"{quantity.text!r} has no value in {target}")
    value, low, high = numbers
    turned = (wanted_log < 0) != (source_log < 0)
    qualifier = quantity.qualifier
    if turned:
        low, high = high, low
        qualifier = _FLIP.get(qualifier or "", qualifier)
    return Converted(target, value, low, high, qualifier, quantity.flag)


def unit_expression(text: str) -> str:
    """A printed unit as a pint expression of this module's registry, e.g. ``0.001*gram/bodykg`` for ``mg/kg``.

    Raises :class:`UnknownUnit`.
    """
    plain = unicodedata.normalize("NFKC", text).replace("μ", "u").replace("−", "-").replace("–", "-")
    plain = _NOISE.sub("", _BODY.sub("kg", plain)).strip(" .;,")
    if _DIET.search(plain) or re.search(r"\bpp[mb]\b", plain):
        raise UnknownUnit(f"{text!r} is kept as written: it is no dose without intake or further data")
    plain = re.sub(r"[·∙⋅•*]", " ", re.sub(r"\bper\b", "/", plain))
    numerator, *denominators = [part.strip() for part in plain.split("/")]
    factors = [_factor_of(token, text, 1) for token in _tokens(numerator, text)]
    for part in denominators:
        factors += [_factor_of(token, text, -1) for token in _tokens(part, text)]
    if any(factor.name in _DOSED and factor.power > 0 for factor in factors):
        # Mass per kilogram is a dose: its kilogram is an animal's, not a mass fraction.
        factors = [
            _Factor(factor.count, 1.0, "bodykg", factor.power) if factor.is_per_kilogram else factor
            for factor in factors
        ]
    return "*".join(f"({factor.count * factor.prefix}*{factor.name})**{factor.power}" for factor in factors)


def _tokens(part: str, text: str) -> list[re.Match[str]]:
    found, at = [], 0
    while at < len(part):
        match = _TOKEN.match(part, at)
        if match is None:
            raise UnknownUnit(f"the unit {text!r} is not understood")
        found.append(match)
        at = match.end()
        while at < len(part) and part[at].isspace():
            at += 1
    if not found:
        raise UnknownUnit(f"the unit {text!r} is not understood")
    return found


def _factor_of(token: re.Match[str], text: str, sign: int) -> _Factor:
    prefix, name = _symbol(token["symbol"], text)
    return _Factor(float(token["count"] or 1), prefix, name, sign * int(token["power"] or 1))


def _symbol(symbol: str, text: str) -> tuple[float, str]:
    symbol = _SPELLED.get(symbol.lower(), symbol) if len(symbol) > 2 else symbol
    if symbol in _WHOLE:
        return 1.0, _WHOLE[symbol]
    for base in sorted(_BASES, key=len, reverse=True):
        if symbol.endswith(base) and symbol[: -len(base)] in _PREFIXES:
            return _PREFIXES[symbol[: -len(base)]], _BASES[base]
    raise UnknownUnit(f"the unit {text!r} is not understood")


def _scale(text: str) -> tuple[str, int]:
    """Pint expression and scale: 0 linear, 1 log10, -1 negative log10."""
    compact = text.strip()
    logarithm = re.fullmatch(r"(?P<minus>-)?\s*log(?:10)?\s*\(\s*(?P<unit>.+?)\s*\)", compact, re.IGNORECASE)
    if logarithm:
        return unit_expression(logarithm["unit"]), -1 if logarithm["minus"] else 1
    if re.fullmatch(r"p(?:IC50|EC50|Ki|Kd|XC50|GI50)", compact, re.IGNORECASE):
        return unit_expression("mol/L"), -1
    return unit_expression(compact), 0


def _factor(source: str, wanted: str, molar_mass: float | None) -> float | None:
    """Factor from ``source`` to ``wanted``; None where dimensions differ, NaN where only the molar mass is missing."""
    registry = _registry()
    have, want = registry(source), registry(wanted)
    if have.dimensionality == want.dimensionality:
        return float(have.to(want.units).magnitude / want.magnitude)
    mass = registry.Quantity(molar_mass or 1.0, "gram / mole")
    for bridged in (have * mass, have / mass):
        if bridged.dimensionality == want.dimensionality:
            if not molar_mass:
                return math.nan
            return float(bridged.to(want.units).magnitude / want.magnitude)
    return None


def _apply(number: float | None, factor: float, source_log: int, wanted_log: int) -> float | None:
    if number is None:
        return None
    try:
        linear = 10.0 ** (number * source_log) if source_log else number
        scaled = linear * factor
        return _tidy(wanted_log * math.log10(scaled) if wanted_log else scaled)
    except (ValueError, OverflowError):
        return math.nan


def _tidy(number: float) -> float:
    # Twelve figures are more than any paper prints, and hide the last bits of binary arithmetic.
    return float(f"{number:.12g}")


@cache
def _registry() -> Any:
    import pint

    registry = pint.UnitRegistry(None, cache_folder=None)
    for line in _DEFINITIONS:
        registry.define(line)
    return registry
