"""The scripted models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .gold import Gold, GoldRecord, load_gold, numbers, original, squeeze
from .requests import Passage, candidates_of, is_judging, passage_of, record_keys, task_of

Messages = list[dict[str, str]]
Schema = dict[str, Any] | None
_ROUTES = {"intravenous": "injection_systemic", "intraperitoneal": "injection_systemic", "i.p.": "injection_systemic",
           "parenteral": "injection_systemic", "i.v.": "injection_systemic"}  # fmt: skip


@dataclass
class IdealJudge:
    """Passes what the gold says and names the axis that fails otherwise."""

    gold: Gold = field(default_factory=load_gold)

    def __call__(self, messages: Messages, schema: Schema) -> dict[str, Any]:
        task = task_of(messages)
        return {"verdicts": [self.verdict(task, *candidate) for candidate in candidates_of(messages)]}

    def verdict(self, task: str, name: str, record: dict[str, Any], text: str) -> dict[str, Any]:
        quote = squeeze(record["quote"])
        near = [gold for gold in self.gold.of(task) if _overlap(gold.squeezed, quote, squeeze(gold.paragraph))]
        same = [gold for gold in near if _same_entity(gold, record)]
        labelled = [gold for gold in same if record["label"] in gold.labels]
        right = [gold for gold in labelled if _same_value(gold, record)]
        grounded = quote in squeeze(text)
        axes = {
            "support_fidelity": grounded,
            "task_relevance": bool(near),
            "entity_attribution": bool(same),
            "label_correctness": bool(labelled),
            "accuracy": bool(right),
        }
        failing = [axis for axis, passed in axes.items() if not passed]
        return {"id": name, **axes, "why": ", ".join(failing) or None}


@dataclass
class Ideal:
    """Extracts every gold record whose words stand in the passage, and judges by the gold."""

    gold: Gold = field(default_factory=load_gold)

    def __call__(self, messages: Messages, schema: Schema) -> dict[str, Any]:
        if is_judging(schema):
            return IdealJudge(self.gold)(messages, schema)
        assert schema is not None
        keys = record_keys(schema)
        return {"records": self.records(task_of(messages), passage_of(messages), keys)}

    def records(self, task: str, passage: Passage, keys: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        for gold in self.gold.of(task):
            paragraph = next((text for text in passage.paragraphs if gold.stands_in(text)), None)
            if paragraph is not None:
                found.append(as_reply(gold, paragraph, passage, keys))
        return found


@dataclass
class Sloppy:
    """As the ideal one, with one planted error in every second record; ``planted`` lists them with their kind."""

    gold: Gold = field(default_factory=load_gold)
    planted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, messages: Messages, schema: Schema) -> dict[str, Any]:
        if is_judging(schema):
            return IdealJudge(self.gold)(messages, schema)
        answer = Ideal(self.gold)(messages, schema)
        passage = passage_of(messages)
        for record in list(answer["records"]):
            choice = int(hashlib.sha256(repr(sorted(record.items(), key=str)).encode()).hexdigest(), 16)
            if choice % 2:
                continue
            kind, wrong = ERRORS[choice // 2 % len(ERRORS)](record, passage, self.gold, record_keys(schema or {}))
            if wrong is None:
                continue
            if kind == "off_task":
                answer["records"].append(wrong)
            else:
                answer["records"][answer["records"].index(record)] = wrong
            self.planted.append((kind, wrong))
        return answer


@dataclass
class Adversary:
    """Gives every error there is for every record, copies the example, and never a right record."""

    gold: Gold = field(default_factory=load_gold)
    planted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, messages: Messages, schema: Schema) -> dict[str, Any]:
        if is_judging(schema):
            return IdealJudge(self.gold)(messages, schema)
        answer = Ideal(self.gold)(messages, schema)
        passage, keys = passage_of(messages), record_keys(schema or {})
        wrong: list[dict[str, Any]] = []
        for record in answer["records"]:
            for error in ERRORS:
                kind, planted = error(record, passage, self.gold, keys)
                if planted is not None:
                    wrong.append(planted)
                    self.planted.append((kind, planted))
        copied = {
            **dict.fromkeys(keys),
            "quote": "Zelvorane reached the brain of rats (Kp 0.42)",
            "entity": "Zelvorane",
        }
        copied["label"] = keys["label"].get("enum", ["LD50"])[0]
        wrong.append(copied)
        self.planted.append(("example", copied))
        return {"records": wrong}


def as_reply(gold: GoldRecord, paragraph: str, passage: Passage, keys: dict[str, Any]) -> dict[str, Any]:
    """The gold record as the extraction schema wants it, with the passage's own characters as quote."""
    quote = original(gold.squeezed, paragraph) or gold.quote
    text = squeeze(passage.text).casefold()
    entity = next((name for name in gold.names if squeeze(name).casefold() in text), gold.entity)
    value = gold.value_text
    if value is not None and (len(value) > 80 or squeeze(value) not in squeeze(quote) or not numbers(value)):
        value = None
    reply: dict[str, Any] = {**dict.fromkeys(keys), "quote": quote, "entity": entity, "label": gold.labels[0]}
    reply |= {"value_text": value, "unit": None}
    for name, stated in gold.fields.items():
        stated = {"review": "cited"}.get(stated, stated) if name == "claim_source" else stated
        stated = _ROUTES.get(stated, stated) if name == "route" else stated
        if name in keys and stated is not None and (not _allowed(keys[name]) or stated in _allowed(keys[name])):
            reply[name] = str(stated)
    return reply


def wrong_entity(record: dict[str, Any], passage: Passage, gold: Gold, keys: dict[str, Any]) -> tuple[str, Any]:
    """A word of the passage that is nobody's name in the gold for this quote."""
    taken = {
        squeeze(name).casefold()
        for item in gold.records
        if _overlap(item.squeezed, squeeze(record["quote"]), squeeze(item.paragraph))
        for name in item.names
    }
    for word in passage.text.replace(",", " ").replace(".", " ").split():
        plain = word.strip("()[];:").casefold()
        if len(plain) > 5 and plain.isalpha() and not any(plain in name or name in plain for name in taken):
            return "wrong_entity", {**record, "entity": word.strip("()[];:")}
    return "wrong_entity", None


def swapped_label(record: dict[str, Any], _: Passage, gold: Gold, keys: dict[str, Any]) -> tuple[str, Any]:
    accepted = {
        label
        for item in gold.records
        if _overlap(item.squeezed, squeeze(record["quote"]), squeeze(item.paragraph)) and _same_entity(item, record)
        for label in item.labels
    }
    other = next((label for label in keys["label"].get("enum", []) if label not in accepted), None)
    return "swapped_label", None if other is None else {**record, "label": other}


def invented_number(record: dict[str, Any], *_: Any) -> tuple[str, Any]:
    return "invented_number", {**record, "value_text": "7341.25"}


def altered_quote(record: dict[str, Any], *_: Any) -> tuple[str, Any]:
    quote = record["quote"]
    changed = quote.replace(" not ", " ") if " not " in quote else " not ".join(quote.rsplit(" ", 1))
    return "altered_quote", {**record, "quote": changed}


def off_task(record: dict[str, Any], passage: Passage, gold: Gold, __: Any) -> tuple[str, Any]:
    """A sentence of the passage that is no record, about an entity of the passage."""
    quotes = [item.squeezed for item in gold.records]
    for paragraph in passage.paragraphs:
        for sentence in paragraph.split(". "):
            plain = squeeze(sentence)
            if 40 < len(plain) < 300 and not any(_shared_run(plain, quote) for quote in quotes):
                return "off_task", {**record, "quote": sentence, "value_text": None}
    return "off_task", None


ERRORS: tuple[Callable[..., tuple[str, Any]], ...] = (
    wrong_entity,
    swapped_label,
    invented_number,
    altered_quote,
    off_task,
)


def ideal(messages: Messages, schema: Schema) -> dict[str, Any]:
    """For the stub endpoint: the ideal extractor and judge."""
    return Ideal()(messages, schema)


def sloppy(messages: Messages, schema: Schema) -> dict[str, Any]:
    """For the stub endpoint: planted errors, ideal judge."""
    return Sloppy()(messages, schema)


def adversarial(messages: Messages, schema: Schema) -> dict[str, Any]:
    """For the stub endpoint: errors only, ideal judge."""
    return Adversary()(messages, schema)


def _allowed(schema: dict[str, Any]) -> list[str]:
    for part in (schema, *schema.get("anyOf", [])):
        if "enum" in part:
            return [value for value in part["enum"] if value is not None]
    return []


def _overlap(one: str, other: str, paragraph: str) -> bool:
    return one in other or other in one or (other in paragraph and _shared_run(one, other))


def _shared_run(one: str, other: str) -> bool:
    size = min(len(one), len(other), 30)
    return any(one[at : at + size] in other for at in range(0, max(1, len(one) - size), 5))


def _same_entity(gold: GoldRecord, record: dict[str, Any]) -> bool:
    names = {squeeze(name).casefold() for name in gold.names}
    return any(squeeze(str(record.get(key) or "")).casefold() in names for key in ("entity", "concept_name"))


def _same_value(gold: GoldRecord, record: dict[str, Any]) -> bool:
    stated = numbers(record.get("value_text"))
    return not stated or set(stated) <= {*gold.numbers, *numbers(gold.quote)}
