"""Routes that a kernel's secret opens, and routes that it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from jupyter_ai_shoulders.server.auth.kernel_access import OPEN, SOCKET
from jupyter_ai_shoulders.wire.base import JsonObject
from tests.server.auth.test_route_authorization import CASES, path_of
from tests.server.client import API, Answer, Api, Fetch, PageClient
from tests.simulator import Simulator

OPENED = {(method, path_of(route)) for route, methods in OPEN.items() for method in methods}
CLOSED = sorted({*CASES} - OPENED)


class Kernel:
    """A running kernel, as its programs use the server."""

    def __init__(self, api: Api, kernel_id: str, secret: str) -> None:
        self.id = kernel_id
        self.secret = secret
        self._api = api

    async def ask(self, method: str, path: str, body: object = None) -> Answer:
        headers = {"Authorization": f"token {self.secret}"}
        return await self._api.request(method, path, body, headers=headers)


@asynccontextmanager
async def kernel(jp_fetch: Fetch, api: Api) -> AsyncGenerator[Kernel]:
    response = await jp_fetch("api", "kernels", method="POST", body="{}")
    kernel_id = response.headers["Location"].rpartition("/")[2]
    started = await api.post(f"kernels/{kernel_id}/proxy-secret", {})
    try:
        yield Kernel(api, kernel_id, started.body["secret"])
    finally:
        await jp_fetch("api", "kernels", kernel_id, method="DELETE", raise_error=False, body=None)


def test_nothing_that_widens_what_the_agent_may_do_is_open() -> None:
    assert {
        ("PUT", "tools/permissions"),
        ("PUT", "settings"),
        ("PUT", "budget"),
        ("PUT", "providers/x/key"),
        ("POST", "providers/x/key"),
        ("POST", "providers/detect"),
        ("PUT", "providers/x"),
        ("DELETE", "providers/x"),
        ("DELETE", "providers/x/key"),
        ("DELETE", "sessions/x"),
        ("POST", "kernels/x/proxy-secret"),
    } <= set(CLOSED)


async def test_a_kernels_secret_opens_what_is_listed_and_nothing_else(
    jp_fetch: Fetch, api: Api
) -> None:
    async with kernel(jp_fetch, api) as mine:
        refused = {
            (method, path)
            for method, path in CLOSED
            if (await mine.ask(method, path, {})).status == 403
        }
        opened = [await mine.ask("GET", path) for path in ("status", "models", "sessions")]

    assert refused == set(CLOSED)
    assert [answer.status for answer in opened] == [200, 200, 200]


async def test_a_conversation_is_had_with_a_kernels_secret_until_the_kernel_ends(
    jp_fetch: Fetch, api: Api, upstream: Simulator
) -> None:
    upstream.script("Hello.")
    async with kernel(jp_fetch, api) as mine:
        made = await mine.ask("POST", "sessions", {"kind": "kernel"})
        session = f"sessions/{made.body['id']}"
        sent = await mine.ask("POST", f"{session}/messages", {"id": "m", "text": "Hi"})
        async with api.stream(made.body["id"]) as stream:
            await stream.until("turn-end")
        read = await mine.ask("GET", f"{session}/events")
        notebook = await mine.ask("GET", f"kernels/{mine.id}/notebook")

    assert (made.status, sent.status, read.status) == (201, 202, 200)
    assert (notebook.status, notebook.body) == (200, {"path": None})
    assert (await mine.ask("GET", "status")).status == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("sessions", {"mode": "bypass"}),
        ("runs", {"prompt": "Go", "mode": "bypass"}),
    ],
    ids=["a conversation", "a run"],
)
async def test_code_in_a_kernel_makes_nothing_that_asks_no_more(
    jp_fetch: Fetch, api: Api, path: str, body: JsonObject
) -> None:
    async with kernel(jp_fetch, api) as mine:
        answer = await mine.ask("POST", path, body)

    assert (answer.status, answer.code) == (422, "denied")
    assert (await api.get("sessions")).body["sessions"] == []


async def test_code_in_a_kernel_loosens_no_conversation_and_stores_no_rule(
    jp_fetch: Fetch, api: Api
) -> None:
    session_id = await api.new_session()
    always = {"decision": "allow", "scope": "always"}
    async with kernel(jp_fetch, api) as mine:
        loosened = await mine.ask("PATCH", f"sessions/{session_id}", {"mode": "bypass"})
        stored = await mine.ask("POST", f"sessions/{session_id}/approvals/c", always)

    assert (loosened.status, stored.status) == (422, 422)
    assert "side panel" in str(stored.error["hint"])
    assert (await api.get(f"sessions/{session_id}")).body["mode"] == "ask"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("messages", {"id": "m", "text": "Go", "mode": "bypass"}),
        ("resume", {"decision": "resume", "limit_micro_usd": 10**12}),
    ],
    ids=["a message in which nothing asks", "a higher limit"],
)
async def test_code_in_a_kernel_loosens_no_turn(
    jp_fetch: Fetch, api: Api, path: str, body: JsonObject
) -> None:
    session_id = await api.new_session()
    async with kernel(jp_fetch, api) as mine:
        answer = await mine.ask("POST", f"sessions/{session_id}/{path}", body)

    assert (answer.status, answer.code) == (422, "denied")
    assert "side panel" in str(answer.error["hint"])


async def test_the_secret_of_one_kernel_is_of_no_use_with_the_name_of_another(
    jp_fetch: Fetch, api: Api
) -> None:
    async with kernel(jp_fetch, api) as mine, kernel(jp_fetch, api) as other:
        mine.secret = mine.secret.replace(mine.id, other.id)

        assert (await mine.ask("GET", "status")).status == 403


def socket_request(jp_http_port: int, jp_base_url: str, secret: str) -> HTTPRequest:
    url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}{'/'.join(API)}/{SOCKET}"
    return HTTPRequest(url, headers={"Authorization": f"token {secret}"})


async def socket_status(jp_http_port: int, jp_base_url: str, secret: str) -> int:
    try:
        socket = await websocket_connect(socket_request(jp_http_port, jp_base_url, secret))
    except HTTPClientError as error:
        return error.code
    socket.close()
    return 101


async def test_the_socket_opens_for_a_kernel_too(
    jp_fetch: Fetch, api: Api, jp_http_port: int, jp_base_url: str
) -> None:
    async with kernel(jp_fetch, api) as mine:
        opened = await socket_status(jp_http_port, jp_base_url, mine.secret)

    assert opened == 101
    assert await socket_status(jp_http_port, jp_base_url, mine.secret) == 403


CLAIM: JsonObject = {
    "path": "a.ipynb",
    "claim_epoch": 1,
    "cells": [],
    "dirty": False,
    "saved_at": None,
    "kernel_id": None,
}
"""A page's claim that a notebook is open in it."""


async def test_code_in_a_kernel_speaks_on_the_socket_for_no_document_and_loosens_nothing(
    jp_fetch: Fetch, api: Api, jp_http_port: int, jp_base_url: str
) -> None:
    session_id = await api.new_session()
    async with kernel(jp_fetch, api) as mine:
        request = socket_request(jp_http_port, jp_base_url, mine.secret)
        page = PageClient(await websocket_connect(request))
        page.hello()
        page.say("document-open", **CLAIM)
        page.say("subscribe", session_id=session_id, after=0)
        error = (await page.until("frame-error"))["error"]
        events = (await page.until("events"))["events"]
        message = {"id": "m", "text": "Go", "mode": "bypass"}
        page.say("message-send", session_id=session_id, message=message)
        refused = await page.until("message-refused")
        page.close()

    assert error["code"] == "denied"
    assert (refused["status"], refused["error"]["code"]) == (422, "denied")
    assert events[0]["session_id"] == session_id


async def test_who_has_the_secret_of_a_kernel_that_ended_hears_nothing_more(
    jp_fetch: Fetch, api: Api, jp_http_port: int, jp_base_url: str
) -> None:
    session_id = await api.new_session()
    async with kernel(jp_fetch, api) as mine:
        request = socket_request(jp_http_port, jp_base_url, mine.secret)
        page = PageClient(await websocket_connect(request))
        page.hello({session_id: 0})
        await page.until("events")
        async with api.stream(session_id, Authorization=f"token {mine.secret}") as stream:
            await stream.until("session-create")
            await jp_fetch("api", "kernels", mine.id, method="DELETE", body=None)
            await api.patch(f"sessions/{session_id}", {"title": "secret"})
            assert stream.reading is not None
            async with asyncio.timeout(60):
                await stream.reading

    assert await page.next() is None
    page.close()
    assert [event["type"] for event in stream.events] == ["session-create"]


@pytest.fixture
def on_a_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several users share the server."""
    monkeypatch.setenv("JUPYTERHUB_API_URL", "http://127.0.0.1:9/hub/api")


@pytest.mark.usefixtures("on_a_hub")
async def test_where_users_may_meet_a_kernels_secret_opens_no_conversations(
    jp_fetch: Fetch, api: Api
) -> None:
    async with kernel(jp_fetch, api) as mine:
        answers = [await mine.ask("GET", path) for path in ("status", "models", "sessions")]

    assert [answer.status for answer in answers] == [403, 403, 403]
