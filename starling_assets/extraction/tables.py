"""Table schemas of records and verdicts. Task fields travel as JSON text in `fields`, in schema order."""

from __future__ import annotations

import polars as pl

EVIDENCE = pl.Struct(
    {
        "paper_id": pl.String,
        "block_key": pl.String,
        "para_idx": pl.UInt32,
        "start": pl.UInt32,
        "end": pl.UInt32,
        "quote": pl.String,  # text[start:end] of the stored block
    }
)

#: One row per grounded record of a shard and task, before judging; ungrounded ones go to REJECTED.
RECORDS: dict[str, pl.DataType | type[pl.DataType]] = {
    "record_id": pl.String,  # content key of paper, evidence, entity, label and fields
    "task": pl.String,
    "paper_id": pl.String,
    "pmid": pl.String,
    "unit": pl.String,  # the window it was read from
    "evidence": pl.List(EVIDENCE),  # first = the quote given; more = the same fact elsewhere in the paper
    "alignment": pl.String,  # exact | folded | fuzzy
    "entity": pl.String,  # as written
    "entity_type": pl.String,
    "concept_id": pl.String,
    "concept_name": pl.String,
    "smiles": pl.String,
    "inchikey": pl.String,
    "parent_inchikey": pl.String,
    "sequence": pl.String,
    "label": pl.String,  # the task's primary label
    "value_text": pl.String,  # as printed
    "value": pl.Float64,
    "value_low": pl.Float64,
    "value_high": pl.Float64,
    "qualifier": pl.String,  # = < <= > >= ~
    "unit_text": pl.String,
    "normalised_value": pl.Float64,  # null for ranges and bounds, as is `value`
    "normalised_low": pl.Float64,
    "normalised_high": pl.Float64,
    "normalised_qualifier": pl.String,  # differs from `qualifier` where the scale turns the relation round
    "normalised_unit": pl.String,
    "unit_flag": pl.String,  # null, or why there is no normalised value
    "fields": pl.String,  # JSON object of the task's other fields
    "probes": pl.List(pl.String),
    "prompt": pl.String,  # name@hash
    "model": pl.String,
    "schema_hash": pl.String,
    "licence": pl.String,
    "retracted": pl.Boolean,
}

#: One row per object a model returned that did not become a record, with the reason.
REJECTED: dict[str, pl.DataType | type[pl.DataType]] = {
    "task": pl.String,
    "paper_id": pl.String,
    "unit": pl.String,
    "reason": pl.String,  # ungrounded | entity_not_in_window | not_finite | duplicate_key | not_allowed | absent …
    "detail": pl.String,
    "object": pl.String,  # JSON
}

#: One row per paper of a shard and task: what became of its windows.
COVERAGE: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_id": pl.String,
    "windows": pl.UInt32,
    "ok": pl.UInt32,
    "empty": pl.UInt32,
    "failed": pl.UInt32,
    "pending": pl.UInt32,
    "status": pl.String,  # complete | partial | failed | pending
    "reasons": pl.List(pl.String),
}

AXES = ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy")

#: One row per record: the verdict on five axes, kept only when all pass.
VERDICTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "record_id": pl.String,
    **dict.fromkeys(AXES, pl.Boolean),
    "reasons": pl.String,  # JSON object axis -> reason
    "kept": pl.Boolean,
    "judge_model": pl.String,
    "judge_prompt": pl.String,
    "status": pl.String,  # ok | failed
    "failure": pl.String,
}
