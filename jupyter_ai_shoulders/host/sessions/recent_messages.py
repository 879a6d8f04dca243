"""The last messages of a conversation, for attachments and for ``read_tasks``."""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation.branches import HIDING, Branches
from jupyter_ai_shoulders.wire.ids import SessionId

EVENTS = 4_000
"""Maximum events read, from the end."""
PAGE = 500

RecentMessage = list[tuple[str, str]]
"""The speaker, ``User`` or ``Agent``, and the text."""


async def recent_messages(log: EventLog, session_id: SessionId) -> RecentMessage:
    """Return the last messages in order, without those of abandoned branches."""
    after = max(0, log.last_seq(session_id) - EVENTS)
    branches = Branches(logged.event for logged in log.find(HIDING, session_id))
    said: RecentMessage = []
    while page := log.read(session_id, after, PAGE):
        for logged in page:
            if not branches.hides(logged.event.seq):
                _listen(said, logged.event)
        after = page[-1].event.seq
        await asyncio.sleep(0)
    return [(who, text) for who, text in said if text.strip()]


def _listen(said: RecentMessage, event: ev.Event) -> None:
    match event:
        case ev.MessageAdd():
            said.append(("User", event.text))
        case ev.TextStart():
            said.append(("Agent", ""))
        case ev.TextDelta() if said and said[-1][0] == "Agent":
            said[-1] = ("Agent", said[-1][1] + event.text)
        case _:
            pass
