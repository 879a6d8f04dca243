"""The connection when the server answers strangely, or a stream breaks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from jupyter_ai_shoulders.client import Client, NotAllowed, Refused, ServerNotFound, Unreachable
from jupyter_ai_shoulders.client.connection import Connection, parse_events
from jupyter_ai_shoulders.client.server_discovery import ServerAddress
from jupyter_ai_shoulders.wire.api.commands import StartRun
from jupyter_ai_shoulders.wire.api.responses import Status
from jupyter_ai_shoulders.wire.events import Notice, TextDelta
from jupyter_ai_shoulders.wire.ids import MessageId, PartId, SessionId

ADDRESS = ServerAddress("http://server.example/base/", "t")
SESSION = SessionId("ses_1")


def connection(answer: Callable[[httpx.Request], httpx.Response]) -> Connection:
    return Connection(ADDRESS, httpx.MockTransport(answer), pauses=(0.0, 0.0))


def delta(seq: int) -> str:
    event = TextDelta(seq=seq, session_id=SESSION, part_id=PartId("p"), text=f"{seq}é")
    return f"id: {seq}\ndata: {event.model_dump_json()}\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_stream_is_the_same_wherever_it_is_cut(end: str) -> None:
    stream = (": heartbeat\n\n" + delta(1) + delta(2)).replace("\n", end).encode()
    whole = list(parse_events([stream]))

    for cut in range(len(stream)):
        assert list(parse_events([stream[:cut], stream[cut:]])) == whole
    assert [event.seq for event in whole] == [1, 2]
    assert list(parse_events([stream[:-10]])) == whole[:1]


def test_a_stream_that_breaks_is_taken_up_where_it_was() -> None:
    asked: list[str] = []

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield (delta(1) + delta(2)).encode()
            raise httpx.ReadError("reset")

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params["after"])
        if len(asked) == 2:
            raise httpx.ConnectError("restarting")
        if len(asked) == 1:
            return httpx.Response(200, stream=Broken())
        return httpx.Response(200, text=delta(3))

    events = connection(answer).events(SESSION, 0)

    assert [next(events).seq for _ in range(3)] == [1, 2, 3]
    assert asked == ["0", "2", "2"]
    events.close()


def test_what_may_be_said_twice_is_said_again_when_a_kept_socket_was_closed() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.content.decode()}")
        if len(asked) % 2:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx.Response(200, text="{}")

    made = connection(answer)
    command = StartRun(prompt="Hello", id=MessageId("msg_1"))

    assert made.text("status") == "{}"
    assert made.send("POST", "runs", command).text == "{}"
    assert len(asked) == 4
    assert asked[2] == asked[3]
    with pytest.raises(Unreachable, match="disconnected"):
        made.send("POST", "runs", command.model_copy(update={"id": None}))
    assert len(asked) == 5


@contextmanager
def proxy_that_answers(*script: tuple[int, str]) -> Generator[tuple[str, list[str]]]:
    """Serve these answers in turn, the last one for ever; yield the address and the requested
    paths.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = script[min(len(asked), len(script) - 1)]
            asked.append(self.path.rpartition("=")[2])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 as http.server has it

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", asked
        finally:
            server.shutdown()
            thread.join()


def test_a_stream_is_taken_up_again_while_a_proxy_says_that_the_server_is_away() -> None:
    answers = [(200, delta(1)), (502, "<html>"), (503, "<html>"), (200, delta(2))]
    with proxy_that_answers(*answers) as (url, asked):
        made = Connection(ServerAddress(url, "t"), pauses=(0.0, 0.0, 0.0))
        events = made.events(SESSION, 0)
        seen = [next(events).seq for _ in range(2)]
        events.close()
        made.close()

    assert seen == [1, 2]
    assert asked == ["0", "1", "1", "1"]


def test_a_server_that_keeps_failing_is_not_asked_for_ever() -> None:
    with proxy_that_answers((200, delta(1)), (500, "<html>")) as (url, asked):
        made = Connection(ServerAddress(url, "t"), pauses=(0.0, 0.0))
        events = made.events(SESSION, 0)
        assert next(events).seq == 1
        with pytest.raises(Refused) as refused:
            next(events)
        made.close()

    assert refused.value.status == 500
    assert asked == ["0", "1", "1"]


def test_a_stream_that_is_refused_is_not_asked_for_again() -> None:
    with proxy_that_answers((404, "<html>")) as (url, asked):
        made = Connection(ServerAddress(url, "t"), pauses=(0.0, 0.0))
        with pytest.raises(Refused):
            next(made.events(SESSION, 0))
        made.close()

    assert asked == ["0"]


def test_a_server_that_stays_away_is_named() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(Unreachable, match=r"server\.example/base/ does not answer"):
        next(connection(answer).events(SESSION, 0))


def test_a_stream_that_always_ends_is_given_up() -> None:
    with pytest.raises(Unreachable, match="ends the stream"):
        next(connection(lambda _: httpx.Response(200)).events(SESSION, 0))


@pytest.mark.parametrize(
    ("response", "kind", "text"),
    [
        (
            httpx.Response(403, json={"message": "Forbidden"}),
            NotAllowed,
            "does not take this token",
        ),
        (httpx.Response(302, headers={"location": "/login"}), NotAllowed, "token"),
        (httpx.Response(404, text="<html>"), Refused, "jupyter-ai-shoulders installed"),
        (httpx.Response(200, text="<html>"), Refused, "jupyter shoulders doctor"),
        (
            httpx.Response(
                409, json={"error": {"code": "stale", "message": "Old.", "hint": "New."}}
            ),
            Refused,
            "Old. New.",
        ),
    ],
)
def test_an_odd_answer_is_an_error_with_advice(
    response: httpx.Response, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        connection(lambda _: response).get("status", Status)


def test_a_server_without_a_token_gets_its_cookie_back() -> None:
    seen: list[tuple[str, str | None, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        headers = request.headers
        seen.append((request.url.path, headers.get("x-xsrftoken"), headers.get("authorization")))
        cookie = {"set-cookie": "_xsrf=2|abc; Path=/"}
        return httpx.Response(200, text="{}", headers=cookie)

    address = ServerAddress("http://server.example/", None)
    made = Connection(address, httpx.MockTransport(answer))
    made.send("POST", "sessions/ses_1/cancel")
    made.send("POST", "sessions/ses_1/cancel")

    path = "/shoulders/api/v1/sessions/ses_1/cancel"
    assert seen == [("/login", None, None), (path, "2|abc", None), (path, "2|abc", None)]


def test_a_kernel_s_secret_is_enough_for_the_sdks() -> None:
    environ = {"SHOULDERS_PROXY_URL": "http://s/shoulders/proxy", "SHOULDERS_PROXY_SECRET": "sec"}

    variables = Client(environ=environ).env()

    assert variables["OPENAI_BASE_URL"] == "http://s/shoulders/proxy/v1"
    assert variables["ANTHROPIC_BASE_URL"] == "http://s/shoulders/proxy"
    assert {variables[f"{each}_API_KEY"] for each in ("OPENAI", "ANTHROPIC", "GEMINI")} == {"sec"}
    assert "sec" not in repr(Client(environ=environ).proxy).replace("secret", "")


def test_events_of_every_kind_are_read() -> None:
    notice = Notice(seq=1, session_id=SESSION, level="info", code="x", text="Hi")
    assert list(parse_events([f"data: {notice.model_dump_json()}\n".encode()])) == [notice]


@pytest.mark.parametrize(
    "address",
    [ServerAddress("http://[bad/", None), ServerAddress("http://server.example/", "tök\nen")],
)
def test_an_address_or_a_token_that_is_none_is_said(address: ServerAddress) -> None:
    with pytest.raises(ServerNotFound, match="cannot be used") as raised:
        Connection(address)

    assert "tök" not in str(raised.value)
