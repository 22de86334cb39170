"""The whole way from a reply to the tag tables, with scripted models that know the gold."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from starling_assets.ontology.linking import link_entities
from starling_assets.tagging.entity_types import EntityType
from tests.ontology.vocabulary import biology, chemistry, lexicon
from tests.scripted import ScriptedClient
from tests.scripted.tagging import AdversarialTagger, GoldEntity, IdealTagger, SloppyTagger

from .world import World, blocks_of, f1, own_world, pubtator_world, spans, tag

#: Corpus file, and what its types are called here.
CORPORA = {
    "bc5cdr": ("bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz", {"Chemical": "SmallMolecule", "Disease": "Disease"}),
    "biored": (
        "biored/Dev.PubTator.gz",
        {
            "ChemicalEntity": "SmallMolecule",
            "DiseaseOrPhenotypicFeature": "Disease",
            "GeneOrGeneProduct": "Gene",
            "OrganismTaxon": "Organism",
            "CellLine": "CellLine",
            "SequenceVariant": "GeneVariant",
        },
    ),
}
DOCUMENTS = 12


@pytest.fixture(scope="module", params=["own", *CORPORA])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "own":
        return own_world()
    folder: Path = request.getfixturevalue("shared_data")
    name, types = CORPORA[request.param]
    return pubtator_world(folder / "gold" / name, DOCUMENTS, types)


@pytest.mark.parametrize("engine", ["teacher", "student"])
def test_an_ideal_model_gives_the_gold_spans(world: World, engine: str, tmp_path: Path) -> None:
    tagged = tag(world.blocks, ScriptedClient(IdealTagger(world.entities)), tmp_path, engine)
    assert f1(spans(tagged), world.mentions) >= 0.98
    assert tagged.rejected.is_empty()
    assert tagged.tally.complete
    assert tagged.tally.failed == 0


@pytest.mark.parametrize("engine", ["teacher", "student"])
def test_a_sloppy_model_loses_what_it_left_out_and_nothing_else(world: World, engine: str, tmp_path: Path) -> None:
    tagged = tag(world.blocks, ScriptedClient(SloppyTagger(world.entities)), tmp_path, engine)
    wrong = spans(tagged) - world.mentions
    assert 0.6 <= f1(spans(tagged), world.mentions) < 1
    assert len(wrong) <= 0.05 * len(world.mentions)
    assert set(tagged.rejected["reason"]) <= {"form not in the passage"}


@pytest.mark.parametrize("engine", ["teacher", "student"])
def test_nothing_ungrounded_of_an_adversarial_model_is_tagged(world: World, engine: str, tmp_path: Path) -> None:
    tagged = tag(world.blocks.head(6), ScriptedClient(AdversarialTagger(world.entities)), tmp_path, engine)
    assert tagged.mentions.is_empty()
    assert tagged.tags.is_empty()
    counts = dict(tagged.rejected.group_by("reason").len().iter_rows())
    assert set(counts) == {
        "form not in the passage", "form without a letter or digit", "form too long", "entity without a name",
    }  # fmt: skip


def test_all_19_types_are_tagged_with_the_names_the_model_chose(tmp_path: Path) -> None:
    world = own_world()
    tagged = tag(world.blocks, ScriptedClient(IdealTagger(world.entities)), tmp_path)
    assert set(tagged.tags["entity_type"]) == {item.value for item in EntityType}
    names = dict(tagged.mentions.join(tagged.tags, on="entity_key").select("surface", "canonical_name").iter_rows())
    assert names["TNF-α"] == "tumor necrosis factor"
    assert names["patients"] == "Homo sapiens"
    assert set(tagged.tags["tagger"]) == {"teacher:scripted-teacher"}


def test_a_label_of_a_compound_is_not_read_in_figure_numbers(tmp_path: Path) -> None:
    world = own_world()
    tagged = tag(world.blocks, ScriptedClient(IdealTagger(world.entities)), tmp_path)
    assert tagged.mentions.filter(pl.col("surface") == "6f")["start"].to_list() == [0]


def test_teacher_and_student_of_the_same_knowledge_agree(tmp_path: Path) -> None:
    world = own_world()
    teacher = tag(world.blocks, ScriptedClient(IdealTagger(world.entities)), tmp_path / "t", "teacher")
    student = tag(world.blocks, ScriptedClient(IdealTagger(world.entities)), tmp_path / "s", "student")
    assert teacher.mentions.equals(student.mentions)
    assert teacher.tags.drop("tagger").equals(student.tags.drop("tagger"))
    assert (teacher.tally.planned, student.tally.planned) == (57, 3)


def test_tags_of_a_model_are_linked_like_all_others(tmp_path: Path) -> None:
    text = "Aspirin and caffeine in Alzheimer's disease of mice; Rad51 rose."
    gold = [
        GoldEntity("SmallMolecule", "acetylsalicylic acid", ("Aspirin",), text),
        GoldEntity("SmallMolecule", "guaranine", ("caffeine",), text),
        GoldEntity("Disease", "Alzheimer disease", ("Alzheimer's disease",), text),
        GoldEntity("GOTerm", "unheard of", ("rose",), text),
    ]
    tagged = tag(blocks_of([[text]]), ScriptedClient(IdealTagger(gold)), tmp_path)
    concepts = pl.concat([biology().concepts, chemistry().concepts])
    links = link_entities(tagged.tags, lexicon(), concepts, None)
    assert dict(links.select("canonical_name", "concept_id").iter_rows()) == {
        "acetylsalicylic acid": "CHEBI:15365",
        "guaranine": "CHEBI:27732",
        "Alzheimer disease": "MONDO:4975",
        "unheard of": None,
    }
