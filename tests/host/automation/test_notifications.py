"""Notifications: kept until shown, and sent to a real receiver that is down, slow, or dies."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.guard.network.fetch import FetchLimits
from jupyter_ai_shoulders.guard.network.signed_posts import SignedPosts
from jupyter_ai_shoulders.host.automation.notifications.records import NotificationRecords
from jupyter_ai_shoulders.host.automation.notifications.service import (
    SECRET_NAME,
    NotificationPorts,
    NotificationService,
)
from jupyter_ai_shoulders.host.automation.notifications.waiting import WaitingConversations
from jupyter_ai_shoulders.host.automation.ports import Notification
from jupyter_ai_shoulders.host.build import HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.events import SessionUpdate
from tests.host.test_build import NoKernels, NoPages
from tests.storage.store import session as new_session

SECRET = "a secret of thirty-two characters"
RUN = Notification(key="run.1", title="Report: done", message="It took 3 min.")


@dataclass
class Receiver:
    """An HTTP server on a socket; ``answer`` decides what happens to a request."""

    answer: Callable[[asyncio.StreamWriter], Any]
    bodies: list[bytes] = field(default_factory=list[bytes])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    came: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    server: asyncio.Server | None = None
    serving: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self.server is not None:
            self.server.close()
            await self.server.wait_closed()
        for task in self.serving:
            task.cancel()
        await asyncio.gather(*self.serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            await self._answer(reader, writer)
        finally:
            self.serving.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        self.headers.append(headers)
        self.bodies.append(await reader.readexactly(int(headers["content-length"])))
        self.came.set()
        with contextlib.suppress(ConnectionError):
            await self.answer(writer)

    async def expect(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.bodies) < count:
                self.came.clear()
                await self.came.wait()


async def accept(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    await writer.drain()


async def fail(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


async def redirect(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


async def be_slow(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(1)


async def die(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@dataclass
class Setup:
    """A service on files, so that a second one continues."""

    directory: Path
    url: str = ""
    changes: int = 0
    services: list[NotificationService] = field(default_factory=list[NotificationService])

    def make(self, grace: float = 0.0) -> NotificationService:
        keys = KeyStore(self.directory / "keys.env", {SECRET_NAME: SECRET})
        posts = SignedPosts(limits=FetchLimits(seconds=0.2, connect_seconds=0.2))
        records = NotificationRecords(StateFile(StateDirectory(self.directory), "n.json"))
        ports = NotificationPorts(
            keys=keys,
            webhook_url=lambda: self.url,
            changed=self._changed,
            redact=lambda text: text.replace("sk-secret", "[redacted]"),
            sender=lambda: posts,
            clock=SystemClock(),
            ids=RandomIds(),
        )
        service = NotificationService(records, ports, back_off=[0.05] * 20, grace=grace)
        self.services.append(service)
        return service

    def _changed(self) -> None:
        self.changes += 1

    async def stop(self) -> None:
        for service in self.services:
            await service.aclose()


@pytest.fixture
def made(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Setup]:
    found = Setup(tmp_path)
    yield found
    jp_asyncio_loop.run_until_complete(found.stop())


async def settled(service: NotificationService) -> None:
    """Wait until nothing is queued."""
    async with asyncio.timeout(5):
        while service.webhook.queued():  # noqa: ASYNC110 a state without an event
            await asyncio.sleep(0.01)


def check_signature(headers: dict[str, str], body: bytes) -> None:
    """Verify as a receiver would, without our code."""
    parts = dict(part.split("=", 1) for part in headers["x-shoulders-signature"].split(","))
    signed = parts["t"].encode() + b"." + body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(parts["v1"], expected)


async def test_webhook_gets_a_signed_event(made: Setup) -> None:
    receiver = Receiver(accept)
    await receiver.start()
    made.url = f"http://127.0.0.1:{receiver.port}/hook?x=1"
    service = made.make()

    await service.add(RUN, "run")
    await receiver.expect(1)
    await settled(service)
    await receiver.stop()

    body = json.loads(receiver.bodies[0])
    check_signature(receiver.headers[0], receiver.bodies[0])
    assert receiver.headers[0]["x-shoulders-event"] == body["id"]
    assert body == {
        "version": 1,
        "id": body["id"],
        "at": body["at"],
        "kind": "run",
        "level": "info",
        "title": "Report: done",
        "message": "It took 3 min.",
        "session_id": None,
        "schedule_id": None,
    }
    assert len(receiver.bodies) == 1


@pytest.mark.parametrize("trouble", [fail, redirect, be_slow, die])
async def test_webhook_is_tried_again_until_the_receiver_accepts(
    made: Setup, trouble: Callable[[asyncio.StreamWriter], Any]
) -> None:
    receiver = Receiver(trouble)
    await receiver.start()
    made.url = f"http://127.0.0.1:{receiver.port}/"
    service = made.make()

    await service.add(RUN, "run")
    await receiver.expect(2)
    status = await service.webhook_status()
    receiver.answer = accept
    await settled(service)
    await receiver.stop()

    assert status.queued == 1
    assert status.last_error is not None
    assert (await service.webhook_status()).last_error is None
    assert len({json.loads(body)["id"] for body in receiver.bodies}) == 1, "one event"
    for headers, body in zip(receiver.headers, receiver.bodies, strict=True):
        check_signature(headers, body)


async def test_receiver_that_is_down_gets_the_event_after_a_restart_of_ours(made: Setup) -> None:
    receiver = Receiver(accept)
    await receiver.start()
    made.url = f"http://127.0.0.1:{receiver.port}/"
    await receiver.stop()  # its port is closed now
    first = made.make()
    await first.add(RUN, "run")
    async with asyncio.timeout(5):
        while first.webhook.last_error is None:  # noqa: ASYNC110 a state without an event
            await asyncio.sleep(0.01)
    assert "not reached" in first.webhook.last_error or "127.0.0.1" in first.webhook.last_error
    await first.aclose()

    await receiver.start()
    second = made.make()
    second.start()
    await receiver.expect(1)
    await settled(second)
    await receiver.stop()

    check_signature(receiver.headers[0], receiver.bodies[0])


async def test_receiver_that_never_answers_is_given_up(made: Setup) -> None:
    made.url = "http://127.0.0.1:9/"
    service = made.make()

    await service.add(RUN, "run")
    await settled(service)

    status = await service.webhook_status()
    assert (status.queued, status.failed, status.host) == (0, 1, "127.0.0.1")


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fe80::1]", "224.0.0.1", "[::ffff:a9fe:a9fe]"]
)
async def test_webhook_never_reaches_metadata_services(host: str) -> None:
    with pytest.raises((PolicyRefusal, ShouldersError)) as caught:
        await SignedPosts().send(f"http://{host}/", b"{}", secret=SECRET, event_id="n", timestamp=1)

    assert isinstance(caught.value, PolicyRefusal)


async def test_notification_is_unread_until_a_page_has_shown_it(made: Setup) -> None:
    service = made.make()
    await service.add(RUN, "run")
    await service.add(RUN, "run")  # the same key

    known = await service.list(None)
    assert (known.unread, len(known.notifications), made.changes) == (1, 1, 1)

    again = made.make()  # after a restart
    seen = await again.seen([known.notifications[0].id], None)

    assert (seen.unread, len(seen.notifications)) == (0, 1)


async def test_text_is_bounded_and_without_secrets_and_hidden_characters(made: Setup) -> None:
    service = made.make()
    await service.add(
        Notification(
            key="k", title="a\u202eb\n" + "t" * 200, message="key sk-secret " + "m" * 2000
        ),
        "agent",
    )

    (stored,) = (await service.list(None)).notifications

    assert stored.title.startswith("ab ttt")
    assert (len(stored.title), len(stored.message)) == (120, 1_000)
    assert "sk-secret" not in stored.message


async def test_user_sees_no_notifications_of_another(made: Setup) -> None:
    service = made.make()
    await service.add(Notification(key="k", title="t", message="m", owner="ada"), "run")
    (stored,) = (await service.list("ada")).notifications

    await service.seen([stored.id], "bob")

    assert (await service.list("bob")).notifications == ()
    assert (await service.list("ada")).unread == 1


async def test_waiting_conversation_that_a_page_shows_is_not_sent(made: Setup) -> None:
    made.url = "http://127.0.0.1:9/"
    service = made.make(grace=60)
    await service.add(Notification(key="waiting.s.1", title="t", message="m"), "waiting")
    (stored,) = (await service.list(None)).notifications
    assert service.webhook.queued() == 1

    await service.seen([stored.id], None)
    assert service.webhook.queued() == 0

    await service.add(Notification(key="waiting.s.2", title="t", message="m"), "waiting")
    await service.withdraw("waiting.s.2")
    assert service.webhook.queued() == 0


def waits(seq: int, status: str) -> LoggedEvent:
    session = new_session("waiting").model_copy(update={"status": status})
    return LoggedEvent(
        SessionUpdate(session_id=session.id, session=session, seq=seq, at="2026-01-01T00:00:00Z"),
        "",
    )


async def test_what_waits_is_stored_in_order_before_the_close_and_nothing_after_it(
    made: Setup,
) -> None:
    service = made.make()
    waiting = WaitingConversations(service)
    for seq, status in enumerate(["waiting", "running", "waiting"], 1):
        waiting.on_event(waits(seq, status))

    await waiting.aclose()
    waiting.on_event(waits(4, "running"))

    seen = [each.seen for each in (await service.list(None)).notifications]
    assert seen == [False, True], "the latest first"


@pytest.mark.parametrize("starts", [False, True], ids=["never started", "started"])
async def test_a_host_that_closes_at_once_leaves_no_task(
    tmp_path: Path, isolated_home: Path, starts: bool
) -> None:
    before = asyncio.all_tasks()
    settings = HostSettings(tmp_path, tmp_path / ".shoulders", isolated_home)
    host = build_host(settings, HostPorts(kernels=NoKernels(), pages=NoPages(), environ={}))
    if starts:
        await host.ready()
    host.hub.publish(waits(1, "waiting"))
    host.hub.publish(waits(2, "running"))
    host.automation.notifier.notify(RUN)

    await host.aclose()
    await host.automation.notifications.withdraw("run.1")
    host.hub.publish(waits(3, "waiting"))

    assert asyncio.all_tasks() == before
    known = (await host.automation.notifications.list(None)).notifications
    assert {each.title for each in known} == {"Report: done", "waiting: waiting for you"}
