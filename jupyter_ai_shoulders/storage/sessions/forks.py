"""Copies of sessions: a new log with the events of another up to one of them.

Called by ``host.sessions.forks``. Copies keep their numbers and times, so that whatever refers to
an event still does, and a model is sent the same bytes.
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
    """A copy that was made before."""

    id: SessionId
    deleted: bool
    """By a user, who does not want it."""


PAGE = 50
"""Events copied between two turns of the event loop."""
_DOING = "copy a conversation"


class SqliteForks:
    """Makes copies in the database. A copy is deleted until it is whole and ``revealed``."""

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
        """Store a session with the origin's events; return its first event, not yet published.

        What a crash leaves of it is purged with the deleted sessions. Raises ``NotFound`` and
        ``StateUnavailable``, with code ``quarantined`` when an event cannot be understood.
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
        """Let the session be seen. Raises ``StateUnavailable``."""
        with self._database.transaction(_DOING) as connection:
            connection.execute(
                "UPDATE sessions SET deleted_at = NULL WHERE id = ?", (first.event.session_id,)
            )
        crash_point("forks.session.revealed")
        self._sink.publish(first)

    def copies_in(self, document: str) -> dict[SessionId, ExistingCopy]:
        """Return the copies that are pinned to a document, by what they were copied from.

        One that was deleted counts only where no other is; what a crash left of one does not.
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
    """Return the event as the copy has it: nothing was paid by it, and its proposals are its own.

    A mode that lets everything run does not go over to another session.
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
            changes |= {"proposal_id": own, "run": False}  # the origin is told how it ends
        case EditPending() | EditResolve():
            changes["edit_id"] = copied_edit_id(event.edit_id, session.id)
        case _:
            pass
    return event.model_copy(update=changes)


def copied_proposal_id(proposal_id: ProposalId, session_id: SessionId) -> ProposalId:
    """Return the id a proposal has in a copy: decisions in one session are not the other's."""
    return ProposalId(f"{proposal_id.split('.')[0]}.{session_id}")


def copied_edit_id(edit_id: EditId, session_id: SessionId) -> EditId:
    """Return the id an edit has in a copy, by which it is known: it awaits review once only."""
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
