"""Every route is closed to requests that Jupyter would not admit."""

import inspect
import json
import re
from collections.abc import Callable
from itertools import product
from typing import Any, ClassVar

import pytest
from jupyter_server.auth.authorizer import Authorizer
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.web import RequestHandler
from tornado.websocket import websocket_connect
from traitlets.config import Config

from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.connections.connection_registry import PageConnectionRegistry
from jupyter_ai_shoulders.server.routes import api_routes
from tests.server.client import API, Api, Fetch, PageClient
from tests.server.conftest import OpenPage

METHODS = ("get", "head", "post", "put", "patch", "delete")


async def no_host() -> Any:
    raise AssertionError("No host is needed to list routes.")


ROUTES = api_routes(
    "", no_host, PageConnectionRegistry(), KernelSecrets(lambda _: False), open_to_kernels=True
)


def implements(handler: type[RequestHandler], method: str) -> bool:
    return getattr(handler, method) is not getattr(RequestHandler, method)


def path_of(pattern: str) -> str:
    return re.sub(r"\(.*?\)|\.\*", "x", pattern)


CASES = [
    (method.upper(), path_of(pattern))
    for pattern, handler, _ in ROUTES
    for method in METHODS
    if pattern != "socket" and implements(handler, method)
]
WRITES = [case for case in CASES if case[0] not in {"GET", "HEAD"}]


def test_every_method_of_every_route_authenticates_and_authorises() -> None:
    for pattern, handler, _ in ROUTES:
        assert getattr(handler, "auth_resource", None) == "shoulders", pattern
        for method in filter(lambda name: implements(handler, name), METHODS):
            function = getattr(handler, method)
            names: list[str] = []
            while function is not None:
                names.append(function.__code__.co_qualname.split(".")[0])
                function = getattr(function, "__wrapped__", None)
            outer = {"authenticated", "ws_authenticated"}
            assert names[0] in outer, (pattern, method, names)
            assert names[1] == "authorized", (pattern, method, names)
            assert inspect.isfunction(getattr(handler, method))


def test_the_enumeration_finds_the_documented_routes() -> None:
    listed = {f"{method.lower()} {path}" for method, path in CASES}

    assert {
        "get status",
        "get models",
        "post providers/detect",
        "get providers/x",
        "put providers/x",
        "delete providers/x",
        "put providers/x/key",
        "post providers/x/key",
        "delete providers/x/key",
        "post providers/x/test",
        "post kernels/x/proxy-secret",
        "get kernels/x/notebook",
        "get sessions",
        "post sessions",
        "get sessions/x",
        "patch sessions/x",
        "delete sessions/x",
        "post sessions/x/undelete",
        "post sessions/x/fork",
        "get sessions/x/export",
        "get audit",
        "get sessions/x/events",
        "post sessions/x/messages",
        "patch sessions/x/messages/x",
        "delete sessions/x/messages/x",
        "post sessions/x/cancel",
        "post sessions/x/resume",
        "post sessions/x/approvals/x",
        "get settings",
        "put settings",
        "get usage",
        "put budget",
        "post sessions/x/clarifications/x",
        "post sessions/x/tool-results/x",
        "post runs",
        "get artifacts/x/x",
        "get blobs/x",
        "post anchors",
        "post anchors/adopt",
        "get tools",
        "put tools/permissions",
        "get files/search",
        "get variables",
        "get skills",
    } <= listed


class Browser:
    """Requests with Jupyter's login cookie instead of a token."""

    def __init__(self, base: str, port: int, cookies: dict[str, str]) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.socket = f"ws://127.0.0.1:{port}{base}{'/'.join(API)}/socket"
        self._base = f"{self.origin}{base}{'/'.join(API)}/"
        self.cookies = cookies
        self.client = AsyncHTTPClient()

    async def request(self, method: str, path: str, **headers: str) -> HTTPResponse:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = b"{}" if method in {"POST", "PUT", "PATCH"} else None
        return await self.client.fetch(
            self._base + path,
            method=method,
            headers={"Cookie": cookie, **headers},
            body=body,
            raise_error=False,
            follow_redirects=False,
        )


@pytest.fixture
def browser(
    jp_fetch: Fetch,
    jp_base_url: str,
    jp_http_port: int,
    jp_asyncio_loop: Any,
) -> Browser:
    async def log_in() -> dict[str, str]:
        response = await jp_fetch("api", "status")
        pairs = [line.split(";")[0] for line in response.headers.get_list("Set-Cookie")]
        return dict(pair.split("=", 1) for pair in pairs)

    cookies = jp_asyncio_loop.run_until_complete(log_in())
    assert any(name.startswith("username-") for name in cookies), cookies
    return Browser(jp_base_url, jp_http_port, {**cookies, "_xsrf": "2|x"})


async def test_without_a_token_nothing_answers(api: Api, subtests: pytest.Subtests) -> None:
    for method, path in CASES:
        with subtests.test(f"{method} {path}"):
            answer = await api.request(method, path, {}, headers={"Authorization": "token wrong"})

            assert answer.status == 403
            if method != "HEAD":
                assert answer.code == "forbidden"


async def test_a_cookie_without_the_xsrf_token_changes_nothing(
    browser: Browser, subtests: pytest.Subtests
) -> None:
    for method, path in WRITES:
        with subtests.test(f"{method} {path}"):
            response = await browser.request(method, path)

            assert response.code == 403
            assert json.loads(response.body)["error"]["code"] == "forbidden"


async def test_a_page_of_another_origin_gets_nothing(
    browser: Browser, subtests: pytest.Subtests
) -> None:
    for method, path in CASES:
        with subtests.test(f"{method} {path}"):
            response = await browser.request(method, path, Origin="https://evil.example")

            assert response.code in {403, 404}
            assert b"sessions" not in response.body


async def test_a_cookie_of_our_own_origin_may_read(browser: Browser) -> None:
    response = await browser.request("GET", "status", Origin=browser.origin)

    assert response.code == 200


@pytest.mark.parametrize(
    ("origin", "logged_in", "opens"),
    [(None, True, True), ("https://evil.example", True, False), (None, False, False)],
    ids=["ours", "another origin", "nobody"],
)
async def test_the_socket_opens_only_for_a_user_of_our_origin(
    browser: Browser, origin: str | None, logged_in: bool, opens: bool
) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    request = HTTPRequest(
        browser.socket,
        headers={
            "Cookie": cookie if logged_in else "",
            "Origin": origin or browser.origin,
        },
    )

    if not opens:
        with pytest.raises(HTTPClientError) as caught:
            await websocket_connect(request)
        assert caught.value.code == 403
        return
    page = PageClient(await websocket_connect(request))
    page.hello()
    assert (await page.until("welcome"))["type"] == "welcome"
    page.close()


class Nobody(Authorizer):
    """Denies everyone access to our resource."""

    seen: ClassVar[list[tuple[str, str]]] = []

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        self.seen.append((action, resource))
        return False


class TestWithoutPermission:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        Nobody.seen.clear()
        jp_server_config.ServerApp.authorizer_class = Nobody
        return jp_server_config

    async def test_a_user_without_permission_gets_nothing(
        self, api: Api, subtests: pytest.Subtests
    ) -> None:
        for method, path in CASES:
            with subtests.test(f"{method} {path}"):
                Nobody.seen.clear()
                answer = await api.request(method, path, {})

                assert answer.status == 403
                action = "read" if method in {"GET", "HEAD"} else "write"
                assert Nobody.seen == [(action, "shoulders")]

    async def test_nor_the_socket(self, jp_ws_fetch: Callable[..., Any]) -> None:
        with pytest.raises(HTTPClientError) as caught:
            await jp_ws_fetch(*API, "socket")

        assert caught.value.code == 403
        assert Nobody.seen == [("execute", "shoulders")]


class Onlooker(Authorizer):
    """Permits everything except changes."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action != "write"


class TestWithoutPermissionToWrite:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.ServerApp.authorizer_class = Onlooker
        return jp_server_config

    async def test_the_socket_takes_no_message(self, open_page: OpenPage) -> None:
        page = await open_page()
        page.hello()

        page.say("message-send", session_id="s", message={"id": "m", "text": "Hi"})
        answer = await page.until("message-refused")

        assert (answer["status"], answer["error"]["code"]) == (403, "forbidden")


async def test_an_unknown_route_is_a_json_404(api: Api, subtests: pytest.Subtests) -> None:
    for method, path in product(METHODS, ("nothing", "sessions/a/b/c/d", "status/more")):
        with subtests.test(f"{method} {path}"):
            answer = await api.request(method.upper(), path, {})

            assert answer.status == 404
            if method != "head":
                assert answer.code == "unknown_route"
                assert answer.error["hint"]


async def test_an_unknown_method_of_a_route_is_a_json_405(api: Api) -> None:
    for method, path in (("DELETE", "status"), ("PUT", "sessions")):
        answer = await api.request(method, path, {})

        assert (answer.status, answer.code) == (405, "unknown_route")
