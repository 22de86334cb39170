"""Ground floor: one typed model of all settings. A default is stated here and nowhere else."""

from .loading import SettingsError, load_settings, project_root
from .model import Settings

__all__ = ["Settings", "SettingsError", "load_settings", "project_root"]
