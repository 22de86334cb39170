"""Takes a name apart: substance, strength, dosage form, salt words, hydrate words, components of a mixture."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starling_assets.ontology.counterions import COUNTERIONS, HYDRATES

_FORMS = (
    "tablet", "tablets", "capsule", "capsules", "injection", "solution", "suspension", "syrup", "cream", "ointment",
    "gel", "patch", "patches", "suppository", "suppositories", "powder", "granules", "drops", "spray", "inhaler",
    "lozenge", "elixir", "emulsion", "lotion", "caplet", "caplets", "pill", "pills", "infusion", "implant", "film",
)  # fmt: skip
_ROUTES = (
    r"(?:(?:oral|topical|intravenous|ophthalmic|nasal|rectal|extended[- ]release|sustained[- ]release"
    r"|film[- ]coated|chewable)\s+)*"
)
_FORM = re.compile(rf"\s+{_ROUTES}(?P<form>{'|'.join(_FORMS)})$", re.IGNORECASE)
_STRENGTH = re.compile(
    r"\s+(?P<strength>\d[\d.,]*\s*(?:mg|mcg|µg|μg|ug|g|IU|units?|mL|%)(?:\s*/\s*(?:\d[\d.,]*\s*)?(?:mL|g|h|hr|actuation))?)(?=\s|$)",
    re.IGNORECASE,
)
_COMPONENT = re.compile(r"\s*(?:/|\+| and | - |–)\s*")


@dataclass(frozen=True)
class NameParts:
    """``substance`` is the name without form and strength; ``base`` lacks the salt and hydrate words too."""

    substance: str
    base: str
    salts: tuple[str, ...]
    hydrate: str | None
    form: str | None
    strength: str | None

    @property
    def kept(self) -> tuple[str, ...]:
        """Form and strength as notes."""
        notes = []
        if self.form:
            notes.append(f"form: {self.form}")
        if self.strength:
            notes.append(f"strength: {self.strength}")
        return tuple(notes)


def split_name(name: str) -> NameParts:
    """Parts of one name. A strength is a dose in a product's name, never a reported result."""
    substance, form, strength = " ".join(name.split()), None, None
    match = _FORM.search(substance)
    if match:
        form = _singular(match.group("form").lower())
        substance = substance[: match.start()]
    match = _STRENGTH.search(substance)
    if match:
        strength = match.group("strength")
        substance = (substance[: match.start()] + substance[match.end() :]).strip()
    words = substance.split(" ")
    salts: list[str] = []
    hydrate: str | None = None
    while len(words) > 1:
        last = words[-1].lower()
        if last in HYDRATES and hydrate is None:
            hydrate = last
        elif last in COUNTERIONS:
            salts.insert(0, last)
        else:
            break
        words.pop()
    return NameParts(substance, " ".join(words), tuple(salts), hydrate, form, strength)


def components(name: str) -> list[str]:
    """Components of a combination: ``trimethoprim/sulfamethoxazole``. One entry when it is a single name."""
    if re.search(r"\d/|/\d|[\[({]", name):
        return [name]
    parts = [part for part in _COMPONENT.split(name) if part]
    return parts if len(parts) > 1 and all(len(part) > 3 for part in parts) else [name]


def _singular(form: str) -> str:
    return {"suppositories": "suppository", "patches": "patch", "drops": "drops", "granules": "granules"}.get(
        form, form.removesuffix("s")
    )
