"""Is the endpoint there, does it take the key, does it know the model? Asked before any work is paid for."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from starling_assets.inference.calls import FailureKind, Role
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import Endpoint

from .targets import packaged_model_name

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class EndpointStatus:
    """The outcome of a check: one line to show, and the class of failure where there is one."""

    ok: bool
    message: str
    base_url: str = ""
    model: str = ""
    kind: FailureKind | None = None


def check_endpoint(settings: Settings, role: Role | None = None) -> EndpointStatus:
    """Check the endpoint of ``role``, or of all roles; of several the first that fails is returned.

    Costs no tokens: the list of models is asked for. The packaged model counts as present when its server program is
    installed; ``starling doctor`` reports the weights separately.
    """
    found: list[EndpointStatus] = []
    for endpoint in _distinct(settings, [role] if role else list(Role)):
        status = _check_packaged(settings) if endpoint.base_url is None else _check_remote(endpoint)
        if not status.ok:
            return status
        found.append(status)
    if len(found) == 1:
        return found[0]
    return EndpointStatus(True, "; ".join(status.message for status in found), found[0].base_url, found[0].model)


def _distinct(settings: Settings, roles: list[Role]) -> list[Endpoint]:
    seen: list[Endpoint] = []
    for role in roles:
        endpoint = settings.llm.for_role(role.value)
        if all((e.base_url, e.model, e.api_key) != (endpoint.base_url, endpoint.model, endpoint.api_key) for e in seen):
            seen.append(endpoint)
    return seen


def _check_packaged(settings: Settings) -> EndpointStatus:
    from resources.local_model.weights import WeightsError, weights_path

    model = packaged_model_name(settings)
    if importlib.util.find_spec("xllamacpp") is None:
        return EndpointStatus(
            False,
            "no endpoint is set and the packaged model's server is not installed: set STARLING_LLM_BASE_URL and "
            "STARLING_LLM_MODEL, or install the extra local-model (`uv sync --extra local-model`).",
            model=model,
            kind=FailureKind.CONNECTION,
        )
    try:
        present = weights_path(settings).is_file()
    except WeightsError as error:
        return EndpointStatus(False, str(error), model=model, kind=FailureKind.CONNECTION)
    if settings.llm.local.path is not None and not present:
        return EndpointStatus(
            False,
            f"llm.local.path names {settings.llm.local.path}, which is not a file. Correct or remove the setting.",
            model=model,
            kind=FailureKind.CONNECTION,
        )
    state = "is here" if present else "will be fetched at the first use"
    return EndpointStatus(True, f"the packaged model {model} answers (its file {state})", model=model)


def _check_remote(endpoint: Endpoint) -> EndpointStatus:
    import httpx

    url, model = endpoint.base_url or "", endpoint.model or ""

    def bad(kind: FailureKind, message: str) -> EndpointStatus:
        return EndpointStatus(False, message, url, model, kind)

    key = endpoint.api_key.get_secret_value() if endpoint.api_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(f"{url.rstrip('/')}/models", headers=headers, timeout=SECONDS, follow_redirects=True)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
        return bad(FailureKind.BAD_REQUEST, f"llm.base_url {url!r} is no web address (http://host:port/v1).")
    except httpx.TimeoutException:
        return bad(FailureKind.TIMEOUT, f"{url} did not answer within {SECONDS:.0f} s. Is the server up?")
    except httpx.HTTPError as error:
        return bad(
            FailureKind.CONNECTION,
            f"{url} cannot be reached ({error}). Start the server, or correct llm.base_url (STARLING_LLM_BASE_URL).",
        )
    if answer.status_code in {401, 403}:
        return bad(
            FailureKind.AUTHENTICATION,
            f"{url} refuses the key ({answer.status_code}). Set STARLING_LLM_API_KEY (or OPENAI_API_KEY) to a "
            "valid one.",
        )
    if answer.status_code >= 500:
        return bad(
            FailureKind.SERVER_ERROR, f"{url} failed ({answer.status_code}). Try again later, or look at its log."
        )
    offered = _offered(answer.text) if answer.status_code == httpx.codes.OK else None
    return _check_model(url, model, offered)


def _check_model(url: str, model: str, offered: list[str] | None) -> EndpointStatus:
    listed = ", ".join((offered or [])[:10]) or "none"
    if not model:
        message = f"the endpoint {url} is set but no model: set llm.model (STARLING_LLM_MODEL). It offers: {listed}."
        return EndpointStatus(False, message, url, model, FailureKind.BAD_REQUEST)
    if offered is None:
        return EndpointStatus(True, f"{url} answers but lists no models, so {model} is not checked", url, model)
    if model not in offered and f"{model}:latest" not in offered:
        message = f"{url} does not know the model {model}. Correct llm.model (STARLING_LLM_MODEL). It offers: {listed}."
        return EndpointStatus(False, message, url, model, FailureKind.BAD_REQUEST)
    return EndpointStatus(True, f"{url} answers and knows {model}", url, model)


def _offered(text: str) -> list[str] | None:
    """Names in an OpenAI model list; ``None`` where the answer is no such list."""
    import orjson

    try:
        listing = orjson.loads(text)
        return sorted(str(entry["id"]) for entry in listing["data"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
