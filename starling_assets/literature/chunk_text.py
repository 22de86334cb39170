"""The text of windows, as the embedder and a reader of search hits see it."""

from __future__ import annotations

import polars as pl


def window_texts(blocks: pl.DataFrame, windows: pl.DataFrame) -> list[str]:
    """Paragraph texts of each window (columns WINDOWS) joined by line ends, in the order of ``windows``.

    ``blocks``: columns BLOCKS of the same shard. A window's text depends on its paragraphs alone, so that equal window
    keys mean equal texts.
    """
    ordered = blocks.filter(pl.col("para_ordinal").is_not_null()).sort("para_ordinal")
    texts = dict(zip(ordered["para_ordinal"].to_list(), ordered["text"].to_list(), strict=True))
    spans = windows.select("first_para_ordinal", "n").iter_rows()
    return ["\n".join(texts[ordinal] for ordinal in range(first, first + n)) for first, n in spans]
