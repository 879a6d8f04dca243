"""Events of content that enters the model's requests and no other event holds.

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.results import SeenVersion


class ContextRebase(EventBase):
    """Content that was already sent changes from here on."""

    type: Literal["context-rebase"] = "context-rebase"
    reason: Literal["compaction", "instructions", "tools", "model", "egress", "attachment"]
    replaced: Json
    """The replaced and new values, by context source."""


class ContextAdd(EventBase):
    """Text in requests that no other event holds."""

    type: Literal["context-add"] = "context-add"
    role: Literal["system", "instructions", "tools", "meta", "attachment", "skill"]
    source: str
    blob: BlobHash
    seen: tuple[SeenVersion, ...] = ()
    """Versions this conversation has read with it (attachments)."""
