"""What a batch of calls would cost with the configured endpoint, from its own past calls where there are enough."""

from __future__ import annotations

from collections.abc import Iterable

from resources.local_model.server import LocalServer
from starling_assets.inference.budget import FREE, Prices
from starling_assets.inference.calls import Role
from starling_assets.inference.estimates import PACKAGED, REMOTE, Estimate, estimate, measured_rates
from starling_assets.inference.ledger import read_ledger
from starling_assets.settings import Settings

from .targets import EndpointError, Targets


def plan_calls(
    settings: Settings, role: Role, purpose: str, system: str, users: Iterable[str], max_output_tokens: int
) -> Estimate:
    """The estimate for one call of ``role`` per text in ``users``; starts nothing and pays for nothing.

    ``purpose`` is the one the calls will carry (``bbb/extract``), so that past calls of the same kind are found.
    Raises :class:`EndpointError` where the endpoint is half configured.
    """
    targets = Targets(settings, _none)
    endpoint = settings.llm.for_role(role.value)
    packaged = targets.packaged(role)
    prices = FREE if packaged else Prices(endpoint.price_prompt, endpoint.price_completion)
    rates = measured_rates(
        read_ledger(settings.ledger_dir), targets.model_name(role), purpose, PACKAGED if packaged else REMOTE
    )
    return estimate(system, users, max_output_tokens, rates, prices, targets.concurrency(role))


def _none() -> LocalServer:
    raise EndpointError("planning calls no model")
