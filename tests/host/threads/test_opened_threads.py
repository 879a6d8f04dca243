"""Threads that agents open: nesting, inheritance, and none without its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.conversation.task_threads import ThreadRequest
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    CreateSession,
    ForkSession,
    SendMessage,
)
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from tests.host.threads.test_service import ADD, LOAD, MODEL, anchored, of, opened, say


class Refusing:
    """An engine that accepts no message."""

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        raise PolicyRefusal("The month's budget is used up.", code="budget_exhausted")

    def sources(self, session_id: SessionId) -> Sequence[TaintSource]:
        return ()


def threads_of(host: Host, engine: object | None = None) -> ThreadService:
    return ThreadService(
        host.sessions,
        host.log,
        CountingIds(),
        conversations=lambda: host.session_service,
        engine=lambda: cast("Refusing", engine or host.engine),
    )


def opening(by: Session) -> ThreadRequest:
    return ThreadRequest(anchored(), "Look.", by.id, "ask", CallId("call"))


def tasks(host: Host) -> Sequence[Session]:
    return host.sessions.page(SessionFilter(kind="task"), None, 10).sessions


async def test_no_thread_stays_whose_prompt_was_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, _):
        chat = host.session_service.create(CreateSession(model=MODEL), owner=None)

        with pytest.raises(ShouldersError, match="budget"):
            await threads_of(host, Refusing()).open(opening(chat))

        assert tasks(host) == ()


async def test_threads_that_open_threads_come_to_an_end(tmp_path: Path) -> None:
    async with opened(tmp_path, "One.", "Two.") as (host, _):
        chat = host.session_service.create(CreateSession(model=MODEL), owner=None)
        threads = threads_of(host)
        first = await threads.open(opening(chat))
        second = await threads.open(opening(first))

        with pytest.raises(PolicyRefusal, match="opened by a task"):
            await threads.open(opening(second))

        openers = [of(host, each.id, ev.SessionCreate)[0].opener for each in (first, second)]
        assert [opener and (opener.session_id, opener.depth) for opener in openers] == [
            (chat.id, 1),
            (first.id, 2),
        ]
        assert len(tasks(host)) == 2
        for each in (first, second):
            await host.engine.settled(each.id)


async def test_what_the_opener_had_read_is_known_of_its_thread_and_of_copies(
    tmp_path: Path,
) -> None:
    read = Call("list_files", {}, "list")
    script = (turn(read), turn(LOAD), turn(ADD), "Done.", "Done.")
    async with opened(tmp_path, *script) as (host, _):
        chat = host.session_service.create(CreateSession(mode="ask", model=MODEL), owner=None)
        await say(host, chat)
        allow = AnswerApproval(decision="allow", scope="once")
        await host.engine.responses.answer_approval(chat.id, CallId("add"), allow)
        await host.engine.settled(chat.id)
        (thread,) = tasks(host)
        await host.engine.settled(thread.id)

        (created,) = of(host, thread.id, ev.SessionCreate)
        assert created.opener is not None
        assert (created.opener.session_id, created.opener.call_id) == (chat.id, "add")
        assert [source.label for source in created.opener.sources] == ["names of files"]
        assert TaintSource("names of files") in host.engine.sources(thread.id)
        copy = await host.forks.fork(thread, ForkSession(seq=1))
        assert of(host, copy.id, ev.SessionCreate)[0].opener == created.opener


async def test_threads_without_a_prompt_are_cleared_up_after_a_crash(tmp_path: Path) -> None:
    async with opened(tmp_path, "Done.") as (host, _):
        task = CreateSession(kind="task", model=MODEL, anchor=anchored())
        chat = host.session_service.create(CreateSession(model=MODEL), owner=None)
        begun = await threads_of(host).open(opening(chat))
        await host.engine.settled(begun.id)
        (event,) = of(host, begun.id, ev.SessionCreate)
        by_hand = host.session_service.create(task, None)
        host.session_service.create(task, None, opener=event.opener)  # the server died here

        await threads_of(host).delete_unstarted()

        assert {session.id for session in tasks(host)} == {begun.id, by_hand.id}
