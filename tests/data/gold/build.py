"""Copies the gold records of the bundled example papers: ``python tests/data/gold/build.py GOLD_RECORDS_FOLDER``.

Paragraphs and quotes are text of those papers, under the papers' own licences (examples/*/NOTICE).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"
#: Files whose name does not hold the identifier that the gold records use.
NAMED = {"sitosterolemia-mouse-model.nxml": "10.1186_1741-7015-2-5"}
KEPT = (
    *("record_id", "task", "paper_id", "source_file", "paragraph", "paragraph_kind", "quote", "entity"),
    *("entity_resolved", "entity2", "entity_type", "label", "label_alt", "metric", "value_text", "value", "unit"),
    *("relation_qualifier", "conditions", "claim_source", "confidence", "same_as"),
)


def bundled() -> tuple[set[str], set[str]]:
    """PMIDs of the bundled abstracts and stems of the bundled articles."""
    pmids: set[str] = set()
    stems: set[str] = set()
    for folder in (EXAMPLES / "papers", EXAMPLES / "inbox"):
        for path in folder.iterdir():
            if path.suffix == ".xml":
                pmids |= set(re.findall(r"<PMID[^>]*>(\d+)</PMID>", path.read_text(encoding="utf-8")))
            elif path.suffix == ".nxml":
                stems.add(NAMED.get(path.name, path.stem))
    return pmids, stems


def main(source: Path) -> None:
    pmids, stems = bundled()
    for task in ("bbb", "oral", "ld50", "gda", "psl"):
        for name in ("records", "negatives"):
            rows = [json.loads(line) for line in (source / task / f"{name}.jsonl").read_text("utf-8").splitlines()]
            chosen = [
                row
                for row in rows
                if any(f"/{stem}." in row["source_file"] for stem in stems)
                or ("abstracts/" in row["source_file"] and row["paper_id"].removeprefix("pmid:") in pmids)
            ]
            keys = KEPT if name == "records" else ("task", "paper_id", "source_file", "paragraph", "why_not")
            text = "".join(
                json.dumps({k: row[k] for k in keys if k in row}, ensure_ascii=False) + "\n" for row in chosen
            )
            target = HERE / task / f"{name}.jsonl"
            target.unlink(missing_ok=True)
            if text:
                target.parent.mkdir(exist_ok=True)
                target.write_text(text, encoding="utf-8")
            print(task, name, len(chosen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
