"""The command line: ``starling``."""

from .app import main

__all__ = ["main"]
