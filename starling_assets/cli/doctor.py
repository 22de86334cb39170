"""`starling doctor`: what this machine has and lacks, and what each lack costs."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import asdict, dataclass

import orjson
import typer
from rich.console import Console
from rich.table import Table

from resources.endpoints import check_endpoint
from resources.local_model import weights_path

from .project import Project

_FREE_BYTES = 3_000_000_000


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``needed`` lacks make the command fail; others only cost what ``meaning`` says."""

    name: str
    ok: bool
    found: str
    meaning: str
    needed: bool = False


def examine(*, as_json: bool) -> None:
    """Print the findings; exit code 1 when something needed is missing."""
    project = Project()
    findings = findings_of(project)
    if as_json:
        print(orjson.dumps([asdict(f) for f in findings], option=orjson.OPT_INDENT_2).decode())
    else:
        table = Table("", "what", "found", "meaning")
        for item in findings:
            mark = "[green]ok[/]" if item.ok else "[red]missing[/]" if item.needed else "[yellow]absent[/]"
            table.add_row(mark, item.name, item.found, "" if item.ok else item.meaning)
        Console().print(table)
    if any(item.needed and not item.ok for item in findings):
        raise typer.Exit(1)


def findings_of(project: Project) -> list[Finding]:
    """Look at interpreter, disk, Java, Tesseract, the model endpoint or the packaged model."""
    settings = project.settings
    folder = settings.home if settings.home.exists() else project.root
    free = shutil.disk_usage(folder).free
    java, tesseract = shutil.which("java"), shutil.which("tesseract")
    findings = [
        Finding("Python", sys.version_info >= (3, 12), sys.version.split()[0], "3.12 or newer is needed", needed=True),
        Finding("disk", free > _FREE_BYTES, f"{free / 1e9:.1f} GB free in {folder}", "3 GB are needed", needed=True),
        Finding("Java", java is not None, java or "", "systematic chemical names (OPSIN) get no structure"),
        Finding("Tesseract", tesseract is not None, tesseract or "", "scanned PDFs are set aside"),
    ]
    if settings.llm.base_url is not None:
        findings += [
            Finding(f"endpoint {state.role}", state.ok, state.endpoint, state.message, needed=True)
            for state in check_endpoint(settings)
        ]
    else:
        weights = weights_path(settings)
        server = importlib.util.find_spec("xllamacpp") is not None
        findings.append(
            Finding("local model server", server, "xllamacpp" if server else "",
                    "install the extra local-model, or set STARLING_LLM_BASE_URL", needed=True)
        )  # fmt: skip
        findings.append(
            Finding("model weights", weights.exists(), str(weights), "fetched by the first run (about 1.1 GB)")
        )
    return findings
