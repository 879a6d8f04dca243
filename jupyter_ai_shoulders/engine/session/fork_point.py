"""Finds the point up to which a conversation is copied, and the events that settle the copy.

Pure apart from reading the log; used by ``host.sessions.forks``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.engine.loop.commands import DiscardInterrupted
from jupyter_ai_shoulders.engine.loop.effects import AppendEvent
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event, stopped_state
from jupyter_ai_shoulders.engine.loop.state import SessionState, policy_for
from jupyter_ai_shoulders.engine.loop.transition import advance
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.edits import ProposalState
from jupyter_ai_shoulders.wire.events import (
    ArtifactShare,
    Event,
    MessageUpdate,
    Opener,
    ProposalAdd,
    ProposalResolve,
    SessionCreate,
    StdinAnswer,
    StdinRequest,
    StepStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, ProposalId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Session

PAGE = 150
"""Events read between two iterations of the event loop."""


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """The last event to copy, and the facts about the events up to it."""

    seq: int
    root: SessionId
    """The first session of the line of forks."""
    closing: tuple[Event, ...]
    """The events that settle the copy; open proposals are copied separately."""
    proposals: tuple[ProposalId, ...]
    """Undecided proposals, by their ids in the origin."""
    artifacts: tuple[str, ...]
    tokens_used: int
    window: int | None
    opener: Opener | None
    """The agent that opened the thread; its taint sources apply to the copy."""


async def find_fork_point(
    log: EventLog, session: Session, seq: int | None, *, running: bool
) -> ForkPoint:
    """Return the fork point at ``seq``, or the last settled one.

    Allowed are the user's messages, ends of turns, anything between turns, and the end of an
    interrupted turn. Raises ``InvalidRequest`` for another event, ``Conflict`` (``turn_running``)
    for one inside the running turn.
    """
    last = log.last_seq(session.id)
    chosen = _settled(log, session.id, last, running=running) if seq is None else seq
    if chosen > last:
        raise InvalidRequest(f"seq: the conversation ends with event {last}.")
    scan = await _scanned(log, session, chosen)
    turn = scan.state.turn
    if turn is not None:
        if not _has_ended(log, session.id, chosen, turn.turn_id) and running:
            raise Conflict(
                f"The turn that event {chosen} belongs to is running.",
                code="turn_running",
                hint=f"Wait for it to end, or stop it; event {scan.settled} can be forked now.",
                retryable=True,
            )
        if not scan.at_message and chosen != last:
            raise InvalidRequest(
                f"seq: event {chosen} is inside a turn.",
                hint=f"Fork at a message of yours or at the end of a turn; before it is event "
                f"{scan.settled}.",
            )
    return scan.point(chosen)


class _LogScan:
    """The facts about the events read so far."""

    def __init__(self, session: Session) -> None:
        self.state = SessionState(policy_for(session.kind, session.interactive))
        self.settled = 1
        """The last event after which no turn was open."""
        self.at_message = False
        """Whether the last event added a user message to the conversation."""
        self._root = session.id
        self._opener: Opener | None = None
        self._proposals: dict[ProposalId, ProposalState] = {}
        self._artifacts: list[str] = []
        self._size: tuple[int, int | None] = (0, None)
        self._asking: dict[CallId, None] = {}
        """Calls whose code waits for input: a run may outlast its turn, and never ends in the copy.
        """

    def add(self, event: Event) -> None:
        """Add the next event."""
        self.state = apply_event(self.state, event)
        if self.state.turn is None:
            self.settled = event.seq
        self.at_message = isinstance(event, MessageUpdate) and event.status == "consumed"
        match event:
            case SessionCreate():
                self._root = event.origin.root if event.origin else event.session_id
                self._opener = event.opener
            case StdinRequest():
                self._asking[event.call_id] = None
            case StdinAnswer():
                self._asking.pop(event.call_id, None)
            case ProposalAdd():
                self._proposals[event.proposal.id] = event.proposal.state
            case ProposalResolve():
                self._proposals[event.proposal_id] = event.state
            case ArtifactShare():
                self._artifacts.append(event.name)
            case StepStart():
                self._size = (event.tokens_used, event.window)
            case _:
                pass

    def point(self, seq: int) -> ForkPoint:
        """Return the fork point at the last event added."""
        tokens_used, window = self._size
        return ForkPoint(
            seq=seq,
            root=self._root,
            closing=self._closing(),
            proposals=tuple(key for key, state in self._proposals.items() if state == "proposed"),
            artifacts=tuple(dict.fromkeys(self._artifacts)),
            tokens_used=tokens_used,
            window=window,
            opener=self._opener,
        )

    def _closing(self) -> tuple[Event, ...]:
        closing = _closing(self.state)
        closed = {event.call_id for event in closing if isinstance(event, StdinAnswer)}
        asking = [call_id for call_id in self._asking if call_id not in closed]
        return (*closing, *(StdinAnswer(call_id=call_id, answered=False) for call_id in asking))


async def _scanned(log: EventLog, session: Session, seq: int) -> _LogScan:
    scan, done = _LogScan(session), 0
    while done < seq:
        page = log.read(session.id, done, min(PAGE, seq - done))
        for logged in page:
            scan.add(logged.event)
        done = page[-1].event.seq
        await asyncio.sleep(0)
    return scan


def _settled(log: EventLog, session_id: SessionId, last: int, *, running: bool) -> int:
    if not running:
        return last
    ends = log.find({"turn-end"}, session_id)
    return ends[-1].event.seq if ends else 1


def _has_ended(log: EventLog, session_id: SessionId, seq: int, turn_id: TurnId) -> bool:
    ends = (logged.event for logged in log.find({"turn-end"}, session_id))
    return any(event.seq > seq and event.turn_id == turn_id for event in ends)


def _closing(state: SessionState) -> tuple[Event, ...]:
    """Return the events that end the open turn and remove queued messages."""
    events: list[Event] = []
    if state.turn is not None:
        state, effects = advance(stopped_state(state), DiscardInterrupted())
        events += [effect.event for effect in effects if isinstance(effect, AppendEvent)]
    events += [MessageUpdate(message_id=m.message_id, status="removed") for m in state.queue]
    return tuple(events)
