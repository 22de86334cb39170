"""The agents' prompt files; form and fence are those of every prompt (``inference.prompting``)."""

from __future__ import annotations

from pathlib import Path

from starling_assets.inference.prompting import Prompt, fence, read_prompt_file, visible

__all__ = ["FOLDER", "Prompt", "fence", "read_prompt", "visible"]

FOLDER = Path(__file__).resolve().parent / "prompts"


def read_prompt(name: str) -> Prompt:
    """The packaged prompt file ``<name>.md``."""
    return read_prompt_file(FOLDER / f"{name}.md")
