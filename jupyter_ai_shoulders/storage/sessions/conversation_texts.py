"""What was said in conversations, read beside the event loop. Used by ``host.search``.

Reads committed events with connections of its own, so that a thread can index a long conversation
while others go on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from pydantic import ValidationError

from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.schema.event_rows import COLUMNS, SEQ_MASK, EventRow, is_intact
from jupyter_ai_shoulders.storage.schema.migrations import UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import first_id, last_id
from jupyter_ai_shoulders.wire.conversation.branches import HIDING, Branches
from jupyter_ai_shoulders.wire.events import Event, MessageAdd, MessageUpdate, parse_event
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import SessionKind

KINDS: tuple[SessionKind, ...] = ("chat", "task", "kernel")
"""Conversations of a person; runs of programs are not."""
_HEAD = "id, owner, title, message_count, updated_order"
_SPOKEN = "('message-add', 'text-start', 'text-delta')"


class ConversationHead(NamedTuple):
    """A conversation without its messages; the last two change whenever its texts do."""

    session_id: SessionId
    owner: str | None
    title: str
    messages: int
    updated: int


class SpokenText(NamedTuple):
    """A message of the user, or a text of the agent's reply to it."""

    message_id: MessageId | None
    """The user's message; None for a reply without one."""
    text: str


class ConversationTexts:
    """The texts of one database. All methods block, and raise ``StateUnavailable``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def available(self) -> bool | None:
        """Whether conversations can be read; None before the database is open."""
        return self._database.allows_readers

    def heads(self) -> list[ConversationHead]:
        """Return all conversations that are not deleted."""
        marks = ", ".join("?" * len(KINDS))
        with self._reading() as reader:
            rows = reader.execute(
                f"SELECT {_HEAD} FROM sessions WHERE deleted_at IS NULL AND kind IN ({marks})",  # noqa: S608 constants and question marks
                KINDS,
            )
            return [_head(row) for row in rows]

    def head(self, session_id: SessionId) -> ConversationHead | None:
        """Return a conversation as it is now; None without one."""
        with self._reading() as reader:
            row = reader.execute(
                f"SELECT {_HEAD} FROM sessions WHERE id = ? AND deleted_at IS NULL",  # noqa: S608 a constant
                (session_id,),
            ).fetchone()
        return None if row is None else _head(row)

    def texts(self, session_id: SessionId) -> Iterator[SpokenText]:
        """Yield what was said in order, without abandoned branches and damaged events."""
        with self._reading() as reader:
            row = reader.execute(
                "SELECT number FROM sessions WHERE id = ? AND deleted_at IS NULL", (session_id,)
            ).fetchone()
            if row is None:
                return
            span = first_id(row[0]), last_id(row[0])
            changes = _events(
                reader.execute(
                    f"SELECT {COLUMNS} FROM events WHERE type IN ({_marks(_CHANGING)})"  # noqa: S608 constants and question marks
                    f" AND {UNSTREAMED} AND id > ? AND id <= ? ORDER BY id",
                    (*_CHANGING, *span),
                )
            )
            rows = reader.execute(
                f"SELECT {COLUMNS}, type FROM events WHERE type IN {_SPOKEN}"  # noqa: S608 constants
                " AND id > ? AND id <= ? ORDER BY id",
                span,
            )
            yield from _spoken(rows, changes)

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        try:
            with closing(self._database.reader()) as reader:
                yield reader
        except sqlite3.Error as error:
            raise self._database.failed("read the conversations", error) from error


_CHANGING = tuple(sorted({*HIDING, "message-update"}))
"""The types of events after which an earlier text does not count any more."""


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def _head(row: tuple[Any, ...]) -> ConversationHead:
    return ConversationHead(SessionId(row[0]), *row[1:])


def _events(rows: Iterable[EventRow]) -> list[Event]:
    """Return the events of rows; damaged ones, and those of a newer version, are left out."""
    found: list[Event] = []
    for row in rows:
        if is_intact(row):
            try:
                found.append(parse_event(row[1]))
            except ValidationError:
                continue
    return found


def _spoken(
    rows: Iterable[tuple[int, bytes, int | None, str]], changes: list[Event]
) -> Iterator[SpokenText]:
    branches = Branches(event for event in changes if event.type in HIDING)
    messages = _messages(changes)
    message: MessageId | None = None
    reply: list[str] = []
    for row_id, body, stored, kind in rows:
        seq = row_id & SEQ_MASK
        if branches.hides(seq):
            continue
        if kind == "text-delta":
            if is_intact((row_id, body, stored)):
                reply.append(json.loads(body)["text"])
            continue
        if reply:
            yield SpokenText(message, "".join(reply))
            reply = []
        if said := messages.get(seq):
            message = said.message_id
            yield said
    if reply:
        yield SpokenText(message, "".join(reply))


def _messages(changes: list[Event]) -> dict[int, SpokenText]:
    """Return the user's messages by ``seq``, as edited in the queue, without removed ones."""
    found: dict[int, SpokenText] = {}
    places: dict[MessageId, int] = {}
    for event in changes:
        if isinstance(event, MessageAdd):
            places[event.message_id] = event.seq
            found[event.seq] = SpokenText(event.message_id, event.text)
        elif isinstance(event, MessageUpdate) and event.message_id in places:
            seq = places[event.message_id]
            if event.status == "removed":
                found.pop(seq, None)
            elif event.text is not None:
                found[seq] = SpokenText(event.message_id, event.text)
    return found
