"""F21: an ambiguous name shows its candidates and records the choice. F22: a cut expansion is marked, both counts."""

from __future__ import annotations

from starling_assets.retrieval.filterspec import FilterSpec
from starling_assets.retrieval.resolution import resolve
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.retrieval.small_world import concepts, edges, lexicon


def test_a_gene_symbol_that_is_also_a_disease_acronym() -> None:
    rows = [("RA", "MONDO:0008383", "Disease"), ("RA", "HGNC:9864", "Gene"), ("ra", "CHEBI:26536", "SmallMolecule")]
    vocabulary = Vocabulary.from_frames(lexicon(rows), concepts(rows))
    (group,) = resolve(FilterSpec(entity_groups=[["RA"]]), vocabulary, RetrievalSettings()).groups
    assert group[0].candidates == ["CHEBI:26536 ra", "HGNC:9864 RA", "MONDO:0008383 RA"]
    assert group[0].chosen == ["HGNC:9864 RA", "MONDO:0008383 RA"]
    assert group[0].ids == ["HGNC:9864", "MONDO:0008383"]
    (chosen,) = resolve(FilterSpec(entity_groups=[["HGNC:9864"]]), vocabulary, RetrievalSettings()).groups
    assert chosen[0].ids == ["HGNC:9864"]


def test_expansion_above_the_cap_is_marked_with_both_counts() -> None:
    rows = [("bacteria", "NCBITaxon:1", "Organism")]
    children = [(f"NCBITaxon:{n:05d}", "NCBITaxon:1") for n in range(2, 302)]
    grandchildren = [(f"NCBITaxon:9{n:05d}", f"NCBITaxon:{n:05d}") for n in range(2, 302)]
    vocabulary = Vocabulary.from_frames(lexicon(rows), concepts(rows), edges(children + grandchildren))
    spec = FilterSpec(entity_groups=[["bacteria"]])

    def expanded(**changes: int) -> tuple[int, int, bool]:
        settings = RetrievalSettings(**changes)  # type: ignore[arg-type]
        ((term,),) = resolve(spec, vocabulary, settings).groups
        assert "NCBITaxon:1" in term.ids
        return len(term.ids), term.expansion_total, term.truncated

    assert expanded() == (601, 601, False)
    assert expanded(expansion_cap=601) == (601, 601, False)
    assert expanded(expansion_cap=400) == (400, 601, True)
    assert expanded(expansion_depth=1) == (301, 601, True)
    # Broad concepts are kept before narrow ones.
    ((term,),) = resolve(spec, vocabulary, RetrievalSettings(expansion_cap=301)).groups
    assert {identifier for identifier, _ in children} <= set(term.ids)
