"""The door for pictures: what is sent, what is billed, and what ends a call early."""

from __future__ import annotations

import asyncio
import base64

import pytest

from starling_assets.inference.budget import Budget
from starling_assets.inference.calls import FailureKind, ModelFailure, Role
from starling_assets.inference.ledger import read_ledger
from starling_assets.inference.pictures import PictureCall
from starling_assets.settings.endpoints import Endpoint
from tests.stub_endpoint import Behaviour, StubEndpoint

from .conftest import settings_for

PNG = b"\x89PNG\r\n\x1a\nnot much of a picture"


def a_picture(**changes) -> PictureCall:
    values = {
        "role": Role.OCR,
        "purpose": "corpus/ocr",
        "unit": "p1",
        "text": "Read the page.",
        "png": PNG,
        "width": 280,
        "height": 560,
        "prompt": "layout@1",
        "max_output_tokens": 1_000,
        "guard": lambda _text: "",
    }
    return PictureCall(**(values | changes))


@pytest.fixture
def stub():
    with StubEndpoint(answer=lambda _messages, _schema: "The words of the page.", models=("dots.ocr",)) as running:
        yield running


@pytest.fixture
def door(stub, tmp_path):
    from resources.endpoints import build_client

    def make(budget: Budget | None = None, **ocr):
        own = Endpoint(base_url=stub.base_url, model="dots.ocr", price_prompt=1.0, price_completion=2.0, **ocr)
        settings = settings_for(stub, tmp_path, base_url=None, model=None, ocr=own)
        return build_client(settings, budget=budget)

    return make


def failure(action) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        asyncio.run(action)
    return caught.value


def test_the_picture_comes_before_the_words(door, stub):
    reply = asyncio.run(door().transcribe(a_picture()))
    assert reply.text == "The words of the page."
    assert reply.model == "dots.ocr"
    (call,) = stub.calls
    picture, words = call.messages[0]["content"]
    assert picture["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert words["text"] == "Read the page."
    assert call.body["stream"] is True
    assert call.body["max_tokens"] == 1_000
    assert "response_format" not in call.body


def test_the_roles_own_endpoint_and_prices_count(door, stub, tmp_path):
    client = door()
    assert client.model_name(Role.OCR) == "dots.ocr"
    usage = asyncio.run(client.transcribe(a_picture())).usage
    assert usage.cost == pytest.approx((usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6)
    assert client.budget.spent == pytest.approx(usage.cost)
    row = read_ledger(tmp_path / "ledger").row(0, named=True)
    assert (row["role"], row["outcome"], row["prompt"], row["completion_tokens"]) == (
        "ocr",
        "ok",
        "layout@1",
        usage.completion_tokens,
    )


def test_an_answer_that_the_guard_ends_is_paid_for_as_far_as_it_went(door, stub, tmp_path):
    stub.queue(Behaviour.reply("again " * 20_000))
    found = failure(door().transcribe(a_picture(guard=lambda text: "it loops" if len(text) > 2_000 else "")))
    assert (found.kind, found.message) == (FailureKind.REPETITION, "it loops")
    assert 2_000 < len(found.raw) < 4_000
    assert found.usage.completion_tokens > 500
    assert found.usage.cost > 0
    row = read_ledger(tmp_path / "ledger").row(0, named=True)
    assert (row["outcome"], row["message"]) == ("repetition_loop", "it loops")


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (Behaviour.reply("half of the", "length"), FailureKind.TRUNCATED),
        (Behaviour.reply("withheld", "content_filter"), FailureKind.EMPTY),
        (Behaviour.reply("  \n"), FailureKind.EMPTY),
        (Behaviour.failing(404, "no such model"), FailureKind.BAD_REQUEST),
    ],
)
def test_answers_that_are_none_are_not_asked_for_again(door, stub, behaviour, kind):
    stub.queue(behaviour)
    assert failure(door().transcribe(a_picture())).kind is kind
    assert len(stub.calls) == 1


def test_a_bound_on_cost_holds_before_the_call(door, stub):
    found = failure(door(Budget(0.000_1)).transcribe(a_picture()))
    assert found.kind is FailureKind.OVER_BUDGET
    assert stub.calls == []


def test_a_call_that_is_cancelled_is_let_go(door, stub):
    stub.queue(Behaviour.hang(20.0))

    async def cancelled() -> None:
        task = asyncio.ensure_future(door().transcribe(a_picture()))
        for _ in range(500):
            if stub.calls:
                break
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert len(stub.calls) == 1


def test_more_and_more_broken_streams_end_the_call(door, stub):
    stub.queue(*[Behaviour(breaks_off=True)] * 5)
    found = failure(door().transcribe(a_picture()))
    assert found.kind is FailureKind.CONNECTION
    assert found.usage.calls == 5
    assert found.usage.retries == 4
