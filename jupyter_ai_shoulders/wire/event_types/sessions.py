"""Events of a session and of the user's messages in it.

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
    """The origin of a copied session. Its events up to ``seq`` keep their numbers and times."""

    session_id: SessionId
    seq: int
    """The last copied event; costs and approvals up to it belong to the origin."""
    root: SessionId
    """The first session of the line of forks; identifies providers' prompt caches."""


class UntrustedTextSource(WireModel):
    """The source of text that may not be the user's, for taint tracking."""

    label: str
    path: str | None
    """Path of a workspace document."""


class Opener(WireModel):
    """The conversation whose agent opened a thread (``add_task``)."""

    session_id: SessionId
    call_id: CallId
    depth: int
    """1 for a thread opened by a conversation of the user, 2 for one opened by such a thread."""
    sources: tuple[UntrustedTextSource, ...]
    """Untrusted text the opener had read, which may influence the prompt."""


class SessionCreate(EventBase):
    """The session was created."""

    type: Literal["session-create"] = "session-create"
    session: Session
    origin: ForkOrigin | None = None
    opener: Opener | None = None


class SessionUpdate(EventBase):
    """Title, model, mode, status, totals or anchor changed."""

    type: Literal["session-update"] = "session-update"
    session: Session
    quiet: bool = False
    """Only the anchor moved with its text: the session keeps its list position and its
    ``updated_at``.
    """


class Replaced(WireModel):
    """The events replaced by an edited message. They are hidden, not erased."""

    message_id: MessageId
    seq: int
    """The first hidden event; the last is the one before the edited message."""
    messages: int
    """Number of hidden user messages."""
    todo: tuple[TodoItem, ...]
    """The checklist before the hidden events."""


class MessageAdd(EventBase):
    """A user message was accepted; ``queued`` as steering while a turn runs."""

    type: Literal["message-add"] = "message-add"
    message_id: MessageId
    text: str
    attachments: tuple[Attachment, ...] = ()
    context: MessageContext | None = None
    queued: bool = False
    model: ModelId | None = None
    mode: Mode | None = None
    answers: CallId | None = None
    """The waiting question (``clarify``) that the message answers."""
    replaces: Replaced | None = None
    """The events replaced, if the message was edited and sent again."""


class MessageUpdate(EventBase):
    """A queued message was consumed, removed or edited."""

    type: Literal["message-update"] = "message-update"
    message_id: MessageId
    status: Literal["queued", "consumed", "removed"]
    text: str | None = None
