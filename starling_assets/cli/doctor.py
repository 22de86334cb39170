"""`starling doctor`: what this machine has and lacks, and what each lack costs."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, dataclass

import orjson
import typer
from rich.console import Console
from rich.table import Table

from resources.endpoints import check_endpoint
from resources.ocr import choose_engine

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
    """Look at interpreter, disk, Java, the OCR engine, the model endpoint or the packaged model."""
    settings = project.settings
    folder = settings.home if settings.home.exists() else project.root
    free = shutil.disk_usage(folder).free
    java, ocr = shutil.which("java"), choose_engine(settings)
    findings = [
        Finding("Python", sys.version_info >= (3, 12), sys.version.split()[0], "3.12 or newer is needed", needed=True),
        Finding("disk", free > _FREE_BYTES, f"{free / 1e9:.1f} GB free in {folder}", "3 GB are needed", needed=True),
        Finding("Java", java is not None, java or "", "systematic chemical names (OPSIN) get no structure"),
        Finding("OCR", ocr.engine is not None, ocr.engine.name if ocr.engine else "", f"scans wait: {ocr.reason}"),
    ]
    endpoint = check_endpoint(settings)
    findings.append(Finding("model endpoint", endpoint.ok, endpoint.message, endpoint.message, needed=True))
    return findings
