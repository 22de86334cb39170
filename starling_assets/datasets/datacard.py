"""The data card: what a dataset is, where it comes from, under which terms, and what it is not good for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from starling_assets.agents.tasks import Task

from .build import Dataset

#: Licence classes whose text may be passed on; quotes of the others are short quotations and need a look before reuse.
_REUSABLE = frozenset({"CC0", "CC-BY", "CC-BY-SA", "US-GOV"})
_METHOD = (
    "Schema `{schema}`. Passages were found by the probes {probes}, read by a language model, and each quote was found "
    "again in the stored text before it counted. Identity comes from vocabularies, not from the model. A second call "
    "judged every record on five axes; only records that pass all five are here."
)
_TERMS = (
    "The licence decides what may be done with the quotes. Classes marked * allow redistribution with attribution; "
    "look at the others before passing quotes on."
)
#: Most sources listed one by one.
LISTED = 500


class Vocabulary(NamedTuple):
    """A vocabulary that gave records their identity."""

    name: str
    version: str
    licence: str
    attribution: str


def datacard(
    task: Task,
    digest: str,
    dataset: Dataset,
    refused: Mapping[str, int],
    vocabularies: Sequence[Vocabulary] = (),
) -> str:
    """Markdown text; the same dataset gives the same text.

    ``refused`` counts the objects refused before judging. Costs and times are left out: they differ from run to run.
    """
    counts, kept = dataset.counts, dataset.kept
    sources = _sources(dataset)
    parts = [
        f"# Dataset `{task.name}`",
        task.sentence,
        "## Counts",
        _table(
            ("what", "number"),
            [
                ("kept records", counts.kept),
                ("papers with a kept record", kept["paper_id"].n_unique()),
                ("distinct concepts", kept["concept_id"].drop_nulls().n_unique()),
                ("records without a concept", int(kept["concept_id"].is_null().sum())),
                ("records from retracted papers (flagged)", int(kept["retracted"].sum())),
                ("kept records that state the same fact again, joined", counts.merged),
                ("judged and not kept", counts.not_kept),
                ("superseded or deleted papers' records, left out", counts.masked),
                ("records of an earlier schema, left out", counts.other_schema),
            ],
        ),
        "Not kept, by failed axis (a record can fail on several):",
        _table(("axis", "records"), counts.by_axis.items()),
        "Refused before judging, by reason:",
        _table(("reason", "objects"), refused.items()),
        f"## Label: {task.record.label.name}",
        task.record.label.description,
        _table(("label", "records"), _by(kept, "label")),
        "## Fields",
        _table(
            ("field", "type", "meaning"),
            [(rule.name, ", ".join(rule.allowed) or rule.type, rule.description) for rule in task.record.fields],
        ),
        "## What counts",
        _bullets(task.record.instantiation.counts),
        "What does not:",
        _bullets(task.record.instantiation.not_counts),
        "## How it was made",
        _METHOD.format(schema=digest, probes=", ".join(probe.name for probe in task.probes)),
        _table(("role", "model", "prompt", "records"), _models(dataset.judged)),
    ]
    parts += [
        "## Licences of the sources",
        _TERMS,
        _table(("licence", "papers"), _licences(sources)),
        "## Sources",
        _source_list(sources),
    ]
    if vocabularies:
        parts += ["## Vocabularies", _table(("name", "version", "licence", "attribution"), vocabularies)]
    parts += [
        "## Limits",
        _bullets(
            [
                "Records are read by models; no person has checked them. A weak model extracts and judges weakly.",
                "A quote shows that the words stand in the paper, not that the paper is right.",
                "Papers are those of the corpus given; absence of a record is no evidence of absence.",
                "In CSV, cells may begin with =, < or >: open it as data, not as formulas.",
            ]
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sources(dataset: Dataset) -> pl.DataFrame:
    if dataset.papers.is_empty():
        return dataset.papers
    return dataset.papers.join(dataset.kept.select("paper_id").unique(), on="paper_id", how="semi").sort("paper_id")


def _licences(sources: pl.DataFrame) -> list[tuple[str, int]]:
    if sources.is_empty():
        return []
    rows = sources.select(pl.col("licence").fill_null("UNKNOWN")).to_series().value_counts().sort("licence").iter_rows()
    return [(f"{name}{'*' if name in _REUSABLE else ''}", count) for name, count in rows]


def _source_list(sources: pl.DataFrame) -> str:
    if sources.is_empty():
        return "None."
    lines = [
        f"- {_escaped(row['title'] or 'Untitled')}. {_escaped(row['journal'] or '')} {row['paper_id']}"
        f"{' doi:' + row['doi'] if row['doi'] else ''}. Licence: {row['licence'] or 'UNKNOWN'}."
        f"{' RETRACTED.' if row['retracted'] else ''}"
        for row in sources.head(LISTED).iter_rows(named=True)
    ]
    if sources.height > LISTED:
        lines.append(f"- and {sources.height - LISTED} more: see `paper_id` in the data.")
    return "\n".join(lines)


def _models(judged: pl.DataFrame) -> list[tuple[str, str, str, int]]:
    rows: list[tuple[str, str, str, int]] = []
    for role, model, prompt in (("extractor", "model", "prompt"), ("judge", "judge_model", "judge_prompt")):
        found = judged.filter(pl.col(model).is_not_null()).group_by(model, prompt).len().sort(model, prompt)
        rows += [(role, *row) for row in found.iter_rows()]
    return rows


def _by(frame: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    return list(frame.group_by(column).len().sort("len", column, descending=[True, False]).iter_rows())


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    body = [f"| {' | '.join(_escaped(str(cell)) for cell in row)} |" for row in rows]
    if not body:
        return "None."
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
