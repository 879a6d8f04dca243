"""A conversation and what the user writes in it (chapter 02).

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.event_types.todo import TodoItem
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode, Session


class ForkOrigin(WireModel):
    """What a session was copied from. Its events up to ``seq`` have their numbers and times."""

    session_id: SessionId
    seq: int
    """The last event that is a copy; who was paid or allowed by one was so in the origin."""
    root: SessionId
    """The first session of the line; the prompt caches of providers go by it."""


class TextSource(WireModel):
    """Where text came from that may not be the user's (chapter 13, taint)."""

    label: str
    path: str | None
    """Of a document of the workspace."""


class Opener(WireModel):
    """The conversation whose agent opened a thread (``add_task``)."""

    session_id: SessionId
    call_id: CallId
    depth: int
    """1 for a thread that a conversation of the user's opened, 2 for one that such a thread did."""
    sources: tuple[TextSource, ...]
    """What the opener had read that may not be the user's: it may speak through the prompt."""


class SessionCreate(EventBase):
    """The session began."""

    type: Literal["session-create"] = "session-create"
    session: Session
    origin: ForkOrigin | None = None
    opener: Opener | None = None


class SessionUpdate(EventBase):
    """Title, model, mode, status, totals or anchor changed."""

    type: Literal["session-update"] = "session-update"
    session: Session
    quiet: bool = False
    """Only the anchor moved along with its text: the session keeps its place in lists and its
    ``updated_at``."""


class Replaced(WireModel):
    """What an edited message takes the place of. Nothing is erased: its events are hidden."""

    message_id: MessageId
    seq: int
    """The first event that is hidden; the last is the one before the edited message."""
    messages: int
    """How many messages of the user are hidden."""
    todo: tuple[TodoItem, ...]
    """The checklist as it was before them."""


class MessageAdd(EventBase):
    """A user message was accepted; ``queued`` while a turn runs, as steering."""

    type: Literal["message-add"] = "message-add"
    message_id: MessageId
    text: str
    attachments: tuple[Attachment, ...] = ()
    context: MessageContext | None = None
    queued: bool = False
    model: ModelId | None = None
    mode: Mode | None = None
    answers: CallId | None = None
    """The question (``clarify``) that waited when it was sent, and that it answers."""
    replaces: Replaced | None = None
    """Of a message that was edited and sent again: the conversation goes on from here."""


class MessageUpdate(EventBase):
    """A queued message was consumed, removed or edited."""

    type: Literal["message-update"] = "message-update"
    message_id: MessageId
    status: Literal["queued", "consumed", "removed"]
    text: str | None = None
