"""A user's mistake ends in one clear line and a non-zero exit code, never in a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from starling_assets.agents.tasks import TaskError
from starling_assets.artifacts.files import StoreError
from starling_assets.inference.calls import ModelFailure
from starling_assets.inference.ledger import LedgerError
from starling_assets.settings import SettingsError

#: Exit codes: 1 the job failed, 2 the request was wrong, 130 interrupted.
FAILED, WRONG, INTERRUPTED = 1, 2, 130

err = Console(stderr=True)


class UserError(Exception):
    """The request cannot be carried out; the message says why and what to do."""


@contextmanager
def friendly() -> Iterator[None]:
    """Turn the known kinds of failure into a line on stderr and an exit code."""
    try:
        yield
    except SettingsError as error:
        err.print(f"[red]settings:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(WRONG) from None
    except (UserError, StoreError, TaskError, LedgerError, ModelFailure) as error:
        err.print(f"[red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        err.print("stopped; everything finished so far is kept. Run the same command to go on.")
        raise typer.Exit(INTERRUPTED) from None
