"""OCR engines: the choice that the settings make, and the endpoint that reads pages."""

from .choosing import Choice, choose_engine
from .resource import OcrResource

__all__ = ["Choice", "OcrResource", "choose_engine"]
