"""The table of sessions: one row each, projected from the log
(``storage.schema.session_projection``).

The engine reads and updates single sessions through the ``Sessions`` port; the server lists,
deletes and restores them.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import InvalidRequest, StateUnavailable
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.text_index import MESSAGES, TEXT, TextIndex
from jupyter_ai_shoulders.wire.api.responses import SessionList
from jupyter_ai_shoulders.wire.events import Opener, SessionCreate, SessionUpdate
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor, Session, SessionKind, SessionSource

_log = logging.getLogger(__name__)

ABANDONED = timedelta(days=1)
"""Age at which a thread without a first message is abandoned."""
SUB_AGENT: SessionSource = "delegate"
"""Source of the conversations of sub-agents."""
_PARSED = 256
_CURSOR = re.compile("[0-9]{1,18}")
"""More digits would not fit SQLite's integers."""

_STATES = ("session-create", "session-update")
_COLUMNS = "id, body, message_count, updated_order"
_TEXT = f"""
    (title LIKE ? ESCAPE '\\' OR EXISTS (
      SELECT 1 FROM events e
      WHERE e.{MESSAGES}
        AND e.id > number << {SEQ_BITS} AND e.id < (number + 1) << {SEQ_BITS}
        AND {TEXT} LIKE ? ESCAPE '\\'))
"""  # noqa: S608 constants
_CANDIDATES = f"""
    number IN (
      SELECT number FROM sessions WHERE title LIKE ? ESCAPE '\\'
      UNION SELECT id >> {SEQ_BITS} FROM events
      WHERE id IN (SELECT value FROM json_each(?)) AND {TEXT} LIKE ? ESCAPE '\\')
"""  # noqa: S608 constants


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list; None for any. ``text`` is searched in titles and messages.

    Sub-agents are listed only where their source is asked for.
    """

    kind: SessionKind | None = None
    source: SessionSource | None = None
    document: str | None = None
    text: str | None = None
    owner: str | None = None
    """Only sessions of this user and those without an owner."""


class SqliteSessions:
    """``Sessions`` on the database."""

    def __init__(
        self,
        database: Database,
        log: SqliteEventLog,
        clock: Clock,
        index: TextIndex | None = None,
    ) -> None:
        """``index`` makes searches of texts fast; they give the same without."""
        self._index = index
        self._database = database
        self._log = log
        self._clock = clock
        self._parsed: dict[SessionId, tuple[str, Session]] = {}
        """The last parsed row of sessions in use: a turn reads its session several times."""

    def add(self, session: Session, opener: Opener | None = None) -> Session:
        """Store a new session and log its ``session-create``."""
        logged = self._log.append(session.id, SessionCreate(session=session, opener=opener))
        assert isinstance(logged.event, SessionCreate)
        return logged.event.session

    def get(self, session_id: SessionId) -> Session:
        """Return a session. Raises ``NotFound``, also for a deleted one."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM sessions WHERE id = ? AND deleted_at IS NULL",  # noqa: S608 a constant
            session_id,
        )
        if not rows:
            raise session_not_found(session_id)
        return self._session(rows[0])

    def header(self, session_id: SessionId) -> tuple[str | None, str]:
        """Return a session's owner and title, even if its row cannot be parsed.

        Raises ``NotFound``, also for a deleted one.
        """
        rows = self._database.rows(
            "SELECT owner, title FROM sessions WHERE id = ? AND deleted_at IS NULL", session_id
        )
        if not rows:
            raise session_not_found(session_id)
        return rows[0][0], rows[0][1]

    def update(self, session: Session) -> Session:
        """Store changed fields and log a ``session-update``; return the stored session."""
        logged = self._log.append(session.id, SessionUpdate(session=session))
        assert isinstance(logged.event, SessionUpdate)
        return logged.event.session

    def move(self, session: Session, anchor: Anchor) -> Session:
        """Store a session's new anchor; its position in lists does not change."""
        moved = session.model_copy(update={"anchor": anchor})
        logged = self._log.append(session.id, SessionUpdate(session=moved, quiet=True))
        assert isinstance(logged.event, SessionUpdate)
        return logged.event.session

    def needing_recovery(self) -> list[SessionId]:
        """Return the sessions a restart must check: open turns, by log or status, or ``bypass``."""
        rows = self._database.rows(
            """
            SELECT id FROM sessions
            WHERE deleted_at IS NULL AND (open_turn IS NOT NULL
              OR iif(json_valid(body), json_extract(body, '$.status'), '')
                IN ('running', 'waiting', 'interrupted')
              OR iif(json_valid(body), json_extract(body, '$.mode'), '') = 'bypass')
            ORDER BY number
            """
        )
        return [SessionId(row[0]) for row in rows]

    def empty_threads(self) -> list[Session]:
        """Return the threads without a message: those of the agent, and those older than
        ``ABANDONED``.
        """
        before = timestamp(self._clock.now() - ABANDONED)
        rows = self._database.rows(
            f"""
            SELECT s.id, s.body, s.message_count, s.updated_order
            FROM sessions s JOIN events e ON e.id = (s.number << {SEQ_BITS}) + 1
            WHERE s.kind = 'task' AND s.message_count = 0 AND s.deleted_at IS NULL
              AND json_valid(e.body) AND (json_extract(e.body, '$.opener') IS NOT NULL
                OR json_extract(e.body, '$.at') < ?)
              AND NOT EXISTS (
                SELECT 1 FROM events m WHERE m.type = 'message-add'
                  AND m.id > s.number << {SEQ_BITS} AND m.id < (s.number + 1) << {SEQ_BITS})
            """,  # noqa: S608 a constant
            before,
        )
        return [found for row in rows if (found := self._understood(row))]

    def last_model(self) -> ModelId | None:
        """Return the model of the most recently updated conversation that has one."""
        rows = self._database.rows(
            "SELECT iif(json_valid(body), json_extract(body, '$.model'), NULL) AS model "
            "FROM sessions "
            "WHERE model IS NOT NULL AND deleted_at IS NULL ORDER BY updated_order DESC LIMIT 1"
        )
        return ModelId(rows[0][0]) if rows else None

    def was_deleted(self, session_id: SessionId) -> bool:
        """Return whether a session of this id was deleted."""
        rows = self._database.rows(
            "SELECT 1 FROM sessions WHERE id = ? AND deleted_at IS NOT NULL", session_id
        )
        return bool(rows)

    def page(self, chosen: SessionFilter, cursor: str | None, limit: int) -> SessionList:
        """Return up to ``limit`` sessions, most recently updated first, from ``cursor`` on.

        Unreadable sessions are left out, so that they do not hide the others. Raises
        ``InvalidRequest`` for an unknown cursor.
        """
        conditions, parameters = _conditions(chosen)
        if chosen.text:
            self._search(chosen.text, conditions, parameters)
        if cursor is not None:
            if not _CURSOR.fullmatch(cursor):
                raise InvalidRequest(f"cursor: {cursor[:40]!r} is not a cursor of this list.")
            conditions.append("updated_order < ?")
            parameters.append(int(cursor))
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM sessions WHERE {' AND '.join(conditions)} "  # noqa: S608 fixed conditions
            "ORDER BY updated_order DESC LIMIT ?",
            *parameters,
            limit + 1,
        )
        shown = rows[:limit]
        return SessionList(
            sessions=tuple(found for row in shown if (found := self._understood(row))),
            next_cursor=str(shown[-1][3]) if len(rows) > limit else None,
        )

    def _search(self, text: str, conditions: list[str], parameters: list[object]) -> None:
        """Add the condition that the title or a message contains the text."""
        pattern = f"%{_escaped(text)}%"
        candidates = self._index.candidates(text) if self._index else None
        if candidates is None:
            conditions.append(_TEXT)
            parameters += [pattern, pattern]
        else:
            conditions.append(_CANDIDATES)
            parameters += [pattern, json.dumps(candidates), pattern]

    def pinned_below(self, path: str) -> list[Session]:
        """Return the sessions pinned to a document, or to any document in a folder."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM sessions WHERE deleted_at IS NULL "  # noqa: S608 a constant
            "AND (document = ?1 OR substr(document, 1, length(?1) + 1) = ?1 || '/') "
            "ORDER BY number",
            path,
        )
        return [found for row in rows if (found := self._understood(row))]

    def children(self, session_id: SessionId, *, deleted: bool = False) -> list[Session]:
        """Return the sub-agents of a conversation, oldest first; or those that were deleted."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM sessions WHERE source = ? "  # noqa: S608 constants
            f"AND deleted_at IS {'NOT ' if deleted else ''}NULL "
            "AND iif(json_valid(body), json_extract(body, '$.parent.session_id'), '') = ? "
            "ORDER BY number",
            SUB_AGENT,
            session_id,
        )
        return [found for row in rows if (found := self._understood(row))]

    def delete(self, session_id: SessionId) -> None:
        """Hide the session; it can be restored for 30 days. Raises ``NotFound``."""
        self.get(session_id)
        self._mark(session_id, timestamp(self._clock.now()))

    def undelete(self, session_id: SessionId, owner: str | None = None) -> Session:
        """Restore a deleted session and notify the pages.

        Raises ``NotFound``, also when it belongs to another user than ``owner``.
        """
        rows = self._database.rows(
            "SELECT deleted_at FROM sessions "
            "WHERE id = ?1 AND (?2 IS NULL OR owner IS NULL OR owner = ?2)",
            session_id,
            owner,
        )
        if not rows:
            raise session_not_found(session_id)
        if rows[0][0] is None:
            return self.get(session_id)
        self._mark(session_id, None)
        return self.update(self.get(session_id))

    def _mark(self, session_id: SessionId, deleted_at: str | None) -> None:
        with self._database.transaction("delete or restore a conversation") as connection:
            connection.execute(
                "UPDATE sessions SET deleted_at = ? WHERE id = ?", (deleted_at, session_id)
            )

    def _understood(self, row: tuple[Any, ...]) -> Session | None:
        try:
            return self._session(row)
        except StateUnavailable as error:
            if error.info.code != "quarantined":
                raise
            _log.warning("Left out of the list: %s", error)
            return None

    def _session(self, row: tuple[Any, ...]) -> Session:
        session_id, body, message_count, _ = row
        known = self._parsed.get(session_id)
        if known is not None and known[0] == body:
            session = known[1]
        else:
            session = self._parse(session_id, body)
        return session.model_copy(
            update={
                "id": session_id,
                "last_seq": self._log.last_seq(session_id),
                "message_count": message_count,
            }
        )

    def _parse(self, session_id: SessionId, body: str) -> Session:
        try:
            session = Session.model_validate_json(body)
        except ValidationError as error:
            return self._last_logged(session_id, error)
        if len(self._parsed) >= _PARSED:
            self._parsed.clear()
        self._parsed[session_id] = (body, session)
        return session

    def _last_logged(self, session_id: SessionId, problem: ValidationError) -> Session:
        """Return a session with a damaged row as recorded in the log.

        When the log is damaged too, the next start restores the whole database and reports it.
        """
        for logged in reversed(self._log.find(_STATES, session_id)):
            if isinstance(logged.event, SessionCreate | SessionUpdate):
                return logged.event.session
        if any(text.damaged is not None for text in self._log.texts(session_id, 0, 1)):
            self._database.directory.damaged.touch()
        raise StateUnavailable(
            f"Conversation {session_id} cannot be understood: {problem.errors()[0]['msg']}.",
            code="quarantined",
        ) from problem


def _conditions(chosen: SessionFilter) -> tuple[list[str], list[object]]:
    conditions = ["deleted_at IS NULL"]
    parameters: list[object] = []
    for column in ("kind", "source", "document"):
        value = getattr(chosen, column)
        if value is not None:
            conditions.append(f"{column} = ?")
            parameters.append(value)
    if chosen.source is None:
        conditions.append(f"source != '{SUB_AGENT}'")
    if chosen.owner is not None:
        conditions.append("(owner IS NULL OR owner = ?)")
        parameters.append(chosen.owner)
    return conditions, parameters


def _escaped(text: str) -> str:
    """Return a LIKE pattern that matches only the text."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
