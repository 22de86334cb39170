"""What calls cost, and a bound on it that holds before the next call is made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .calls import FailureKind, ModelFailure


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; ``None`` means not known. Cached prompt tokens are counted at the full price,
    since endpoints differ in their discount: the true cost is at most the stated one.
    """

    prompt: float | None = None
    completion: float | None = None

    @property
    def known(self) -> bool:
        """Whether a cost can be stated."""
        return self.prompt is not None and self.completion is not None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for these tokens; an unknown price counts as nothing."""
        return (prompt_tokens * (self.prompt or 0.0) + completion_tokens * (self.completion or 0.0)) / 1e6


FREE = Prices(0.0, 0.0)


class Reservation:
    """Money set aside for a call in flight; :meth:`settle` replaces it by what was paid."""

    def __init__(self, budget: Budget, amount: float) -> None:
        self._budget = budget
        self._amount = amount

    def settle(self, cost: float) -> None:
        """The call ended and cost this much."""
        self._budget._settle(self._amount, cost)  # noqa: SLF001 - the two classes are one mechanism
        self._amount = 0.0


class Budget:
    """A bound in US dollars over all calls that share it, in any thread. ``None`` counts without a bound.

    The most a call can cost is set aside before it starts, so calls in flight together cannot overshoot. ``spent``
    is what earlier runs of the same work have paid.
    """

    def __init__(self, max_cost: float | None = None, spent: float = 0.0) -> None:
        self.max_cost = max_cost
        self._spent = spent
        self._reserved = 0.0
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        """US dollars paid so far."""
        return self._spent

    @contextmanager
    def reserve(self, prompt_tokens: int, max_output_tokens: int, prices: Prices) -> Iterator[Reservation]:
        """Set aside the most a call can cost. Raises :class:`ModelFailure` ``over_budget`` when that is too much."""
        most = prices.cost(prompt_tokens, max_output_tokens)
        with self._lock:
            if self.max_cost is not None:
                self._refuse_if_over(most, prices, self.max_cost)
            self._reserved += most
        reservation = Reservation(self, most)
        try:
            yield reservation
        finally:
            reservation.settle(0.0)

    def _refuse_if_over(self, most: float, prices: Prices, bound: float) -> None:
        if not prices.known:
            raise ModelFailure(
                FailureKind.OVER_BUDGET,
                "a cost bound is set but the endpoint's prices are not: set llm.price_prompt and llm.price_completion "
                "(US dollars per million tokens), or remove the bound.",
            )
        if self._spent + self._reserved + most > bound + 1e-12:
            raise ModelFailure(
                FailureKind.OVER_BUDGET,
                f"${self._spent:.4f} of ${bound:.4f} is spent and the next call may cost ${most:.4f}. "
                "Raise the bound and run the same command again; what was paid for is kept.",
            )

    def _settle(self, reserved: float, cost: float) -> None:
        with self._lock:
            self._reserved = max(0.0, self._reserved - reserved)
            self._spent += cost
