"""Long results: what the model gets of them, and how it reads the rest."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import pytest

from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptedTurn, turn
from jupyter_ai_shoulders.tools.base import CallContext, Progress, Result, text_content
from jupyter_ai_shoulders.tools.truncation import BYTE_LIMIT, LINE_LIMIT, fits_limits
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SupplyResult
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart, ToolResultPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    restart_engine,
)
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe
from tests.engine.loop.test_turns import check
from tests.engine.plan_tools import offered, said

LINES = "".join(f"line {number}\n" for number in range(6_000))
ONE_LINE = "é" * 120_000


class Print(FakeTool):
    """Returns the text stored for a path."""

    name: ClassVar[str] = "print"
    risk: ClassVar[Risk] = "read"
    texts: ClassVar[dict[str, str]] = {"lines": LINES, "one": ONE_LINE, "short": "short"}

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=None),
            content=text_content(self.texts[args.path]),
        )


def printing(*script: Any, **more: Any) -> EngineHarness:
    return make_engine(*script, loop=[Print(ToolProbe())], planning=True, **more)


def show(path: str, call_id: str = "c1") -> ScriptedTurn:
    return turn(Call("print", {"path": path}, call_id))


def newest_text(request: ModelRequest) -> str:
    part = request.messages[-1].parts[0]
    assert isinstance(part, ToolResultPart)
    return "\n".join(piece.text for piece in part.content if isinstance(piece, TextPart))


def read_on(request: ModelRequest) -> ScriptedTurn:
    """Follow the newest result's instructions, as a model would."""
    text = newest_text(request)
    given = re.search(r'read_output (\{"handle": "[0-9a-f]+", "offset": \d+\})', text)
    if given is not None:
        return turn(Call("read_output", json.loads(given[1])))
    page = re.search(r"Output ([0-9a-f]+) .* next offset: (\d+)", text)
    assert page is not None
    return turn(Call("read_output", {"handle": page[1], "offset": int(page[2])}))


@pytest.mark.parametrize(("path", "text"), Print.texts.items())
async def test_following_the_notes_gives_the_whole_text(path: str, text: str):
    pages: list[str] = []

    def follow(request: ModelRequest) -> ScriptedTurn | str:
        content = newest_text(request)
        if "read_output" not in content and "next offset" not in content:
            return "That is all."
        pages.append(content)
        w.provider.extend(follow)
        return read_on(request)

    w = printing(show(path), follow)
    await w.say()
    results = w.of(ev.ToolResult)
    assert all(fits_limits(said(result)) for result in results)
    first, rest = results[0], results[1:]
    pieces = [said(result).partition("\n")[2] for result in rest]
    head = said(first).partition("\n[… ")[0]
    at = rest[0].result.data["offset"] if rest and isinstance(rest[0].result.data, dict) else None
    whole = text if at is None else text[: int(str(at))] + "".join(pieces)
    assert whole == text
    assert text.startswith(head)
    assert bool(rest) == (path != "short")
    check(w)


async def test_page_says_where_it_is_and_how_much_there_is():
    w = printing(show("lines"), read_on, "End.")
    await w.say()
    result = w.of(ev.ToolResult)[1]
    heading, first, *others = said(result).splitlines()
    assert (result.tool, result.status, result.result.kind) == ("read_output", "ok", "outputs")
    assert result.result.meta.total == 6_000
    assert result.result.meta.truncated is True
    assert first == "line 1499"
    assert "lines 1500-3489 of 6000" in heading
    assert others[-1] == "line 3488"
    assert len(said(result).splitlines()) <= LINE_LIMIT
    assert len(said(result).encode()) <= BYTE_LIMIT


async def test_handles_survive_a_restart_and_belong_to_one_conversation():
    w = printing(show("lines"), "Long.")
    await w.say()
    handle = w.of(ev.ToolResult)[0].handle
    assert handle is not None
    ask = turn(Call("read_output", {"handle": handle[:16]}, "r1"))
    after = await restart_engine(w, None, ask, "End.")
    await after.say(message="again")
    assert after.results()[-1] == ("r1", "ok")

    other = make_engine(ask, "End.", planning=True)
    other.store.blobs.put(LINES.encode())
    await other.say()
    (refused,) = other.of(ev.ToolResult)
    assert refused.result.error is not None
    assert (refused.status, refused.result.error.code) == ("error", "not_found")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"handle": "0" * 16}, "not_found"),
        ({"handle": "short"}, "invalid_arguments"),
        ({"handle": "OWN", "offset": 10_000_000}, "invalid_arguments"),
        ({"handle": "OWN", "offset": -1}, "invalid_arguments"),
    ],
    ids=["unknown handle", "no handle", "beyond the end", "before the start"],
)
async def test_wrong_page_is_refused(arguments: dict[str, Any], code: str):
    def ask(request: ModelRequest) -> ScriptedTurn:
        handle = w.of(ev.ToolResult)[0].handle if arguments["handle"] == "OWN" else None
        return turn(Call("read_output", {**arguments, **({"handle": handle} if handle else {})}))

    w = printing(show("lines"), ask, "End.")
    await w.say()
    error = w.of(ev.ToolResult)[1].result.error
    assert error is not None
    assert error.code == code


async def test_output_that_is_no_text_is_refused():
    class Picture(Print):
        name: ClassVar[str] = "picture"

        async def run(
            self, args: PathArguments, context: CallContext
        ) -> AsyncIterator[Progress | Result]:
            yield Result(
                envelope=ToolEnvelope(ok=True, kind="text", data=None),
                content=text_content("A picture."),
                handle=w.store.blobs.put(b"\x89PNG\xff"),
            )

    picture = turn(Call("picture", {"path": "a"}, "c1"))
    w = make_engine(picture, read_on, "End.", loop=[Picture(ToolProbe())], planning=True)
    await w.say()
    first, page = w.of(ev.ToolResult)
    assert "The whole output is kept; read on with read_output" in said(first)
    assert page.status == "error"
    assert "not text" in said(page)


async def test_supplied_results_are_cut_and_paged_too():
    w = printing(show("short"), read_on, "End.", given=make_session(tools="parse_only"))
    await w.say()
    await w.engine.responses.supply_result(
        SESSION, CallId("c1"), SupplyResult(content=LINES, ok=True)
    )
    await w.settle()
    assert [result.tool for result in w.of(ev.ToolResult)] == ["print", "read_output"]
    assert w.of(ev.ToolResult)[1].status == "ok"


@pytest.mark.parametrize(
    "more",
    [
        {"given": make_session(toolset="document")},
        {"rules": json.dumps({"version": 1, "disabled": ["read_output"]})},
    ],
    ids=["small toolset", "switched off"],
)
async def test_handle_is_not_named_where_it_cannot_be_read(more: dict[str, Any]):
    w = printing(show("lines"), "End.", **more)
    await w.say()
    (result,) = w.of(ev.ToolResult)
    assert result.handle is not None
    assert "4001 lines left out …]" in said(result)
    assert "read_output" not in offered(w.provider.requests[0])


def truncator() -> OutputTruncator:
    return OutputTruncator(MemoryStore().blobs, Redactor(["sk-secret-key-123456"]), paged=True)


def test_limits_hold_for_all_texts_of_a_result_together():
    parts = (
        TextPart(text="a\n" * 1_500),
        ImagePart(media_type="image/png", data=""),
        TextPart(text="b\n" * 1_500),
    )
    place = truncator()
    content, handle = place.truncate(parts)
    text, image = content
    assert isinstance(text, TextPart)
    assert fits_limits(text.text)
    assert image == parts[1]
    assert handle is not None
    assert place.blobs.get(handle).decode() == "a\n" * 1_500 + "\n" + "b\n" * 1_500


def test_what_is_kept_holds_no_key():
    place = truncator()
    _, handle = place.truncate([TextPart(text="sk-secret-key-123456\n" * 5_000)])
    assert handle is not None
    assert b"sk-secret" not in place.blobs.get(handle)


def test_handle_of_the_tool_itself_is_the_one_that_is_told():
    kept = BlobHash("f" * 64)
    content, handle = truncator().truncate([TextPart(text=LINES)], kept)
    texts = [part.text for part in content if isinstance(part, TextPart)]
    assert handle == kept
    assert "read_output" not in texts[0]
    assert "f" * 16 in texts[1]
    again, _ = truncator().truncate([TextPart(text=f"See {kept}.")], kept)
    assert again == (TextPart(text=f"See {kept}."),)
