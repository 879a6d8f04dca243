"""A task opened by an agent, through a real host: its work, its taint, and the offered tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

from jupyter_ai_shoulders.core.anchors.text import utf16_range
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.providers.base import ModelRequest, Provider
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptedProvider, ScriptEntry, turn
from jupyter_ai_shoulders.tools.conversation.task_threads import LISTED_THREADS
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    CreateSession,
    DecideProposal,
    SendMessage,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Anchor, Session
from jupyter_ai_shoulders.wire.versions import text_version
from tests.engine.environment_harness import newest
from tests.host.test_build import NoKernels, NoPages

EventT = TypeVar("EventT", bound=ev.EventBase)
MODELS = {
    "default": "scripted",
    "providers": {"scripted": {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1"}},
    "models": [
        {
            "id": "scripted",
            "provider": "scripted",
            "model": "scripted",
            "context_window": 100_000,
            "prices": {"input": 1, "output": 1},
        }
    ],
}
FILE = "first line\nsecond line\n"
MODEL = ModelId("scripted")
LOAD = Call("load_tools", {"category": "threads"}, "load")
READ = Call("read_tasks", {}, "read")
ADD = Call("add_task", {"path": "a.txt", "quote": "second", "prompt": "Make it the third."}, "add")
PROPOSE = Call("propose_edit", {"old_string": "second", "new_string": "third"}, "propose")


@asynccontextmanager
async def opened(
    folder: Path, *script: ScriptEntry, has_owners: bool = False
) -> AsyncGenerator[tuple[Host, ScriptedProvider]]:
    root = folder / "workspace"
    root.mkdir()
    (root / "a.txt").write_text(FILE)
    provider = ScriptedProvider(*script)
    settings = HostSettings(
        workspace=root,
        state_dir=root / ".shoulders",
        home=folder / "home",
        models=MODELS,
        titles=False,
        nudges=False,
        has_owners=has_owners,
    )

    ports = HostPorts(
        kernels=NoKernels(),
        pages=NoPages(),
        environ={},
        adapter=lambda _target: cast("Provider", provider),
    )
    host = build_host(settings, ports)
    try:
        await host.ready()
        yield host, provider
    finally:
        await host.aclose()


def of(host: Host, session_id: SessionId, kind: type[EventT]) -> list[EventT]:
    events = [logged.event for logged in host.log.read(session_id)]
    return [event for event in events if isinstance(event, kind)]


def anchored() -> Anchor:
    return Anchor(
        document="a.txt",
        cell_id=None,
        target="source",
        range=utf16_range(11, 17),
        quote="second",
        prefix="first line\n",
        suffix=" line\n",
        version=text_version(FILE),
    )


def tools_of(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


async def say(host: Host, session: Session, context: MessageContext | None = None) -> None:
    command = SendMessage(id=MessageId(f"m-{session.id}"), text="Go on.", context=context)
    await host.engine.send(session.id, command)
    await host.engine.settled(session.id)


async def test_a_task_works_beside_the_chat_and_tells_what_it_said(tmp_path: Path) -> None:
    script = (turn(LOAD), turn(ADD), "In the thread.", "It is at work.", turn(READ), "It is done.")
    async with opened(tmp_path, *script) as (host, provider):
        chat = host.session_service.create(CreateSession(model=MODEL), owner=None)
        await say(host, chat)
        (asked,) = of(host, chat.id, ev.ApprovalRequest)
        assert asked.preview == "Make it the third."
        await host.engine.responses.answer_approval(
            chat.id, CallId("add"), AnswerApproval(decision="allow", scope="once")
        )
        await host.engine.settled(chat.id)

        (thread,) = host.sessions.page(SessionFilter(kind="task"), None, 10).sessions
        await host.engine.settled(thread.id)
        assert thread.anchor == anchored()
        assert (thread.mode, thread.toolset, thread.model) == (chat.mode, chat.toolset, chat.model)
        (message,) = of(host, thread.id, ev.MessageAdd)
        assert message.text == "Make it the third."

        about = next(r for r in provider.requests if "Make it the third." in newest(r))
        assert "this conversation is about: line 2 of a.txt" in newest(about)
        assert "propose_edit" in tools_of(about)
        assert all("propose_edit" not in tools_of(r) for r in provider.requests if r is not about)


async def test_what_a_thread_proposes_waits_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, turn(PROPOSE), "Proposed.") as (host, _):
        created = CreateSession(kind="task", model=MODEL, anchor=anchored())
        thread = host.session_service.create(created, owner=None)

        await say(host, thread, MessageContext(open_documents=("a.txt",)))

        (proposal,) = host.proposals.list()
        assert (proposal.session_id, proposal.new) == (thread.id, "first line\nthird line\n")
        assert (tmp_path / "workspace" / "a.txt").read_text() == FILE
        await host.proposals.decide(proposal.id, DecideProposal(decision="apply"))
        assert (tmp_path / "workspace" / "a.txt").read_text() == "first line\nthird line\n"


async def test_a_shared_conversation_on_a_hub_lists_no_users_tasks(tmp_path: Path) -> None:
    script = (turn(LOAD), turn(READ), "Listed.", turn(LOAD), turn(READ), "Listed.")
    async with opened(tmp_path, *script, has_owners=True) as (host, _):
        for title, owner in (("ana's", "ana"), ("everybody's", None)):
            task = CreateSession(kind="task", title=title, model=MODEL, anchor=anchored())
            host.session_service.create(task, owner)
        for owner, titles in ((None, {"everybody's"}), ("ana", {"ana's", "everybody's"})):
            chat = host.session_service.create(CreateSession(model=MODEL), owner)
            await say(host, chat)
            (read,) = (r for r in of(host, chat.id, ev.ToolResult) if r.tool == "read_tasks")
            assert isinstance(read.result.data, list)
            shown = {str(row["title"]) for row in read.result.data if isinstance(row, dict)}
            assert shown == titles


class CountingLog:
    """Counts whose events are read."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.asked: list[SessionId] = []

    def last_seq(self, session_id: SessionId) -> int:
        self.asked.append(session_id)
        return self._log.last_seq(session_id)

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)


async def test_no_log_is_read_of_tasks_that_are_not_listed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, _):
        task = CreateSession(kind="task", model=MODEL, anchor=anchored())
        made = [host.session_service.create(task, None) for _ in range(LISTED_THREADS + 2)]
        log = CountingLog(host.log)
        threads = ThreadService(
            host.sessions,
            cast("EventLog", log),
            CountingIds(),
            conversations=lambda: host.session_service,
            engine=lambda: host.engine,
        )
        found = await threads.list_threads(SessionId("ses_none"), None)
        assert (len(found), len(log.asked)) == (LISTED_THREADS + 2, LISTED_THREADS)
        assert log.asked[0] == made[-1].id


async def test_the_document_taints_the_thread_at_it(tmp_path: Path) -> None:
    create = Call("create_file", {"path": "b.txt", "content": "b"}, "create")
    load = Call("load_tools", {"category": "workspace"}, "load")
    for opened_documents in ((), ("a.txt",)):
        folder = tmp_path / str(len(opened_documents))
        folder.mkdir()
        async with opened(folder, turn(load), turn(create), "Done.") as (host, _):
            created = CreateSession(kind="task", mode="bypass", model=MODEL, anchor=anchored())
            thread = host.session_service.create(created, owner=None)
            command = SendMessage(
                id=MessageId("m"),
                text="Go.",
                mode="bypass",
                context=MessageContext(open_documents=opened_documents),
            )
            await host.engine.send(thread.id, command)
            await host.engine.settled(thread.id)
            asked = of(host, thread.id, ev.ApprovalRequest)
            assert [request.reason.kind for request in asked] == ["taint"]
