"""Restores sessions to an earlier point: checks the request, restores documents, hides the
conversation.

Made by ``engine.engine``. Nothing is sent to a session during a restore. The checkpoint that starts
a restore names the request, so that one cut off by a crash is found and repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from jupyter_ai_shoulders.changes.recording.change_history import document_changed_within_turn
from jupyter_ai_shoulders.changes.restore.restorer import DocumentRestorer, RestoreResult
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.engine.loop.commands import CallOutcomesFound, DiscardInterrupted
from jupyter_ai_shoulders.engine.loop.state import Interrupted, Stopping
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.message_edit import replaced_messages
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.wire.api.commands import RestoreSession, UndoTurn
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import (
    Checkpoint,
    Event,
    ProposalAdd,
    ProposalResolve,
    Replaced,
    Restore,
    RestorePart,
)
from jupyter_ai_shoulders.wire.ids import MessageId, ProposalId, RestoreId, SessionId, TurnId

log = logging.getLogger(__name__)

_INVALIDATING_TYPES = frozenset({"message-add", "cells-change", "restore", "proposal-resolve"})
"""Events after which the same request is a new restore."""


@dataclass(frozen=True, slots=True)
class _RestorePoint:
    """The event before which to restore."""

    seq: int
    message_id: MessageId | None
    undone: RestoreId | None = None
    turn_id: TurnId | None = None
    """The turn or restore that alone is undone."""

    within: frozenset[RestorePart] = frozenset({"notebook", "files", "conversation"})
    """The parts that can be restored: for a restore, the parts it restored."""

    @property
    def after(self) -> int:
        """The event after which changes are undone."""
        return self.seq - 1 if self.turn_id is None else 0


class RestoreService:
    """Restores sessions, one restore of a session at a time."""

    def __init__(
        self, cache: SessionCache, services: EngineServices, restorer: DocumentRestorer
    ) -> None:
        self._cache = cache
        self._services = services
        self._restorer = restorer
        self._locks: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()

    async def wait_for_restore(self, session_id: SessionId) -> bool:
        """Wait for a running restore of the session; return whether there was one."""
        lock = self._locks.get(session_id)
        if lock is None or not lock.locked():
            return False
        async with lock:
            return True

    async def restore(self, session_id: SessionId, command: RestoreSession) -> Restore:
        """Restore, or return the earlier result of the same request.

        Raises ``NotFound`` (session), ``InvalidRequest`` (no such message), ``Conflict``
        (``turn_running``, a cell still runs, messages wait), ``StateUnavailable``.
        """
        return await self._run_exclusively(
            session_id, command, lambda driver: self._point(driver, command)
        )

    async def undo(self, session_id: SessionId, command: UndoTurn) -> Restore:
        """Undo the changes of a turn, or return the earlier result of the same request.

        Raises ``NotFound`` (session, turn) and as ``restore``.
        """
        start = self._find_turn_start(session_id, command.turn_id)
        point = _RestorePoint(start, None, turn_id=command.turn_id)
        wish = RestoreSession(seq=start, what=("files", "notebook"), id=command.id)
        return await self._run_exclusively(session_id, wish, lambda _: point)

    async def _run_exclusively(
        self,
        session_id: SessionId,
        command: RestoreSession,
        find: Callable[[SessionDriver], _RestorePoint],
    ) -> Restore:
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            driver = await self._cache.get_driver(session_id)
            done = self._done(session_id, command)
            if done is not None:
                return done
            if isinstance(driver.state.phase, Stopping):
                await driver.wait_until_idle()
                driver = await self._cache.get_driver(session_id)
            _refuse_busy(driver)
            return await self._restore(driver, command, find(driver))

    async def resume_unfinished(self) -> None:
        """Finish the restores of a dead process; failures are logged."""
        for session_id, order, seq in self._unfinished():
            if self._has_later_message(session_id, seq):
                continue
            try:
                await self._resume_restore(session_id, order)
            except ShouldersError:
                log.exception("The restore that %s was in could not be finished", session_id)

    async def _resume_restore(self, session_id: SessionId, order: RestoreRequest) -> None:
        turn_id = order.turn_id
        if turn_id is not None and order.seq == self._starts(session_id).get(turn_id):
            await self.undo(session_id, UndoTurn(turn_id=turn_id, id=order.restore_id))
        else:
            command = RestoreSession(seq=order.seq, what=order.what, id=order.restore_id)
            await self.restore(session_id, command)

    async def _restore(
        self, driver: SessionDriver, command: RestoreSession, point: _RestorePoint
    ) -> Restore:
        session_id = driver.session_id
        if isinstance(driver.state.phase, Interrupted):
            found = await driver.find_interrupted_outcomes()
            if found:
                driver.dispatch(CallOutcomesFound(found))
            driver.dispatch(DiscardInterrupted())
            crash_point("restore.turn.discarded")
        restore_id = command.id or RestoreId(self._services.ids.new("restore"))
        order = RestoreRequest(
            restore_id=restore_id,
            seq=command.seq,
            what=_ordered(command.what),
            turn_id=point.turn_id,
        )
        result = RestoreResult()
        meant = order.model_copy(update={"what": _ordered(tuple(point.within & {*order.what}))})
        if meant.what != ("conversation",):
            result = await self._restorer.restore(session_id, meant, point.after)
            self._dismiss(session_id, point, {item.document for item in result.documents})
        event = await self._conclude(driver, order, point, result)
        await self._services.log.sync()
        crash_point("restore.event.synced")
        return event

    async def _conclude(
        self,
        driver: SessionDriver,
        order: RestoreRequest,
        point: _RestorePoint,
        result: RestoreResult,
    ) -> Restore:
        """Record the restore; this hides the conversation."""
        replaced: Replaced | None = None
        rewound = driver
        if "conversation" in order.what and point.message_id is not None:
            rewound = await self._cache.rewind(driver, point.seq)
            replaced = replaced_messages(point.message_id, point.seq, driver.index, rewound.index)
        event = Restore(
            restore_id=order.restore_id,
            seq_before=order.seq,
            what=order.what,
            documents=result.documents,
            drift=result.drift,
            conversation=replaced,
            message_id=point.message_id,
            undone=point.undone,
            undone_turn=point.turn_id if point.undone is None else None,
        )
        try:
            rewound.record(event)
        except BaseException:
            if rewound is not driver:
                self._cache.drop(rewound)
            raise
        crash_point("restore.event.recorded")
        for proposal in result.proposals:  # after the event, which hides earlier ones
            rewound.record(ProposalAdd(call_id=None, proposal=proposal))
            crash_point("restore.proposal.recorded")
        rewound.set_status("idle")
        return self._restores(driver.session_id)[-1]

    def _point(self, driver: SessionDriver, command: RestoreSession) -> _RestorePoint:
        point = self._message(driver, command.seq) or self._earlier(driver.session_id, command)
        if point is None:
            raise InvalidRequest(
                f"seq: event {command.seq} is no message of yours in this conversation.",
                hint="Name a message that is shown, or a restore.",
            )
        if "notebook" in command.what:
            document = document_changed_within_turn(
                self._restorer.recorded_changes(driver.session_id), point.seq
            )
            if document is not None:
                raise Conflict(
                    f"The message was sent while the agent was changing {document}, whose text "
                    "at that moment was not kept.",
                    hint="Restore to before the message that this turn began with.",
                )
        return point

    def _message(self, driver: SessionDriver, seq: int) -> _RestorePoint | None:
        for message_id, said in driver.index.said.items():
            if said == seq and message_id not in driver.index.answers:
                return _RestorePoint(seq, message_id)
        return None

    def _earlier(self, session_id: SessionId, command: RestoreSession) -> _RestorePoint | None:
        """Return the start of an earlier restore that is to be undone."""
        found = next((e for e in self._restores(session_id) if e.seq == command.seq), None)
        if found is None:
            return None
        if "conversation" in command.what:
            raise InvalidRequest(
                "what: a conversation that was rewound cannot be brought back.",
                hint="Fork it at the last message that was hidden.",
            )
        begun = (
            event.seq
            for event in self._restorer.recorded_changes(session_id)
            if isinstance(event, Checkpoint)
            and event.order is not None
            and event.order.restore_id == found.restore_id
        )
        limit = TurnId(found.restore_id) if self._is_of_turn(session_id, found) else None
        within = frozenset(found.what)
        return _RestorePoint(next(begun, found.seq), None, found.restore_id, limit, within)

    def _is_of_turn(self, session_id: SessionId, restore: Restore) -> bool:
        """Return whether a restore undid one turn, or undid such a restore."""
        known = {event.restore_id: event for event in self._restores(session_id)}
        while restore.undone is not None and restore.undone in known:
            restore = known[restore.undone]
        return restore.undone_turn is not None

    def _find_turn_start(self, session_id: SessionId, turn_id: TurnId) -> int:
        start = self._starts(session_id).get(turn_id)
        if start is None:
            raise NotFound(
                f"There is no turn {turn_id} in this conversation.",
                hint="Name a turn by the id that its events have.",
            )
        return start

    def _starts(self, session_id: SessionId) -> dict[TurnId, int]:
        """Return the start event of each turn."""
        events = [logged.event for logged in self._services.log.find({"turn-start"}, session_id)]
        return {event.turn_id: event.seq for event in events if event.turn_id is not None}

    def _done(self, session_id: SessionId, command: RestoreSession) -> Restore | None:
        """Return the restore that already did this."""
        restores = self._restores(session_id)
        if command.id is not None:
            return next((e for e in restores if e.restore_id == command.id), None)
        last = restores[-1] if restores else None
        if last is None or (last.seq_before, last.what) != (command.seq, _ordered(command.what)):
            return None
        since = self._services.log.find(_INVALIDATING_TYPES, session_id)[-1].event
        return last if since.seq == last.seq else None

    def _restores(self, session_id: SessionId) -> list[Restore]:
        events = (logged.event for logged in self._services.log.find({"restore"}, session_id))
        return [event for event in events if isinstance(event, Restore)]

    def _unfinished(self) -> list[tuple[SessionId, RestoreRequest, int]]:
        events = self._services.log.find({"checkpoint", "restore"})
        return find_unfinished_restores(logged.event for logged in events)

    def _has_later_message(self, session_id: SessionId, seq: int) -> bool:
        """Return whether the user has sent a message since, so a restore is not repeated."""
        said = self._services.log.find({"message-add"}, session_id)
        return bool(said) and said[-1].event.seq > seq

    def _dismiss(self, session_id: SessionId, point: _RestorePoint, documents: set[str]) -> None:
        """Dismiss proposals made since that point: they do not fit the restored text."""
        kinds = {"proposal-add", "proposal-resolve"}
        open_ones: dict[ProposalId, None] = {}
        for logged in self._services.log.find(kinds, session_id):
            match logged.event:
                case ProposalAdd() as event:
                    meant = point.turn_id in {None, event.turn_id} and event.seq >= point.seq
                    if meant and event.proposal.document in documents:
                        open_ones[event.proposal.id] = None
                case ProposalResolve() as event:
                    open_ones.pop(event.proposal_id, None)
                case _:
                    pass
        for proposal_id in open_ones:
            event = ProposalResolve(proposal_id=proposal_id, state="dismissed", by="system")
            self._services.log.append(session_id, event)


def find_unfinished_restores(
    events: Iterable[Event],
) -> list[tuple[SessionId, RestoreRequest, int]]:
    """Return the restores that started and did not end, with their last start event."""
    begun: dict[RestoreId, tuple[SessionId, RestoreRequest, int]] = {}
    for event in events:
        match event:
            case Checkpoint(order=RestoreRequest() as order):
                begun[order.restore_id] = (event.session_id, order, event.seq)
            case Restore():
                begun.pop(event.restore_id, None)
            case _:
                pass
    return list(begun.values())


def _ordered(what: tuple[RestorePart, ...]) -> tuple[RestorePart, ...]:
    return tuple(sorted(set(what)))


def _refuse_busy(driver: SessionDriver) -> None:
    if driver.is_running or driver.state.runs:
        raise Conflict(
            "A turn, or a cell that it started, is running; nothing can be restored now.",
            code="turn_running",
            hint="Stop it or wait for it to end, then restore.",
            retryable=True,
        )
    if driver.state.queue:
        raise Conflict(
            "Messages are still waiting to be read by the agent.",
            hint="Remove them or send something first.",
        )
