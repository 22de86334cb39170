"""Which endpoint answers a role: the configured one, or the packaged model on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

from resources.local_model.server import LocalServer
from starling_assets.inference.budget import FREE, Prices
from starling_assets.inference.calls import Role
from starling_assets.settings import Settings, SettingsError

#: Calls in flight where the settings name no number.
#: The packaged model shares one slot among all runs of a machine, so a call may wait for others before it is read.
LOCAL_PATIENCE = 6.0


class EndpointError(SettingsError):
    """The endpoint settings cannot be used; the message names the setting and what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """One endpoint with one model. ``packaged`` is true for the model server that Starling runs itself."""

    base_url: str
    api_key: SecretStr = field(repr=False)
    model: str
    prices: Prices
    packaged: bool
    timeout_seconds: float
    concurrency: int

    @property
    def key(self) -> tuple[str, str]:
        """What limits and abilities belong to; the packaged server may come back under another port."""
        return ("packaged" if self.packaged else self.base_url, self.model)

    @property
    def loopback(self) -> bool:
        """Whether the endpoint is on this machine: no proxy stands between."""
        return urlsplit(self.base_url).hostname in {"127.0.0.1", "localhost", "::1"}


class Targets:
    """Resolves roles to targets. The packaged model's server is asked for at the first call that needs it."""

    def __init__(self, settings: Settings, local: Callable[[], LocalServer]) -> None:
        self._settings = settings
        self._local = local
        self._server: LocalServer | None = None
        self._lock = threading.Lock()
        for role in Role:
            self.model_name(role)  # a half-configured endpoint is refused before any work

    def packaged(self, role: Role) -> bool:
        """Whether the packaged model answers ``role``."""
        return self._settings.llm.for_role(role.value).base_url is None

    def model_name(self, role: Role) -> str:
        """The model that answers ``role``; known without starting anything."""
        endpoint = self._settings.llm.for_role(role.value)
        if endpoint.base_url is None:
            return packaged_model_name(self._settings)
        if endpoint.model is None:
            raise EndpointError(
                f"the endpoint {endpoint.base_url} is set for the role {role.value}, but no model: set llm.model "
                "(STARLING_LLM_MODEL). `starling doctor` lists the models that the endpoint offers."
            )
        return endpoint.model

    def concurrency(self, role: Role) -> int:
        """Calls of ``role`` that may be in flight together."""
        return self._settings.llm.in_flight(role.value)

    def is_ready(self, role: Role) -> bool:
        """Whether :meth:`resolve` answers at once."""
        return not self.packaged(role) or (self._server is not None and self._server.is_alive())

    def resolve(self, role: Role) -> Target:
        """The target of ``role``. May start the packaged model's server, which blocks until it answers."""
        endpoint = self._settings.llm.for_role(role.value)
        seconds = self._settings.llm.timeout_seconds
        if endpoint.base_url is None:
            with self._lock:
                if self._server is None or not self._server.is_alive():
                    self._server = self._local()
                server = self._server
            return Target(
                base_url=server.base_url,
                api_key=SecretStr(server.api_key),
                model=self.model_name(role),
                prices=FREE,
                packaged=True,
                timeout_seconds=seconds * LOCAL_PATIENCE,
                concurrency=self.concurrency(role),
            )
        return Target(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or SecretStr(""),
            model=self.model_name(role),
            prices=Prices(endpoint.price_prompt, endpoint.price_completion),
            packaged=False,
            timeout_seconds=seconds,
            concurrency=self.concurrency(role),
        )


def packaged_model_name(settings: Settings) -> str:
    """Name of the packaged model: the stem of its file, so that quantisations differ."""
    from resources.local_model.weights import weights_path

    return weights_path(settings).stem
