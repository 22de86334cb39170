"""Cuts the bundled vocabularies out of full releases: what the literature names, its ancestors, and ordinary drugs.

    python examples/ontologies/build.py RELEASES LITERATURE [VOCABULARY…]

RELEASES is a folder of full releases, LITERATURE one of articles (XML, text or JSON lines, also gzipped). The files
written here have the names and the format of the releases, so that the same readers read them. Output depends on the
input alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson
import polars as pl

from starling_assets.ontology.hierarchy import Hierarchy
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.readers.obo import stanzas
from starling_assets.ontology.readers.opening import lines
from starling_assets.ontology.releases import Release, import_release
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.vocabulary import Vocabulary

HERE = Path(__file__).resolve().parent
#: Vocabularies in the bundle. HPO may not be cut and UMLS may not be passed on, so neither is here.
VOCABULARIES = [
    "chebi", "drugbank", "mesh", "hgnc", "uniprot", "mgi", "ncbitaxon", "go", "mondo", "uberon", "cl", "cellosaurus",
    "genegroup", "famplex", "reactome",
]  # fmt: skip
#: The articles and abstracts; not the damaged and oversized files that are kept to test readers.
FOLDERS = ["jats", "abstracts", "pdf_twins"]
#: Looked for by the example tasks, whether or not these articles name them.
ALWAYS = {"MESH:D001812", "UBERON:0000120", "UBERON:0001359", "UBERON:0000955", "NCBITaxon:9606", "NCBITaxon:10090",
          "NCBITaxon:10116", "CHEBI:59809", "CHEBI:4672", "CHEBI:113455", "CHEBI:27899", "UniProt:P25454",
          "UniProt:Q06609", "UniProt:Q08297", "NCBITaxon:4932", "HGNC:26077", "HGNC:26189", "HGNC:7729", "HGNC:15848",
          "HGNC:17705"}  # fmt: skip
#: DrugBank numbers its marketed small molecules and biotech drugs first.
_ORDINARY_DRUG = re.compile(r"DB0(?:0\d{3}|1[0-6]\d{2})$")
_TAG = re.compile(r"<[^>]*>")


def main(releases: Path, literature: Path, vocabularies: list[str]) -> None:
    """Write all subset files beside this script and print what was kept."""
    texts = [text for folder in FOLDERS for text in paragraphs(literature / folder)]
    keys: set[str] | None = None
    drugs = ordinary_drugs(releases)
    for name in vocabularies or VOCABULARIES:
        release = import_release(name, releases)
        keep = found_in(release, texts) | {
            concept for concept in ALWAYS if concept in set(release.concepts["concept_id"])
        }
        if name == "drugbank":
            keep |= drugs
        if name == "chebi":
            keys = set(
                import_release("drugbank", releases).concepts.filter(pl.col("concept_id").is_in(list(drugs)))[
                    "inchikey"
                ]
            )
            keep |= set(release.concepts.filter(pl.col("inchikey").is_in(list(keys - {None})))["concept_id"])
        keep = set(Hierarchy(release.edges).broader(sorted(keep)))
        written = [write(path, HERE, *CUTS[name][role], keep) for role, path in sources(name, releases).items()]
        size = sum(path.stat().st_size for path in written)
        print(f"{name:12} {len(keep):7,} concepts {size / 1024:8,.0f} KiB", flush=True)


def paragraphs(folder: Path) -> Iterable[str]:
    """Texts of the articles, markup taken out."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name.removesuffix(".gz").endswith((".nxml", ".xml", ".jsonl")):
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            for line in data.decode("utf-8", "replace").split("</p>" if b"</p>" in data else "\n"):
                text = _TAG.sub("", line)
                if len(text) > 20:
                    yield text


def found_in(release: Release, texts: Iterable[str]) -> set[str]:
    """Concepts of which a name stands in the texts."""
    vocabulary = Vocabulary(compile_lexicon([release]), TaggingSettings().min_name_length)
    return {
        entry.concept_id for text in texts for hit in vocabulary.find(text) for entry in vocabulary.fitting(hit, text)
    }


def ordinary_drugs(releases: Path) -> set[str]:
    """Ids of the drugs on the market."""
    concepts = import_release("drugbank", releases).concepts["concept_id"]
    return {concept for concept in concepts if _ORDINARY_DRUG.search(concept)}


def sources(name: str, releases: Path) -> dict[str, Path]:
    """Files of a vocabulary that are cut, by role."""
    return {
        role: next(path for path in sorted(releases.rglob("*")) if path.name == file)
        for role, (file, _) in CUTS[name].items()
    }


def write(path: Path, target: Path, file: str, cut: Callable[[Path, set[str]], bytes], keep: set[str]) -> Path:
    """Write one subset file, compressed without a time stamp."""
    out = target / file
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0, filename="") as stream:
        stream.write(cut(path, keep))
    out.write_bytes(buffer.getvalue())
    return out


def cut_obo(path: Path, keep: set[str]) -> bytes:
    """Header and the terms kept; definitions and cross-references, which nothing here reads, are left out."""
    kept = []
    for stanza in stanzas(path):
        identifier = next((line[4:].strip() for line in stanza if line.startswith("id: ")), "")
        if stanza[0] == "" or (stanza[0] == "[Term]" and identifier in keep):
            unread = (
                "def: ",
                "xref: ",
                "comment: ",
                "subset: ",
                "property_value: ",
                "created_by",
                "creation_date",
                "idspace",
                "synonymtypedef",
                "subsetdef",
                "disjoint_from",
                "intersection_of",
            )
            body = [
                line
                for line in stanza
                if line and not line.startswith(unread) and " InChI [" not in line and " FORMULA [" not in line
            ]
            kept.append("\n".join(body))
    return ("\n\n".join(kept) + "\n").encode()


def cut_json(prefix: str) -> Callable[[Path, set[str]], bytes]:
    """Terms kept of a flat JSON list, without cross-references."""

    def cut(path: Path, keep: set[str]) -> bytes:
        items = orjson.loads("\n".join(lines(path)))
        kept = [
            {key: value for key, value in item.items() if key != "xrefs"}
            for item in items
            if (item["id"] if ":" in item["id"] else f"{prefix}:{item['id']}") in keep
        ]
        return orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE)

    return cut


def cut_table(
    curie: str, column: int = 0, header: bool = True, separator: str = "\t", drop: int | None = None
) -> Callable[[Path, set[str]], bytes]:
    """Lines whose ``column``, put into ``curie``, is kept. ``drop``: a column of prose that is emptied."""

    def cut(path: Path, keep: set[str]) -> bytes:
        kept = []
        for number, line in enumerate(lines(path)):
            values = line.split(separator)
            if (header and number == 0) or (len(values) > column and curie.format(values[column]) in keep):
                if drop is not None and number and len(values) > drop:
                    values[drop] = ""
                kept.append(separator.join(values))
        return ("\n".join(kept) + "\n").encode()

    return cut


def cut_drugs(path: Path, keep: set[str]) -> bytes:
    """Rows of DrugBank's vocabulary."""
    rows = list(csv.reader(lines(path)))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(row for number, row in enumerate(rows) if number == 0 or f"DrugBank:{row[0]}" in keep)
    return out.getvalue().encode()


def cut_whole(path: Path, _: set[str]) -> bytes:
    """A file small enough to be taken as it is."""
    return ("\n".join(lines(path)) + "\n").encode()


_DMP = "NCBITaxon:{}"
CUTS: dict[str, dict[str, tuple[str, Callable[[Path, set[str]], bytes]]]] = {
    "chebi": {
        "terms": ("chebi_r105_2013-06.obo.gz", cut_obo),
        "labels": ("chebi_2026-05_labels.tsv.gz", cut_table("{}", drop=6)),
    },
    "drugbank": {"drugs": ("drugbank_vocabulary.csv.gz", cut_drugs)},
    "mesh": {
        "headings": ("mesh_id_label_mappings.tsv.gz", cut_table("MESH:{}", header=False)),
        "supplementary": ("mesh_supp_id_label_mappings.tsv.gz", cut_table("MESH:{}", header=False)),
    },
    "hgnc": {"genes": ("hgnc_entries.tsv.gz", cut_table("{}"))},
    "uniprot": {
        "human": ("uniprot_human_hgnc.tsv.gz", cut_table("UniProt:{}")),
        "entries": ("uniprot_entry_names_model_organisms_2026-01.tsv.gz", cut_table("UniProt:{}")),
    },
    "mgi": {"genes": ("mgi_entries.tsv.gz", cut_table("MGI:{}"))},
    "ncbitaxon": {
        "names": ("names_subset.dmp.gz", cut_table(_DMP, header=False, separator="\t|\t")),
        "nodes": ("nodes_subset.dmp.gz", cut_table(_DMP, header=False, separator="\t|\t")),
    },
    "go": {"terms": ("go_2024.json.gz", cut_json("GO"))},
    "mondo": {"terms": ("mondo_2024.json.gz", cut_json("MONDO"))},
    "uberon": {"labels": ("uberon_2026-04.tsv.gz", cut_table("{}", drop=6))},
    "cl": {"labels": ("cl_2026-03.tsv.gz", cut_table("{}", drop=6))},
    "cellosaurus": {
        "labels": ("cellosaurus_55.0_labels.tsv.gz", cut_table("Cellosaurus:{}")),
        "synonyms": ("reach_Cellosaurus.tsv.gz", cut_table("Cellosaurus:{}", column=1, header=False)),
    },
    "genegroup": {"terms": ("hgnc.genegroup.obo.gz", cut_obo)},
    "famplex": {
        "entities": ("famplex_entities.csv.gz", cut_whole),
        "names": ("famplex_grounding_map.csv.gz", cut_whole),
        "relations": ("famplex_relations.csv.gz", cut_whole),
    },
    "reactome": {"rows": ("reactome.tsv.gz", cut_table("Reactome:{}"))},
}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python examples/ontologies/build.py RELEASES LITERATURE [VOCABULARY…]")
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
