"""Every upstream fault, through the real engine and adapters, for each format.

After each: the turn ended as documented and named what to do, nothing was executed, the log and the
history are valid, and the next message works.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.wire.events import RetryWait, TextDelta
from tests.engine.engine_harness import make_settings
from tests.engine.simulator_harness import SimulatorHarness, configuration, wired
from tests.integration.test_model_switching import shows, soon
from tests.providers.faulty_servers import HEAD, read_request, serving
from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Simulator,
    Text,
    ToolUse,
    html_error,
    overloaded,
    reply,
)

MODELS = {
    "anthropic": "claude-haiku-5-5",
    "openai_responses": "gpt-6-luna",
    "google": "gemini-3.8-flash",
    "openai_chat": "local",
    "ollama": "llama",
}
PROVIDERS = {
    "anthropic": "anthropic",
    "openai_responses": "openai",
    "google": "google",
    "openai_chat": "lab",
    "ollama": "ollama",
}
KINDS = list(MODELS)
HEALTHY = {**dict.fromkeys(KINDS, "claude-haiku-5-5"), "anthropic": "local"}
"""A model of another provider, for the message after a fault of the network."""

SAID = "One word and another. " * 5
LOOK = ToolUse(name="look", arguments={"path": "a.ipynb"})


@dataclass(frozen=True)
class Fault:
    """A fault, and how the turn ends. ``hint``: words of the advice that the user reads."""

    answer: Reply
    code: str
    hint: str = ""
    exit: str = "error"
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keeps_text: bool = False
    only: frozenset[str] = frozenset(KINDS)


def body(text: str) -> Reply:
    """A stream of these bytes."""
    return reply(failure=Failure(status=200, body=text, content_type="text/event-stream"))


def refusal(status: int, message: str | None = None, **more: Any) -> Reply:
    return reply(failure=Failure(status=status, message=message, **more))


def cut(ending: Any, after: int | None = None) -> Reply:
    return reply(SAID, delivery=Delivery(ending=ending, ending_after=after))


NAMES_OVERLOAD = frozenset({"anthropic", "google"})
"""Formats that distinguish an overload from another failure inside a stream."""

SSE = frozenset(KINDS) - {"ollama"}
OVERFLOWS = {
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "openai_responses": "Your input exceeds the context window of this model.",
    "google": "The input token count (1200000) exceeds the maximum number of tokens allowed (9).",
    "openai_chat": "This model's maximum context length is 4096 tokens.",
    "ollama": "the input length exceeds the context length",
}
FAULTS = {
    "reset mid-text": Fault(cut("reset", 9), "stream_truncated", "ry again", keeps_text=True),
    "cut mid-text": Fault(cut("cut", 9), "stream_truncated", "ry again", keeps_text=True),
    "no terminal event": Fault(
        cut("no_terminator"), "stream_truncated", "ry again", keeps_text=True
    ),
    "stall": Fault(
        cut("stall", 9), "provider_timeout", "idle_timeout", limits={"idle_timeout": 0.2},
        keeps_text=True,
    ),
    "trickle": Fault(
        reply(SAID, delivery=Delivery(chunk=1, event_delay=0.02)),
        "provider_timeout", "total_timeout", limits={"total_timeout": 0.4},
    ),
    "500": Fault(refusal(500), "provider_error", "another model"),
    "503": Fault(refusal(503), "overloaded", "another model"),
    "529": Fault(overloaded(), "overloaded", "another model"),
    "overload after 200": Fault(
        reply(SAID, failure=Failure(status=529, after=9)), "overloaded", "another model",
        keeps_text=True, only=NAMES_OVERLOAD,
    ),
    "error after 200": Fault(
        reply(SAID, failure=Failure(status=500, after=9)), "provider_error", "another model",
        keeps_text=True,
    ),
    "401": Fault(refusal(401), "authentication", "_API_KEY", only=frozenset(KINDS) - {"ollama"}),
    "402": Fault(refusal(402), "billing", "credit"),
    "403": Fault(refusal(403), "permission", "another model"),
    "404": Fault(refusal(404), "model_not_found", ""),
    "malformed data": Fault(body('data: {"type": \n\n'), "provider_protocol", "", only=SSE),
    "malformed line": Fault(
        body('{"message": {"role": \n{}\n'), "provider_protocol", "", only=frozenset({"ollama"})
    ),
    "ten megabytes in a line": Fault(
        reply(Text(text="x" * 10_000_000, split="whole")), "provider_protocol", ""
    ),
    "200 with a page": Fault(html_error(200), "provider_protocol", "url"),
    "200 with an error": Fault(
        refusal(200, body='{"error": {"message": "Oh"}}'), "provider_error", "another model"
    ),
    "call before the cut": Fault(
        reply(LOOK, delivery=Delivery(ending="cut")), "stream_truncated", "ry again"
    ),
}  # fmt: skip
ROWS = [
    pytest.param(kind, fault, id=f"{name}-{kind}")
    for name, fault in FAULTS.items()
    for kind in KINDS
    if kind in fault.only
]


@asynccontextmanager
async def talking(
    simulator: Simulator, tmp_path: Path, *, attempts: int = 1, **more: Any
) -> AsyncGenerator[SimulatorHarness]:
    limits = make_settings(model_attempts=attempts)
    async with wired(simulator, tmp_path, limits=limits, **more) as talk:
        yield talk


async def goes_on(talk: SimulatorHarness, model: str) -> None:
    """Nothing was executed, all is valid, and the next message is answered."""
    assert talk.probe.started == []
    talk.check()
    talk.simulator.playing.replies.clear()
    talk.simulator.script("All is well.")
    assert (await talk.say("Go on.", model)).exit == "final_response"
    assert talk.simulator.requests[-1].refusal is None
    talk.check()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("kind", "fault"), ROWS)
async def test_fault_ends_the_turn_as_said(
    simulator: Simulator, tmp_path: Path, kind: str, fault: Fault
) -> None:
    simulator.script(fault.answer)
    async with talking(simulator, tmp_path, **fault.limits) as talk:
        end = await talk.say("Tell me.", MODELS[kind])
        assert end.error is not None
        assert (end.exit, end.error.code) == (fault.exit, fault.code), end.error
        assert fault.hint in (end.error.hint or "")
        named = {PROVIDERS[kind], MODELS[kind], "sim-local", "sim-llama"}
        assert end.error.provider in named
        assert end.error.model in named
        assert simulator.key not in end.model_dump_json()
        shown = "".join(delta.text for delta in talk.of(TextDelta))
        if fault.keeps_text:
            assert shown
            assert SAID.startswith(shown)
        assert len(simulator.requests) == 1
        await goes_on(talk, MODELS[kind])


@pytest.mark.parametrize("kind", KINDS)
async def test_prompt_too_long_is_recognised(
    simulator: Simulator, tmp_path: Path, kind: str
) -> None:
    simulator.script(refusal(400, OVERFLOWS[kind]), refusal(400, OVERFLOWS[kind]))
    async with talking(simulator, tmp_path, attempts=3) as talk:
        end = await talk.say("Tell me.", MODELS[kind])
        assert end.exit == "context_overflow"
        assert end.error is not None
        assert (end.error.code, end.error.retryable) == ("context_overflow", False)
        await goes_on(talk, MODELS[kind])


# retries


def in_a_second() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("headers", "wait_ms"),
    [
        pytest.param({"retry-after-ms": "30"}, 30, id="milliseconds"),
        pytest.param({"retry-after": "0.04"}, 40, id="seconds"),
        pytest.param({"retry-after-ms": "20", "retry-after": "9"}, 20, id="both"),
    ],
)
async def test_rate_limit_counts_down_and_tries_again(
    simulator: Simulator,
    tmp_path: Path,
    kind: str,
    headers: dict[str, str],
    wait_ms: int,
) -> None:
    limited = refusal(429, headers=headers)
    simulator.script(limited, limited, "At last.")
    async with talking(simulator, tmp_path, attempts=5) as talk:
        assert (await talk.say("Tell me.", MODELS[kind])).exit == "final_response"
        waits = talk.of(RetryWait)
        assert [wait.attempt for wait in waits] == [1, 2]
        assert {wait.delay_ms for wait in waits} == {wait_ms}
        assert all(wait.reason for wait in waits)
        assert len(simulator.requests) == 3
        await goes_on(talk, MODELS[kind])


async def test_wait_until_a_date_and_without_a_word(simulator: Simulator, tmp_path: Path) -> None:
    dated = refusal(429, headers={"retry-after": in_a_second()})
    simulator.script(dated, refusal(429), "At last.")
    async with talking(simulator, tmp_path, attempts=5) as talk:
        assert (await talk.say("Tell me.", "claude-haiku-5-5")).exit == "final_response"
        first, second = (wait.delay_ms for wait in talk.of(RetryWait))
        assert 0 <= first <= 1000
        assert 300 <= second <= 1100
        await goes_on(talk, "claude-haiku-5-5")


@pytest.mark.parametrize("kind", KINDS)
async def test_cancel_during_the_wait_returns_at_once(
    simulator: Simulator, tmp_path: Path, kind: str
) -> None:
    simulator.script(refusal(429, headers={"retry-after": "30"}))
    async with talking(simulator, tmp_path, attempts=5) as talk:
        waits = shows(talk, RetryWait)
        await talk.send("Tell me.", MODELS[kind])
        await soon(waits)
        async with asyncio.timeout(15):  # half of the wait
            await talk.cancel()
        assert talk.end().exit == "cancelled"
        await goes_on(talk, MODELS[kind])


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_tried_again_once_text_was_shown(
    simulator: Simulator, tmp_path: Path, kind: str
) -> None:
    simulator.script(cut("reset", 9))
    async with talking(simulator, tmp_path, attempts=5) as talk:
        end = await talk.say("Tell me.", MODELS[kind])
        assert end.error is not None
        assert end.error.retryable
        assert (talk.of(RetryWait), len(simulator.requests)) == ([], 1)
        await goes_on(talk, MODELS[kind])


# odd but legal streams, and calls that cannot be run

ODD = {
    "byte by byte": Delivery(chunk=1),
    "CRLF cut anywhere": Delivery(chunk=(3, 50, 7), line_end="\r\n"),
    "CR, mark, comments": Delivery(line_end="\r", byte_order_mark=True, comments=True, pings=2),
    "unknown events": Delivery(unknown_events=True, space_after_colon=False),
    "no final blank line": Delivery(final_blank_line=False),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delivery", ODD.values(), ids=ODD)
async def test_odd_delivery_of_text_and_calls_is_read(
    simulator: Simulator, tmp_path: Path, kind: str, delivery: Delivery
) -> None:
    simulator.script(
        reply("Grüße, 日本 😀", LOOK, delivery=delivery), reply("So.", delivery=delivery)
    )
    async with talking(simulator, tmp_path) as talk:
        assert (await talk.say("Look.", MODELS[kind])).exit == "final_response"
        assert talk.results() == [("look", "ok")]
        assert "".join(delta.text for delta in talk.of(TextDelta)) == "Grüße, 日本 😀So."
        talk.check()


@pytest.mark.parametrize("kind", ["anthropic", "openai_responses", "openai_chat"])
@pytest.mark.parametrize(
    "arguments", ['{"path": "a.ipy', '["a.ipynb"]', "a.ipynb", '{"path": NaN}']
)
async def test_broken_arguments_are_not_executed(
    simulator: Simulator, tmp_path: Path, kind: str, arguments: str
) -> None:
    simulator.script(reply(ToolUse(name="edit", arguments=arguments)), "I see.")
    async with talking(simulator, tmp_path) as talk:
        assert (await talk.say("Look.", MODELS[kind])).exit == "final_response"
        assert talk.results() == [("edit", "error")]
        await goes_on(talk, MODELS[kind])


@pytest.mark.parametrize("kind", KINDS)
async def test_two_calls_of_one_id_are_two_calls(
    simulator: Simulator, tmp_path: Path, kind: str
) -> None:
    first = ToolUse(name="look", arguments={"path": "a.ipynb"}, id="call_same")
    second = ToolUse(name="look", arguments={"path": "b.ipynb"}, id="call_same")
    simulator.script(reply(Reasoning(text="Both."), first, second), "So.", reply(first), "So.")
    async with talking(simulator, tmp_path) as talk:
        for _ in range(2):
            assert (await talk.say("Look.", MODELS[kind])).exit == "final_response"
        assert talk.results() == [("look", "ok")] * 3
        assert talk.refusals() == []
        talk.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_empty_reply_is_told(simulator: Simulator, tmp_path: Path, kind: str) -> None:
    simulator.default(reply())
    async with talking(simulator, tmp_path) as talk:
        end = await talk.say("Tell me.", MODELS[kind])
        told = [event for event in talk.events if getattr(event, "code", "") == "empty_reply"]
        assert told or end.error is not None
        await goes_on(talk, MODELS[kind])


# the network


async def closes_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


async def bomb(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """80 MB of comments in less than 1 MB."""
    await read_request(reader)
    packed = gzip.compress((b":" + b"x" * 4_000 + b"\n") * 20_000, compresslevel=1)
    writer.write(HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"))
    writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed))
    writer.close()


def pointing(simulator: Simulator, kind: str, url: str) -> dict[str, Any]:
    """The configuration with one provider elsewhere."""
    trait = configuration(simulator)
    trait["providers"][PROVIDERS[kind]]["url"] = url
    return trait


async def unreachable(
    simulator: Simulator, tmp_path: Path, kind: str, url: str, *words: str
) -> None:
    trait = pointing(simulator, kind, url)
    async with talking(simulator, tmp_path, trait=trait) as talk:
        end = await talk.say("Tell me.", MODELS[kind])
        assert end.error is not None
        assert (end.exit, end.error.code) == ("error", "provider_unreachable"), end.error
        said = f"{end.error.message} {end.error.hint}"
        assert all(word in said for word in words), said
        await goes_on(talk, HEALTHY[kind])


@pytest.mark.parametrize("kind", KINDS)
async def test_no_such_host(simulator: Simulator, tmp_path: Path, kind: str) -> None:
    words = ("no such host: nowhere.invalid",)
    await unreachable(simulator, tmp_path, kind, "http://nowhere.invalid/v1", *words)


@pytest.mark.parametrize("kind", KINDS)
async def test_server_is_down(simulator: Simulator, tmp_path: Path, kind: str) -> None:
    words = ("ollama serve",) if kind == "ollama" else ("nothing answers at 127.0.0.1:9", "url")
    await unreachable(simulator, tmp_path, kind, "http://127.0.0.1:9/v1", *words)


@pytest.mark.parametrize("kind", KINDS)
async def test_no_secure_connection(simulator: Simulator, tmp_path: Path, kind: str) -> None:
    async with serving(closes_at_once) as url:
        place = url.replace("http:", "https:") + "/v1"
        await unreachable(simulator, tmp_path, kind, place, "secure connection", "SSL_CERT_FILE")


@pytest.mark.parametrize("kind", KINDS)
async def test_dead_proxy(
    simulator: Simulator, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    await unreachable(simulator, tmp_path, kind, "http://upstream.test/v1", "HTTP_PROXY")


async def test_compressed_bomb_is_bounded(simulator: Simulator, tmp_path: Path) -> None:
    async with serving(bomb) as url:
        trait = pointing(simulator, "openai_chat", f"{url}/v1")
        async with talking(simulator, tmp_path, trait=trait) as talk:
            end = await talk.say("Tell me.", "local")
            assert end.error is not None
            assert end.error.code == "provider_protocol"
            assert "64 MB" in end.error.message
            await goes_on(talk, "claude-haiku-5-5")


# Ollama


async def test_missing_model_of_ollama_says_how_to_pull_it(
    simulator: Simulator, tmp_path: Path
) -> None:
    trait = configuration(simulator)
    trait["models"] = [*trait["models"], {"id": "gone", "provider": "ollama", "model": "gone:7b"}]
    async with talking(simulator, tmp_path, trait=trait) as talk:
        end = await talk.say("Tell me.", "gone")
        assert end.error is not None
        assert end.error.code == "model_not_found"
        assert "ollama pull gone:7b" in (end.error.hint or "")
        await goes_on(talk, "llama")


async def test_model_of_ollama_without_tools_answers_without_them(
    simulator: Simulator, tmp_path: Path
) -> None:
    trait = configuration(simulator)
    plain = {"id": "plain", "provider": "ollama", "model": "sim-plain", "context_window": 16_384}
    trait["models"] = [*trait["models"], {**plain, "max_output": 2_000}]
    simulator.script("Hello.")
    async with talking(simulator, tmp_path, trait=trait) as talk:
        end = await talk.say("Tell me.", "plain")
        assert (end.exit, end.error) == ("final_response", None)
        await goes_on(talk, "plain")
