"""What both loops may take at most, before they start, and every iteration they made, as tables."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from resources.endpoints.planning import plan_calls
from starling_assets.agents.estimates import Estimate
from starling_assets.agents.induction import InductionLimits
from starling_assets.agents.induction_bounds import call_bounds
from starling_assets.agents.probe_state import LoopState, load_states
from starling_assets.agents.schema_loop import Round
from starling_assets.agents.tasks import Task
from starling_assets.settings import Settings


def show_bounds(settings: Settings, task: Task, limits: InductionLimits, chunks: int, console: Console) -> None:
    """Calls, tokens and dollars at most, by kind of call. ``chunks``: passages of the corpus. Asks no model."""
    table = Table("calls of", "at most", "prompt tokens", "US dollars", title=f"What the loops of {task.name} may take")
    costs: list[float | None] = []
    calls = tokens = 0
    for row in call_bounds(task, limits, chunks):
        # A text of that length per call; what it says makes no difference to the estimate.
        users = ["x" * row.characters] * row.calls
        found = plan_calls(settings, row.role, task.name, task.sentence, users, row.max_output_tokens)
        costs.append(found.most_cost)
        calls, tokens = calls + found.calls, tokens + found.prompt_tokens
        cost = "unknown" if found.most_cost is None else f"{found.most_cost:,.4f}"
        table.add_row(f"{row.role.value}: {row.what}", f"{row.calls:,}", f"{found.prompt_tokens:,}", cost)
    known = [cost for cost in costs if cost is not None]
    total = f"{sum(known):,.4f}" if len(known) == len(costs) else "unknown"
    table.add_row("all", f"{calls:,}", f"{tokens:,}", total)
    console.print(table)
    console.print(f"{chunks:,} passages; tokens are estimated from text length", highlight=False)


def show_iterations(place: Path, console: Console) -> None:
    """All stored iterations of both loops below ``place``; prints nothing where there are none."""
    states = load_states(place / "probes")
    if states:
        table = Table("iteration", "probe", "passages", "own", "precision", "recall gap", "decision", title="Probes")
        for state in states:
            _add_state(table, state, states[-1].best)
        console.print(table)
    rounds = [Round.model_validate_json(file.read_bytes()) for file in sorted((place / "schema").glob("round-*.json"))]
    if rounds:
        table = Table("round", "fields", "records that pass, unseen papers", "decision", title="Schema")
        for one in rounds:
            fields = ", ".join(field.name for field in one.record.fields)
            decision = f"ended: {one.ended}" if one.ended else "revise"
            table.add_row(str(one.number), escape(fields), shown(one.quality), decision)
        console.print(table)


def shown(estimate: Estimate) -> str:
    """An estimate with its interval; one from too small a sample is named so, whatever its share."""
    if estimate.status == "insufficient":
        return f"insufficient ({estimate.judged} judged)"
    if estimate.share is None:
        return "nothing to judge"
    return f"{estimate.share:.0%} ({estimate.low:.0%} to {estimate.high:.0%}, {estimate.judged} judged)"


def _add_state(table: Table, state: LoopState, best: int) -> None:
    decision = f"ended: {state.ended}" if state.ended else "go on"
    marked = f"{decision}; the best" if state.iteration == best else decision
    # Why: what was refused and what the investigator advised, as the proposer reads it next.
    reasons = [note for note in state.notes if "refused" in note or note.startswith("Advice")]
    own = [shown(state.gap), escape("\n".join([marked, *reasons]))]
    rows = [[escape(p.name), f"{p.matches:,}", f"{p.gain:,}", shown(p.precision)] for p in state.probes]
    for number, row in enumerate(rows or [["none", "0", "0", ""]]):
        first = number == 0  # the iteration's own figures stand beside its first probe
        table.add_row(str(state.iteration) if first else "", *row, *(own if first else ["", ""]))
