"""Clients that connect, disconnect, lag and repeat themselves, on a real server.

Its event loop is probed after each test. The browser's side is in ``tests/ui``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.events import parse_event
from tests.bench.server_and_provider import API, Server, client
from tests.integration.client import of_type
from tests.integration.following_clients import FollowingClient, said, shown
from tests.integration.shared_server import SharedServer, log_of, until
from tests.simulator_process import calls, in_order, notebook, says
from tests.support.lab_server import Lab

pytestmark = pytest.mark.usefixtures("probed")

RELOADS = 200
PAGES = 8
STORY = " ".join(f"word{number}" for number in range(1_500))
ASK = {"question": "Which colour?", "options": ["Blue", "Red"]}


@asynccontextmanager
async def connected(place: SharedServer) -> AsyncGenerator[Server]:
    """A pool of connections to the server."""
    async with client(place.lab) as http:
        yield Server(place.lab, http)


async def test_two_hundred_reloads_in_a_stream_show_what_the_log_holds(place: SharedServer) -> None:
    place.upstream.play(in_order(says(STORY, event_delay=0.002)))
    rng = random.Random(20)
    async with connected(place) as server:
        session, _ = await server.session()
        readers = [FollowingClient(server, session, rng) for _ in range(PAGES)]
        await server.send(session, "Tell me a long story.")
        times = RELOADS // PAGES
        await asyncio.gather(*(reader.come_and_go(times) for reader in readers))

    log = log_of(place, session)
    assert said(log) == STORY
    assert sum(reader.comings for reader in readers) >= RELOADS
    events = [parse_event(json.dumps(event)) for event in log]
    at = {view.last_seq: view for view in map(reduce_events, (events[:n] for n in _seqs(readers)))}
    for reader in readers:
        assert reader.seen == log[: len(reader.seen)]
        assert shown(reader.view) == STORY
        assert all(view == at[view.last_seq] for view in reader.kept)


def _seqs(readers: list[FollowingClient]) -> set[int]:
    return {view.last_seq for reader in readers for view in reader.kept}


async def test_two_pages_see_one_order_and_the_second_answer_is_told_so(
    place: SharedServer,
) -> None:
    (place.root / "two.ipynb").write_text(notebook(("c1", "x = 1")))
    runs = [calls("run_cell", {"path": "two.ipynb", "cell_id": "c1"}) for _ in range(3)]
    place.upstream.play(in_order(*runs, says("Three times.")))
    answers: list[list[int]] = []
    async with connected(place) as server:
        session, _ = await server.session()
        first, second = (FollowingClient(server, session, random.Random()) for _ in range(2))
        tasks = [asyncio.create_task(reader.as_page()) for reader in (first, second)]
        await server.send(session, "Run it three times.")
        async with server.events(session, 0) as stream:
            async for event in _events(stream):
                if event["type"] == "approval-request":
                    answers.append(await _both_answer(server, session, event["call_id"]))
                if event["type"] == "turn-end":
                    break
        await asyncio.gather(*tasks)

    log = log_of(place, session)
    assert answers == [[202, 409]] * 3
    assert first.seen == log[: len(first.seen)]
    assert second.seen == log[: len(second.seen)]
    assert len(of_type(log, "approval-answer")) == 3
    assert of_type(log, "turn-end")[0]["exit"] == "final_response"


async def _both_answer(server: Server, session: str, call_id: str) -> list[int]:
    """Answer from two pages at once; return the statuses, the better one first."""

    async def answer() -> int:
        url = f"{server.url}/sessions/{session}/approvals/{call_id}"
        async with server.http.post(url, json={"decision": "allow"}) as response:
            if response.status == 409:
                assert (await response.json())["error"]["code"] == "already_answered"
            return response.status

    return sorted(await asyncio.gather(answer(), answer()))


async def _events(stream: AsyncIterable[bytes]) -> AsyncIterator[dict[str, Any]]:
    async for line in stream:
        if line.startswith(b"data:"):
            yield json.loads(line.removeprefix(b"data:"))


async def test_a_message_sent_twenty_times_at_once_and_after_a_kill_is_accepted_once(
    place: SharedServer,
) -> None:
    place.upstream.play(in_order(says("Once."), says("Nobody should hear this.")))
    body = {"id": "again", "text": "Only once, please."}

    async def post(server: Server, session: str) -> tuple[int, Any]:
        url = f"{server.url}/sessions/{session}/messages"
        async with server.http.post(url, json=body) as answer:
            return answer.status, await answer.json()

    async with connected(place) as server:
        session, _ = await server.session()
        before = await asyncio.gather(*(post(server, session) for _ in range(20)))
        await asyncio.to_thread(place.api.turn, session)
    place.restart("kill")
    async with connected(place) as server:
        after = await asyncio.gather(*(post(server, session) for _ in range(5)))

    ((status, _),) = {(status, json.dumps(answer)) for status, answer in before + after}
    log = log_of(place, session)
    assert status == 202
    assert [event["message_id"] for event in of_type(log, "message-add")] == ["again"]
    assert len(of_type(log, "turn-start")) == 1
    asked = [request["path"] for request in place.upstream.requests()]
    assert asked.count("/v1/messages") == 1


async def test_a_cursor_from_the_future_or_of_a_deleted_session_is_told_and_mended(
    place: SharedServer,
) -> None:
    api = place.api
    kept, deleted = api.session(title="kept"), api.session(title="deleted")
    assert api.call("DELETE", f"sessions/{deleted}").status == 204
    async with connected(place) as server, server.page({kept: 99, deleted: 1}) as page:
        errors = [(await page.receive_json())["error"] for _ in range(2)]
        await page.send_str(json.dumps({"type": "subscribe", "session_id": kept, "after": 0}))
        frame = await page.receive_json()

    assert {(error["code"], error["details"]["session_id"]) for error in errors} == {
        ("stale", kept),
        ("not_found", deleted),
    }
    assert frame["events"] == log_of(place, kept)
    future = api.get(f"sessions/{kept}/events?after=99")
    assert future == {"events": [], "last_seq": len(frame["events"]), "has_more": False}
    assert api.call("GET", f"sessions/{deleted}/events").status == 404


async def test_an_old_page_is_told_our_version_and_sent_nothing_it_might_misread(
    place: SharedServer,
) -> None:
    old: dict[str, Any] = {"type": "hello", "client_id": "old", "wire_version": 0, "cursors": {}}
    async with connected(place) as server, server.http.ws_connect(f"{server.url}/socket") as page:
        await page.send_str(json.dumps(old))
        welcome = await page.receive_json()
        await server.session()  # all pages that are welcome hear of it
        await page.send_str("{}")
        rest = [await page.receive_json() for _ in range(2)]

    assert (welcome["type"], welcome["wire_version"]) == ("welcome", WIRE_VERSION)
    assert [frame["type"] for frame in rest] == ["welcome", "frame-error"]


# what waits for the user


@dataclass
class Waiting:
    """A conversation with a waiting request, and how it is answered."""

    script: dict[str, Any]
    event: str
    route: str
    answer: dict[str, Any]
    session: dict[str, Any] = field(default_factory=dict[str, Any])


WAITING = {
    "approval": Waiting(
        in_order(calls("run_cell", {"path": "w.ipynb", "cell_id": "c1"}), says("Done.")),
        "approval-request",
        "approvals",
        {"decision": "allow"},
    ),
    "question": Waiting(
        in_order(calls("clarify", ASK), says("Done.")),
        "clarify-request",
        "clarifications",
        {"answer": "Blue"},
    ),
    "result": Waiting(
        in_order(calls("read_notebook", {"path": "w.ipynb"}), says("Done.")),
        "tool-call",
        "tool-results",
        {"content": "One cell."},
        {"tools": "parse_only"},
    ),
}


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_what_waits_survives_the_server_and_is_answered_from_another_page(
    place: SharedServer, end: str
) -> None:
    (place.root / "w.ipynb").write_text(notebook(("c1", "x = 1")))
    api = place.api
    sessions: dict[str, str] = {}
    for name, waiting in WAITING.items():
        place.upstream.play(waiting.script)
        sessions[name] = api.session(**waiting.session)
        api.send(sessions[name], "Begin.")
        until(api, sessions[name], waiting.event)
        if name == "approval":
            api.send(sessions[name], "And this, later.", message="queued")
    before = {name: log_of(place, session) for name, session in sessions.items()}

    place.restart(end)

    for name, waiting in WAITING.items():
        session = sessions[name]
        log = log_of(place, session)
        assert log[: len(before[name])] == before[name]
        assert of_type(log, "turn-end") == []
        (request,) = of_type(log, waiting.event)
        place.upstream.play(in_order(says("Done."), says("Done again.")))
        target = f"sessions/{session}/{waiting.route}/{request['call_id']}"
        assert api.call("POST", target, waiting.answer).status == 202
        again = api.call("POST", target, waiting.answer)
        assert (again.status, again.body["error"]["code"]) == (409, "already_answered")
        events = api.turn(session, len(log))
        assert of_type(events, "turn-end")[0]["exit"] == "final_response"
        assert [result["status"] for result in of_type(events, "tool-result")] == ["ok"]
    queued = log_of(place, sessions["approval"])
    assert [event["message_id"] for event in of_type(queued, "message-add")] == ["m1", "queued"]
    consumed = [
        e["status"] for e in of_type(queued, "message-update") if e["message_id"] == "queued"
    ]
    assert consumed == ["consumed"]


# slow pages


SLOW_PAGES = 4
MESSAGES = 60
MESSAGE_BYTES = 400_000


class SilentPage:
    """A page that says hello and then reads nothing, on a separate socket."""

    def __init__(self, lab: Lab, cursors: dict[str, int]) -> None:
        self._socket = socket.create_connection(("127.0.0.1", lab.port))
        lines = [
            f"GET {lab.base_url}{API}/socket HTTP/1.1",
            f"Host: 127.0.0.1:{lab.port}",
            f"Authorization: token {lab.token}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall("\r\n".join((*lines, "", "")).encode())
        hello = {
            "type": "hello",
            "client_id": f"silent-{id(self)}".ljust(99, "-"),
            "wire_version": WIRE_VERSION,
            "cursors": cursors,
        }
        self._socket.sendall(_masked(json.dumps(hello).encode()))

    def frames(self) -> Iterator[dict[str, Any]]:
        """Start to read after all."""
        stream = self._socket.makefile("rb")
        while stream.readline().strip():
            continue
        while True:
            head = stream.read(2)
            size = head[1] & 127
            if size > 125:
                size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
            body = stream.read(size)
            if head[0] & 15 == 1:
                yield json.loads(body)

    def close(self) -> None:
        """Go away."""
        self._socket.close()


def _masked(text: bytes) -> bytes:
    """A text frame as clients send it (RFC 6455, 5.2); a mask of zeros is valid."""
    size = len(text)
    assert 125 < size < 1 << 16
    return bytes([0x81, 0xFE]) + size.to_bytes(2, "big") + bytes(4) + text


def test_pages_that_do_not_read_cost_little_and_find_everything_again(place: SharedServer) -> None:
    api = place.api
    (place.root / "q.ipynb").write_text(notebook(("c1", "x = 1")))
    place.upstream.play(in_order(calls("run_cell", {"path": "q.ipynb", "cell_id": "c1"})))
    session = api.session()
    api.send(session, "Begin.")
    until(api, session, "approval-request")  # messages sent from now on are queued
    pages = [SilentPage(place.lab, {session: 0}) for _ in range(SLOW_PAGES)]
    reading = SilentPage(place.lab, {session: 0})
    before = _resident(place.lab.pid)
    for number in range(MESSAGES):
        api.send(session, f"{number} ".ljust(MESSAGE_BYTES, "."), message=f"q{number}")
    grown = _resident(place.lab.pid) - before

    resync = next(frame for frame in reading.frames() if frame["type"] == "resync")
    for page in (*pages, reading):
        page.close()
    log = log_of(place, session)
    sent = [event["text"].split()[0] for event in of_type(log, "message-add")]
    assert sent == ["Begin.", *map(str, range(MESSAGES))]
    assert resync["session_id"] == session
    assert 0 < resync["after"] < len(log)
    assert grown < MESSAGES * MESSAGE_BYTES * 2, f"{grown} bytes"


def _resident(pid: int) -> int:
    """Bytes of the process's memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
