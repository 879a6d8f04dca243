"""The terminal chat with an engine in this process, which runs in a separate thread.

Made by ``in_process``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any, TypeVar

from jupyter_ai_shoulders.cli.backend import ExportFormat
from jupyter_ai_shoulders.cli.chat.chat_backend import PageLink
from jupyter_ai_shoulders.client.interrupts import defer_interrupt
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    CreateSession,
    DecideEdits,
    DecideProposal,
    PatchSession,
    RestoreSession,
    ResumeTurn,
    SendMessage,
    UndoTurn,
)
from jupyter_ai_shoulders.wire.api.mentions import SkillSummary
from jupyter_ai_shoulders.wire.api.responses import ModelList, ToolInfo
from jupyter_ai_shoulders.wire.edits import EditDecisions, PendingEdit, Proposal
from jupyter_ai_shoulders.wire.events import Event, Restore
from jupyter_ai_shoulders.wire.frames import PageFrame, ServerFrame, TextEditor
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import Usage, UsageQuery

WAKE_SECONDS = 0.5
"""Waits are cut this often: Ctrl+C does not end a wait on Windows, or one that is just starting."""

Serve = Callable[[Callable[[Host], Awaitable[None]]], Coroutine[Any, Any, None]]
"""Makes an engine, uses it, and ends it."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class _Engine:
    """A running engine."""

    host: Host
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event

    def end(self) -> None:
        """Stop the engine, from any thread."""
        self.loop.call_soon_threadsafe(self.stop.set)


@dataclass(frozen=True, slots=True)
class _EditorLink:
    """See ``PageLink``."""

    engine: _Engine
    client_id: ClientId

    def wait(self) -> bool:
        """See ``PageLink.wait``."""
        return True

    def send(self, frame: PageFrame) -> None:
        """See ``PageLink.send``."""
        live = self.engine.host.services.files.live
        self.engine.loop.call_soon_threadsafe(live.handle, self.client_id, frame)

    def close(self) -> None:
        """See ``PageLink.close``."""
        live = self.engine.host.services.files.live
        self.engine.loop.call_soon_threadsafe(live.disconnected, self.client_id)


class _EventQueue:
    """Events passed from the engine's thread to the terminal's; an ``EventListener``."""

    def __init__(self) -> None:
        self._queue: Queue[Event | None] = Queue()

    def on_event(self, logged: LoggedEvent) -> None:
        """Queue a committed event."""
        self._queue.put(logged.event)

    def ended(self) -> None:
        """Mark the end of the events."""
        self._queue.put(None)

    def next(self) -> Event | None:
        """Wait for the next event and return it, None at the end."""
        while True:
            try:
                return self._queue.get(timeout=WAKE_SECONDS)
            except Empty:
                continue


class InProcessChat:
    """See ``ChatBackend``."""

    def __init__(
        self, serve: Serve, editors: dict[ClientId, Callable[[ServerFrame], None]]
    ) -> None:
        """Start the engine. Raises errors of its start, and ``KeyboardInterrupt``.

        ``editors`` are what the engine sends frames to.

        An interrupt inside ``wait`` could leave locks behind that the engine needs.
        """
        self._editors = editors
        self._thread = ThreadPoolExecutor(1, "engine")
        ready: Future[_Engine] = Future()
        with defer_interrupt() as held:
            self._done = self._thread.submit(_serve, serve, ready)
            either: list[Future[Any]] = [ready, self._done]
            while not (held.received or wait(either, WAKE_SECONDS, FIRST_COMPLETED).done):
                pass
        if held.received:  # else the process would wait for the engine's thread for ever
            ready.add_done_callback(lambda engine: engine.result().end())
            raise KeyboardInterrupt
        if not ready.done():
            self._done.result()
        self._engine = ready.result()

    def close(self) -> None:
        """See ``ChatBackend.close``."""
        self._engine.end()
        self._done.result()
        self._thread.shutdown()

    def connect_editor(
        self, client_id: ClientId, editor: TextEditor, receive: Callable[[ServerFrame], None]
    ) -> PageLink:
        """See ``ChatPages.connect_editor``."""
        live = self._engine.host.services.files.live

        def connect() -> None:
            self._editors[client_id] = receive
            live.connected(client_id)
            live.handle(client_id, editor)

        self._now(connect)
        return _EditorLink(self._engine, client_id)

    def past(self, session_id: SessionId) -> list[Event]:
        """See ``ChatTurns.past``."""
        return self._past(session_id, 0)

    def events(self, session_id: SessionId, after: int) -> Generator[Event]:
        """See ``ChatTurns.events``."""
        news, hub = _EventQueue(), self._engine.host.hub
        self._now(lambda: hub.follow(session_id, news, news.ended))
        try:
            for event in self._past(session_id, after):
                after = event.seq
                yield event
            while (event := news.next()) is not None:
                if event.seq > after:
                    after = event.seq
                    yield event
        finally:
            self._now(lambda: hub.unfollow(session_id, news))

    def send(self, session_id: SessionId, message: SendMessage) -> None:
        """See ``ChatTurns.send``."""
        host = self._engine.host

        async def send() -> None:
            host.services.current_page.set_client(message.client_id)
            await host.engine.send(session_id, message)

        self._do(send())

    def cancel(self, session_id: SessionId) -> None:
        """See ``ChatTurns.cancel``."""
        self._do(self._engine.host.engine.cancel(session_id))

    def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """See ``ChatTurns.resume``."""
        self._do(self._engine.host.engine.resume(session_id, command))

    def approve(self, session_id: SessionId, call_id: CallId, command: AnswerApproval) -> None:
        """See ``ChatAnswers.approve``."""
        self._do(self._engine.host.engine.responses.answer_approval(session_id, call_id, command))

    def answer(self, session_id: SessionId, call_id: CallId, command: AnswerQuestion) -> None:
        """See ``ChatAnswers.answer``."""
        self._do(self._engine.host.engine.responses.answer_question(session_id, call_id, command))

    def type_in(self, session_id: SessionId, call_id: CallId, command: AnswerInput) -> None:
        """See ``ChatAnswers.type_in``."""
        self._do(self._engine.host.engine.responses.answer_input(session_id, call_id, command))

    def create(self, command: CreateSession) -> Session:
        """See ``ChatSessions.create``."""
        return self._now(lambda: self._engine.host.session_service.create(command, None))

    def session(self, session_id: SessionId) -> Session:
        """See ``ChatSessions.session``."""
        return self._now(lambda: self._engine.host.sessions.get(session_id))

    def sessions(self, limit: int) -> tuple[Session, ...]:
        """See ``ChatSessions.sessions``."""
        sessions, chosen = self._engine.host.sessions, SessionFilter(kind="chat")
        return self._now(lambda: sessions.page(chosen, None, limit).sessions)

    def change(self, session_id: SessionId, command: PatchSession) -> Session:
        """See ``ChatSessions.change``."""
        host = self._engine.host
        return self._now(
            lambda: host.session_service.change(host.sessions.get(session_id), command)
        )

    def compact(self, session_id: SessionId) -> None:
        """See ``ChatSessions.compact``."""
        self._do(self._engine.host.engine.compact(session_id))

    def export(self, session_id: SessionId, form: ExportFormat) -> str:
        """See ``ChatSessions.export``."""

        async def exported() -> str:
            pieces = self._engine.host.exporter.export(session_id, form)
            return "".join([piece async for piece in pieces])

        return self._do(exported())

    def edits(self) -> tuple[PendingEdit, ...]:
        """See ``ChatReview.edits``."""
        return self._do(self._engine.host.review.list()).edits

    def decide_edits(self, command: DecideEdits) -> EditDecisions:
        """See ``ChatReview.decide_edits``."""
        return self._do(self._engine.host.review.decide_all(command))

    def proposals(self) -> tuple[Proposal, ...]:
        """See ``ChatReview.proposals``."""
        known = self._now(self._engine.host.proposals.list)
        return tuple(proposal for proposal in known if proposal.state == "proposed")

    def decide_proposal(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """See ``ChatReview.decide_proposal``."""
        return self._do(self._engine.host.proposals.decide(proposal_id, command))

    def undo_turn(self, session_id: SessionId, command: UndoTurn) -> Restore:
        """See ``ChatReview.undo_turn``."""
        return self._do(self._engine.host.engine.restores.undo(session_id, command))

    def restore(self, session_id: SessionId, command: RestoreSession) -> Restore:
        """See ``ChatReview.restore``."""
        return self._do(self._engine.host.engine.restores.restore(session_id, command))

    def models(self) -> ModelList:
        """See ``ChatFacts.models``."""
        return self._now(self._engine.host.models.listing)

    def tools(self) -> tuple[ToolInfo, ...]:
        """See ``ChatFacts.tools``."""

        async def listed() -> tuple[ToolInfo, ...]:
            host = self._engine.host
            return host.tools.infos(
                host.rules.switched_off(), await host.commands.sandboxed_tools()
            )

        return self._do(listed())

    def skills(self) -> tuple[SkillSummary, ...]:
        """See ``ChatFacts.skills``."""
        return self._do(self._engine.host.mentions.skills()).skills

    def usage(self) -> Usage:
        """See ``ChatFacts.usage``."""
        return self._do(self._engine.host.usage.of(None).usage(UsageQuery(by="model")))

    def _past(self, session_id: SessionId, after: int) -> list[Event]:
        log = self._engine.host.log
        return self._now(lambda: [logged.event for logged in log.read(session_id, after)])

    def _do(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return asyncio.run_coroutine_threadsafe(work, self._engine.loop).result()

    def _now(self, work: Callable[[], ResultT]) -> ResultT:
        """Run ``work`` in the engine's thread, the only one that may touch its state."""

        async def done() -> ResultT:
            return work()

        return self._do(done())


def _serve(serve: Serve, ready: Future[_Engine]) -> None:
    """Run an engine until it is stopped."""

    async def work(host: Host) -> None:
        await host.models.discover(remote=False)
        engine = _Engine(host, asyncio.get_running_loop(), asyncio.Event())
        ready.set_result(engine)
        await engine.stop.wait()

    asyncio.run(serve(work))
