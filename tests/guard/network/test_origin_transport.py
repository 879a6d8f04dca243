"""Requests reach the configured origin, and of other addresses only checked public ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest

from jupyter_ai_shoulders.guard.network.origin_transport import (
    MAX_BODY,
    BodyTooLarge,
    ForbiddenAddress,
    OriginTransport,
)

PUBLIC = "93.184.216.34"
NAMES = {
    "auth.example.org": [PUBLIC],
    "inside.example.org": ["10.0.0.1"],
    "both.example.org": [PUBLIC, "127.0.0.1"],
}


async def resolve(host: str, port: int) -> Sequence[str]:
    del port
    return NAMES[host]


async def sent(own: str, url: str) -> httpx2.Request:
    """Return the request that goes out for a URL, where ``own`` is the configured address."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200)

    transport = OriginTransport(own, httpx2.MockTransport(answer), resolve)
    async with httpx2.AsyncClient(transport=transport) as client:
        await client.get(url)
    return requests[0]


async def test_the_configured_origin_may_be_private() -> None:
    for own in ("http://10.0.0.1:8080/mcp", "http://inside.example.org/mcp"):
        assert str((await sent(own, own)).url) == own


async def test_another_public_name_is_called_at_the_address_that_was_checked() -> None:
    request = await sent("https://mcp.example.org/mcp", "https://auth.example.org/token?a=1")
    assert str(request.url) == f"https://{PUBLIC}/token?a=1"
    assert request.headers["host"] == "auth.example.org"
    assert request.extensions["sni_hostname"] == "auth.example.org"


@pytest.mark.parametrize(
    ("own", "url"),
    [
        ("https://mcp.example.org/mcp", "http://169.254.169.254/latest/meta-data"),
        ("https://mcp.example.org/mcp", "https://169.254.169.254/latest/meta-data"),
        ("https://mcp.example.org/mcp", "http://127.0.0.1:8888/api"),
        ("https://mcp.example.org/mcp", "https://inside.example.org/"),
        ("https://mcp.example.org/mcp", "https://both.example.org/"),
        ("https://mcp.example.org/mcp", "http://auth.example.org/"),
        ("http://10.0.0.1:8080/mcp", "http://10.0.0.1:9090/"),
        ("http://127.0.0.1:8080/mcp", "http://169.254.169.254/"),
    ],
)
async def test_private_and_unencrypted_addresses_are_refused(own: str, url: str) -> None:
    with pytest.raises(ForbiddenAddress):
        await sent(own, url)


async def test_a_server_of_this_machine_may_refer_to_this_machine() -> None:
    request = await sent("http://127.0.0.1:8080/mcp", "http://127.0.0.1:9090/token")
    assert str(request.url) == "http://127.0.0.1:9090/token"


class Body(httpx2.AsyncByteStream):
    """More bytes than an answer may have."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b"x" * (MAX_BODY // 16)


class Endless(httpx2.AsyncBaseTransport):
    """Answers with ``Body``."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        del request
        return httpx2.Response(200, headers={"content-type": self._kind}, stream=Body())


async def test_a_large_answer_is_cut_off_unless_it_is_a_stream_of_events() -> None:
    own = "http://127.0.0.1/"
    plain = OriginTransport(own, Endless("application/json; charset=utf-8"), resolve)
    async with httpx2.AsyncClient(transport=plain) as client:
        with pytest.raises(BodyTooLarge):
            await client.get(own)
    events = OriginTransport(own, Endless("text/event-stream"), resolve)
    async with httpx2.AsyncClient(transport=events) as client:
        assert len((await client.get(own)).content) > MAX_BODY
