"""What goes wrong upstream, over a real socket, and what the caller is told."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    Provider,
    ProviderEvent,
    Stop,
)
from jupyter_ai_shoulders.testing.simulator import (
    Delivery,
    Failure,
    Reply,
    Simulator,
    Text,
    html_error,
    overloaded,
    rate_limited,
    reply,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from tests.providers.conversation import connected
from tests.providers.support import (
    FIXTURES,
    KEY,
    Kind,
    Sent,
    answering,
    ask,
    chat_model,
    claude,
    collect,
    data_lines,
    gemini,
    gpt,
    llama,
    provider_of,
    target,
)

KINDS: list[Kind] = ["anthropic", "openai_chat", "openai_responses", "google", "ollama"]
MODELS = {
    "anthropic": claude("claude-haiku-5-5"),
    "openai_chat": chat_model(id="gpt-4.1", model="gpt-4.1"),
    "openai_responses": gpt("gpt-6-luna"),
    "google": gemini("gemini-3.8-flash"),
    "ollama": llama("sim-llama:latest"),
}


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Answering) -> AsyncGenerator[str]:
    """A server that does as told, for what the simulator is too polite to do; yields its URL."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def read_request(reader: asyncio.StreamReader) -> bool:
    """Read one request; False when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return False
    length = re.search(rb"(?i)content-length: (\d+)", head)
    await reader.readexactly(int(length.group(1)) if length else 0)
    return True


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - the simulator has no event to wait for
            await asyncio.sleep(0)


async def failure_of(provider: Provider, model: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask("Hi", model=model))
    return caught.value


async def append_all(provider: Provider, request: ModelRequest, seen: list[ProviderEvent]) -> None:
    async for event in provider.stream(request):
        seen.append(event)  # noqa: PERF401 - what came before an error must be kept


async def failed(simulator: Simulator, kind: Kind, answer: Reply, **more: Any) -> ProviderError:
    simulator.script(answer)
    async with connected(simulator, kind, model=MODELS[kind], **more) as provider:
        return await failure_of(provider, MODELS[kind].model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        pytest.param(rate_limited(retry_after="2"), "rate_limited", True, id="429"),
        pytest.param(
            reply(failure=Failure(status=401, message=f"bad key {KEY}")),
            "authentication",
            False,
            id="401",
        ),
        pytest.param(reply(failure=Failure(status=402)), "billing", False, id="402"),
        pytest.param(reply(failure=Failure(status=403)), "permission", False, id="403"),
        pytest.param(reply(failure=Failure(status=404)), "model_not_found", False, id="404"),
        pytest.param(reply(failure=Failure(status=408)), "provider_timeout", True, id="408"),
        pytest.param(reply(failure=Failure(status=409)), "provider_error", True, id="409"),
        pytest.param(reply(failure=Failure(status=413)), "too_large", False, id="413"),
        pytest.param(reply(failure=Failure(status=500)), "provider_error", True, id="500"),
        pytest.param(reply(failure=Failure(status=503)), "overloaded", True, id="503"),
        pytest.param(overloaded(), "overloaded", True, id="529"),
        pytest.param(html_error(502), "provider_error", True, id="502 page"),
        pytest.param(html_error(200), "provider_protocol", False, id="200 page"),
        pytest.param(
            reply(failure=Failure(status=200, body='{"hello": 1}')),
            "provider_protocol",
            False,
            id="200 with other JSON",
        ),
        pytest.param(
            reply(failure=Failure(status=200, body='{"error": {"message": "Oh"}}')),
            "provider_error",
            True,
            id="200 with an error",
        ),
        pytest.param(
            reply(failure=Failure(status=302, body="", headers={"location": "/login"})),
            "provider_protocol",
            False,
            id="redirection",
        ),
        pytest.param(
            reply(failure=Failure(status=500, headers={"x-should-retry": "false"})),
            "provider_error",
            False,
            id="x-should-retry: false",
        ),
        pytest.param(
            reply(failure=Failure(status=400, headers={"x-should-retry": "true"})),
            "bad_request_upstream",
            True,
            id="x-should-retry: true",
        ),
    ],
)
async def test_refusal_is_named(
    simulator: Simulator, kind: Kind, answer: Reply, code: ErrorCode, retryable: bool
) -> None:
    error = await failed(simulator, kind, answer)
    assert (error.info.code, error.info.retryable) == (code, retryable)
    assert MODELS[kind].model in error.info.message
    assert error.info.model == MODELS[kind].model
    assert error.info.hint
    assert KEY not in repr(error.info)
    assert simulator.key not in repr(error.info)


async def test_message_names_provider_model_status_and_request(simulator: Simulator) -> None:
    error = await failed(simulator, "anthropic", reply(failure=Failure(status=404, message="Gone")))
    assert error.info.message == (
        "Anthropic, claude-haiku-5-5: the model or the address does not exist there: Gone"
        " (HTTP 404, request req_sim00000001)"
    )
    assert error.status == 404
    assert error.info.request_id == "req_sim00000001"
    assert error.info.provider == "anthropic"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("headers", "wait_ms", "retryable"),
    [
        pytest.param({"retry-after-ms": "1500"}, 1500, True, id="milliseconds"),
        pytest.param({"retry-after": "2.5"}, 2500, True, id="seconds"),
        pytest.param({"retry-after": "Sat, 21 Nov 2026 12:00:07 GMT"}, 7000, True, id="date"),
        pytest.param({"retry-after": "3600"}, 3_600_000, False, id="longer than we wait"),
        pytest.param({}, None, True, id="none"),
    ],
)
async def test_asked_wait_is_passed_on(
    simulator: Simulator,
    kind: Kind,
    headers: dict[str, str],
    wait_ms: int | None,
    retryable: bool,
) -> None:
    error = await failed(simulator, kind, reply(failure=Failure(status=429, headers=headers)))
    assert (error.retry_after_ms, error.info.retryable) == (wait_ms, retryable)


QUOTA: list[tuple[Kind, Failure, ErrorCode]] = [
    (
        "anthropic",
        Failure(status=400, message="Your credit balance is too low to access the API."),
        "billing",
    ),
    (
        "anthropic",
        Failure(
            status=429,
            body='{"type":"error","error":{"type":"rate_limit_error","message":"x",'
            '"details":{"error_code":"contract_spend_limit_reached"}}}',
        ),
        "quota_exhausted",
    ),
    (
        "openai_chat",
        Failure(status=429, code="insufficient_quota", type="insufficient_quota"),
        "quota_exhausted",
    ),
    (
        "openai_responses",
        Failure(status=429, code="billing_hard_limit_reached"),
        "quota_exhausted",
    ),
    (
        "google",
        Failure(status=429, code="GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        "quota_exhausted",
    ),
    (
        "google",
        Failure(status=400, type="FAILED_PRECONDITION", message="Please enable billing on it."),
        "billing",
    ),
]


@pytest.mark.parametrize(("kind", "failure", "code"), QUOTA)
async def test_spent_account_is_not_a_rate_limit(
    simulator: Simulator, kind: Kind, failure: Failure, code: ErrorCode
) -> None:
    error = await failed(simulator, kind, reply(failure=failure))
    assert (error.info.code, error.info.retryable) == (code, False)


OVERFLOW = [
    ("anthropic", "prompt is too long: 210000 tokens > 200000 maximum", None),
    ("openai_chat", "Too much.", "context_length_exceeded"),
    ("openai_chat", "This model's maximum context length is 4096 tokens.", None),
    ("openai_chat", "the request exceeds the available context size", None),
    ("openai_responses", "Your input is too long.", "context_length_exceeded"),
    ("openai_responses", "Your input exceeds the context window of this model.", None),
    (
        "google",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        None,
    ),
    ("ollama", "the input length exceeds the context length", None),
]


@pytest.mark.parametrize(("kind", "message", "code"), OVERFLOW)
async def test_overflow_is_recognised(
    simulator: Simulator, kind: Kind, message: str, code: str | None
) -> None:
    error = await failed(
        simulator, kind, reply(failure=Failure(status=400, message=message, code=code))
    )
    assert (error.info.code, error.info.retryable) == ("context_overflow", False)


@pytest.mark.parametrize("kind", KINDS)
async def test_error_inside_the_stream_is_raised_after_what_came(
    simulator: Simulator, kind: Kind
) -> None:
    simulator.script(reply("One two three four five six.", failure=Failure(status=529, after=6)))
    seen: list[ProviderEvent] = []
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        with pytest.raises(ProviderError) as caught:
            await append_all(provider, ask("Hi", model=MODELS[kind].model), seen)
    assert caught.value.info.code in {"overloaded", "provider_error"}
    assert caught.value.info.retryable
    assert any(isinstance(event, PartDelta) for event in seen)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["no_terminator", "cut", "reset"])
@pytest.mark.parametrize("after", [None, 0, 2])
async def test_stream_without_its_end_is_an_error(
    simulator: Simulator, kind: Kind, ending: Any, after: int | None
) -> None:
    delivery = Delivery(ending=ending, ending_after=after)
    error = await failed(simulator, kind, reply("One two three.", delivery=delivery))
    assert (error.info.code, error.info.retryable) == ("stream_truncated", True)


@pytest.mark.parametrize("kind", KINDS)
async def test_stalled_stream_is_given_up(simulator: Simulator, kind: Kind) -> None:
    delivery = Delivery(ending="stall", ending_after=3)
    error = await failed(
        simulator, kind, reply("One two three.", delivery=delivery), idle_timeout=0.1
    )
    assert (error.info.code, error.info.retryable) == ("provider_timeout", True)
    assert "0.1 seconds" in error.info.message
    await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
async def test_trickle_ends_with_the_total_time(simulator: Simulator, kind: Kind) -> None:
    delivery = Delivery(chunk=1, event_delay=0.02)
    words = reply("word " * 500, delivery=delivery)
    error = await failed(simulator, kind, words, total_timeout=0.3)
    assert error.info.code == "provider_timeout"
    assert "longer than 0.3 seconds" in error.info.message


@pytest.mark.parametrize("kind", KINDS)
async def test_no_answer_within_the_idle_time(simulator: Simulator, kind: Kind) -> None:
    late = reply("Hi", delivery=Delivery(first_byte_delay=5))
    error = await failed(simulator, kind, late, idle_timeout=0.1)
    assert error.info.code == "provider_timeout"


@pytest.mark.parametrize("kind", KINDS)
async def test_closing_the_stream_closes_the_connection(simulator: Simulator, kind: Kind) -> None:
    simulator.script(reply("word " * 200, delivery=Delivery(event_delay=0.05)))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        request = ask("Hi", model=MODELS[kind].model)
        events = cast("AsyncGenerator[ProviderEvent]", provider.stream(request))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, PartDelta):
                    break
        await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
async def test_cancelling_the_reader_closes_the_connection(
    simulator: Simulator, kind: Kind
) -> None:
    simulator.script(reply("Hi", delivery=Delivery(ending="stall", ending_after=1)))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        reading = asyncio.ensure_future(collect(provider, ask("Hi", model=MODELS[kind].model)))
        await until(lambda: bool(simulator.requests))
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "delivery",
    [
        Delivery(chunk=1),
        Delivery(chunk=(3, 50, 7), line_end="\r\n"),
        Delivery(line_end="\r", chunk=5),
        Delivery(byte_order_mark=True, comments=True, pings=2),
        Delivery(unknown_events=True, space_after_colon=False),
        Delivery(final_blank_line=False),
    ],
    ids=repr,
)
async def test_odd_but_legal_delivery_is_read(
    simulator: Simulator, kind: Kind, delivery: Delivery
) -> None:
    simulator.script(reply("Grüße, 日本 😀", delivery=delivery))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        events = await collect(provider, ask("Hi", model=MODELS[kind].model))
    text = "".join(event.text for event in events if isinstance(event, PartDelta))
    assert text == "Grüße, 日本 😀"
    assert events[-1] == Stop("end_turn")


async def test_ten_megabyte_line_is_refused(simulator: Simulator) -> None:
    huge = reply(Text(text="x" * 10_000_000, split="whole"))
    error = await failed(simulator, "anthropic", huge)
    assert error.info.code == "provider_protocol"
    assert "longer than 8 MB" in error.info.message


async def test_connection_is_used_again() -> None:
    connections = 0
    chunk = (FIXTURES / "anthropic_refusal.sse").read_bytes()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await read_request(reader):
            writer.write(HEAD + b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
            writer.write(b"0\r\n\r\n")
        writer.close()

    async with serving(answer) as url:
        made = target("anthropic", url=url, model=MODELS["anthropic"])
        for _ in range(3):
            await collect(provider_of(made))
        await made.upstream.aclose()
    assert connections == 1


async def test_answer_that_stays_open_after_its_end_is_not_waited_for() -> None:
    chunk = (FIXTURES / "anthropic_refusal.sse").read_bytes()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await reader.read()
        writer.close()

    async with serving(answer) as url:
        made = target("anthropic", url=url, model=MODELS["anthropic"])
        async with asyncio.timeout(2):
            assert isinstance((await collect(provider_of(made)))[-1], Stop)
        await made.upstream.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_models_are_listed(simulator: Simulator, kind: Kind) -> None:
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        names = [model.name for model in await provider.list_models()]
    assert MODELS[kind].model in names


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ollama"])
async def test_listing_with_a_wrong_key_says_so(simulator: Simulator, kind: Kind) -> None:
    async with connected(simulator, kind, model=MODELS[kind], key="wrong-key-123456") as provider:
        with pytest.raises(ProviderError) as caught:
            await provider.list_models()
    assert caught.value.info.code == "authentication"
    assert "_API_KEY" in (caught.value.info.hint or "")


async def test_calls_report_how_they_ended(simulator: Simulator) -> None:
    sent = Sent()
    simulator.script("Hi", overloaded())
    async with connected(simulator, "anthropic", model=MODELS["anthropic"], sent=sent) as provider:
        request = ask("Hi", model="claude-haiku-5-5")
        await collect(provider, request)
        with pytest.raises(ProviderError):
            await collect(provider, request)
    assert [error and error.info.code for error in sent.reports] == [None, "overloaded"]


async def scripted(kind: Kind, body: bytes, **headers: str) -> ProviderError:
    made = target(kind, transport=answering(body, headers=headers), model=MODELS[kind])
    return await failure_of(provider_of(made), MODELS[kind].model)


async def test_malformed_event_is_an_error() -> None:
    error = await scripted("anthropic", b'data: {"type": \n\ndata: {}\n\n')
    assert (error.info.code, error.info.retryable) == ("provider_protocol", False)


async def test_deeply_nested_event_is_an_error() -> None:
    error = await scripted("anthropic", b"data: " + b"[" * 200_000 + b"\n\n")
    assert error.info.code == "provider_protocol"


async def test_event_cut_at_the_end_of_the_stream_is_truncation() -> None:
    error = await scripted("anthropic", b'data: {"type": "message_st')
    assert error.info.code == "stream_truncated"


async def test_compressed_bomb_ends_at_the_bound() -> None:
    bomb = gzip.compress(b"\n" * 200_000_000)
    error = await scripted("anthropic", bomb, **{"content-encoding": "gzip"})
    assert error.info.code == "provider_protocol"
    assert "longer than 64 MB" in error.info.message


async def test_unknown_encoding_is_named() -> None:
    error = await scripted("anthropic", b"???", **{"content-encoding": "br"})
    assert "'br'" in error.info.message


async def test_broken_compression_is_named() -> None:
    error = await scripted("anthropic", b"not gzip", **{"content-encoding": "gzip"})
    assert "cannot be decoded" in error.info.message


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        pytest.param(
            ['{"error":{"code":429,"message":"Slow down"}}'], "rate_limited", id="numeric code"
        ),
        pytest.param(['{"object":"error","message":"boom"}'], "provider_error", id="vLLM"),
        pytest.param(['{"error":"model runner stopped"}'], "provider_error", id="text"),
        pytest.param(
            ['{"choices":[{"delta":{},"finish_reason":"error"}]}'], "provider_error", id="reason"
        ),
        pytest.param(
            ['{"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}', "[DONE]"],
            "stream_truncated",
            id="no finish reason",
        ),
        pytest.param(
            ['{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}'],
            "stream_truncated",
            id="no [DONE]",
        ),
    ],
)
async def test_chat_stream_fails(chunks: list[str], code: ErrorCode) -> None:
    error = await scripted("openai_chat", data_lines(*chunks))
    assert error.info.code == code
    assert error.info.retryable


@pytest.mark.parametrize(
    "chunks",
    [
        ['{"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}', "[DONE]"],
        ['{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}'],
        ['{"choices":[{"delta":{"content":"Hi"}}]}'],
    ],
)
async def test_lenient_profile_takes_silent_ends(chunks: list[str]) -> None:
    made = target("openai_chat", transport=answering(data_lines(*chunks)), profile="lenient")
    events = await collect(provider_of(made))
    assert events[-1] == Stop("end_turn")


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("http://127.0.0.1:9/v1", "provider_unreachable", "nothing answers at 127.0.0.1:9"),
        ("http://nowhere.invalid/v1", "provider_unreachable", "no such host: nowhere.invalid"),
        ("ftp://127.0.0.1/v1", "provider_unreachable", "cannot be used"),
        ("http:///v1", "provider_unreachable", "cannot be used"),
    ],
)
async def test_unreachable_provider_is_named(url: str, code: ErrorCode, words: str) -> None:
    made = target("openai_chat", url=url)
    error = await failure_of(provider_of(made), "m")
    await made.upstream.aclose()
    assert error.info.code == code
    assert words in error.info.message


async def test_provider_that_speaks_no_tls_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with serving(answer) as url:
        made = target("openai_chat", url=url.replace("http:", "https:"))
        error = await failure_of(provider_of(made), "m")
        await made.upstream.aclose()
    assert error.info.code == "provider_unreachable"
    assert "no secure connection" in error.info.message
    assert not error.info.retryable


async def test_server_that_speaks_no_http_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        await reader.read(1)
        writer.close()

    async with serving(answer) as url:
        made = target("openai_chat", url=url)
        error = await failure_of(provider_of(made), "m")
        await made.upstream.aclose()
    assert error.info.code == "provider_protocol"


async def test_server_that_hangs_up_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.close()

    async with serving(answer) as url:
        made = target("openai_chat", url=url)
        error = await failure_of(provider_of(made), "m")
        await made.upstream.aclose()
    assert (error.info.code, error.info.retryable) == ("provider_unreachable", True)


async def test_proxy_of_the_environment_is_used(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", simulator.url)
    monkeypatch.setenv("no_proxy", "inside.test")
    made = target("openai_chat", url="http://upstream.test/v1")
    await failure_of(provider_of(made), "m")
    await made.upstream.aclose()
    assert [record.headers["host"] for record in simulator.requests] == ["upstream.test"]


async def test_no_proxy_is_respected(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    simulator.script("Hi")
    async with connected(simulator, "openai_chat", model=MODELS["openai_chat"]) as provider:
        await collect(provider, ask("Hi", model="gpt-4.1"))


async def test_dead_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    made = target("openai_chat", url="http://upstream.test/v1")
    error = await failure_of(provider_of(made), "m")
    await made.upstream.aclose()
    assert "the proxy did not connect us" in error.info.message
    assert "HTTP_PROXY" in (error.info.hint or "")


async def test_cookies_are_never_sent_back() -> None:
    sent = Sent()
    transport = answering(b"", status=500, headers={"set-cookie": "id=1; Path=/"}, sent=sent)
    made = target("anthropic", transport=transport, model=MODELS["anthropic"])
    for _ in range(2):
        await failure_of(provider_of(made), "claude-haiku-5-5")
    assert [request.headers.get("cookie") for request in sent.requests] == [None, None]


@pytest.mark.parametrize("key", ["kéy-0123456789", "key\n0123456789"])
async def test_key_that_cannot_be_sent_is_named_not_shown(key: str) -> None:
    made = target("anthropic", key=key, transport=answering(b""), model=MODELS["anthropic"])
    error = await failure_of(provider_of(made), "claude-haiku-5-5")
    assert error.info.code == "authentication"
    assert "0123456789" not in str(error.info)
