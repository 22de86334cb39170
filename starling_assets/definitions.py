"""The roof: one Definitions, policy applied once."""

from __future__ import annotations

import dagster as dg

from resources.embedder import EmbedderResource
from resources.endpoints import ModelClientResource
from resources.entity_index import EntityIndexResource
from resources.gpu_jobs import executor_for
from resources.ocr import OcrResource
from resources.project import ProjectResource
from resources.structures.resource import StructuresResource
from resources.vector_index import VectorIndexResource
from sensors.automation import automation_sensors
from sensors.drop_folder import new_papers
from starling_assets.defs import (
    checks,
    datasets,
    distillation,
    extraction,
    jobs,
    literature,
    marts,
    ocr,
    ontology,
    planning,
    retrieval,
    tagger_training,
    tagging,
)
from starling_assets.defs.policy import with_policy
from starling_assets.settings import load_settings

_MODULES = [
    ocr,
    literature,
    ontology,
    tagging,
    distillation,
    tagger_training,
    planning,
    retrieval,
    extraction,
    datasets,
    marts,
    checks,
]

settings = load_settings()
defs = dg.Definitions(
    assets=dg.load_assets_from_modules(_MODULES),
    asset_checks=dg.load_asset_checks_from_modules([checks]),
    jobs=jobs.ALL,
    sensors=[new_papers, *automation_sensors],
    resources={
        "project": ProjectResource(),
        "models": ModelClientResource(project=""),
        "embedder": EmbedderResource(),
        "entities": EntityIndexResource(),
        "vectors": VectorIndexResource(),
        "ocr": OcrResource(project=""),
        "structures": StructuresResource(opsin=settings.tagging.opsin),
    },
    executor=executor_for(settings),
).map_resolved_asset_specs(func=with_policy)
