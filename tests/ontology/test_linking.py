"""Links: concept, method, score, candidates, structure."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from starling_assets.ontology.linking import link_entities
from starling_assets.ontology.normalising import normalised
from starling_assets.ontology.parents import standardise
from starling_assets.ontology.rows import Rows
from starling_assets.ontology.structures import Structure
from starling_assets.ontology.tables import LINKS
from tests.tagging.papers import blocks, tag, tagger

from .vocabulary import concepts, lexicon

SALT = "[Na+].[O-]C(=O)c1ccccc1"


class Fixed:
    """Answers from a table, and remembers what it was asked."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.asked: list[str] = []

    def resolve(self, names: Sequence[str]) -> list[Structure | None]:
        self.asked.extend(names)
        return [standardise(self.known[name], "opsin") if name in self.known else None for name in names]


def link(*texts: str, resolver: Fixed | None = None) -> dict[str, dict[str, object]]:
    frame = link_entities(tag(*texts).tags, lexicon(), concepts(), resolver)
    assert dict(frame.schema) == LINKS
    return {row["canonical_name"]: row for row in frame.iter_rows(named=True)}


def made(entity_type: str, name: str, *concept_ids: str) -> pl.DataFrame:
    """One tag that no tagger made."""
    frame = tag("caffeine").tags
    return frame.with_columns(
        pl.lit(entity_type).alias("entity_type"),
        pl.lit(name).alias("canonical_name"),
        pl.lit("k").alias("entity_key"),
        pl.Series("concept_ids", [list(concept_ids)], dtype=pl.List(pl.String)),
    )


def test_a_molecule_has_its_structure_and_its_concept() -> None:
    row = link("caffeine")["caffeine"]
    assert (row["concept_id"], row["method"], row["inchikey"]) == (
        "CHEBI:27732",
        "lexicon",
        "RYYVLZVUVIJVGH-UHFFFAOYSA-N",
    )
    assert row["score"] == pytest.approx(1.0)
    assert row["smiles"] == standardise("Cn1cnc2n(C)c(=O)n(C)c(=O)c12").smiles


def test_the_resolver_is_asked_for_molecules_only_and_wins() -> None:
    resolver = Fixed({"caffeine": SALT})
    row = link("caffeine in the brain", resolver=resolver)["caffeine"]
    assert resolver.asked == ["caffeine"]
    assert row["parent_inchikey"] == "WPYMKLBDIGXBTP-UHFFFAOYSA-N"
    assert row["inchikey"] == "WXMKPNITSTVMEF-UHFFFAOYSA-M"


def test_the_concept_with_the_same_structure_comes_first() -> None:
    rows = Rows("x")
    rows.concept("CHEBI:1", "SmallMolecule", "thing", inchikey="AAAAAAAAAAAAAA-UHFFFAOYSA-N")
    rows.concept("DrugBank:2", "SmallMolecule", "thing", inchikey=standardise("CCO").inchikey)
    known = rows.release("1", "CC0", "x").concepts
    for resolver, expected in ((Fixed({"thing": "CCO"}), "DrugBank:2"), (None, "CHEBI:1")):
        frame = link_entities(made("SmallMolecule", "thing", "CHEBI:1", "DrugBank:2"), lexicon(), known, resolver)
        assert frame["concept_id"].to_list() == [expected]
        assert {item["concept_id"] for item in frame["candidates"][0]} == {"CHEBI:1", "DrugBank:2"}


def test_names_are_looked_up_exactly_then_normalised_then_not_at_all() -> None:
    cases = {"Alzheimer disease": "exact", "diseases of Alzheimer": "normalised", "unheard-of disease": "none"}
    for name, method in cases.items():
        row = link_entities(made("Disease", name), lexicon(), concepts(), None).to_dicts()[0]
        assert row["method"] == method
        assert (row["concept_id"] is None) is (method == "none")
    assert normalised("diseases of the liver") == normalised("Liver Disease")
    assert normalised("studies") == "study"


def test_merged_ids_resolve_to_current_ones_and_dead_ends_to_nothing() -> None:
    rows = Rows("x")
    rows.concept("X:1", "Disease", "now")
    rows.replaced("X:0", "X:1")
    rows.concept("X:8", "", "loop", obsolete=True, replaced_by="X:9")
    rows.concept("X:9", "", "loop", obsolete=True, replaced_by="X:8")
    rows.concept("X:7", "", "gone", obsolete=True)
    known = rows.release("1", "CC0", "x").concepts
    for given, expected in (("X:0", "X:1"), ("X:8", None), ("X:7", None), ("X:404", None)):
        assert link_entities(made("Disease", "zz", given), lexicon(), known, None)["concept_id"].to_list() == [expected]


def test_an_alias_is_linked_only_through_the_name_it_stands_for() -> None:
    resolver = Fixed({"caffeine": "Cn1cnc2n(C)c(=O)n(C)c(=O)c12"})
    rows = link("We made caffeine (6f) as compound 6f and compound 7.", resolver=resolver)
    assert rows["compound 6f"]["inchikey"] == "RYYVLZVUVIJVGH-UHFFFAOYSA-N"
    assert rows["compound 7"]["smiles"] is None
    assert resolver.asked == ["caffeine"] * 2
    assert rows["compound 7"]["method"] == "none"


def test_one_row_per_entity_over_all_papers_and_the_same_each_time() -> None:
    frame = pl.concat([blocks("caffeine", paper=0), blocks("caffeine in mouse brain", paper=1)])
    tags = tagger().tag(frame).tags
    first, second = (link_entities(rows, lexicon(), concepts(), None) for rows in (tags, tags.reverse()))
    assert first["entity_key"].n_unique() == first.height == tags["entity_key"].n_unique()
    assert first.equals(second)
    assert link_entities(tags.head(0), lexicon(), concepts(), None).height == 0
