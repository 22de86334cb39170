"""Table schemas of the literature room. Offsets count code points of NFC text; ordinals are dense per shard."""

from __future__ import annotations

import polars as pl

SPAN = pl.Struct({"page": pl.UInt32, "bbox": pl.List(pl.Float32), "start": pl.UInt32, "end": pl.UInt32})

#: One row per source file of a shard: what became of it.
FILES: dict[str, pl.DataType | type[pl.DataType]] = {
    "file": pl.String,  # name inside the shard
    "sha256": pl.String,
    "kind": pl.String,  # jats | pdf | pubmed | unknown
    "status": pl.String,  # ok | set_aside
    "reason": pl.String,  # why it was set aside, or what of a taken file was left out; one line for a person
    "papers": pl.UInt32,
    "seconds": pl.Float64,
}

#: One row per PubMed citation (also DeleteCitation entries, with `deleted`).
CITATIONS: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_id": pl.String,
    "pmid": pl.String,
    "version": pl.UInt32,
    "doi": pl.String,
    "pmcid": pl.String,
    "title": pl.String,
    "vernacular_title": pl.String,
    "abstract": pl.List(pl.Struct({"label": pl.String, "text": pl.String})),
    "authors": pl.List(pl.String),
    "journal": pl.String,
    "publication_types": pl.List(pl.String),
    "mesh": pl.List(
        pl.Struct({"id": pl.String, "name": pl.String, "major": pl.Boolean, "qualifiers": pl.List(pl.String)})
    ),
    "chemicals": pl.List(pl.Struct({"id": pl.String, "name": pl.String})),
    "public_earliest": pl.Date,  # earliest and latest day on which the paper can have become public
    "public_latest": pl.Date,
    "public_precision": pl.String,  # day | month | year | range | season | unknown
    "public_text": pl.String,
    "retracts": pl.List(pl.String),  # PMIDs that this notice retracts
    "retracted": pl.Boolean,
    "deleted": pl.Boolean,
    "file": pl.String,
    "languages": pl.List(pl.String),
    "issn": pl.String,
    "volume": pl.String,
    "issue": pl.String,
    "pages": pl.String,
    "other_abstracts": pl.List(pl.Struct({"type": pl.String, "language": pl.String, "text": pl.String})),
    "keywords": pl.List(pl.String),
    "data_banks": pl.List(pl.Struct({"name": pl.String, "accessions": pl.List(pl.String)})),
    "grants": pl.List(pl.Struct({"id": pl.String, "agency": pl.String})),
    "corrections": pl.List(  # every link to another record: erratum, update, comment, retraction
        pl.Struct({"type": pl.String, "pmid": pl.String, "source": pl.String})
    ),
    "history": pl.List(  # received, accepted, electronic, print, entry …, each with its precision
        pl.Struct({"kind": pl.String, "earliest": pl.Date, "latest": pl.Date, "precision": pl.String})
    ),
}

#: One row per paper version of a shard, in ordinal order.
PAPERS: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,  # pmid:… else pmcid:… doi:… sha256:…
    "extraction_id": pl.String,
    "pmid": pl.String,
    "pmcid": pl.String,
    "doi": pl.String,
    "version": pl.UInt32,
    "title": pl.String,
    "journal": pl.String,
    "public_earliest": pl.Date,
    "public_latest": pl.Date,
    "public_precision": pl.String,
    "licence": pl.String,  # class, see licences.py
    "licence_evidence": pl.String,
    "source_kind": pl.String,  # jats | pdf | abstract
    "source_file": pl.String,
    "source_sha256": pl.String,
    "retracted": pl.Boolean,
    "retracts": pl.List(pl.String),
    "deleted": pl.Boolean,  # a DeleteCitation tombstone: no blocks, masks earlier versions
    "blocks": pl.UInt32,
    "paragraphs": pl.UInt32,
}

#: One row per block in reading order. `para_ordinal` numbers the paragraphs of the shard, `para_idx` those of the paper.
BLOCKS: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "extraction_id": pl.String,
    "block_idx": pl.UInt32,
    "para_idx": pl.UInt32,  # null for headings, references, formulas that stand alone
    "para_ordinal": pl.UInt32,  # null likewise
    "kind": pl.String,  # title | heading | paragraph | list_item | table | caption | footnote | formula | reference
    "section_path": pl.List(pl.String),
    "section_kind": pl.String,  # title | abstract | introduction | methods | results | discussion | conclusion | other | references | supplementary
    "text": pl.String,
    "markdown": pl.String,
    "spans": pl.List(SPAN),
    "block_key": pl.String,
}

#: One row per run of `n` consecutive paragraphs: embedding chunks, tagging windows, extraction windows.
WINDOWS: dict[str, pl.DataType | type[pl.DataType]] = {
    "ordinal": pl.UInt32,  # dense per shard and table
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "extraction_id": pl.String,
    "first_para": pl.UInt32,  # para_idx of the first member
    "n": pl.UInt32,
    "first_para_ordinal": pl.UInt32,
    "section_kind": pl.String,
    "window_key": pl.String,  # joined_key of the members' block keys
}

#: One row per page whose text layer is missing or cannot be trusted, as an OCR engine read it.
OCR_PAGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "file": pl.String,
    "sha256": pl.String,  # of the file
    "page": pl.UInt32,  # from 1
    "problem": pl.String,  # scan | garbled | doubled
    "engine": pl.String,  # with its version and parameters
    "status": pl.String,  # ok | partial | blank | failed
    "reason": pl.String,  # of partial, blank and failed; one line for a person
    "markdown": pl.String,
    "blocks": pl.List(
        pl.Struct(
            {
                "kind": pl.String,  # as in BLOCKS
                "text": pl.String,
                "bbox": pl.List(pl.Float32),  # points from the page's upper left corner
                "rows": pl.List(pl.List(pl.String)),  # cells of a table
                "header_rows": pl.UInt32,
            }
        )
    ),
    "raw": pl.List(pl.String),  # every reply of the engine as it came, the last one last
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cost": pl.Float64,  # US dollars
}

#: One row: the engine of the shard, or why there is none.
OCR_ENGINE: dict[str, pl.DataType | type[pl.DataType]] = {"engine": pl.String, "reason": pl.String}
