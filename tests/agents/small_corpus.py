"""A corpus of made-up passages with their entities, and scripted planners for it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

from starling_assets.agents.planning_calls import Passage
from starling_assets.retrieval.filterspec import FilterSpec


@dataclass
class SmallCorpus:
    """Passages with entity names; ``relevant`` marks the true ones. Implements PassageSource."""

    rows: list[tuple[str, frozenset[str], bool]] = field(default_factory=list)

    def add(self, count: int, entities: str, *, relevant: bool) -> SmallCorpus:
        for _ in range(count):
            self.rows.append((f"k{len(self.rows)}", frozenset(entities.split()), relevant))
        return self

    def passage(self, key: str) -> Passage:
        names, relevant = next((names, relevant) for other, names, relevant in self.rows if other == key)
        word = "REPORTED" if relevant else "mentioned"
        return Passage(key=key, paper_id=f"pmid:{key}", text=f"{' '.join(sorted(names))} are {word} in {key}")

    def problems(self, spec: FilterSpec) -> str | None:
        known = {name for _, names, _ in self.rows for name in names}
        for group in spec.entity_groups:
            if not group:
                return "an empty group"
            for term in group:
                if term.removeprefix("~") not in known:
                    return f"nothing is called {term!r}"
        return None

    def keys(self, spec: FilterSpec) -> frozenset[str]:
        return frozenset(
            key
            for key, names, _ in self.rows
            if all(
                any((t[1:] not in names) if t.startswith("~") else t in names for t in g) for g in spec.entity_groups
            )
        )

    def sample(self, spec: FilterSpec, n: int, seed: int) -> list[Passage]:
        keys = sorted(self.keys(spec))
        return [self.passage(key) for key in random.Random(seed).sample(keys, min(n, len(keys)))]

    def search(self, query: str, n: int, spec: FilterSpec | None = None) -> list[Passage]:
        keys = sorted(self.keys(spec or FilterSpec()))
        return [self.passage(key) for key in keys[:n]]

    def outside(self, specs: list[FilterSpec], n: int) -> list[Passage]:
        inside = {key for spec in specs for key in self.keys(spec)}
        left = [(not relevant, key) for key, _, relevant in self.rows if key not in inside]
        return [self.passage(key) for _, key in sorted(left)[:n]]


def corpus() -> SmallCorpus:
    """Drug and barrier: right. Drug and CSF: right. Drug alone: wrong. Barrier and damage: wrong."""
    made = SmallCorpus()
    made.add(40, "drug barrier", relevant=True)
    made.add(40, "drug csf", relevant=True)
    made.add(60, "drug liver", relevant=False)
    return made.add(30, "drug barrier damage", relevant=False)


def validate(user: str) -> dict[str, Any]:
    """An honest validator: the passage says so."""
    rows = re.findall(r"^id: (p\d+)\n(.*)$", user, re.MULTILINE)
    return {"verdicts": [{"id": name, "relevant": "REPORTED" in text, "why": ""} for name, text in rows]}


def action(kind: str, name: str = "", groups: Any = (), query: str = "a drug enters the brain") -> dict[str, Any]:
    return {"kind": kind, "name": name, "entity_groups": [list(g) for g in groups], "semantic_query": query, "why": ""}


@dataclass
class Planner:
    """Answers propose calls from a list of action lists (then stops), validates honestly, advises nothing."""

    plan: list[list[dict[str, Any]]]
    validator: Any = field(default=validate)
    seen: list[str] = field(default_factory=list)

    def __call__(self, messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        user = messages[-1]["content"]
        if "verdicts" in schema["properties"]:
            return dict(self.validator(user))
        if "suggestions" in schema["properties"]:
            return {"suggestions": ["negate damage"]}
        self.seen.append(user)
        return {"actions": self.plan.pop(0) if self.plan else [action("stop")]}
