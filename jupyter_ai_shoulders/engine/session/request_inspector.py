"""Shows requests: sent ones, rebuilt from the log, and previews.

Used by the handlers of ``sessions/{id}/requests/{step}`` and ``preview``. Records nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator

from jupyter_ai_shoulders.core.clock import timestamp
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.engine.loop.operations import (
    PrepareRequest,
    RequestOverflowed,
    RequestPrepared,
)
from jupyter_ai_shoulders.engine.loop.state import TurnState
from jupyter_ai_shoulders.engine.ports import ResolvedModel
from jupyter_ai_shoulders.engine.request.builder import RequestBuilder
from jupyter_ai_shoulders.engine.request.context import SessionContext, output_reserve
from jupyter_ai_shoulders.engine.request.memory_facts import remembered_in
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.wire.api.model_requests import MessageRange, PreviewMessage, RequestView
from jupyter_ai_shoulders.wire.conversation.branches import HIDING, Branches
from jupyter_ai_shoulders.wire.events import (
    Event,
    MessageAdd,
    StepStart,
    TurnResume,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import BlobHash, MessageId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Session

PAGE = 500
"""Events read between two iterations of the event loop."""
_TURN = TurnId("turn_preview")
_MESSAGE = MessageId("msg_preview")


class RequestInspector:
    """Requests of any session."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    async def sent(
        self, session_id: SessionId, step: int, turn_id: TurnId | None = None
    ) -> RequestView:
        """Return the request of a step, of the latest turn unless another is named.

        For a repeated step, returns its last request. Raises ``NotFound``.
        """
        start, seq = await self._find(session_id, step, turn_id)
        context = SessionContext(self._services.blobs)
        tokens, window = 0, None
        async for event in self._in_sight(session_id, seq):
            context.add(event)
            if event.seq == seq and isinstance(event, StepStart):
                tokens, window = event.tokens_used, event.window
                break
        built = context.built()
        try:
            max_output = output_reserve(self._services.models.resolve(start.model).spec)
        except ShouldersError:  # the model is no longer configured
            max_output = None
        return RequestView(
            session_id=session_id,
            turn_id=start.turn_id,
            step=step,
            model=start.model,
            provider=start.provider,
            system=built.system,
            messages=built.messages,
            tools=built.tools,
            tokens=tokens,
            window=window,
            max_output=max_output,
            memory=remembered_in(context.facts),
        )

    async def preview(self, session: Session, command: PreviewMessage) -> RequestView:
        """Return the first request that sending this message would cause.

        Raises ``InvalidRequest`` (blank), ``ShouldersError`` (model).
        """
        if not command.text.strip() and not command.attachments:
            raise InvalidRequest("text: a message needs text or an attachment.")
        resolved = self._services.models.resolve(command.model or session.model)
        preparation = self._scratch()
        async for event in self._in_sight(session.id):
            preparation.record(event)
        turn = self._turn(session, command, resolved)
        preparation.record(self._message(command))
        preparation.record(_turn_start(turn))
        operation = PrepareRequest(1, fresh=True)
        request, size = await preparation.build(operation, turn, session, resolved.spec)
        return RequestView(
            session_id=session.id,
            turn_id=None,
            step=1,
            model=resolved.spec.id,
            provider=resolved.spec.provider,
            system=request.system,
            messages=request.messages,
            tools=request.tools,
            tokens=size.tokens,
            window=size.window,
            max_output=request.max_output,
            replaces=_replaced(preparation, size),
            memory=remembered_in(preparation.context.facts),
        )

    def _scratch(self) -> RequestBuilder:
        """Return a builder that records into memory only."""
        services = self._services
        blobs = ScratchBlobs(services.blobs)
        context, index = SessionContext(blobs), SessionIndex()

        def take(event: Event) -> None:
            context.add(event)
            index.add(event)

        return RequestBuilder(
            context=context,
            index=index,
            record=take,
            blobs=blobs,
            tools=services.tools,
            rules=services.rules,
            clock=services.clock,
            settings=services.settings,
            encoded=services.encoded,
            environment=services.environment,
        )

    def _message(self, command: PreviewMessage) -> MessageAdd:
        return MessageAdd(
            message_id=_MESSAGE,
            turn_id=_TURN,
            at=timestamp(self._services.clock.now()),
            text=command.text,
            attachments=command.attachments,
            context=command.context,
        )

    def _turn(
        self, session: Session, command: PreviewMessage, resolved: ResolvedModel
    ) -> TurnState:
        settings = self._services.settings
        small = session.toolset == "document"
        return TurnState(
            turn_id=_TURN,
            model=resolved.spec.id,
            provider=resolved.spec.provider,
            mode=command.mode or session.mode,
            step_limit=settings.document_step_limit if small else settings.step_limit,
        )

    async def _find(
        self, session_id: SessionId, step: int, turn_id: TurnId | None
    ) -> tuple[TurnStart | TurnResume, int]:
        """Return the start or resumption of the turn, and the ``seq`` of the step."""
        start: TurnStart | TurnResume | None = None
        found: tuple[TurnStart | TurnResume, int] | None = None
        async for event in self._events(session_id):
            match event:
                case TurnStart() | TurnResume():
                    start = event
                    if turn_id is None and isinstance(event, TurnStart):
                        found = None  # only the latest turn counts
                case StepStart(step=number) if number == step and start is not None:
                    if turn_id in {None, start.turn_id}:
                        found = (start, event.seq)
                case _:
                    pass
        if found is None:
            raise NotFound(
                f"There was no step {step} in {'the last turn' if turn_id is None else turn_id}."
            )
        return found

    async def _in_sight(
        self, session_id: SessionId, until: int | None = None
    ) -> AsyncIterator[Event]:
        """Yield the events not hidden by an edit, as of ``until`` or now."""
        said = self._services.log.find(HIDING, session_id)
        events = (logged.event for logged in said)
        branches = Branches(event for event in events if until is None or event.seq < until)
        async for event in self._events(session_id):
            if not branches.hides(event.seq):
                yield event

    async def _events(self, session_id: SessionId) -> AsyncIterator[Event]:
        """Yield the log page by page, so that a long one does not block the event loop."""
        seq = 0
        while page := self._services.log.read(session_id, seq, PAGE):
            for logged in page:
                yield logged.event
            seq = page[-1].event.seq
            await asyncio.sleep(0)


class ScratchBlobs:
    """Blobs over others; new ones stay in memory."""

    def __init__(self, below: Blobs) -> None:
        self._below = below
        self._own: dict[BlobHash, bytes] = {}

    def put(self, content: bytes) -> BlobHash:
        """Keep ``content`` in memory; return its hash."""
        blob = BlobHash(hashlib.sha256(content).hexdigest())
        self._own[blob] = content
        return blob

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``."""
        return self._own[blob] if blob in self._own else self._below.get(blob)


def _replaced(
    preparation: RequestBuilder, size: RequestPrepared | RequestOverflowed
) -> MessageRange | None:
    """Return the range a compaction would replace before sending."""
    middle = preparation.context.compactable_range()
    wanted = isinstance(size, RequestOverflowed) and size.compactable
    if middle is None or not wanted or preparation.settings.compaction == "off":
        return None
    return MessageRange(start=middle.start, end=middle.end)


def _turn_start(turn: TurnState) -> TurnStart:
    return TurnStart(
        turn_id=turn.turn_id,
        message_id=_MESSAGE,
        model=turn.model,
        provider=turn.provider,
        mode=turn.mode,
        step_limit=turn.step_limit,
    )
