"""Suggestions over HTTP: whole and streamed, cancelled, superseded, and silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.client import Api
from tests.server.conftest import MODEL
from tests.server.handlers.completions.completion_client import (
    arguments,
    asking,
    sent_text,
    streaming,
    suggest,
    suggesting,
)
from tests.simulator import Delivery, Failure, Simulator, ToolUse, reply
from tests.simulator.script import Reply

Where = tuple[str, dict[str, str]]


def stalling(first: str) -> Reply:
    """An answer that goes silent after one suggestion, until the client leaves."""
    text = f'{{"prefix_end": "", "suffix_start": "", "suggestions": ["{first}", "tw'
    return reply(ToolUse(name="answer", arguments=text), delivery=Delivery(ending="stall"))


@pytest.fixture
def where(api: Api, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]) -> Where:
    """Address and token of the running server, for streams."""
    del api
    return f"http://127.0.0.1:{jp_http_port}{jp_base_url}", jp_auth_header


async def test_a_page_gets_suggestions_from_the_small_model(api: Api, upstream: Simulator) -> None:
    upstream.script(suggesting("sum(values)", "max(values)", "min(values)"))

    answer = await suggest(api, "values = [1, 2]\ntotal = ")

    assert answer.body == {
        "type": "completion-end",
        "request_id": "r1",
        "suggestions": ["sum(values)", "max(values)", "min(values)"],
        "model": MODEL,
        "reason": None,
        "message": None,
    }


async def test_the_model_is_held_to_the_form_does_not_think_and_writes_little(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("1", "2", "3"))

    await suggest(api, "x = ")

    body = upstream.requests[-1].body
    assert body["model"] == "claude-haiku-5-5"
    assert body["tool_choice"]["name"] == "answer"
    assert body["thinking"] == {"type": "disabled"}
    assert body["max_tokens"] == 1_024
    assert list(body["tools"][0]["input_schema"]["properties"]) == [
        "prefix_end",
        "suffix_start",
        "suggestions",
    ]


async def test_a_stream_gives_each_suggestion_as_soon_as_it_is_whole(
    upstream: Simulator, where: Where
) -> None:
    upstream.script(stalling("one"))

    async with streaming(*where, asking("x = ")) as stream:
        first = await stream.next()

    assert first == {
        "type": "completion-suggestion",
        "request_id": "r1",
        "index": 0,
        "text": "one",
    }
    await upstream.settled()
    assert upstream.requests[-1].outcome == "client-left"


async def test_a_stream_ends_with_the_list_that_holds(upstream: Simulator, where: Where) -> None:
    upstream.script(suggesting("1 +", "print(x)", "print(x)", "  "))

    async with streaming(*where, asking("x = 1\n")) as stream:
        *came, end = await stream.rest()

    assert [event["text"] for event in came] == ["1 +", "print(x)"]
    assert end["suggestions"] == ["print(x)", "1 +"]


async def test_a_cancelled_request_is_cancelled_at_the_provider(
    api: Api, upstream: Simulator, where: Where
) -> None:
    upstream.script(stalling("one"))

    async with streaming(*where, asking("x = ", request_id="r-7")) as stream:
        await stream.next()
        gone = await api.delete("completions/r-7")
        events = await stream.rest()

    assert gone.status == 204
    assert [event["reason"] for event in events] == ["cancelled"]
    await upstream.settled()
    assert upstream.requests[-1].outcome == "client-left"


async def test_a_newer_request_of_the_page_cancels_the_older_at_the_provider(
    api: Api, upstream: Simulator, where: Where
) -> None:
    upstream.script(stalling("late"), suggesting("new"))

    async with streaming(*where, asking("x = ", client_id="p", request_id="old")) as stream:
        await stream.next()
        newer = await suggest(api, "y = ", client_id="p", request_id="new", path="other.py")
        events = await stream.rest()

    assert newer.body["suggestions"] == ["new"]
    assert [event["reason"] for event in events] == ["cancelled"]
    await upstream.settled()
    assert [one.outcome for one in upstream.requests] == ["client-left", "sent"]


async def test_requests_of_two_pages_leave_each_other_alone(
    api: Api, upstream: Simulator, where: Where
) -> None:
    upstream.script(stalling("theirs"), suggesting("mine"))

    async with streaming(*where, asking("x = ", client_id="one")) as stream:
        await stream.next()
        mine = await suggest(api, "x = ", client_id="two")
        outcomes = [one.outcome for one in upstream.requests]

    assert mine.body["suggestions"] == ["mine"]
    assert outcomes == [None, "sent"], "the other page's call continues"


async def test_what_was_suggested_is_there_at_once_when_it_is_typed(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("df.groupby('a').sum()", "df.head()", "other"))
    first = await suggest(api, "x = ", "\n")
    again = await suggest(api, "x = ", "\n", request_id="r2")
    typed = await suggest(api, "x = df.", "\n", request_id="r3")

    assert again.body["suggestions"] == first.body["suggestions"]
    assert typed.body["suggestions"] == ["groupby('a').sum()", "head()"]
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        reply(ToolUse(name="answer", arguments='{"suggestions": ["broken"')),
        reply(ToolUse(name="answer", arguments='{"suggestions": "text"}')),
        reply(ToolUse(name="answer", arguments='{"suggestions": [1, {"a": 2}]}')),
        reply(ToolUse(name="answer", arguments={"other": ["a"]})),
        reply("I would write sum(values) here."),
        reply(ToolUse(name="answer", arguments=arguments("   ", "\u202e evil", ""))),
        reply("", stop="refusal"),
    ],
    ids=["cut", "text", "numbers", "another", "prose", "unseen", "refused"],
)
async def test_a_malformed_answer_gives_nothing(
    api: Api, upstream: Simulator, answer: Reply
) -> None:
    upstream.script(answer)

    found = await suggest(api, "x = ")

    assert found.body["suggestions"] == []
    assert found.body["reason"] == "nothing"


async def test_an_answer_that_was_cut_by_the_limit_keeps_what_is_whole(
    api: Api, upstream: Simulator
) -> None:
    text = '{"prefix_end": "", "suffix_start": "EMPTY", "suggestions": ["one", "tw'
    upstream.script(reply(ToolUse(name="answer", arguments=text), stop="max_tokens"))

    assert (await suggest(api, "x = ")).body["suggestions"] == ["one"]


async def test_a_failure_after_the_first_suggestion_leaves_none(
    upstream: Simulator, where: Where
) -> None:
    broken = reply(
        ToolUse(name="answer", arguments=arguments("one", "two", "three")),
        delivery=Delivery(ending="cut"),
    )
    upstream.script(broken)

    async with streaming(*where, asking("x = ")) as stream:
        events = await stream.rest()

    assert events[-1]["suggestions"] == []
    assert events[-1]["reason"] == "provider_down"


@pytest.mark.parametrize(
    "failure",
    [Failure(status=529), Failure(status=500), Failure(status=401), Failure(status=429)],
    ids=["overloaded", "error", "key", "rate"],
)
async def test_a_failing_provider_is_silent_says_why_and_is_not_asked_twice(
    api: Api, upstream: Simulator, failure: Failure
) -> None:
    upstream.script(reply(failure=failure))

    found = await suggest(api, "x = ")

    assert found.body["reason"] == "provider_down"
    assert found.body["suggestions"] == []
    assert "Anthropic" in found.body["message"]
    assert len(upstream.requests) == 1


async def test_what_the_settings_forbid_is_not_asked(api: Api, upstream: Simulator) -> None:
    automatic = await suggest(api, "x = ", trigger="automatic")
    await api.put("settings", {"ghost": {"enabled_plus": False}})
    plus = await suggest(api, "x = ")
    upstream.script(suggesting("1"))
    invoked = await suggest(api, "x = ", trigger="invoke")

    assert [automatic.body["reason"], plus.body["reason"]] == ["disabled", "disabled"]
    assert invoked.body["suggestions"] == ["1"]
    assert len(upstream.requests) == 1


async def test_automatic_requests_are_answered_once_they_are_switched_on(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("1"))
    await api.put("settings", {"ghost": {"automatic": True}})

    assert (await suggest(api, "x = ", trigger="automatic")).body["suggestions"] == ["1"]


async def test_without_a_key_it_is_silent_and_says_how_to_set_one(
    api: Api, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    found = await suggest(api, "x = ")

    assert found.body["reason"] == "no_key"
    assert found.body["model"] is None
    assert "Set a key" in found.body["message"]
    assert upstream.requests == []


async def test_a_reached_budget_is_silent_and_sends_nothing(api: Api, upstream: Simulator) -> None:
    await api.put("budget", {"month_micro_usd": 0})

    found = await suggest(api, "x = ")

    assert found.body["reason"] == "budget"
    assert "limit" in found.body["message"]
    assert upstream.requests == []


async def test_what_it_cost_is_counted(api: Api, upstream: Simulator) -> None:
    upstream.script(suggesting("1"))
    await suggest(api, "x = ")

    usage = await api.get("usage", by="model")
    rows = {row["key"]: row for row in usage.body["rows"]}

    assert rows[MODEL]["calls"] == 1
    assert rows[MODEL]["known_cost_micro_usd"] > 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"prefix": "x" * 20_001}, "prefix"),
        ({"trigger": "magic"}, "trigger"),
        ({"request_id": "a b"}, "request_id"),
        ({"more": 1}, "more"),
    ],
)
async def test_a_wrong_request_names_the_field(
    api: Api, change: dict[str, object], field: str
) -> None:
    answer = await api.post("completions", {**asking("x"), **change})

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert field in answer.error["message"]


async def test_cancelling_what_is_over_is_no_error(api: Api) -> None:
    assert (await api.delete("completions/never-was")).status == 204


async def test_outside_of_the_workspace_nothing_is_sent(api: Api, upstream: Simulator) -> None:
    found = await suggest(api, "x", path="../elsewhere.py")

    assert found.body["reason"] == "private"
    assert "outside" in found.body["message"]
    assert upstream.requests == []


async def test_instructions_of_the_user_are_followed(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "_instructions.md").write_text(
        "Use polars.\n<!-- not told -->\n\n---\nlanguages: [r]\n---\nUse the tidyverse.\n"
    )
    await api.trust_folder()
    upstream.script(suggesting("1"))

    await suggest(api, "x = ")

    assert "Use polars." in upstream.requests[-1].body["system"][0]["text"]
    assert "not told" not in sent_text(upstream)
    assert "tidyverse" not in sent_text(upstream)
