"""Scores teacher or student on gold corpora with the configured endpoint: spans, rejected forms, tokens, cost.

    python benchmarks/model_tagging.py GOLD [--engine teacher] [--corpus bc5cdr] [--documents 8] [--work FOLDER]

GOLD holds one folder per corpus (PubTator files). The endpoint is that of ``starling.toml`` or the environment; without
one the packaged model answers. ``--work`` keeps the journal, so a run that was stopped goes on and pays for nothing
twice. Only the types that a corpus annotates are asked of the teacher and counted; documents are the first of the
development part. Strict: same span and type.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import polars as pl

from resources.endpoints import build_client
from starling_assets.artifacts.journal import Journal
from starling_assets.ontology.tables import LEXICON
from starling_assets.settings import load_settings
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.reading import role_of
from starling_assets.tagging.llm.tagger import ModelTagger, ModelWork
from tests.tagging.llm.test_scripted_models import CORPORA
from tests.tagging.llm.world import pubtator_world, spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--engine", choices=["teacher", "student"], default="teacher")
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="bc5cdr")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    settings = load_settings()
    file, types = CORPORA[options.corpus]
    world = pubtator_world(options.gold / file, options.documents, types)
    asked: list[EntityType | None] = [None]
    if options.engine == "teacher":
        asked = [EntityType(name) for name in dict.fromkeys(types.values())]
    client = build_client(settings)
    journal = Journal(
        (options.work or Path(tempfile.mkdtemp(prefix="tagging-"))) / f"{options.corpus}-{options.engine}"
    )
    work = ModelWork(client, journal, client.concurrency(role_of(asked[0])))
    started = time.monotonic()
    tagged = ModelTagger(asked, pl.DataFrame(schema=LEXICON), settings.tagging, work).tag(world.blocks)
    seconds = time.monotonic() - started
    found = spans(tagged)
    print(f"{options.engine} {client.model_name(role_of(asked[0]))} on {options.corpus}, {options.documents} documents")
    for kind in dict.fromkeys(types.values()):
        gold = {item for item in world.mentions if item[4] == kind}
        ours = {item for item in found if item[4] == kind}
        hit = len(gold & ours)
        met = sum(any(_overlap(one, other) for other in ours) for one in gold)
        precision, recall = hit / max(1, len(ours)), hit / max(1, len(gold))
        print(
            f"  {kind:15} gold {len(gold):4} tagged {len(ours):4} P {precision:.3f} R {recall:.3f} "
            f"F1 {2 * hit / max(1, len(gold) + len(ours)):.3f} gold met {met / max(1, len(gold)):.3f}"
        )
    usage: dict[str, float] = {}
    for outcome in journal.outcomes().values():
        for name, value in outcome.usage.items():
            usage[name] = usage.get(name, 0.0) + value
    print(f"  passes {tagged.tally.model_dump()}")
    print(f"  rejected {json.dumps(dict(tagged.rejected.group_by('reason').len().sort('reason').iter_rows()))}")
    print(f"  tokens {usage.get('prompt_tokens', 0):,.0f} + {usage.get('completion_tokens', 0):,.0f}, {seconds:,.0f} s")


def _overlap(one: tuple[int, int, int, int, str], other: tuple[int, int, int, int, str]) -> bool:
    return one[:2] == other[:2] and one[2] < other[3] and other[2] < one[3]


if __name__ == "__main__":
    main()
