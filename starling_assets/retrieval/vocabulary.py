"""Names to concepts, and concepts to narrower ones: what a filter's terms are resolved against."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.tables import EDGES

#: Names looked at when a spelling is suggested.
_SUGGESTION_POOL = 5_000


def spelling(name: pl.Expr) -> pl.Expr:
    """A stricter form than the folded one: signs count, case and the kind of dash or space do not."""
    return name.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[\s\p{Pd}\x{2212}_]+", " ").str.strip_chars()


class Hierarchy:
    """Child-to-parent edges as arrays; answers which concepts are narrower than given ones."""

    def __init__(self, edges: pl.DataFrame) -> None:
        """``edges``: columns EDGES (``child``, ``parent``); relations is_a and part_of both narrow."""
        edges = edges.select("child", "parent").unique().drop_nulls()
        self._nodes = pl.concat([edges["child"], edges["parent"].alias("child")]).unique().sort()
        children = self._codes(edges["child"])
        parents = self._codes(edges["parent"])
        order = np.lexsort((children, parents))
        self._children = children[order]
        self._starts = np.searchsorted(parents[order], np.arange(len(self._nodes) + 1))

    def narrower(self, concepts: Sequence[str], depth: int, cap: int) -> tuple[list[str], int]:
        """``concepts`` with those at most ``depth`` levels below, broadest first, at most ``cap`` in all.

        Returns the ids and the size of the whole closure without bounds, so that a cut is visible (F22).
        Cycles end. Given concepts are kept even above ``cap``.
        """
        roots = list(dict.fromkeys(concepts))
        unknown = [concept for concept in roots if concept not in self]
        known = pl.Series([concept for concept in roots if concept in self], dtype=pl.String)
        frontier = np.unique(self._codes(known))
        seen = np.zeros(len(self._nodes), dtype=bool)
        seen[frontier] = True
        total = len(roots)
        taken: list[str] = []
        level = 0
        while frontier.size:
            frontier = self._below(frontier)
            frontier = frontier[~seen[frontier]]
            seen[frontier] = True
            total += int(frontier.size)
            level += 1
            room = cap - len(unknown) - len(known) - len(taken)
            if level <= depth and room > 0:
                taken.extend(self._nodes.gather(frontier[:room]).to_list())
        return [*roots, *taken], total

    def __contains__(self, concept: str) -> bool:
        place = int(self._nodes.search_sorted(concept)) if len(self._nodes) else 0
        return place < len(self._nodes) and self._nodes[place] == concept

    def _codes(self, concepts: pl.Series) -> np.ndarray:
        if concepts.is_empty():
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self._nodes.search_sorted(concepts).to_numpy(), dtype=np.int64)

    def _below(self, frontier: np.ndarray) -> np.ndarray:
        starts, ends = self._starts[frontier], self._starts[frontier + 1]
        lengths = ends - starts
        if not lengths.sum():
            return np.zeros(0, dtype=np.int64)
        offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        return np.unique(self._children[offsets + np.arange(lengths.sum())])


class Vocabulary:
    """Every name a filter may use, with the concepts it can mean."""

    def __init__(self, names: pl.DataFrame, labels: pl.DataFrame, hierarchy: Hierarchy) -> None:
        """``names``: name, folded, posting_id, entity_type; ``labels``: concept_id, label, one row per concept."""
        self._names = (
            # A name of signs alone has no folded form: it is found as it is written.
            names.with_columns(folded=pl.when(pl.col("folded") == "").then("name").otherwise("folded"))
            .unique()
            .join(labels, left_on="posting_id", right_on="concept_id", how="left")
            .with_columns(label=pl.coalesce("label", "name"))
            .sort("folded", "posting_id", "name")
        )
        self.hierarchy = hierarchy

    @classmethod
    def from_frames(
        cls,
        lexicon: pl.DataFrame,
        concepts: pl.DataFrame,
        edges: pl.DataFrame | None = None,
        links: pl.DataFrame | None = None,
    ) -> Vocabulary:
        """``lexicon``: columns LEXICON, ``concepts``: CONCEPTS, ``edges``: EDGES.

        ``links`` (columns LINKS) adds the names that the corpus holds but no ontology knows (trial numbers,
        variants): they are found under their entity key.
        """
        current = concepts.filter(~pl.col("obsolete").fill_null(value=False))
        labels = current.select("concept_id", label="name").unique("concept_id", keep="first", maintain_order=True)
        listed = lexicon.select("name", "folded", posting_id="concept_id", entity_type="entity_type")
        # Preferred names that the lexicon leaves out (stop words of the tagger) can still be asked for.
        unlisted = current.select("name", posting_id="concept_id", entity_type="entity_type").join(
            listed, on=["name", "posting_id"], how="anti"
        )
        if links is not None:
            unlinked = links.filter(pl.col("concept_id").is_null())
            trials = unlinked.select(
                name="canonical_name", posting_id=pl.format("name:{}", "entity_key"), entity_type="entity_type"
            )
            unlisted = pl.concat([unlisted, trials])
        unlisted = unlisted.drop_nulls("name").with_columns(
            folded=pl.col("name").map_elements(fold, return_dtype=pl.String)
        )
        names = pl.concat([listed, unlisted.select(listed.columns)])
        return cls(names, labels, Hierarchy(edges if edges is not None else pl.DataFrame(schema=EDGES)))

    def matches(self, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Per name the rows (name, posting_id, entity_type, label) whose folded name equals it; a concept id of
        the vocabulary matches itself. Names without a row are absent."""
        keys = [fold(name) or name for name in names]
        rows = self._names.filter(pl.col("folded").is_in(sorted(set(keys))))
        by_key = {str(key[0]): frame for key, frame in rows.group_by("folded", maintain_order=True)}
        found = {name: by_key[key] for name, key in zip(names, keys, strict=True) if key in by_key}
        ids = self._names.filter(pl.col("posting_id").is_in([name for name in names if ":" in name]))
        for (identifier,), frame in ids.group_by("posting_id", maintain_order=True):
            found[str(identifier)] = frame.head(1).with_columns(name=pl.col("posting_id"))
        return found

    def suggestions(self, name: str, n: int = 3) -> list[str]:
        """Up to ``n`` known names that are spelled like ``name``, best first."""
        key = fold(name) or name
        words = [word for word in key.split(" ") if len(word) > 3]
        near = pl.any_horizontal(
            [pl.col("folded").str.starts_with(key[:3])]
            + [pl.col("folded").str.contains(word, literal=True) for word in words]
        )
        distance = (pl.col("folded").str.len_chars().cast(pl.Int64) - len(key)).abs()
        pool = (
            self._names.filter(near)
            .select("folded", "name", distance=distance)
            .filter(pl.col("distance") <= max(4, len(key)))
            .unique("folded", keep="first", maintain_order=True)
            .sort("distance", "folded")
            .head(_SUGGESTION_POOL)
        )
        spelled = dict(zip(pool["folded"].to_list(), pool["name"].to_list(), strict=True))
        close = difflib.get_close_matches(key, list(spelled), n=2 * n, cutoff=0.6)
        return list(dict.fromkeys(spelled[folded] for folded in close))[:n]
