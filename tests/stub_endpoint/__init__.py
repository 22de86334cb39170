"""A scripted OpenAI-compatible endpoint on loopback, for tests that need a model to answer.

In a test::

    with StubEndpoint(answer=my_model) as stub:            # a thread; any number of requests at a time
        monkeypatch.setenv("STARLING_LLM_BASE_URL", stub.base_url)
        monkeypatch.setenv("STARLING_LLM_MODEL", "stub")
        ...
        assert stub.requests[0].user.startswith("Paper")

``answer(messages, schema) -> value`` is the scripted model: it gets the chat messages (``[{"role", "content"}]``) and
the JSON schema the caller asked for (``None`` for plain JSON mode), and returns what the reply should hold: a value to
be written as JSON, or a string that is sent as it is. Without one the stub answers with the smallest value that fits
the schema.

Faults are queued; each request takes the next one, and when the queue is empty ``answer`` is used::

    stub.queue(Behaviour.rate_limited(retry_after=0.1), Behaviour.failing(500), Behaviour.truncated())

As a process, for tests that kill their client: ``python -m tests.stub_endpoint --port 0 --answer tests.some_module:fn
--log requests.jsonl --delay 0.05``. It prints its base URL as its first line. The log has one JSON line per request
that was answered, and one per request that came in.
"""

from .behaviours import Behaviour
from .server import Answer, SeenRequest, StubEndpoint

__all__ = ["Answer", "Behaviour", "SeenRequest", "StubEndpoint"]
