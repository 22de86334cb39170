"""Tables of names with structures, as the benchmark of molecules reads them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.molecules import keys
from benchmarks.name_tables import Reference, named_structures, references, table_name
from starling_assets.ontology.parents import BadStructure


def test_quoted_names_of_a_commons_table(tmp_path: Path) -> None:
    table = tmp_path / "bbb.tab"
    table.write_text('Drug_ID\tDrug\tY\n"ethanol"\t"CCO"\t1\n"water"\t"O"\t0\n', encoding="utf-8")
    assert named_structures(table) == [("ethanol", "CCO"), ("water", "O")]
    assert named_structures(table, limit=1) == [("ethanol", "CCO")]


def test_a_packed_table_with_a_row_without_name_and_a_second_column_of_names(tmp_path: Path) -> None:
    table = tmp_path / "B3DB_classification.tsv.gz"
    text = "NO.\tcompound_name\tIUPAC_name\tSMILES\n1\talcohol\tethanol\tCCO\n2\t\tmethane\tC\n"
    table.write_bytes(gzip.compress(text.encode()))
    assert named_structures(table) == [("alcohol", "CCO")]
    assert named_structures(table, name_column="IUPAC_name") == [("ethanol", "CCO"), ("methane", "C")]
    assert table_name(table) == "B3DB_classification"


def test_names_that_the_suite_calls_unsupported_are_not_asked(tmp_path: Path) -> None:
    table = tmp_path / "suite.tsv"
    rows = ["suite\tname\tinchi\tstatus", "a\tmethane\tInChI=1S/CH4/h1H4\tok", "a\tfoo\tInChI=1S/CH4/h1H4\tambiguous"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert named_structures(table) == [("methane", "InChI=1S/CH4/h1H4")]


@pytest.mark.parametrize("column", [None, "label"])
def test_a_table_without_the_columns_is_refused_in_one_line(tmp_path: Path, column: str | None) -> None:
    table = tmp_path / "other.tsv"
    table.write_text("drug\tvalue\naspirin\t1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"no columns of a name and a structure; it has drug, value"):
        named_structures(table, name_column=column)


def test_the_reference_after_its_three_sources(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    cascade = [["OPSIN", 1, 1, 1], ["+DrugBank", 4, 2, 3], ["+ChEBI", 5, 3, 4], ["+Tox21", 9, 9, 9]]
    found = {"t": {"rows": 10, "cascade": cascade}, "short": {"cascade": cascade[:1]}, "note": "about"}
    path.write_text(json.dumps(found), encoding="utf-8")
    assert references(path) == {"t": Reference(5, 3, 4)}


def test_a_salt_has_the_key_of_its_parent_beside_its_own() -> None:
    whole, parent = keys("CC(=O)[O-].[Na+]")
    assert parent is not None
    assert parent[:14] != whole[:14]


def test_an_inchi_and_the_smiles_of_it_have_the_same_key() -> None:
    assert keys("InChI=1S/CH4/h1H4")[0] == keys("C")[0]
    with pytest.raises(BadStructure):
        keys("InChI=nonsense")
