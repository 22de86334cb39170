"""OCR engines: the choice that the settings make, and its Dagster face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .choosing import Choice, choose_engine

if TYPE_CHECKING:
    from .resource import OcrResource

__all__ = ["Choice", "OcrResource", "choose_engine"]


def __getattr__(name: str) -> Any:
    # `starling doctor` names the engine and need not wait for Dagster to load.
    if name == "OcrResource":
        from .resource import OcrResource

        return OcrResource
    raise AttributeError(name)
