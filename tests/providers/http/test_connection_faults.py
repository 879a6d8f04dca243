"""Broken connections, bodies and proxies, over a real socket."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    Stop,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from tests.providers.adapter_fixtures import (
    FIXTURES,
    Kind,
    Sent,
    answering,
    ask,
    collect,
    data_lines,
    make_endpoint,
    provider_of,
)
from tests.providers.conversation import connected
from tests.providers.faulty_servers import HEAD, KINDS, MODELS, failure_of, read_request, serving
from tests.simulator import (
    Simulator,
    overloaded,
)


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
        made = make_endpoint("anthropic", url=url, model=MODELS["anthropic"])
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
        made = make_endpoint("anthropic", url=url, model=MODELS["anthropic"])
        async with asyncio.timeout(30):
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
    made = make_endpoint(kind, transport=answering(body, headers=headers), model=MODELS[kind])
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
    made = make_endpoint("openai_chat", transport=answering(data_lines(*chunks)), profile="lenient")
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
    made = make_endpoint("openai_chat", url=url)
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
        made = make_endpoint("openai_chat", url=url.replace("http:", "https:"))
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
        made = make_endpoint("openai_chat", url=url)
        error = await failure_of(provider_of(made), "m")
        await made.upstream.aclose()
    assert error.info.code == "provider_protocol"


async def test_server_that_hangs_up_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.close()

    async with serving(answer) as url:
        made = make_endpoint("openai_chat", url=url)
        error = await failure_of(provider_of(made), "m")
        await made.upstream.aclose()
    assert (error.info.code, error.info.retryable) == ("provider_unreachable", True)


async def test_proxy_of_the_environment_is_used(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", simulator.url)
    monkeypatch.setenv("no_proxy", "inside.test")
    made = make_endpoint("openai_chat", url="http://upstream.test/v1")
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
    made = make_endpoint("openai_chat", url="http://upstream.test/v1")
    error = await failure_of(provider_of(made), "m")
    await made.upstream.aclose()
    assert "the proxy did not connect us" in error.info.message
    assert "HTTP_PROXY" in (error.info.hint or "")


async def test_cookies_are_never_sent_back() -> None:
    sent = Sent()
    transport = answering(b"", status=500, headers={"set-cookie": "id=1; Path=/"}, sent=sent)
    made = make_endpoint("anthropic", transport=transport, model=MODELS["anthropic"])
    for _ in range(2):
        await failure_of(provider_of(made), "claude-haiku-5-5")
    assert [request.headers.get("cookie") for request in sent.requests] == [None, None]


@pytest.mark.parametrize("key", ["kéy-0123456789", "key\n0123456789"])
async def test_key_that_cannot_be_sent_is_named_not_shown(key: str) -> None:
    made = make_endpoint("anthropic", key=key, transport=answering(b""), model=MODELS["anthropic"])
    error = await failure_of(provider_of(made), "claude-haiku-5-5")
    assert error.info.code == "authentication"
    assert "0123456789" not in str(error.info)
