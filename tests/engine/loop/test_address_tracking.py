"""Addresses that a conversation knows are fetched; all others ask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result, text_content
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.engine.engine_harness import EngineHarness, make_engine, restart_engine
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe

TYPED = "https://a.example.org/typed"
FOUND = "https://b.example.org/found"
LINKED = "https://e.example.org/linked"
SEARCH = Call("web_search", {"path": "x"}, "search")


class WebSearch(FakeTool):
    """Finds one address."""

    name = "web_search"
    category = "web"
    risk = "read"

    def result(self, args: PathArguments) -> Result:
        results: Json = [{"url": FOUND}, {"url": 3}, "https://c.example.org/text", None]
        data: Json = {"results": results, "note": "https://d.example.org/"}
        return Result(ToolEnvelope(ok=True, kind="search_results", data=data), text_content("One."))


class FetchUrl(FakeTool):
    """Returns a page with a link; its path is the address."""

    name = "fetch_url"
    category = "web"
    risk = "read"

    async def subject(self, args: PathArguments, context: CallContext) -> CallSubject:
        return replace(await super().subject(args, context), address=args.path)

    def result(self, args: PathArguments) -> Result:
        data: Json = {"results": [{"url": LINKED}]}
        return Result(ToolEnvelope(ok=True, kind="page", data=data), text_content(LINKED))


def fetch(url: str, number: int = 0) -> Any:
    return turn(Call("fetch_url", {"path": url}, f"fetch{number}"))


def made(*script: Any) -> EngineHarness:
    tools: list[Any] = [WebSearch(ToolProbe()), FetchUrl(ToolProbe())]
    return make_engine(*script, loop=tools)


def asked(w: EngineHarness) -> list[str]:
    return [str(request.call_id) for request in w.of(ev.ApprovalRequest)]


async def test_address_of_the_user_or_of_a_search_does_not_ask():
    w = made(turn(SEARCH), fetch(FOUND), fetch(TYPED, 1), "Done.")
    await w.say(f"Look at {TYPED}, please.")
    assert asked(w) == []
    assert {status for _, status in w.results()} == {"ok"}


@pytest.mark.parametrize(
    "url",
    [
        *(f"{TYPED}?secret=1", "https://c.example.org/text", "https://d.example.org/"),
        "https://evil.example.net/",
    ],
)
async def test_any_other_address_asks(url: str):
    w = made(turn(SEARCH), fetch(url))
    await w.say(f"Look at {TYPED}, please.")
    assert asked(w) == ["fetch0"]


async def test_what_a_page_links_to_asks():
    w = made(fetch(TYPED), fetch(LINKED, 1))
    await w.say(f"Look at {TYPED}, please.")
    assert asked(w) == ["fetch1"]


async def test_addresses_are_known_after_a_restart():
    before = made(turn(SEARCH), "Done.")
    await before.say(f"Look at {TYPED}, please.")
    w = await restart_engine(before, None, fetch(FOUND), fetch(TYPED, 1), "Done.")
    await w.say("Go on.", message="after")
    assert asked(w) == []
