"""Jobs: what the command line and the sensors start. Each is one partitioned stretch of the graph."""

from __future__ import annotations

import dagster as dg

VOCABULARY = dg.define_asset_job("vocabulary_releases", dg.AssetSelection.assets("ontology_release"))
LEXICON = dg.define_asset_job("lexicon_build", dg.AssetSelection.assets("lexicon"))
CORPUS = dg.define_asset_job(
    "corpus",
    dg.AssetSelection.groups("literature", "tagging", "index"),
    description="A shard from its source files to loaded indexes.",
)
PLANNING = dg.define_asset_job(
    "planning",
    dg.AssetSelection.groups("planning"),
    description="A task from its folder to resolved probes and a frozen schema.",
)
EXTRACTION = dg.define_asset_job(
    "extraction",
    dg.AssetSelection.groups("retrieval", "extraction"),
    description="A task over one shard: retrieval, extraction, judging.",
)
RETRIEVAL = dg.define_asset_job(
    "ranking",
    dg.AssetSelection.groups("retrieval"),
    description="A task over one shard, up to the ranked windows: what `starling plan` prices.",
)
DATASET = dg.define_asset_job(
    "dataset",
    dg.AssetSelection.assets("judged_dataset"),
    description="All shards of a task as one judged dataset.",
)
VALIDATION = dg.define_asset_job(
    "vocabulary_validation_of_a_type",
    dg.AssetSelection.assets("vocabulary_validation"),
    description="The frequent entities of one type, held against the ontology by a strong model.",
)
TRAINING_SET = dg.define_asset_job(
    "training_set",
    dg.AssetSelection.assets("tagging_training_set"),
    description="What a tagging student learns from.",
)
MARTS = dg.define_asset_job("marts", dg.AssetSelection.groups("marts"), description="dbt marts over the datasets.")

ALL = [VOCABULARY, LEXICON, CORPUS, PLANNING, RETRIEVAL, EXTRACTION, DATASET, VALIDATION, TRAINING_SET, MARTS]
