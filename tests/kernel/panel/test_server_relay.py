"""The relay between a panel's page and the server, without a kernel."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.server_discovery import ServerAddress
from jupyter_ai_shoulders.kernel.panel.protocol import PAGE_MESSAGES, KernelMessage
from jupyter_ai_shoulders.kernel.panel.server_relay import SILENCE_SECONDS, ServerRelay
from tests.client.conftest import ClientServer
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import free_port

SECONDS = 40.0
TOKEN = "secret-of-the-server"
URL = "http://127.0.0.1:8888/user/ada/"


@dataclass
class Page:
    """The page of a relay, with its received messages in order."""

    make: Callable[[Any], ServerRelay]
    told: queue.SimpleQueue[tuple[dict[str, Any], Sequence[bytes]]] = field(
        default_factory=queue.SimpleQueue[tuple[dict[str, Any], Sequence[bytes]]]
    )
    all: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.relay = self.make(self.post)

    def post(self, message: KernelMessage, buffers: Sequence[bytes]) -> None:
        self.all.append(f"{message.model_dump_json()} {buffers!r}")
        self.told.put((message.model_dump(), buffers))

    def say(self, t: str, view: str = "v", **rest: Any) -> None:
        message = PAGE_MESSAGES.validate_python({"t": t, "view": view, **rest})
        self.relay.take(message, waits=True)

    def next(self) -> dict[str, Any]:
        return self.told.get(timeout=SECONDS)[0]

    def until(self, **wanted: Any) -> dict[str, Any]:
        """Return the next message with these fields; earlier ones are dropped."""
        while not wanted.items() <= (message := self.next()).items():
            pass
        return message


@pytest.fixture
def pages() -> Iterator[Callable[..., Page]]:
    """Makes pages of a client, and closes them."""
    made: list[Page] = []

    def make(client: Client, **options: Any) -> Page:
        made.append(Page(lambda post: ServerRelay(client, post, **options)))
        return made[-1]

    yield make
    for page in made:
        page.relay.close()


def answering(handler: Callable[[httpx.Request], httpx.Response]) -> Client:
    """A client whose server is a function."""
    connection = Connection(ServerAddress(URL, TOKEN), httpx.MockTransport(handler))
    return Client(environ={}, connection=connection)


def test_a_request_carries_the_token_and_its_answer_does_not(pages: Callable[..., Page]) -> None:
    asked: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(201, json={"id": "ses_1"})

    page = pages(answering(handler))
    page.say("http", id="1", method="POST", path="sessions?x=1", body='{"kind":"chat"}')

    assert page.next() == {
        "t": "http",
        "view": "v",
        "id": "1",
        "status": 201,
        "content_type": "application/json",
        "body": '{"id":"ses_1"}',
    }
    assert (asked[0].method, str(asked[0].url)) == (
        "POST",
        f"{URL}shoulders/api/v1/sessions?x=1",
    )
    assert asked[0].content == b'{"kind":"chat"}'
    assert asked[0].headers["Authorization"] == f"token {TOKEN}"
    assert TOKEN not in "".join(page.all)


def test_what_is_no_text_comes_in_a_buffer(pages: Callable[..., Page]) -> None:
    picture = bytes(range(256))
    page = pages(
        answering(
            lambda _: httpx.Response(200, content=picture, headers={"Content-Type": "image/png"})
        )
    )
    page.say("http", id="1", method="GET", path="blobs/b1")

    message, buffers = page.told.get(timeout=SECONDS)
    assert (message["content_type"], message["body"], buffers) == ("image/png", None, (picture,))


@pytest.mark.parametrize(
    "path", ["../../api/contents", "/api/contents", "http://evil.example/", "x" * 70_000, "x\ud800"]
)
def test_a_path_out_of_the_api_is_refused_and_not_asked_for(
    pages: Callable[..., Page], path: str
) -> None:
    asked: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200)

    page = pages(answering(handler))
    page.say("http", id="1", method="GET", path=path)

    answer = page.next()
    assert (answer["status"], asked) == (400, [])
    assert json.loads(answer["body"])["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    "response",
    [httpx.Response(302, headers={"Location": "/login"}), httpx.Response(401)],
    ids=["login page", "401"],
)
def test_a_token_that_opens_nothing_is_said(
    pages: Callable[..., Page], response: httpx.Response
) -> None:
    page = pages(answering(lambda _: response))
    page.say("http", id="1", method="GET", path="status")

    gone, answer = page.next(), page.next()
    assert gone["t"] == "gone"
    assert "does not take this token" in gone["reason"]
    assert "SHOULDERS_TOKEN" in gone["reason"]
    assert json.loads(answer["body"])["error"]["code"] == "unauthorized"


def test_without_a_server_every_question_is_answered(pages: Callable[..., Page]) -> None:
    page = pages(Client(f"http://127.0.0.1:{free_port()}/", TOKEN, environ={}))

    page.say("hello")
    assert "does not answer" in page.until(t="gone")["reason"]
    ready = page.until(t="ready")
    page.say("http", id="1", method="GET", path="status")
    answer = page.until(t="http")
    page.say("open", id="s")
    closed = page.until(t="closed")

    assert (ready["server"], ready["notebook"], ready["waits"]) == (False, None, True)
    assert answer["status"] == 503
    error = json.loads(answer["body"])["error"]
    assert (error["retryable"], "Is the Jupyter server running" in error["message"]) == (True, True)
    assert (closed["code"], "does not open a socket" in closed["reason"]) == (1006, True)
    assert TOKEN not in "".join(page.all)


def hello_frame(name: str) -> str:
    return json.dumps({"type": "hello", "client_id": name, "wire_version": 1, "cursors": {}})


def test_views_have_sockets_of_their_own(
    pages: Callable[..., Page], place: ClientServer, client: Client
) -> None:
    page = pages(client)
    for view in ("one", "two"):
        page.say("open", view, id="s")
        page.until(t="opened", view=view)
        page.say("send", view, id="s", text=hello_frame(view))
        assert '"welcome"' in page.until(t="frame", view=view)["text"]

    page.say("close", "one")
    assert page.until(t="closed")["view"] == "one"
    client.new_session(kind="chat")
    assert '"session-create"' in page.until(t="frame", view="two")["text"]

    page.say("close", "two", id="s")
    assert page.until(t="closed") == {
        "t": "closed",
        "view": "two",
        "id": "s",
        "code": 1000,
        "reason": "closed by the page",
    }
    assert place.lab.token not in "".join(page.all)


def test_a_view_that_is_long_silent_loses_its_socket_and_can_open_another(
    pages: Callable[..., Page], client: Client
) -> None:
    now = [0.0]
    page = pages(client, clock=lambda: now[0])
    page.say("open", id="s")
    page.until(t="opened")
    page.say("send", id="s", text=hello_frame("silent"))
    page.until(t="frame")

    now[0] = SILENCE_SECONDS + 1
    client.new_session(kind="chat")
    page.until(t="closed", id="s")
    page.say("open", id="s2")

    assert page.until(t="opened")["id"] == "s2"


def test_a_closed_panel_closes_its_sockets_and_opens_no_other(
    pages: Callable[..., Page], client: Client
) -> None:
    page = pages(client)
    page.say("open", id="s")
    page.until(t="opened")

    page.relay.close()
    page.until(t="closed", id="s")
    page.say("open", id="s2")
    page.say("hello")

    assert page.told.empty()


def test_a_server_that_ends_is_said(pages: Callable[..., Page], tmp_path_factory: Any) -> None:
    root, state = (tmp_path_factory.mktemp(name) for name in ("root", "state"))
    lab = ForkedLab(root, state)
    lab.start()
    client = Client(f"http://127.0.0.1:{lab.port}/", lab.token, environ={})
    try:
        page = pages(client)
        page.say("open", id="s")
        page.until(t="opened")
        page.say("send", id="s", text=hello_frame("left"))
        page.until(t="frame")
        lab.kill()
        closed = page.until(t="closed")
        page.say("hello")
        gone = page.until(t="gone")
        lab.start()
        page.say("hello")
        ready = page.until(t="ready", server=True)
    finally:
        client.close()
        lab.stop()

    assert closed["code"] == 1006
    assert "was lost" in closed["reason"]
    assert "does not answer" in gone["reason"]
    assert ready["server"]
