"""dots.ocr behind a scripted endpoint that replays the failures the model is known for."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.ledger import read_ledger
from starling_assets.literature.ocr import dots, pictures
from starling_assets.literature.ocr.dots import LADDER, MOST_PIXELS, PICTURE_MARK, STEP, DotsOcr, fitting
from starling_assets.literature.ocr.pages import OcrPage
from starling_assets.literature.ocr.pictures import Picture
from starling_assets.literature.ocr.reading import outcome_of
from starling_assets.literature.xml import BadSource
from starling_assets.settings.model import LiteratureSettings
from tests.literature.ocr_pages import HEIGHT, WIDTH, WORDS, door, element, engine, layout, made_pdf, page_of
from tests.stub_endpoint import Behaviour, StubEndpoint

TEXT = " ".join(WORDS)


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=lambda _messages, _schema: layout(TEXT), models=("dots.ocr",)) as running:
        yield running


@pytest.fixture(scope="module")
def drawn() -> dict[tuple[Path, tuple[int, int]], Picture]:
    return {}


@pytest.fixture(autouse=True)
def each_picture_is_drawn_once(monkeypatch, drawn):
    """Drawing takes a process each time; these tests show the same few pages again and again."""

    async def draw(page, size, limits, *, colour):
        key = (page.path, size)
        if key not in drawn:
            drawn[key] = await pictures.draw(page, size, limits, colour=colour)
        return drawn[key]

    monkeypatch.setattr(dots, "draw", draw)


@pytest.fixture(scope="module")
def scan(tmp_path_factory) -> Path:
    return made_pdf(tmp_path_factory.mktemp("scan") / "scan.pdf", WORDS)


@pytest.fixture
def read(stub, scan, tmp_path):
    """Queues replies, reads the page, and gives the reading."""

    def reading(*replies: Behaviour | str, **page: str) -> OcrPage:
        stub.queue(*(Behaviour.reply(reply) if isinstance(reply, str) else reply for reply in replies))
        return asyncio.run(engine(stub, tmp_path).read(page_of(scan, **page)))

    return reading


def texts(page: OcrPage) -> list[str]:
    return [block.text for block in page.blocks]


def test_a_sound_reply(read, stub, tmp_path):
    page = read()
    assert (page.status, page.reason, texts(page)) == ("ok", "", [TEXT])
    assert page.raw == (layout(TEXT),)
    assert page.usage["calls"] == 1
    assert page.usage["cost"] > 0
    (call,) = stub.calls
    assert call.user.startswith(PICTURE_MARK)
    assert call.body["model"] == "dots.ocr"
    assert call.body["temperature"] == 0.0
    ledger = read_ledger(tmp_path / "ledger")
    assert ledger.select("role", "outcome", "unit").rows() == [("ocr", "ok", "scan.pdf/1")]


def test_the_picture_has_the_models_own_size_and_boxes_come_back_in_points(read, stub):
    box = read().blocks[0].bbox
    (png,) = stub.calls[0].pictures
    width, height = struct.unpack(">II", png[16:24])
    assert (width % STEP, height % STEP) == (0, 0)
    assert box == pytest.approx(
        (56 * WIDTH / width, 56 * HEIGHT / height, 500 * WIDTH / width, 100 * HEIGHT / height), 0.01
    )


@pytest.mark.parametrize(
    ("width", "height"), [(595.0, 842.0), (842.0, 595.0), (10.0, 10.0), (144_000.0, 144_000.0), (5.0, 14_400.0)]
)
def test_every_page_fits_the_model(width, height):
    page = page_of(Path("x.pdf"))
    page = type(page)(page.path, page.file, page.sha256, 1, width, height, "scan")
    for scale in (1.0, 0.75):
        across, down = fitting(page, scale)
        assert across % STEP == down % STEP == 0
        assert 3_136 <= across * down <= MOST_PIXELS
    if width > 100 and height > 100 and width < 1_000:
        assert across / down == pytest.approx(width / height, rel=0.05)


def test_a_loop_is_cut_short_and_the_page_shown_again(read, stub):
    loop = '[{"bbox": [56, 56, 500, 100], "category": "Text", "text": "' + "and the liver " * 40_000
    page = read(Behaviour.reply(loop, "length"))
    assert (page.status, texts(page)) == ("ok", [TEXT])
    assert "repeat themselves" in page.reason
    assert stub.streamed < len(loop) / 4  # the rest was never written
    assert page.usage["calls"] == 2
    first, second = (call.body["temperature"] for call in stub.calls)
    assert second > first
    assert stub.calls[0].pictures[0] != stub.calls[1].pictures[0]


def test_a_loop_of_elements_whose_boxes_move(read, stub):
    def moving(number: int) -> str:
        across, down = number * 7919 % 500, number * 104729 % 300
        return json.dumps(element("The same words.", bbox=(across, down, across + 37, down + number % 91 + 1)))

    loop = "[" + ",".join(moving(number) for number in range(2_000))
    page = read(Behaviour.reply(loop, "length"))
    assert page.status == "ok"
    assert "with the same words" in page.reason
    assert stub.streamed < len(loop) / 2


def test_a_page_that_always_loops_fails_with_its_reason(read, stub):
    loop = Behaviour.reply("the liver " * 3_000)
    page = read(*[loop] * len(LADDER))
    assert (page.status, page.blocks) == ("failed", ())
    assert "repetition_loop" in page.reason
    assert len(page.raw) == len(stub.calls) == len(LADDER)
    outcome = outcome_of("u", page)
    assert (outcome.status, outcome.reason) == ("failed", page.reason)


def test_a_reply_cut_off_at_the_token_limit_is_a_failure_and_salvaged(read):
    whole = layout("The compound entered the brain of the rats.", "A dose of 25 mg/kg was tolerated.", "Lost words.")
    cut = Behaviour.reply(whole[:-20], "length")
    page = read(*[cut] * len(LADDER))
    assert page.status == "partial"
    assert texts(page) == ["The compound entered the brain of the rats.", "A dose of 25 mg/kg was tolerated."]
    assert "truncated" in page.reason
    assert outcome_of("u", page).status == "failed"  # the next run shows the page again


def test_a_cut_reply_counts_as_failed_even_where_its_text_parses(read):
    page = read(Behaviour.reply(layout("Half of the page."), "length"))
    assert (page.status, texts(page)) == ("ok", [TEXT])
    assert "truncated" in page.reason


@pytest.mark.parametrize(
    "reply",
    [
        "```json\n" + layout(TEXT) + "\n```",
        "Here is the layout:\n" + layout(TEXT),
        layout(TEXT)[:-1],
        layout(TEXT) + layout(TEXT)[:30],
        layout(TEXT).replace('"bbox"', "bbox", 1),
        "[" + json.dumps(element(TEXT)) + ", " + json.dumps(element("x", bbox=(1, 2, 3))) + "]",
        "[" + json.dumps(element(TEXT)) + ", " + json.dumps(element("x", category="Poem")) + "]",
        "[" + json.dumps(element(TEXT)) + ', {"bbox": ["1", 2, 3, 4], "category": "Text", "text": "x"}]',
        "[" + json.dumps(element(TEXT)) + ", " + json.dumps(element("x", bbox=(90_000, 5, 90_100, 9))) + "]",
        "[" + json.dumps(element(TEXT)) + ", " + json.dumps(element("x", bbox=(90, 50, 40, 60))) + "]",
        '{"layout": "of another shape"}',
        '"a sentence"',
    ],
)
def test_a_damaged_list_is_asked_for_again(read, stub, reply):
    page = read(reply)
    assert (page.status, texts(page)) == ("ok", [TEXT])
    assert page.reason.startswith("read at try 2")
    assert len(stub.calls) == 2
    assert page.raw[0] == reply


def test_what_stays_damaged_is_kept_with_what_was_lost(read):
    reply = "[" + json.dumps(element(TEXT)) + ", " + json.dumps(element("x", category="Poem")) + "]"
    page = read(*[reply] * 3, Behaviour.empty())
    assert page.status == "partial"
    assert texts(page) == [TEXT]
    assert "1 of 2 elements unusable: category" in page.reason


def test_without_layout_the_text_is_taken(read, stub):
    page = read("no list", "no list", "no list", "First paragraph\nof two lines.\n\nSecond paragraph.")
    assert page.status == "ok"
    assert texts(page) == ["First paragraph of two lines.", "Second paragraph."]
    assert page.reason.startswith("read at try 4")
    assert "bbox" not in stub.calls[3].user


def test_a_blank_page_is_not_shown_at_all(stub, tmp_path):
    blank = made_pdf(tmp_path / "blank.pdf", [])
    page = asyncio.run(engine(stub, tmp_path).read(page_of(blank)))
    assert (page.status, page.reason) == ("blank", "the page shows nothing")
    assert stub.calls == []


def test_fiction_on_a_page_with_hardly_any_ink(stub, tmp_path):
    speck = made_pdf(tmp_path / "speck.pdf", ["Fig. 1"])
    novel = layout(*(f"Paragraph {n} tells of a trial that nobody ran on {n * 7} patients." for n in range(400)))
    stub.queue(*[Behaviour.reply(novel)] * 3, Behaviour.reply("Fig. 1"))
    page = asyncio.run(engine(stub, tmp_path).read(page_of(speck)))
    assert (page.status, texts(page)) == ("ok", ["Fig. 1"])
    assert "letters on a page with ink for at most" in page.reason


def test_a_model_that_finds_nothing(read):
    page = read(*["[]"] * 3, Behaviour.empty())
    assert (page.status, page.reason) == ("blank", "the model finds nothing on the page")


DOUBLED = " ".join(word for word in f"{TEXT} {TEXT.replace('rats', 'mice')}".split() for _ in range(2))


def test_words_that_a_doubled_text_layer_lacks_are_fiction(read):
    fiction = layout("Mitochondrial haplogroups diverged during the Pleistocene across African savannas and " * 4)
    page = read(fiction, problem="doubled", layer=DOUBLED)
    assert (page.status, texts(page)) == ("ok", [TEXT])
    assert "of the words read are not in the text layer" in page.reason


def test_columns_read_across_are_noticed(read):
    words = TEXT.split()
    mixed = " ".join(word for pair in zip(words[::2], reversed(words[1::2]), strict=False) for word in pair)
    page = read(layout(mixed), problem="doubled", layer=DOUBLED)
    assert (page.status, texts(page)) == ("ok", [TEXT])
    assert "columns are mixed" in page.reason


def test_a_garbled_layer_accuses_nobody(read):
    page = read(problem="garbled", layer="qzx vkj wyf gpb mcl rdh uso tna eiq " * 20)
    assert (page.status, page.reason) == ("ok", "")


def test_a_stream_that_breaks_off_is_retried_by_the_door(read, stub):
    page = read(Behaviour(breaks_off=True), Behaviour.reset(), Behaviour.failing(503))
    assert (page.status, page.reason) == ("ok", "")
    assert len(stub.calls) == 4
    assert page.usage["retries"] == 3


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [(Behaviour.invalid_key(), FailureKind.AUTHENTICATION), (Behaviour.quota(), FailureKind.QUOTA)],
)
def test_what_no_page_can_escape_is_raised_with_what_was_paid(read, behaviour, kind):
    with pytest.raises(ModelFailure) as caught:
        read("no list", behaviour)
    assert caught.value.kind is kind
    assert caught.value.usage.calls == 2


def test_a_picture_too_large_for_the_model_is_shown_smaller(read, stub):
    page = read(Behaviour.context_too_long())
    assert (page.status, texts(page)) == ("ok", [TEXT])
    sizes = [struct.unpack(">II", call.pictures[0][16:24])[0] for call in stub.calls]
    assert sizes[1] < sizes[0]


def test_an_endpoint_that_knows_no_stream_options(read, stub):
    page = read(Behaviour.failing(400, "Unrecognized request argument: stream_options"))
    assert (page.status, page.reason) == ("ok", "")
    assert "stream_options" not in stub.calls[1].body
    assert page.usage["completion_tokens"] > 0  # estimated: the server sends no count


def test_the_name_carries_all_that_decides_the_reading(stub, tmp_path):
    client = door(stub, tmp_path)
    own = tmp_path / "own.txt"
    own.write_text("Read the page.")
    names = {
        DotsOcr(client, LiteratureSettings()).name,
        DotsOcr(client, LiteratureSettings(ocr_prompt=own)).name,
        DotsOcr(client, LiteratureSettings(ocr_output_tokens=500)).name,
    }
    assert len(names) == 3
    assert all("dots.ocr" in name for name in names)
    with pytest.raises(BadSource, match=r"literature.ocr_prompt names .* cannot be read"):
        DotsOcr(client, LiteratureSettings(ocr_prompt=tmp_path / "missing.txt"))
