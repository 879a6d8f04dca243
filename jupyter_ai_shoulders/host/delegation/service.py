"""Runs sub-agents over the engine: one child conversation for each call of ``delegate``.

Made by ``host.build``; implements ``tools.agent.delegate.SubAgents``. Mode, toolset and permissions
are never wider than those of the parent; see docs/design/sub-agents.md.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from jupyter_ai_shoulders.assist.document_notes import ReadingOrder
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentRecord
from jupyter_ai_shoulders.host.delegation.citations import CitationChecker
from jupyter_ai_shoulders.host.delegation.documents import DocumentReader, PreparedDocument
from jupyter_ai_shoulders.host.delegation.endings import bounded, ending
from jupyter_ai_shoulders.host.delegation.follower import SubAgentFollower
from jupyter_ai_shoulders.host.delegation.sub_agent_ids import sub_agent_id
from jupyter_ai_shoulders.host.delegation.terms import check_may_delegate, narrowed
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.notebook.execution.own_kernels import KernelsOfSubAgents
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.tools.agent.delegate import (
    DelegateArguments,
    SubAgentReport,
    task_label,
)
from jupyter_ai_shoulders.tools.base import CallContext, Progress
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.events import (
    ContextAdd,
    Opener,
    SessionCreate,
    UntrustedTextSource,
)
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import FileAttachment
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import ParentCall, Session
from jupyter_ai_shoulders.wire.versions import well_formed

AT_ONCE = 3
"""Sub-agents of one turn that work at the same time; further ones wait."""
CHECK_SECONDS = 5.0
"""How often a waiting call looks whether its sub-agent is still alive."""
STOP_SECONDS = 2.5
"""How long a cancelled call waits for its sub-agent; the engine gives the call itself 3 s."""
_QUEUED = f"Waiting: {AT_ONCE} sub-agents work already"


@dataclass(frozen=True, slots=True)
class DelegationPorts:
    """What sub-agents need of the host."""

    sessions: SqliteSessions
    conversations: Callable[[], SessionService]
    engine: Callable[[], Engine]
    resolve: Callable[[ModelId | None], ResolvedModel]
    log: EventLog
    blobs: Blobs
    events: EventBus
    ids: IdSource
    documents: DocumentReader
    citations: CitationChecker
    kernels: KernelsOfSubAgents


class SubAgentService:
    """Starts, follows and stops sub-agents."""

    def __init__(self, ports: DelegationPorts) -> None:
        self._ports = ports
        self._places: WeakValueDictionary[TurnId, asyncio.Semaphore] = WeakValueDictionary()

    async def work(
        self, order: DelegateArguments, context: CallContext
    ) -> AsyncGenerator[Progress | SubAgentReport]:
        """See ``SubAgents.work``."""
        parent = self._ports.sessions.get(context.session_id)
        check_may_delegate(parent, order, context)
        places = self._places.get(context.turn_id)
        if places is None:
            places = self._places[context.turn_id] = asyncio.Semaphore(AT_ONCE)
        if places.locked():
            yield Progress("status", f"{_QUEUED}\n")
        async with places:
            work = _Work(self._ports, parent, order, context)
            async for item in work.run():
                yield item


class _Work:
    """One sub-agent from its documents to its report."""

    def __init__(
        self,
        ports: DelegationPorts,
        parent: Session,
        order: DelegateArguments,
        context: CallContext,
    ) -> None:
        self._ports = ports
        self._parent = parent
        self._order = order
        self._context = context
        self._id = sub_agent_id(parent.id, context.call_id)
        self._follower = SubAgentFollower()
        self._documents: tuple[PreparedDocument, ...] = ()

    async def run(self) -> AsyncGenerator[Progress | SubAgentReport]:
        async for progress in self._prepare():
            yield progress
        await self._begin()
        try:
            async for progress in self._follow():
                yield progress
        except BaseException:
            await self._stop()
            raise
        finally:
            self._ports.events.unfollow(self._id, self._follower)
            await self._ports.kernels.end(self._id)
        yield await self._report()

    # documents

    async def _prepare(self) -> AsyncGenerator[Progress]:
        """Read the documents while telling how far it is."""
        if not self._order.documents:
            return
        progress: asyncio.Queue[str] = asyncio.Queue()
        context = self._context
        spec = self._ports.resolve(self._parent.model).spec
        account = UsageAccount("other", context.session_id, context.turn_id)
        reading = asyncio.create_task(
            self._ports.documents.prepared(
                self._order.documents,
                ReadingOrder(self._order.task, account),
                spec,
                context,
                progress.put_nowait,
            )
        )
        try:
            while not reading.done():
                update = asyncio.create_task(progress.get())
                await asyncio.wait({reading, update}, return_when=asyncio.FIRST_COMPLETED)
                if update.done():
                    yield Progress("status", f"{update.result()}\n")
                else:
                    update.cancel()
        finally:
            reading.cancel()
            await asyncio.wait({reading})
        self._documents = reading.result()

    # the conversation

    async def _begin(self) -> None:
        """Create the conversation and send the task."""
        ports, parent, context = self._ports, self._parent, self._context
        mode, toolset = narrowed(context.mode, context.toolset, self._order.toolset)
        session = ports.conversations().create(
            CreateSession(
                kind="run",
                source="delegate",
                title=task_label(self._order.task),
                model=parent.model,
                mode=mode,
                toolset=toolset,
                interactive=context.interactive,
            ),
            parent.owner,
            self._id,
            opener=self._opener(),
            parent=ParentCall(
                session_id=parent.id, call_id=context.call_id, turn_id=context.turn_id
            ),
        )
        crash_point("delegation.child.created")
        message = MessageId(ports.ids.new("msg"))
        attached = self._enter_notes(session.id, message)
        ports.events.follow(session.id, self._follower, self._follower.close)
        try:
            await ports.engine().send(
                session.id,
                SendMessage(
                    id=message,
                    text=well_formed(self._text()),
                    attachments=attached,
                    client_id=context.client_id,
                ),
            )
        except BaseException:
            ports.events.unfollow(session.id, self._follower)
            await self._stop()
            raise
        crash_point("delegation.task.sent")

    def _enter_notes(self, session_id: SessionId, message: MessageId) -> tuple[FileAttachment, ...]:
        """Log the notes as what the message's attachments contain, so that they count as data."""
        read = [each for each in self._documents if each.notes is not None]
        for index, document in enumerate(read):
            record = AttachmentRecord(
                message_id=message,
                index=index,
                content=(TextPart(text=well_formed(document.notes or "")),),
                note=document.note,
            )
            blob = self._ports.blobs.put(record.model_dump_json().encode())
            self._ports.log.append(
                session_id, ContextAdd(role="attachment", source=document.name, blob=blob)
            )
        return tuple(FileAttachment(kind="file", path=document.name) for document in read)

    def _text(self) -> str:
        named = [
            f"- {each.name}" + (f" ({each.note})" if each.note else "")
            for each in self._documents
            if each.notes is None
        ]
        listed = ["Documents:", *named] if named else []
        return "\n".join([self._order.task, *listed])

    def _opener(self) -> Opener:
        """Return the record of who prompts it, with the untrusted text that may be in the task."""
        parent = self._parent.id
        (first,) = self._ports.log.read(parent, 0, 1)
        opener = first.event.opener if isinstance(first.event, SessionCreate) else None
        return Opener(
            session_id=parent,
            call_id=self._context.call_id,
            depth=1 + (opener.depth if opener else 0),
            sources=tuple(
                UntrustedTextSource(label=source.label, path=source.path)
                for source in self._ports.engine().sources(parent)
            ),
        )

    # its work

    async def _follow(self) -> AsyncGenerator[Progress]:
        follower = self._follower
        while not follower.is_over:
            await follower.wait(CHECK_SECONDS)
            if not follower.is_over and not self._ports.engine().is_running(self._id):
                follower.close()
            state = follower.take_state()
            if state is not None:
                yield Progress("status", f"{state}\n")
        if follower.ended is None and not follower.closed:
            await self._stop()  # paused at a limit that is the parent's too
        crash_point("delegation.child.ended")

    async def _stop(self) -> None:
        """Stop the sub-agent's turn; what it does not settle in time, the engine settles."""
        engine = self._ports.engine()
        with contextlib.suppress(ShouldersError, TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await engine.cancel(self._id)
                await engine.settled(self._id)

    async def _report(self) -> SubAgentReport:
        follower = self._follower
        session = self._ports.sessions.get(self._id)
        outcome, error = ending(follower)
        summary = follower.summary or (follower.ended.summary if follower.ended else None) or ""
        summary, citations = await self._ports.citations.checked(
            bounded(summary),
            {each.name: each.lines for each in self._documents if each.lines is not None},
        )
        return SubAgentReport(
            session_id=self._id,
            outcome=outcome,
            summary=summary,
            citations=citations,
            sources=self._sources(),
            notes=self._notes(),
            steps=follower.steps,
            tokens=follower.tokens,
            cost_micro_usd=session.cost_micro_usd,
            error=error,
        )

    def _sources(self) -> Sequence[TaintSource]:
        return tuple(self._ports.engine().sources(self._id))

    def _notes(self) -> tuple[str, ...]:
        wanted = self._order.toolset
        _, got = narrowed(self._context.mode, self._context.toolset, wanted)
        narrow = wanted not in {"read", got}
        return (
            *((f"It had the toolset {got}, as this conversation has no more.",) if narrow else ()),
            *(f"{each.name}: {each.note}." for each in self._documents if each.note is not None),
        )
