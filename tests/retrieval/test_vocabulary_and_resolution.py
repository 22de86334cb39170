"""Names to concepts: exact and folded names, several ontologies, ambiguity, narrower concepts, suggestions."""

from __future__ import annotations

import polars as pl
import pytest

from starling_assets.ontology.tables import LINKS
from starling_assets.retrieval.filterspec import FilterSpec, Scope, Term
from starling_assets.retrieval.resolution import UnresolvedTerms, ambiguous, resolve
from starling_assets.retrieval.vocabulary import Hierarchy, Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.retrieval.small_world import concepts, edges, lexicon

ROWS = [
    ("Blood-Brain Barrier", "MESH:D001812", "Anatomy"),
    ("blood brain barrier", "UBERON:0000120", "Anatomy"),
    ("brain", "UBERON:0000955", "Anatomy"),
    ("hippocampal formation", "UBERON:0002421", "Anatomy"),
    ("CAT", "HGNC:1516", "Gene"),
    ("cat", "NCBITaxon:9685", "Organism"),
    ("β-catenin", "HGNC:2514", "Gene"),
    ("Na+", "CHEBI:29101", "SmallMolecule"),
    ("sodium", "CHEBI:26708", "SmallMolecule"),
    ("Na", "CHEBI:26708", "SmallMolecule"),
    ("AIDS", "MONDO:0012268", "Disease"),
    ("AIDS", "HGNC:0000", "Gene"),
]
EDGES = [
    ("UBERON:0002421", "UBERON:0000955"),
    ("UBERON:0002037", "UBERON:0000955"),
    ("UBERON:0002129", "UBERON:0002037"),
    ("UBERON:0000955", "UBERON:0001017"),
]
VOCABULARY = Vocabulary.from_frames(lexicon(ROWS), concepts([*ROWS, ("the", "MESH:D1", "Phenotype")]), edges(EDGES))
SETTINGS = RetrievalSettings()


def term(text: str, *, expand: bool = False) -> Term:
    query = resolve(FilterSpec(entity_groups=[[text]], expand=expand), VOCABULARY, SETTINGS)
    return query.groups[0][0]


def test_a_name_takes_the_concepts_of_all_ontologies() -> None:
    for spelling in ("blood-brain barrier", "Blood-Brain Barrier", "blood–brain barrier", "BLOOD  BRAIN BARRIER"):
        found = term(spelling)
        assert found.ids == ["MESH:D001812", "UBERON:0000120"]
        assert found.chosen == ["MESH:D001812 Blood-Brain Barrier", "UBERON:0000120 blood brain barrier"]
        assert not ambiguous(found, VOCABULARY)


def test_case_decides_between_types_and_the_choice_is_recorded() -> None:
    gene, animal = term("CAT"), term("cat")
    assert gene.ids == ["HGNC:1516"]
    assert animal.ids == ["NCBITaxon:9685"]
    assert gene.candidates == animal.candidates == ["HGNC:1516 CAT", "NCBITaxon:9685 cat"]
    assert gene.chosen == ["HGNC:1516 CAT"]
    assert ambiguous(gene, VOCABULARY)
    assert term("Cat").ids == ["HGNC:1516", "NCBITaxon:9685"]


def test_a_truly_ambiguous_name_takes_all_and_shows_them() -> None:
    found = term("AIDS")
    assert found.candidates == found.chosen == ["HGNC:0000 AIDS", "MONDO:0012268 AIDS"]
    assert ambiguous(found, VOCABULARY)


def test_a_concept_id_chooses_one_meaning() -> None:
    found = term("MONDO:0012268")
    assert found.ids == ["MONDO:0012268"]
    assert found.chosen == ["MONDO:0012268 AIDS"]


def test_greek_and_signs() -> None:
    assert term("beta-catenin").ids == ["HGNC:2514"]
    assert term("Na+").ids == ["CHEBI:29101"]
    assert term("Na").ids == ["CHEBI:26708"]
    assert term("Na").candidates == ["CHEBI:26708 sodium", "CHEBI:29101 Na+"]


def test_a_preferred_name_that_the_tagger_ignores_can_be_asked_for() -> None:
    assert term("the").ids == ["MESH:D1"]


def test_types_need_no_vocabulary() -> None:
    found = term("~SmallMolecule")
    assert (found.kind, found.negated, found.ids) == ("type", True, ["type:SmallMolecule"])
    assert not ambiguous(found, VOCABULARY)


def test_expansion_adds_narrower_concepts_only() -> None:
    found = term("brain", expand=True)
    assert found.ids == ["UBERON:0000955", "UBERON:0002037", "UBERON:0002129", "UBERON:0002421"]
    assert found.chosen == ["UBERON:0000955 brain"]
    assert (found.truncated, found.expansion_total) == (False, 4)
    assert term("brain").ids == ["UBERON:0000955"]


def test_unknown_names_fail_all_at_once_with_near_spellings() -> None:
    with pytest.raises(UnresolvedTerms) as caught:
        resolve(
            FilterSpec(entity_groups=[["brain"], ["blood-brain barier", "~hipocampal formation"]]), VOCABULARY, SETTINGS
        )
    assert list(caught.value.suggestions) == ["blood-brain barier", "hipocampal formation"]
    message = str(caught.value)
    assert 'no vocabulary knows "blood-brain barier"; did you mean' in message
    assert '"hippocampal formation"' in message


def test_names_without_letters_resolve_to_nothing() -> None:
    with pytest.raises(UnresolvedTerms):
        term("--")


def test_the_resolved_filter_survives_json() -> None:
    query = resolve(FilterSpec(entity_groups=[["brain", "~CAT"]], scope=Scope.PAPER), VOCABULARY, SETTINGS)
    assert type(query).model_validate_json(query.model_dump_json()) == query


def test_names_of_unlinked_entities_come_from_the_corpus() -> None:
    links = pl.DataFrame(
        [{**dict.fromkeys(LINKS), "entity_key": "k1", "entity_type": "ClinicalTrial", "canonical_name": "NCT01234567"}],
        schema=LINKS,
    )
    vocabulary = Vocabulary.from_frames(lexicon(ROWS), concepts(ROWS), edges(EDGES), links)
    query = resolve(FilterSpec(entity_groups=[["nct01234567"]]), vocabulary, SETTINGS)
    assert query.groups[0][0].ids == ["name:k1"]


def test_obsolete_concepts_are_left_out() -> None:
    frame = concepts([("old name", "MESH:D9", "Disease")]).with_columns(obsolete=pl.lit(value=True))
    with pytest.raises(UnresolvedTerms):
        resolve(FilterSpec(entity_groups=[["old name"]]), Vocabulary.from_frames(lexicon(ROWS), frame), SETTINGS)


def test_a_hierarchy_with_cycles_and_diamonds_ends() -> None:
    tree = Hierarchy(edges([("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("a", "d")]))
    assert tree.narrower(["a"], 12, 100) == (["a", "b", "c", "d"], 4)
    assert tree.narrower(["zz", "b", "b"], 1, 100) == (["zz", "b", "d"], 5)
    assert Hierarchy(edges([])).narrower(["x"], 3, 10) == (["x"], 1)


def test_depth_and_cap_cut_from_below() -> None:
    tree = Hierarchy(edges([("b", "a"), ("c", "b"), ("d", "c"), ("b2", "a")]))
    assert tree.narrower(["a"], 1, 100) == (["a", "b", "b2"], 5)
    assert tree.narrower(["a"], 12, 3) == (["a", "b", "b2"], 5)
    assert tree.narrower(["a"], 12, 1) == (["a"], 5)
