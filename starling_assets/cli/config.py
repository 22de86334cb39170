"""`starling config`: effective settings and where each came from."""

from __future__ import annotations

import orjson
from rich.console import Console
from rich.table import Table

from starling_assets.settings.loading import effective, load_with_sources


def show_config(*, as_json: bool) -> None:
    """Print all settings; secrets are masked."""
    settings, sources = load_with_sources()
    values = list(effective(settings, sources))
    if as_json:
        rows = {value.key: {"value": value.value, "source": value.source} for value in values}
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    table = Table("setting", "value", "source", title="Effective settings")
    for value in values:
        style = None if value.source == "default" else "bold"
        table.add_row(value.key, value.value, value.source, style=style)
    Console().print(table)
