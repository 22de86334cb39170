"""Starling: biomedical papers into judged, structured datasets."""

__version__ = "0.1.0"
