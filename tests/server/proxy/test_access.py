"""Access to the proxy, its concurrency limit, and headers that pass through it."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.server.proxy import handlers
from jupyter_ai_shoulders.server.proxy.request_limiter import RequestLimiter
from jupyter_ai_shoulders.server.proxy.routes import proxy_routes
from tests.providers.adapter_fixtures import FakeClock, SequentialIds
from tests.server.auth.test_route_authorization import METHODS, Nobody, implements, no_host
from tests.server.client import Fetch
from tests.server.proxy.conftest import CLAUDE, LOCAL
from tests.simulator import Delivery, Simulator, reply

SECRETS = KernelSecrets(lambda _: False)
ROUTES = proxy_routes("", no_host, b"secret", SECRETS)
EXAMPLES = {
    r"(?:alpha|beta)?": "beta",
    r"(?:alpha|beta)": "beta",
    r"((?:models|tunedModels)/.+)": f"models/{LOCAL}",
    r":(generateContent|streamGenerateContent|countTokens)": ":generateContent",
    r"(.+)": LOCAL,
    r".*": "x",
}
"""Values for the variable parts of routes."""


def example(pattern: str) -> str:
    for variable, text in EXAMPLES.items():
        pattern = pattern.replace(variable, text)
    return pattern


CASES = [
    (method.upper(), example(pattern))
    for pattern, handler, _ in ROUTES
    for method in METHODS
    if implements(handler, method)
]
KNOWN = [case for case in CASES if case[1] != "x"]
ASK: dict[str, Any] = {
    "model": LOCAL,
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hi"}],
}


@pytest.fixture
def token(jp_serverapp: Any) -> str:
    return jp_serverapp.identity_provider.token


@pytest.fixture
def http(jp_asyncio_loop: asyncio.AbstractEventLoop, proxy_url: str) -> Iterator[httpx.AsyncClient]:
    client = httpx.AsyncClient(base_url=proxy_url, timeout=60)
    yield client
    jp_asyncio_loop.run_until_complete(client.aclose())


def content(method: str, path: str = "v1/messages") -> dict[str, Any] | None:
    if method not in {"POST", "PUT", "PATCH"}:
        return None
    if path.startswith("v1beta"):
        return {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    if path.startswith("v1/responses"):
        return {"model": LOCAL, "input": "Hi"}
    return {name: value for name, value in ASK.items() if "count" not in path or name[:3] != "max"}


def test_every_method_of_every_route_authenticates_and_authorises() -> None:
    assert len(KNOWN) == 10
    for pattern, handler, _ in ROUTES:
        assert getattr(handler, "auth_resource", None) == "shoulders", pattern
        for method in filter(lambda name: implements(handler, name), METHODS):
            function = getattr(handler, method)
            names: list[str] = []
            while function is not None:
                names.append(function.__code__.co_qualname.split(".")[0])
                function = getattr(function, "__wrapped__", None)
            assert names[:2] == ["authenticated", "authorized"], (pattern, method, names)
            assert inspect.isfunction(getattr(handler, method))


@pytest.mark.parametrize("headers", [{}, {"x-api-key": "wrong"}, {"Authorization": "Bearer wrong"}])
async def test_without_the_token_nothing_answers(
    http: httpx.AsyncClient,
    upstream: Simulator,
    subtests: pytest.Subtests,
    headers: dict[str, str],
) -> None:
    for method, path in CASES:
        with subtests.test(f"{method} {path}"):
            body = content(method, path)
            answer = await http.request(method, f"/{path}", headers=headers, json=body)

            assert answer.status_code in {401, 403}
    assert upstream.requests == []


async def test_a_missing_token_is_said_in_the_format(
    http: httpx.AsyncClient, subtests: pytest.Subtests
) -> None:
    for method, path in KNOWN:
        with subtests.test(f"{method} {path}"):
            answer = await http.request(method, f"/{path}", json=content(method, path))

            error = answer.json()["error"]
            assert answer.status_code == 401
            assert "Jupyter server's token" in error["message"]
            if path.startswith("v1beta"):
                assert error["status"] == "UNAUTHENTICATED"
            else:
                kind = "authentication_error" if "messages" in path else "invalid_request_error"
                assert error["type"] == kind


@pytest.mark.parametrize("header", ["Bearer", "bearer", "token", "x-api-key", "x-goog-api-key"])
async def test_the_token_is_taken_from_each_header(
    http: httpx.AsyncClient,
    upstream: Simulator,
    subtests: pytest.Subtests,
    token: str,
    header: str,
) -> None:
    upstream.default("Hi")
    given = {header: token} if "key" in header else {"Authorization": f"{header} {token}"}
    for method, path in KNOWN:
        with subtests.test(f"{method} {path}"):
            body = content(method, path)
            answer = await http.request(method, f"/{path}", headers=given, json=body)

            assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("origin", [None, "https://evil.example"])
async def test_a_cookie_alone_asks_nothing(
    http: httpx.AsyncClient,
    upstream: Simulator,
    subtests: pytest.Subtests,
    jp_fetch: Fetch,
    origin: str | None,
) -> None:
    response = await jp_fetch("api", "status")
    pairs = [line.split(";")[0] for line in response.headers.get_list("Set-Cookie")]
    headers = {"Cookie": "; ".join(pairs), **({"Origin": origin} if origin else {})}
    for method, path in KNOWN:
        if method == "POST":
            with subtests.test(f"{method} {path}"):
                answer = await http.request(method, f"/{path}", headers=headers, json=ASK)

                assert answer.status_code in {401, 403, 404}
    assert upstream.requests == []


class TestWithoutPermission:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        Nobody.seen.clear()
        jp_server_config.ServerApp.authorizer_class = Nobody
        return jp_server_config

    async def test_a_user_without_permission_gets_nothing(
        self, http: httpx.AsyncClient, token: str, subtests: pytest.Subtests
    ) -> None:
        headers = {"x-api-key": token}
        refusals = {"permission_error", "PERMISSION_DENIED"}
        for method, path in KNOWN:
            with subtests.test(f"{method} {path}"):
                body = content(method, path)
                answer = await http.request(method, f"/{path}", headers=headers, json=body)

                assert answer.status_code == 403
                error = answer.json()["error"]
                assert error.get("type", error.get("status")) in refusals


async def post(
    http: httpx.AsyncClient, token: str, path: str, body: dict[str, Any]
) -> httpx.Response:
    return await http.post(f"/v1/{path}", headers={"x-api-key": token}, json=body)


@pytest.mark.parametrize("path", ["messages", "chat/completions"])
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"base_url": "http://elsewhere.example"}, "base_url"),
        ({"extra_headers": {"x": "y"}}, "extra_headers"),
        ({"max_tokens": "100"}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": "Hi", "x": 1}]}, "messages.0"),
        ({"model": ""}, "model"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_the_format_does_not_define_is_refused(
    *,
    http: httpx.AsyncClient,
    upstream: Simulator,
    token: str,
    path: str,
    change: dict[str, Any],
    field: str,
) -> None:
    answer = await post(http, token, path, ASK | change)

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert field in error["message"]
    assert upstream.requests == []


async def test_images_are_not_fetched_from_elsewhere(
    http: httpx.AsyncClient, upstream: Simulator, token: str
) -> None:
    item = {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest"}}
    messages = [{"role": "user", "content": [item]}]

    answer = await post(http, token, "chat/completions", ASK | {"messages": messages})

    assert answer.status_code == 400
    assert upstream.requests == []


async def test_a_request_that_is_too_large_is_refused(http: httpx.AsyncClient, token: str) -> None:
    body = ASK | {"messages": [{"role": "user", "content": "x" * (MAX_BODY_BYTES + 1)}]}

    answer = await post(http, token, "messages", body)

    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"


async def test_no_header_of_the_caller_reaches_the_provider_nor_the_key_the_caller(
    http: httpx.AsyncClient, upstream: Simulator, token: str
) -> None:
    upstream.script("Hi")
    headers = {"x-api-key": token, "x-smuggled": "yes", "anthropic-beta": "files-2025"}

    answer = await http.post("/v1/messages", headers=headers, json=ASK | {"model": CLAUDE})

    sent = upstream.requests[0].headers
    assert "x-smuggled" not in sent
    assert "anthropic-beta" not in sent
    assert token not in str(sent)
    assert upstream.key not in answer.text + str(answer.headers)


def test_no_more_requests_than_places_are_answered() -> None:
    limiter = RequestLimiter(FakeClock(), SequentialIds(), SECRETS, limit=2)

    with limiter.slot(), limiter.slot(), pytest.raises(PolicyRefusal) as caught, limiter.slot():
        pass

    assert (caught.value.info.code, caught.value.info.retryable) == ("rate_limited", True)
    with limiter.slot():
        pass


@pytest.mark.parametrize("path", ["messages", "chat/completions"])
async def test_when_the_caller_leaves_so_does_the_call(
    http: httpx.AsyncClient, upstream: Simulator, token: str, path: str
) -> None:
    upstream.script(reply("One two three", delivery=Delivery(ending="stall", ending_after=3)))
    body = ASK | {"stream": True}

    async with http.stream(
        "POST", f"/v1/{path}", headers={"x-api-key": token}, json=body
    ) as answer:
        async for _ in answer.aiter_bytes():
            break
    await asyncio.wait_for(upstream.settled(), 60)

    assert upstream.requests[0].outcome == "client-left"


@pytest.mark.parametrize(
    ("path", "sign"),
    [("messages", b"event: ping\n"), ("chat/completions", b": keep-alive\n")],
)
async def test_a_silent_stream_shows_signs_of_life(
    *,
    http: httpx.AsyncClient,
    upstream: Simulator,
    token: str,
    path: str,
    sign: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    upstream.script(reply("Hi", delivery=Delivery(first_byte_delay=0.5)))

    answer = await post(http, token, path, ASK | {"stream": True})

    blocks = answer.content.split(b"\n\n")
    assert sign.strip() in answer.content
    assert sum(sign.strip() in block for block in blocks) >= 2
    assert b"Hi" in answer.content
    assert b"message_start" in blocks[0] or b'"role":"assistant"' in blocks[0]


async def test_an_error_after_the_first_sign_of_life_is_in_the_stream(
    http: httpx.AsyncClient, upstream: Simulator, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    slow = Delivery(first_byte_delay=0.3, ending="no_terminator", ending_after=0)
    upstream.script(reply("Hi", delivery=slow))

    answer = await post(http, token, "messages", ASK | {"stream": True})

    assert answer.status_code == 200
    events = [line for line in answer.text.split("\n") if line.startswith("event: ")]
    assert events[0] == "event: message_start"
    assert events[-1] == "event: error"


async def test_a_stream_is_not_cached_and_not_held_back(
    http: httpx.AsyncClient, upstream: Simulator, token: str
) -> None:
    upstream.script("Hi")

    answer = await post(http, token, "messages", ASK | {"stream": True})

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-accel-buffering"] == "no"
    last = [line for line in answer.text.split("\n") if line.startswith("data: ")][-1]
    assert json.loads(last[6:]) == {"type": "message_stop"}


async def test_an_unknown_route_is_refused_in_the_words_of_the_proxy(
    http: httpx.AsyncClient, token: str
) -> None:
    answer = await http.get("/v1/nothing", headers={"x-api-key": token})

    assert answer.status_code == 404
    assert "The model proxy has no route GET" in answer.json()["error"]["message"]
