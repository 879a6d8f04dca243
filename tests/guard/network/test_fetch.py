"""Fetches: their connections and accepted responses."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ipaddress
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.guard.network.addresses import Address
from jupyter_ai_shoulders.guard.network.fetch import FetchGuard, FetchLimits, validate_url
from tests.guard.network.fake_internet import (
    NameServer,
    answer,
    certificates,
    connections,
    name_server,
    stream_server,
    web_server,
)

PUBLIC = ipaddress.ip_address("127.0.0.1")
"""Acts as a public address where a test needs a real server; 127.0.0.2 stays forbidden."""
SITE = "site.shoulders-web.org"
EVIL = "evil.shoulders-web.org"
HERE = {SITE: [["127.0.0.1"]]}


def only_public(address: Address) -> bool:
    return address == PUBLIC


def guard(names: NameServer, limits: FetchLimits | None = None) -> FetchGuard:
    return FetchGuard(names.resolve, limits=limits, allowed=only_public)


def always(body: bytes) -> Callable[[bytes], bytes]:
    return lambda request: body


FORBIDDEN_URLS = [
    *("http://127.0.0.1/", "http://2130706433/", "http://0177.0.0.1/", "http://0x7f000001/"),
    *("http://127.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    *("http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/"),
    *("http://100.100.100.200/", "http://168.63.129.16/", "http://[64:ff9b::a9fe:a9fe]/"),
    *("http://[2002:a9fe:a9fe::]/", "http://[2001:0:7f00:1::]/", "http://[fe80::1%25lo]/"),
    *("http://localhost/", "http://LOCALHOST./", "http://foo.localhost:8888/", "http://0/"),
    *("http://metadata.google.internal/", "http://user:pw@example.org/", "http://@example.org/"),
    *("http://example.org@127.0.0.1/", "http://127.0.0.1\\@example.org/", "ftp://example.org/"),
    *("file:///etc/passwd", "gopher://example.org/", "//example.org/", "example.org", ""),
    *("http://exa\tmple.org/", "http://example.org/\r\nX: y", "http://①②⑦.⓪.⓪.①/", "http:///x"),
    *("http://%31%32%37.0.0.1/", "http://example.org:22/", "http://example.org:0/"),
    *("https://example.org:6/", "http://example.org:70000/", "data:text/html,x", "http://a b/"),
    *("http://[::1", "http://[v1.x]/", "http://127.0.0.1.:80/", "jar:http://example.org!/"),
]


@pytest.mark.parametrize("url", FORBIDDEN_URLS)
async def test_forbidden_url_makes_no_connection(url: str):
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host} was asked for")

    with connections() as seen, pytest.raises((InvalidRequest, PolicyRefusal)):
        await FetchGuard(resolve).fetch(url)
    assert seen == []


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["100.64.0.1"], ["0.0.0.0"]),
        *(["224.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["192.168.1.1", "93.184.216.34"]),
    ],
    ids=str,
)
async def test_name_that_leads_to_a_forbidden_address_makes_no_connection(addresses: list[str]):
    async with name_server({EVIL: [addresses]}) as names:
        with connections() as seen, pytest.raises(PolicyRefusal, match="not public"):
            await FetchGuard(names.resolve).fetch(f"http://{EVIL}/")
    assert seen == []
    assert names.asked == [EVIL]


@pytest.mark.parametrize("address", ["::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%lo"])
async def test_name_with_a_forbidden_address_of_ipv6_makes_no_connection(address: str):
    async def resolve(host: str, port: int) -> Sequence[str]:
        return [address]

    with connections() as seen, pytest.raises(PolicyRefusal):
        await FetchGuard(resolve).fetch(f"http://{EVIL}/")
    assert seen == []


async def test_name_that_changes_its_address_is_not_followed():
    """The second answer of a rebinding name is never requested; 20 fetches, no success."""
    turns = [["127.0.0.1"], ["127.0.0.2"]] * 20
    async with (
        web_server(always(answer(b"public"))) as public,
        web_server(always(answer(b"PRIVATE")), "127.0.0.2", public.port) as private,
        name_server({EVIL: turns}) as names,
    ):
        url = f"http://{EVIL}:{public.port}/"
        got: list[bytes] = []
        with connections() as seen:
            for _ in range(20):
                try:
                    got.append((await guard(names).fetch(url)).content)
                except PolicyRefusal:
                    got.append(b"refused")
    assert got == [b"public", b"refused"] * 10
    assert private.requests == []
    assert {address for address, _ in seen} == {"127.0.0.1"}
    assert len(names.asked) == 20


async def test_page_is_fetched_in_the_name_of_its_host():
    page = answer(b"hello", Content_Type="text/plain", Set_Cookie="a=b")
    async with web_server(always(page)) as web, name_server(HERE) as names:
        got = await guard(names).fetch(f"http://{SITE}:{web.port}/a?b=1#part")
    assert (got.status, got.content, got.headers["content-type"]) == (200, b"hello", "text/plain")
    [request] = web.requests
    assert request.startswith(b"GET /a?b=1 HTTP/1.1\r\n")
    assert f"Host: {SITE}:{web.port}\r\n".encode() in request
    assert b"Accept-Encoding: gzip, identity\r\n" in request
    assert b"Cookie" not in request
    assert b"Authorization" not in request


async def test_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch):
    async with (
        web_server(always(answer(b"by proxy"))) as proxy,
        web_server(always(answer(b"direct"))) as web,
        name_server(HERE) as names,
    ):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        got = await guard(names).fetch(f"http://{SITE}:{web.port}/")
    assert got.content == b"direct"
    assert proxy.requests == []


async def test_certificate_is_checked_against_the_name(tmp_path: Path):
    server, trust = certificates(tmp_path, SITE)
    other = "other.shoulders-web.org"
    async with (
        web_server(always(answer(b"safe")), tls=server) as web,
        name_server({**HERE, other: [["127.0.0.1"]]}) as names,
    ):
        fetcher = FetchGuard(names.resolve, allowed=only_public, trust=lambda: trust)
        got = await fetcher.fetch(f"https://{SITE}:{web.port}/")
        assert got.content == b"safe"
        with pytest.raises(NotFound, match="certificate"):
            await fetcher.fetch(f"https://{other}:{web.port}/")
        with pytest.raises(NotFound, match="certificate"):
            await guard(names).fetch(f"https://{SITE}:{web.port}/")
    assert len(web.requests) == 1


async def test_address_that_does_not_answer_gives_way_to_the_next():
    both = {SITE: [["127.0.0.1", "127.0.0.3"]]}
    async with web_server(always(answer(b"x")), "127.0.0.3") as web, name_server(both) as names:
        fetcher = FetchGuard(names.resolve, allowed=lambda address: address.is_loopback)
        with connections() as seen:
            assert (await fetcher.fetch(f"http://{SITE}:{web.port}/")).content == b"x"
    assert seen == [("127.0.0.1", web.port), ("127.0.0.3", web.port)]


# Redirects


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(status=status, Location=location)


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1/", "http://169.254.169.254/", "//[::1]/", "http://2130706433/"),
        *(f"http://{EVIL}/", f"http://user:pw@{SITE}/", "file:///etc/passwd", "javascript:1"),
        *("http://localhost/", "http://x:22/", "http://[::1", "http://a b/", "gopher://x.org/"),
    ],
)
async def test_redirect_to_what_is_forbidden_is_not_followed(location: str):
    answers = {**HERE, EVIL: [["127.0.0.2"]]}
    async with web_server(always(redirect(location))) as web, name_server(answers) as names:
        with connections() as seen, pytest.raises((PolicyRefusal, InvalidRequest)):
            await guard(names).fetch(f"http://{SITE}:{web.port}/")
    assert seen == [("127.0.0.1", web.port)]


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
async def test_redirect_is_judged_and_followed(status: str):
    def respond(request: bytes) -> bytes:
        return answer(b"there") if b"/next" in request else redirect("/next?x=1", status)

    async with web_server(respond) as web, name_server(HERE) as names:
        got = await guard(names).fetch(f"http://{SITE}:{web.port}/first")
    assert (got.content, got.url) == (b"there", f"http://{SITE}:{web.port}/next?x=1")
    assert names.asked == [SITE, SITE]


async def test_name_that_changes_between_redirects_is_refused():
    answers = {SITE: [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]]}
    async with (
        web_server(always(redirect("/again"))) as web,
        web_server(always(answer(b"PRIVATE")), "127.0.0.2", web.port) as private,
        name_server(answers) as names,
    ):
        with pytest.raises(PolicyRefusal, match="not public"):
            await guard(names).fetch(f"http://{SITE}:{web.port}/")
    assert (len(web.requests), private.requests) == (2, [])


async def test_redirects_have_a_limit():
    async with web_server(always(redirect("/again"))) as web, name_server(HERE) as names:
        with pytest.raises(PolicyRefusal, match="more than 5 times"):
            await guard(names).fetch(f"http://{SITE}:{web.port}/")
    assert len(web.requests) == 6


# Sizes, times, encodings


SMALL = FetchLimits(size=10_000)


def bomb(size: int) -> bytes:
    return gzip.compress(b"\0" * size)


async def fetched(body: bytes, limits: FetchLimits = SMALL) -> bytes:
    async with web_server(always(body)) as web, name_server(HERE) as names:
        return (await guard(names, limits).fetch(f"http://{SITE}:{web.port}/")).content


@pytest.mark.parametrize(
    "body",
    [
        answer(b"x" * 10_001),
        answer(b"x" * 10_001, Content_Length="10001"),
        answer(Content_Length="999999999999"),
        answer(bomb(50_000_000), Content_Encoding="gzip"),
        answer(bomb(10_001), Content_Encoding=" GZIP "),
        answer(gzip.compress(bomb(1_000)) + bomb(50_000_000) * 3, Content_Encoding="gzip"),
        answer(b"x" * 20_000, Content_Encoding="identity"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n"
        + b"x" * 1024
        + (b"\r\n400\r\n" + b"x" * 1024) * 20
        + b"\r\n0\r\n\r\n",
    ],
    ids=["plain", "announced", "lied", "bomb", "just", "members", "identity", "chunked"],
)
async def test_what_is_too_large_is_refused(body: bytes):
    with pytest.raises(TooLarge):
        await fetched(body)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (answer(b"x" * 10_000), b"x" * 10_000),
        (answer(bomb(10_000), Content_Encoding="gzip"), b"\0" * 10_000),
        (answer(gzip.compress(b"a"), Content_Encoding="x-gzip"), b"a"),
        (answer(b"", Content_Encoding="gzip"), b""),
        (answer(b"gone", "404 Not Found"), b"gone"),
    ],
    ids=["plain", "packed", "old name", "empty", "not found"],
)
async def test_what_fits_is_taken(body: bytes, content: bytes):
    assert await fetched(body) == content


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "compress", "x"])
async def test_other_encodings_are_refused(encoding: str):
    body = answer(zlib.compress(b"x"), Content_Encoding=encoding)
    with pytest.raises(PolicyRefusal, match="packed"):
        await fetched(body)


@pytest.mark.parametrize(
    "body",
    [
        answer(b"no gzip at all", Content_Encoding="gzip"),
        answer(gzip.compress(b"x" * 999)[:-9], Content_Encoding="gzip"),
        b"not http\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"",
    ],
    ids=["damaged", "cut", "no http", "huge head", "short", "nothing"],
)
async def test_broken_answers_are_unreachable_pages(body: bytes):
    with pytest.raises(NotFound, match="could not be fetched"):
        await fetched(body)


async def test_server_that_drips_is_given_up():
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)  # the server's pace, not the test's

    async with stream_server(drip) as port, name_server(HERE) as names:
        with pytest.raises(Conflict) as raised:
            await guard(names, FetchLimits(seconds=0.2)).fetch(f"http://{SITE}:{port}/")
    assert raised.value.info.code == "timeout"


async def test_name_that_nobody_knows_is_said_to_be_unknown():
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    async with name_server({}) as names:
        for resolve in (unknown, names.resolve):
            with pytest.raises(NotFound, match="its name"):
                await FetchGuard(resolve).fetch(f"http://{SITE}/")


async def test_the_systems_resolver_is_asked_once(monkeypatch: pytest.MonkeyPatch):
    """Real code to the end: the system's answer for a name is checked, and only that."""
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, *_: object, **__: object) -> list[object]:
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("socket.getaddrinfo", getaddrinfo)
    with connections() as seen, pytest.raises(PolicyRefusal):
        await FetchGuard().fetch(f"http://{EVIL}/")
    assert (asked, seen) == ([EVIL], [])


def test_refusals_do_not_repeat_passwords():
    with pytest.raises(ShouldersError) as raised:
        validate_url("https://user:hunter2@example.org/")
    assert "hunter2" not in str(raised.value)
