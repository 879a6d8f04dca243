"""Exports conversations in pieces; unreadable events are skipped.

Called by the handler of ``GET sessions/{id}/export``. The log holds no secrets: they were redacted
when it was written.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Literal, assert_never

from pydantic import ValidationError

from jupyter_ai_shoulders.host.export import markdown, notebook
from jupyter_ai_shoulders.storage.schema.event_rows import EventText, is_placeholder
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.wire.conversation.reducer import EMPTY, reduce_event
from jupyter_ai_shoulders.wire.conversation.views import Conversation
from jupyter_ai_shoulders.wire.events import Event, parse_event
from jupyter_ai_shoulders.wire.hidden_characters import escaped_json, legible
from jupyter_ai_shoulders.wire.ids import SessionId

Format = Literal["md", "jsonl", "ipynb"]
PAGE = 50
"""Maximum events read between two turns of the event loop."""
PAGE_CHARACTERS = 1 << 20
"""Maximum characters of these events."""


class Exporter:
    """Reads event logs and writes them as text."""

    def __init__(self, log: SqliteEventLog) -> None:
        self._log = log

    async def export(self, session_id: SessionId, form: Format) -> AsyncIterator[str]:
        """Yield the file in pieces. Raises ``NotFound``, ``StateUnavailable``."""
        if form == "jsonl":
            async for page in self._pages(session_id):
                yield "".join(map(_line, page))
            return
        conversation, unreadable = await self._folded(session_id)
        for piece in _pieces(conversation, unreadable, form):
            yield legible(piece)  # a notebook's JSON is ASCII and stays as it is
            await asyncio.sleep(0)

    async def _folded(self, session_id: SessionId) -> tuple[Conversation, int]:
        conversation, unreadable = EMPTY, 0
        async for page in self._pages(session_id):
            for text in page:
                event = _understood(text)
                unreadable += event is None or is_placeholder(event)
                if event is not None:
                    conversation = reduce_event(conversation, event)
        return conversation, unreadable

    async def _pages(self, session_id: SessionId) -> AsyncIterator[list[EventText]]:
        seq = 0
        while page := self._log.texts(session_id, seq, PAGE, PAGE_CHARACTERS):
            yield page
            seq = page[-1].seq
            await asyncio.sleep(0)


def _pieces(
    conversation: Conversation, unreadable: int, form: Literal["md", "ipynb"]
) -> Iterator[str]:
    match form:
        case "md":
            yield markdown.heading(conversation, unreadable)
            yield from (f"\n{markdown.message(message)}" for message in conversation.messages)
            rest = markdown.ending(conversation)
            if rest:
                yield f"\n{rest}"
        case "ipynb":
            yield notebook.BEGIN + notebook.heading(conversation, unreadable)
            for message in conversation.messages:
                yield "".join(f",\n{cell}" for cell in notebook.cells(message))
            yield "".join(f",\n{cell}" for cell in notebook.ending(conversation)) + notebook.END
        case _:
            assert_never(form)


def _line(text: EventText) -> str:
    """Return an event on one line; the rest of a damaged one is kept as text."""
    damaged = text.damaged
    line = text.text if damaged is None else json.dumps({"unreadable": damaged, "seq": text.seq})
    return f"{escaped_json(line)}\n"


def _understood(text: EventText) -> Event | None:
    try:
        return parse_event(text.text)
    except ValidationError:
        return None  # counted, and named in the export
