"""Readers of vocabulary formats, on small invented files."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from starling_assets.ontology.readers import (
    cells,
    chebi,
    drugs,
    exports,
    families,
    genes,
    mesh,
    obo,
    taxonomy,
    termlists,
    umls,
)
from starling_assets.ontology.readers.opening import BadRelease, tab_rows
from starling_assets.ontology.readers.terms import fill_labels, fill_terms, read_terms
from starling_assets.ontology.rows import Release, Rows

OBO = r"""format-version: 1.2

[Term]
id: CHEBI:1
name: acid {x}
synonym: "Ace\"tic acid" EXACT IUPAC_NAME [IUPAC:]
synonym: "C2H4O2" RELATED FORMULA [X:]
synonym: "CC(=O)O" RELATED SMILES [ChEBI:]
synonym: "InChIKey=QTBSBXVTEAMEQO-UHFFFAOYSA-N" RELATED InChIKey [ChEBI:]
synonym: "broad one" BROAD []
alt_id: CHEBI:7
is_a: CHEBI:2 ! class
relationship: part_of CHEBI:3 ! whole
relationship: has_role CHEBI:9

[Term]
id: CHEBI:2
name: some acids

[Term]
id: CHEBI:3
name: gone
is_obsolete: true
replaced_by: CHEBI:1

[Term]
id: CHEBI:4
name: R group thing
property_value: http://purl.obolibrary.org/obo/chebi/smiles "*CC" xsd:string

[Term]
id: OTHER:5
name: of another vocabulary

[Typedef]
id: part_of
name: part of
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def finish(rows: Rows) -> Release:
    return rows.release("1", "CC0", "nobody")


def names_of(release: Release, concept_id: str) -> set[str]:
    return set(release.names.filter(release.names["concept_id"] == concept_id)["name"])


def concept(release: Release, concept_id: str) -> dict[str, object]:
    return release.concepts.row(by_predicate=pl.col("concept_id") == concept_id, named=True)


def types_of(release: Release) -> dict[str, str]:
    return dict(release.concepts.select("concept_id", "entity_type").iter_rows())


def test_obo_terms_carry_names_structures_and_steps(tmp_path: Path) -> None:
    rows = Rows("chebi")
    chebi.read(rows, {"terms": write(tmp_path, "x.obo.gz", OBO)})
    release = finish(rows)
    assert names_of(release, "CHEBI:1") == {"acid {x}", 'Ace"tic acid'}
    assert set(release.edges.iter_rows()) == {("CHEBI:1", "CHEBI:2", "is_a"), ("CHEBI:1", "CHEBI:3", "part_of")}
    row = concept(release, "CHEBI:1")
    assert (row["smiles"], row["inchikey"]) == ("CC(=O)O", "QTBSBXVTEAMEQO-UHFFFAOYSA-N")
    assert types_of(release)["CHEBI:2"] == "SmallMoleculeClass"
    assert types_of(release)["CHEBI:4"] == "SmallMoleculeClass"
    assert "OTHER:5" not in types_of(release)


def test_merged_and_obsolete_ids_lead_to_current_ones(tmp_path: Path) -> None:
    rows = Rows("chebi")
    fill_terms(rows, read_terms(write(tmp_path, "x.obo", OBO), "CHEBI"), lambda _: "SmallMolecule", "CHEBI")
    concepts = finish(rows).concepts
    replaced = dict(concepts.filter(concepts["obsolete"]).select("concept_id", "replaced_by").iter_rows())
    assert replaced == {"CHEBI:3": "CHEBI:1", "CHEBI:7": "CHEBI:1"}


def test_a_file_that_is_no_obo_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadRelease, match=r"nothing\.obo"):
        list(obo.read_terms(write(tmp_path, "nothing.obo", "hello\n")))


def test_a_truncated_archive_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "cut.obo.gz"
    path.write_bytes(gzip.compress(OBO.encode() * 50)[:200])
    with pytest.raises(BadRelease, match=r"cut\.obo\.gz cannot be read"):
        list(obo.read_terms(path))


def test_obo_graphs_and_flat_lists_give_the_same_terms(tmp_path: Path) -> None:
    graph = """{"graphs":[{"nodes":[
      {"id":"http://purl.obolibrary.org/obo/GO_0000001","lbl":"growth","type":"CLASS","meta":{"synonyms":[
        {"pred":"hasExactSynonym","val":"growing"}],"basicPropertyValues":[
        {"pred":"http://www.geneontology.org/formats/oboInOwl#hasOBONamespace","val":"biological_process"},
        {"pred":"http://www.geneontology.org/formats/oboInOwl#hasAlternativeId","val":"GO:0000009"}]}},
      {"id":"http://purl.obolibrary.org/obo/GO_0000002","lbl":"all","type":"CLASS"},
      {"id":"http://purl.obolibrary.org/obo/GO_0000003","lbl":"old","type":"CLASS","meta":{"deprecated":true,
        "basicPropertyValues":[{"pred":"http://purl.obolibrary.org/obo/IAO_0100001","val":"GO:0000001"}]}}],
      "edges":[{"sub":"http://purl.obolibrary.org/obo/GO_0000001","pred":"is_a",
                "obj":"http://purl.obolibrary.org/obo/GO_0000002"}]}]}"""
    flat = """[{"id":"GO:0000001","name":"growth","namespace":"biological_process","synonyms":["growing"],
      "alt_ids":["GO:0000009"],"relations":{"is_a":["GO:0000002"]}},{"id":"0000002","name":"all"}]"""
    first = {term.id: term for term in termlists.read_terms(write(tmp_path, "g.json", graph), "GO")}
    second = {term.id: term for term in termlists.read_terms(write(tmp_path, "f.json.gz", flat), "GO")}
    assert first["GO:0000001"] == second["GO:0000001"]
    assert first["GO:0000003"].obsolete
    assert first["GO:0000003"].replaced_by == "GO:0000001"
    assert set(second) == {"GO:0000001", "GO:0000002"}


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "7"])
def test_json_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadRelease, match=r"x\.json"):
        list(termlists.read_terms(write(tmp_path, "x.json", text), "GO"))


def test_label_tables_add_to_what_is_there(tmp_path: Path) -> None:
    rows = Rows("cl")
    rows.concept("CL:1", "CellType", "old label")
    text = (
        "id\tlabel\tsynonyms\tparents\tdeprecated\treplaced_by\tdescription\n"
        "CL:1\tnew label\tsame\tCL:2\t0\t\tprose\nCL:2\tcell\t\t\t0\t\t\n"
        "CL:3\tgone\t\t\t1\tCL:1\t\nGO:1\tx\t\t\t0\t\t\n"
    )
    fill_labels(rows, write(tmp_path, "cl.tsv", text), "CellType", "CL")
    release = finish(rows)
    assert names_of(release, "CL:1") == {"old label", "new label", "same"}
    assert types_of(release) == {"CL:1": "CellType", "CL:2": "CellType", "CL:3": ""}
    assert release.edges.rows() == [("CL:1", "CL:2", "is_a")]


def test_a_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRelease, match="synonyms"):
        fill_labels(Rows("cl"), write(tmp_path, "cl.tsv", "id\tlabel\nCL:1\tx\n"), "CellType", "CL")
    with pytest.raises(BadRelease, match="is empty"):
        list(tab_rows(write(tmp_path, "none.tsv", "")))


@pytest.mark.parametrize(
    ("places", "entity_type"),
    [
        (["A07.035", "A08.186.211.035"], "Anatomy"),
        (["A11.251.210.190.400"], "CellLine"),
        (["A11.118"], "CellType"),
        (["C10.228"], "Disease"),
        (["C23.888.592"], "Phenotype"),
        (["D06.472", "D12.644.548", "D12.776.641"], "Peptide"),
        (["D27.505"], "SmallMoleculeClass"),
        (["D27.720.1"], ""),
        (["G03.787.151"], "Assay/Result"),
        (["L01.559"], ""),
        ([], ""),
    ],
)
def test_mesh_trees_give_the_type(places: list[str], entity_type: str) -> None:
    assert mesh.type_of(places) == entity_type


def test_mesh_headings_and_supplementary_records(tmp_path: Path) -> None:
    headings = write(
        tmp_path,
        "h.tsv",
        "D1\tAlkaloids\tAlkaloid\tD03.132\t\nD2\tMorphine\tMorphia\tD03.132.577\t\nD3\tCodeine\t\tD03.132.577.1\t\n"
        "D4\tOpioids\t\tD03.132.600\t\nD5\tFentanyl\t\tD03.132.600.1\t\n",
    )
    supplementary = write(tmp_path, "s.tsv", "C1\tmorphine-like\tml 1|ml 2\t*D2,D9\n")
    rows = Rows("mesh")
    mesh.read(rows, {"headings": headings, "supplementary": supplementary})
    release = finish(rows)
    kinds = types_of(release)
    assert kinds["MESH:D2"] == "SmallMolecule"  # narrower headings exist, but it is one substance
    assert kinds["MESH:D4"] == "SmallMoleculeClass"
    assert kinds["MESH:C1"] == "SmallMolecule"
    assert ("MESH:C1", "MESH:D2", "is_a") in release.edges.rows()
    assert ("MESH:D3", "MESH:D2", "is_a") in release.edges.rows()
    assert names_of(release, "MESH:C1") == {"morphine-like", "ml 1", "ml 2"}


HGNC = (
    "HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\tPrevious symbols\tLocus type\n"
    "HGNC:1\tSEPTIN2\tseptin 2\tApproved\tPnutl3, hNedd5\tDIFF6, SEPT2\tgene with protein product\n"
    "HGNC:2\tMIR21\tmicroRNA 21\tApproved\t\t\tRNA, micro\n"
    "HGNC:3\tOLD\tsymbol withdrawn, see [HGNC:1](/x)\tSymbol Withdrawn\t\t\tunknown\n"
)


def test_hgnc_keeps_previous_symbols_apart_from_aliases(tmp_path: Path) -> None:
    rows = Rows("hgnc")
    genes.read_hgnc(rows, {"genes": write(tmp_path, "g.tsv", HGNC)})
    release = finish(rows)
    kinds = {(name, kind) for _, name, kind in release.names.rows()}
    assert {("SEPT2", "previous"), ("hNedd5", "related"), ("SEPTIN2", "symbol"), ("septin 2", "exact")} <= kinds
    assert types_of(release) == {"HGNC:1": "Gene", "HGNC:2": "RNA", "HGNC:3": ""}
    row = concept(release, "HGNC:3")
    assert row["replaced_by"] == "HGNC:1"


def test_proteins_know_their_species(tmp_path: Path) -> None:
    human = (
        "uniprot\tentry_name\thgnc\tsymbol\tname\taliases\tprevious_symbols\tentrez\n"
        "Q06609\tRAD51_HUMAN\tHGNC:9817\tRAD51\tRAD51 recombinase\t\tRECA\t5888\n"
    )
    entries = "accession\tentry_name\nP25454\tRAD51_YEAST\nQ06609\tRAD51_HUMAN\nA0A0\tA0A0_MOUSE\nX1\tABC_UNKNO\n"
    rows = Rows("uniprot")
    genes.read_uniprot(rows, {"human": write(tmp_path, "h.tsv", human), "entries": write(tmp_path, "e.tsv", entries)})
    release = finish(rows)
    organisms = dict(release.concepts.select("concept_id", "organism").iter_rows())
    assert organisms == {
        "UniProt:Q06609": "NCBITaxon:9606",
        "UniProt:P25454": "NCBITaxon:4932",
        "UniProt:A0A0": "NCBITaxon:10090",
    }
    assert names_of(release, "UniProt:P25454") == {"RAD51_YEAST", "RAD51"}
    assert names_of(release, "UniProt:A0A0") == {"A0A0_MOUSE"}


def test_mouse_rat_ncbi_and_mirbase_tables(tmp_path: Path) -> None:
    rows = Rows("x")
    genes.read_mgi(rows, {"genes": write(tmp_path, "m.tsv", "ID\tsymbol\tsynonyms\tensembl\n5\tRad51\tReca|x\t\n")})
    genes.read_rgd(rows, {"genes": write(tmp_path, "r.tsv", "ID\tsymbol\tsynonyms\tensembl\n6\tA2m\tMam;y\t\n")})
    ncbi = "entrez_id\tsymbol\tname\tgene_type\taliases\n7\tA1BG\talpha\tprotein-coding\tA1B|GAB\n8\tXIST\tx\tncRNA\t\n"
    genes.read_ncbi_gene(rows, {"genes": write(tmp_path, "n.tsv", ncbi)})
    mirna = (
        "identifier\tname\tdefinition\tsynonyms\talts\tparents\tspecies\n"
        "MI1\thsa-mir-21\t\tmir-21a\t\tncbitaxon:9606\t\n"
    )
    genes.read_mirbase(rows, {"rna": write(tmp_path, "mi.tsv", mirna)})
    release = finish(rows)
    assert types_of(release) == {
        "MGI:5": "Gene",
        "RGD:6": "Gene",
        "NCBIGene:7": "Gene",
        "NCBIGene:8": "RNA",
        "miRBase:MI1": "RNA",
    }
    assert names_of(release, "miRBase:MI1") == {"hsa-mir-21", "mir-21", "mir-21a"}
    assert names_of(release, "RGD:6") == {"A2m", "Mam", "y"}


def test_taxonomy_dumps(tmp_path: Path) -> None:
    names = (
        "1\t|\troot\t|\t\t|\tscientific name\t|\n10090\t|\tMus musculus\t|\t\t|\tscientific name\t|\n"
        "10090\t|\thouse mouse\t|\t\t|\tgenbank common name\t|\n10090\t|\tL. 1758\t|\t\t|\tauthority\t|\n"
    )
    nodes = "1\t|\t1\t|\tno rank\t|\n10090\t|\t1\t|\tspecies\t|\n"
    update = (
        "taxid\tscientific_name\tcommon_name\tparent\trank\tdivision\tstatus\n"
        "77\tNova nova\tnew one\t1\tspecies\t0\tnew\n10090\tMus musculus\tmouse\t1\tspecies\t0\tsame\n"
    )
    rows = Rows("ncbitaxon")
    files = {
        "names": write(tmp_path, "names.dmp", names),
        "nodes": write(tmp_path, "nodes.dmp", nodes),
        "merged": write(tmp_path, "merged.dmp", "12\t|\t10090\t|\n"),
        "update": write(tmp_path, "u.tsv", update),
    }
    taxonomy.read(rows, files)
    release = finish(rows)
    assert names_of(release, "NCBITaxon:10090") == {"Mus musculus", "house mouse", "mouse", "mice"}
    assert types_of(release)["NCBITaxon:1"] == ""
    assert names_of(release, "NCBITaxon:77") == {"Nova nova", "new one"}
    assert ("NCBITaxon:10090", "NCBITaxon:1", "is_a") in release.edges.rows()
    row = concept(release, "NCBITaxon:12")
    assert (row["obsolete"], row["replaced_by"]) == (True, "NCBITaxon:10090")


@pytest.mark.parametrize(
    ("name", "accessions", "inchikey", "entity_type"),
    [
        ("Cetuximab", "BIOD1", None, "Antibody"),
        ("Caffeine", "APRD1", "RYYV", "SmallMolecule"),
        ("Exenatide", "BIOD2", None, "Peptide"),
        ("Dornase alfa", "BIOD3", None, "Protein"),
        ("Whole blood", "", None, ""),
    ],
)
def test_drug_types(name: str, accessions: str, inchikey: str | None, entity_type: str) -> None:
    assert drugs.type_of(name, accessions, inchikey) == entity_type


def test_drugbank_vocabulary(tmp_path: Path) -> None:
    text = (
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        'DB1,A1,Aspirin,,,"ASA | 2-acetoxy, benzoic acid",KEY\n'
    )
    rows = Rows("drugbank")
    drugs.read(rows, {"drugs": write(tmp_path, "d.csv.gz", text)})
    assert names_of(finish(rows), "DrugBank:DB1") == {"Aspirin", "ASA", "2-acetoxy, benzoic acid"}


def test_cell_lines_from_tables_and_from_the_flat_file(tmp_path: Path) -> None:
    labels = write(tmp_path, "l.tsv", "id\tlabel\nCVCL_0030\tHeLa\n")
    synonyms = write(tmp_path, "s.tsv", "HELA\tCVCL_0030\tHomo sapiens\n")
    flat = write(
        tmp_path,
        "f.txt",
        "junk\nID   HeLa\nAC   CVCL_0030\nAS   CVCL_9999\nSY   HELA; Hela\n"
        "OX   NCBI_TaxID=9606; ! Homo\nHI   CVCL_0001 ! X\n//\nID   y\n//\n",
    )
    one, two = Rows("c"), Rows("c")
    cells.read(one, {"labels": labels, "synonyms": synonyms})
    cells.read(two, {"flat": flat})
    for release in (finish(one), finish(two)):
        row = concept(release, "Cellosaurus:CVCL_0030")
        assert (row["entity_type"], row["organism"]) == ("CellLine", "NCBITaxon:9606")
        assert {"HeLa", "HELA"} <= names_of(release, "Cellosaurus:CVCL_0030")
    assert ("Cellosaurus:CVCL_0030", "Cellosaurus:CVCL_0001", "is_a") in finish(two).edges.rows()


def test_exports_keep_one_species_and_own_parents(tmp_path: Path) -> None:
    head = "identifier\tname\tdefinition\tsynonyms\talts\tparents\tspecies\n"
    body = "R-1\tSignalling\t\ts1|s2\t\treactome:R-2|pw:3\tncbitaxon:9606\nR-9\tOther\t\t\t\t\tncbitaxon:9913\n"
    rows = Rows("reactome")
    exports.fill_export(rows, write(tmp_path, "r.tsv", head + body), "Pathway", "Reactome", "ncbitaxon:9606")
    release = finish(rows)
    assert types_of(release) == {"Reactome:R-1": "Pathway"}
    assert release.edges.rows() == [("Reactome:R-1", "Reactome:R-2", "is_a")]
    assert names_of(release, "Reactome:R-1") == {"Signalling", "s1", "s2"}


def test_families(tmp_path: Path) -> None:
    rows = Rows("famplex")
    families.read(
        rows,
        {
            "entities": write(tmp_path, "e.csv", "AKT\nPI3K_complex\n"),
            "names": write(tmp_path, "n.csv", '"Akt, all",FPLX,AKT,,\nx,HGNC,AKT1,,\n'),
            "relations": write(tmp_path, "r.csv", "FPLX,AKT,isa,FPLX,PI3K_complex\nHGNC,AKT1,isa,FPLX,AKT\n"),
        },
    )
    release = finish(rows)
    assert names_of(release, "FPLX:AKT") == {"AKT", "Akt, all"}
    assert release.edges.rows() == [("FPLX:AKT", "FPLX:PI3K_complex", "is_a")]


def rrf(*values: str, fields: int) -> str:
    return "|".join([*values, *[""] * (fields - len(values))]) + "|\n"


def test_umls_files_of_the_user(tmp_path: Path) -> None:
    def name(cui: str, text: str, language: str = "ENG", preferred: str = "Y", suppressed: str = "N") -> str:
        values = [
            cui,
            language,
            "P",
            "L1",
            "PF",
            "S1",
            preferred,
            "A1",
            "",
            "",
            "",
            "XX",
            "PT",
            "c",
            text,
            "0",
            suppressed,
        ]
        return rrf(*values, fields=18)

    conso = (
        name("C9000001", "blue fever")
        + name("C9000001", "fever, blue", preferred="N")
        + name("C9000001", "fièvre", "FRE")
    )
    conso += (
        name("C9000001", "hidden", suppressed="O")
        + name("C9000002", "fever")
        + name("C9000003", "a concept of no type")
    )
    types = rrf("C9000001", "T047", fields=6) + rrf("C9000002", "T184", fields=6) + rrf("C9000003", "T999", fields=6)
    relations = rrf("C9000001", "A", "CUI", "PAR", "C9000002", fields=16) + rrf(
        "C9000001", "A", "CUI", "CHD", "C9000002", fields=16
    )
    rows = Rows("umls")
    files = {
        "names": write(tmp_path, "MRCONSO.RRF", conso),
        "types": write(tmp_path, "MRSTY.RRF", types),
        "relations": write(tmp_path, "MRREL.RRF.gz", relations),
    }
    umls.read(rows, files)
    release = finish(rows)
    assert types_of(release) == {"UMLS:C9000001": "Disease", "UMLS:C9000002": "Phenotype"}
    assert names_of(release, "UMLS:C9000001") == {"blue fever", "fever, blue"}
    assert release.edges.rows() == [("UMLS:C9000001", "UMLS:C9000002", "is_a")]


def test_a_line_of_another_length_is_refused_with_its_number(tmp_path: Path) -> None:
    files = {"names": write(tmp_path, "MRCONSO.RRF", ""), "types": write(tmp_path, "MRSTY.RRF", "C1|T047|\n")}
    with pytest.raises(BadRelease, match=r"MRSTY\.RRF:1"):
        umls.read(Rows("umls"), files)
