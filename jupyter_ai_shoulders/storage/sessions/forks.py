"""Copies of sessions: a new log with the events of another session up to one of them.

Called by ``host.sessions.forks``. Copied events keep their numbers and times, so that references
stay valid and a model is sent the same bytes.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.base import EventSink, LoggedEvent
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.storage.schema.session_projection import (
    LogTail,
    Projected,
    create_row,
    insert_event,
    project_event,
)
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.wire.events import (
    EditPending,
    EditResolve,
    Event,
    ForkOrigin,
    Opener,
    ProposalAdd,
    ProposalResolve,
    SessionCreate,
    SessionUpdate,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import EditId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session


class ExistingCopy(NamedTuple):
    """An earlier copy."""

    id: SessionId
    deleted: bool
    """Deleted by the user."""


PAGE = 50
"""Events copied before yielding to the event loop."""
_DOING = "copy a conversation"


class SqliteForks:
    """Makes copies in the database. A copy counts as deleted until it is complete and revealed."""

    def __init__(
        self, database: Database, log: SqliteEventLog, sink: EventSink, clock: Clock
    ) -> None:
        self._database = database
        self._log = log
        self._sink = sink
        self._clock = clock

    async def copy(
        self, session: Session, origin: ForkOrigin, opener: Opener | None = None
    ) -> LoggedEvent:
        """Store a session with the origin's events; return its first event, unpublished.

        An incomplete copy after a crash is purged with the deleted sessions. Raises ``NotFound``
        and ``StateUnavailable``, with code ``quarantined`` when an event cannot be parsed.
        """
        now = timestamp(self._clock.now())
        stamped = session.model_copy(
            update={"last_seq": 1, "message_count": 0, "created_at": now, "updated_at": now}
        )
        created, text = encode_model(
            SessionCreate(
                seq=1,
                session_id=session.id,
                at=now,
                session=stamped,
                origin=origin,
                opener=opener,
            )
        )
        with self._database.transaction(_DOING) as connection:
            number = create_row(connection, created)
            connection.execute("UPDATE sessions SET deleted_at = ? WHERE number = ?", (now, number))
            insert_event(connection, LogTail(number, 0), created, text)
        crash_point("forks.session.begun")
        await self._copy_events(number, stamped, origin)
        return LoggedEvent(created, text)

    def reveal(self, first: LoggedEvent) -> None:
        """Make the session visible. Raises ``StateUnavailable``."""
        with self._database.transaction(_DOING) as connection:
            connection.execute(
                "UPDATE sessions SET deleted_at = NULL WHERE id = ?", (first.event.session_id,)
            )
        crash_point("forks.session.revealed")
        self._sink.publish(first)

    def copies_in(self, document: str) -> dict[SessionId, ExistingCopy]:
        """Return the copies pinned to a document, by their origin.

        A deleted copy counts only if there is no other; incomplete copies do not count.
        """
        rows = self._database.rows(
            f"""
            SELECT json_extract(e.body, '$.origin.session_id'), s.id, s.deleted_at IS NOT NULL
            FROM sessions s JOIN events e ON e.id = (s.number << {SEQ_BITS}) + 1
            WHERE s.document = ? AND json_valid(s.body) AND json_valid(e.body)
              AND json_extract(e.body, '$.origin') IS NOT NULL
              AND (s.deleted_at IS NULL OR s.deleted_at <> json_extract(s.body, '$.created_at'))
            ORDER BY s.deleted_at IS NULL, s.number DESC
            """,  # noqa: S608 a constant
            document,
        )
        return {
            SessionId(origin): ExistingCopy(SessionId(copy_id), deleted=bool(deleted))
            for origin, copy_id, deleted in rows
        }

    async def _copy_events(self, number: int, session: Session, origin: ForkOrigin) -> None:
        seq = 1
        while seq < origin.seq:
            page = self._log.read(origin.session_id, seq, min(PAGE, origin.seq - seq))
            with self._database.transaction(_DOING) as connection:
                for logged in page:
                    event, text = encode_model(copy_event(logged.event, session))
                    insert_event(connection, LogTail(number, event.seq - 1), event, text)
                    if isinstance(event, Projected):
                        project_event(connection, event)
            seq = page[-1].event.seq
            crash_point("forks.events.copied")
            await asyncio.sleep(0)


def copy_event(event: Event, session: Session) -> Event:
    """Return the event for the copy: without costs, and with its own proposals.

    The mode ``bypass`` is not copied to another session.
    """
    changes: dict[str, object] = {"session_id": session.id}
    match event:
        case SessionUpdate():
            changes["session"] = _shown(event.session, session)
        case UsageUpdate():
            changes["cost_micro_usd"] = 0
        case ProposalAdd():
            named = {
                "id": copied_proposal_id(event.proposal.id, session.id),
                "session_id": session.id,
            }
            changes["proposal"] = event.proposal.model_copy(update=named)
        case ProposalResolve():
            own = copied_proposal_id(event.proposal_id, session.id)
            changes |= {"proposal_id": own, "run": False}  # the origin receives the outcome
        case EditPending() | EditResolve():
            changes["edit_id"] = copied_edit_id(event.edit_id, session.id)
        case _:
            pass
    return event.model_copy(update=changes)


def copied_proposal_id(proposal_id: ProposalId, session_id: SessionId) -> ProposalId:
    """Return a proposal's id in a copy, because each session decides separately."""
    return ProposalId(f"{proposal_id.split('.')[0]}.{session_id}")


def copied_edit_id(edit_id: EditId, session_id: SessionId) -> EditId:
    """Return an edit's id in a copy, which identifies it: it needs review only once."""
    return EditId(f"{edit_id.split('.')[0]}.{session_id}")


def _shown(before: Session, session: Session) -> Session:
    return before.model_copy(
        update={
            "id": session.id,
            "title": session.title,
            "owner": session.owner,
            "anchor": session.anchor,
            "mode": "ask" if before.mode == "bypass" else before.mode,
            "cost_micro_usd": 0,
            "created_at": session.created_at,
        }
    )
