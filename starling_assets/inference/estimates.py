"""What calls will cost in tokens, seconds and dollars before they are made, and what the estimate rests on.

Speeds and reply lengths come from the ledger where it holds enough calls of the same model and purpose; else from the
defaults stated here. The basis is part of the estimate, so that a guess is never shown as a measurement.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from .budget import Prices
from .ledger import OK
from .tokens import TEMPLATE_TOKENS, estimate_tokens

#: Fewer calls than this say too little about the next thousand.
ENOUGH_CALLS = 5
#: Reading a token of the prompt takes about a third of the time of writing one (both stated per endpoint kind below).
OUTPUT_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Rates:
    """How one model behaves on one kind of call.

    ``seconds_per_unit`` is model time per uncached prompt token; an output token counts ``OUTPUT_WEIGHT`` times.
    ``output_share`` is how much of the cap a reply uses; ``output_tokens`` the mean reply where it was measured.
    """

    seconds_per_unit: float
    output_share: float
    cached_share: float
    output_tokens: float | None
    calls: int
    basis: str


#: The packaged 1.5B model on two idle cores of a small virtual machine; `docs/quality.md` has the measured calls.
PACKAGED = Rates(1 / 30, 0.35, 0.0, None, 0, "stated speed of the packaged model on two idle cores")
#: A hosted endpoint or a vLLM server with a GPU, per call in flight.
REMOTE = Rates(1 / 1_500, 0.35, 0.0, None, 0, "assumed speed of a hosted endpoint")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Totals over all calls. ``cost`` is ``None`` where the prices are not known; ``most_cost`` has full replies."""

    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    cost: float | None
    most_cost: float | None
    basis: str


def measured_rates(ledger: pl.DataFrame, model: str, purpose: str, default: Rates) -> Rates:
    """Rates of ``model`` on ``purpose`` from the ledger, or of the model on anything, or ``default``.

    Waits for a free slot are part of a call's latency in the ledger only when several runs share a server.
    """
    of_model = ledger.filter((pl.col("model") == model) & (pl.col("outcome") == OK) & (pl.col("latency_seconds") > 0))
    of_purpose = of_model.filter(pl.col("purpose") == purpose)
    if of_purpose.height >= ENOUGH_CALLS:
        return _rates(of_purpose, default, f"{of_purpose.height} calls of {model} for {purpose}", same=True)
    if of_model.height >= ENOUGH_CALLS:
        return _rates(of_model, default, f"{of_model.height} calls of {model} for other purposes", same=False)
    return default


def estimate(
    system: str,
    users: Iterable[str],
    max_output_tokens: int,
    rates: Rates,
    prices: Prices,
    concurrency: int,
) -> Estimate:
    """The estimate for one call per text in ``users``, all with the same ``system`` prefix and output cap.

    The prefix is read once where the endpoint caches it (measured), and paid at the full price all the same.
    """
    shared, lengths = estimate_tokens(system), [estimate_tokens(user) for user in users]
    calls = len(lengths)
    prompt = sum(lengths) + calls * (shared + TEMPLATE_TOKENS)
    cached = int(prompt * rates.cached_share)
    expected = rates.output_tokens if rates.output_tokens is not None else rates.output_share * max_output_tokens
    per_reply = min(float(max_output_tokens), expected)
    output = round(calls * per_reply)
    seconds = (prompt - cached + OUTPUT_WEIGHT * output) * rates.seconds_per_unit / max(1, min(concurrency, calls))
    return Estimate(
        calls=calls,
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=output,
        seconds=round(seconds, 1),
        cost=prices.cost(prompt, output) if prices.known else None,
        most_cost=prices.cost(prompt, calls * max_output_tokens) if prices.known else None,
        basis=f"tokens estimated from text length; {rates.basis}",
    )


def _rates(calls: pl.DataFrame, default: Rates, basis: str, *, same: bool) -> Rates:
    prompt, cached = int(calls["prompt_tokens"].sum()), int(calls["cached_tokens"].sum())
    # The median call, not the sum: one call that waited an hour for a busy machine says nothing about the others.
    work = (calls["prompt_tokens"] - calls["cached_tokens"] + OUTPUT_WEIGHT * calls["completion_tokens"]).to_list()
    per_unit = statistics.median(
        seconds / max(1.0, units) for seconds, units in zip(calls["latency_seconds"].to_list(), work, strict=True)
    )
    return Rates(
        seconds_per_unit=per_unit,
        output_share=default.output_share,
        cached_share=cached / prompt if same and prompt else 0.0,
        output_tokens=statistics.fmean(calls["completion_tokens"].to_list()) if same else None,
        calls=calls.height,
        basis=basis,
    )
