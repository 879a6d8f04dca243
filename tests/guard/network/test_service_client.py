"""Calls of web services: addresses, keys, pace, stored answers and failures."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.guard.network.fetch import FetchLimits
from jupyter_ai_shoulders.guard.network.http_service_client import (
    HttpServiceClient,
    ServiceAddress,
    ServiceSettings,
    environment_proxy,
)
from jupyter_ai_shoulders.guard.network.reply_cache import ReplyCache
from jupyter_ai_shoulders.guard.network.request_pacing import retry_after
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from tests.guard.network.fake_internet import answer, connections, stream_server, web_server
from tests.web.simulated_client import SteppedClock

OK = answer(b'{"ok": true}', Content_Type="application/json")


async def no_name(host: str, port: int) -> Sequence[str]:
    raise OSError(host)


def client(
    port: int,
    *,
    clock: SteppedClock | None = None,
    keys: Mapping[str, str] | None = None,
    allowed: Callable[[ServiceId], None] = lambda _: None,
    mailto: str | None = None,
    limits: FetchLimits | None = None,
) -> HttpServiceClient:
    """Return a client whose services are all on this port of this machine."""
    clock = clock or SteppedClock()
    found = ServiceSettings(
        address=lambda _: ServiceAddress(f"http://127.0.0.1:{port}", configured=True),
        key=(keys or {}).get,
        mailto=lambda: mailto,
        check_allowed=allowed,
    )
    return HttpServiceClient(
        found,
        clock=clock,
        sleep=clock.sleep,
        proxy=lambda _: None,
        limits=limits or FetchLimits(size=1 << 20, seconds=5.0),
    )


def head(raw: bytes) -> tuple[str, dict[str, str]]:
    """Return the request line and the headers of a request."""
    first, *rest = raw.decode().split("\r\n\r\n")[0].split("\r\n")
    return first, {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}


async def test_request_has_its_parameters_and_names_the_product():
    async with web_server(lambda _: OK) as server:
        reply = await client(server.port, mailto="me@x.org").send(
            ServiceRequest("crossref", "/works", {"query": "a b", "rows": "3"})
        )
    line, headers = head(server.requests[0])
    assert line == "GET /works?query=a+b&rows=3 HTTP/1.1"
    assert headers["user-agent"] == "jupyter-ai-shoulders (mailto:me@x.org)"
    assert headers["accept-encoding"] == "gzip, identity"
    assert (reply.status, json.loads(reply.content)) == (200, {"ok": True})


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("header:x-api-key", ("x-api-key", "secret-key")),
        ("bearer", ("authorization", "Bearer secret-key")),
        ("query:api_key", ("line", "GET /search?api_key=secret-key HTTP/1.1")),
    ],
)
async def test_key_goes_where_the_service_wants_it(where: str, shown: tuple[str, str]):
    async with web_server(lambda _: OK) as server:
        await client(server.port, keys={"EXA_API_KEY": "secret-key"}).send(
            ServiceRequest("exa", "/search", key_in=where)
        )
    line, headers = head(server.requests[0])
    assert {**headers, "line": line}[shown[0]] == shown[1]


async def test_missing_key_is_guidance_and_makes_no_connection():
    with connections() as seen, pytest.raises(InvalidRequest) as raised:
        await client(1).send(ServiceRequest("exa", "/search", key_in="header:x-api-key"))
    assert raised.value.info.code == "no_key"
    assert "EXA_API_KEY" in (raised.value.info.hint or "")
    assert seen == []


async def test_optional_key_may_be_missing():
    async with web_server(lambda _: OK) as server:
        await client(server.port).send(ServiceRequest("openalex", "/works", key_in="query:api_key"))
    assert head(server.requests[0])[0] == "GET /works HTTP/1.1"


async def test_json_makes_a_post():
    async with web_server(lambda _: OK) as server:
        await client(server.port).send(ServiceRequest("tavily", "/search", json={"query": "x"}))
    line, headers = head(server.requests[0])
    assert line == "POST /search HTTP/1.1"
    assert headers["content-type"] == "application/json"


async def test_service_that_may_not_be_called_is_not():
    def refuse(_: ServiceId) -> None:
        raise PolicyRefusal("Off.", code="disabled")

    with connections() as seen, pytest.raises(PolicyRefusal):
        await client(1, allowed=refuse).send(ServiceRequest("crossref", "/works"))
    assert seen == []


async def test_service_without_an_address_says_where_to_give_it():
    settings = ServiceSettings(address=lambda _: ServiceAddress(""), key=lambda _: None)
    with pytest.raises(InvalidRequest, match="SearXNG is not set"):
        await HttpServiceClient(settings).send(ServiceRequest("searxng", "/search"))


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["169.254.169.254"]]
)
async def test_default_address_that_is_not_public_is_not_called(addresses: list[str]):
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    settings = ServiceSettings(
        address=lambda _: ServiceAddress("https://api.crossref.org"), key=lambda _: None
    )
    called = HttpServiceClient(settings, resolve=resolve, proxy=lambda _: None)
    with connections() as seen, pytest.raises(PolicyRefusal):
        await called.send(ServiceRequest("crossref", "/works"))
    assert [address for address, _ in seen if not ipaddress.ip_address(address).is_global] == []


async def test_successful_answer_is_kept_for_a_day():
    clock = SteppedClock()
    async with web_server(lambda _: OK) as server:
        called = client(server.port, clock=clock)
        request = ServiceRequest("crossref", "/works", {"query": "x"})
        first, second = await called.send(request), await called.send(request)
        assert first is second
        assert len(server.requests) == 1
        await called.send(ServiceRequest("crossref", "/works", {"query": "x"}, fresh=True))
        await called.send(ServiceRequest("crossref", "/works", {"query": "y"}))
        clock.seconds += 86_401
        await called.send(request)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("service", "body"),
    [
        pytest.param("crossref", answer(b"no", "404 Not Found"), id="failure"),
        pytest.param("zotero", OK, id="library, which changes"),
    ],
)
async def test_other_answers_are_not_kept(service: ServiceId, body: bytes):
    async with web_server(lambda _: body) as server:
        called = client(server.port)
        for _ in range(2):
            await called.send(ServiceRequest(service, "/x"))
    assert len(server.requests) == 2


async def test_requests_keep_the_interval_of_their_service():
    clock = SteppedClock()
    async with web_server(lambda _: OK) as server:
        called = client(server.port, clock=clock)
        for page in "123":
            await called.send(ServiceRequest("arxiv", "/api/query", {"start": page}))
    assert clock.slept == [3.0, 3.0]


async def test_short_pause_is_waited_for_once():
    clock = SteppedClock()
    answers = [answer(b"", "429 Too Many Requests", Retry_After="4"), OK]
    async with web_server(lambda _: answers.pop(0)) as server:
        reply = await client(server.port, clock=clock).send(ServiceRequest("crossref", "/works"))
    assert (reply.status, clock.slept) == (200, [4.0])


async def test_long_pause_is_an_answer_and_later_requests_are_not_sent():
    clock = SteppedClock()
    busy = answer(b"", "429 Too Many Requests", Retry_After="600")
    async with web_server(lambda _: busy) as server:
        called = client(server.port, clock=clock)
        reply = await called.send(ServiceRequest("crossref", "/works"))
        with pytest.raises(Conflict) as raised:
            await called.send(ServiceRequest("crossref", "/other"))
    assert (reply.status, clock.slept, len(server.requests)) == (429, [], 1)
    assert raised.value.info.code == "rate_limited"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), ("Mon, 02 Mar 2026 00:00:30 GMT", 30.0), ("soon", None), ("", None)],
)
def test_retry_after(text: str, seconds: float | None):
    now = datetime(2026, 3, 2, tzinfo=UTC)
    assert retry_after({"retry-after": text}, now) == seconds


async def test_redirect_within_the_service_is_followed():
    def respond(raw: bytes) -> bytes:
        return OK if b"/new" in raw else answer(b"", "301 Moved", Location="/new")

    async with web_server(respond) as server:
        reply = await client(server.port).send(ServiceRequest("openlibrary", "/isbn/1.json"))
    assert reply.status == 200


async def test_redirect_to_another_origin_is_refused_and_one_of_doi_is_the_answer():
    moved = answer(b"", "302 Found", Location="http://127.0.0.2/x")
    async with web_server(lambda _: moved) as server:
        called = client(server.port)
        with connections() as seen, pytest.raises(PolicyRefusal, match="another address"):
            await called.send(ServiceRequest("crossref", "/works"))
        reply = await called.send(ServiceRequest("doi", "/10.1/x"))
    assert {address for address, _ in seen} == {"127.0.0.1"}
    assert (reply.status, reply.headers["location"]) == (302, "http://127.0.0.2/x")


BROKEN: dict[str, tuple[bytes, type[ShouldersError]]] = {
    "cut mid-body": (answer(b"half", Content_Length="100"), NotFound),
    "truncated gzip": (answer(gzip.compress(b"x" * 500)[:20], Content_Encoding="gzip"), NotFound),
    "no HTTP": (b"SSH-2.0-OpenSSH\r\n", NotFound),
    "too large": (answer(b"", Content_Length=str(9 << 20)), TooLarge),
    "unpacks to too much": (
        answer(gzip.compress(bytes(9 << 20)), Content_Encoding="gzip"),
        TooLarge,
    ),
    "unknown packing": (answer(b"x", Content_Encoding="br"), PolicyRefusal),
}


@pytest.mark.parametrize(("body", "kind"), BROKEN.values(), ids=BROKEN)
async def test_broken_answers_name_the_service_and_not_its_key(
    body: bytes, kind: type[ShouldersError]
):
    async with web_server(lambda _: body) as server:
        with pytest.raises(kind) as raised:
            await client(server.port, keys={"OPENALEX_API_KEY": "secret-key"}).send(
                ServiceRequest("openalex", "/works", key_in="query:api_key")
            )
    assert "OpenAlex" in raised.value.info.message
    assert "secret-key" not in raised.value.info.model_dump_json()
    assert raised.value.info.hint


async def test_slow_service_is_given_up():
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with stream_server(drip) as port:
        with pytest.raises(Conflict) as raised:
            await client(port, limits=FetchLimits(seconds=0.2)).send(
                ServiceRequest("crossref", "/works")
            )
    assert raised.value.info.code == "timeout"


async def test_refused_connection_is_unreachable():
    async with stream_server(lambda r, w: asyncio.sleep(0)) as port:
        pass
    with pytest.raises(NotFound, match="Crossref cannot be reached"):
        await client(port).send(ServiceRequest("crossref", "/works"))


async def test_proxy_of_the_environment_connects(monkeypatch: pytest.MonkeyPatch):
    async with web_server(lambda _: OK) as server:
        settings = ServiceSettings(
            address=lambda _: ServiceAddress("http://api.crossref.org"), key=lambda _: None
        )
        called = HttpServiceClient(
            settings, resolve=no_name, proxy=lambda _: f"http://127.0.0.1:{server.port}"
        )
        await called.send(ServiceRequest("crossref", "/works"))
    assert head(server.requests[0])[0] == "GET http://api.crossref.org/works HTTP/1.1"
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    assert environment_proxy("http://localhost:23119/api") is None
    assert environment_proxy("http://api.crossref.org") == "http://127.0.0.1:3128"


def test_cache_is_bounded_by_number_and_size():
    cache = ReplyCache(lambda: 0.0, replies=2, size=10)
    for name in "abc":
        cache.put(name, ServiceReply(200, {}, b"1234"))
    assert [cache.get(name) is not None for name in "abc"] == [False, True, True]
    cache.put("d", ServiceReply(200, {}, b"123456"))
    assert [cache.get(name) is not None for name in "bcd"] == [False, True, True]
    cache.put("e", ServiceReply(200, {}, bytes(11)))
    assert cache.get(cast("object", "e")) is None
