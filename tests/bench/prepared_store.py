"""The store of a state directory, and what to put into it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.wire.events import TextDelta
from jupyter_ai_shoulders.wire.ids import PartId, SessionId
from tests.simulator_process import KEY
from tests.storage.store import session


@asynccontextmanager
async def open_store(directory: Path, home: Path | None = None) -> AsyncGenerator[StateStore]:
    """Open a store; all of it is on the disk when it is closed.

    ``home`` is the home directory of the person whose store it is.
    """
    settings = (home or directory.parent / "home") / ".shoulders"
    store = StateStore(directory, SystemClock(), RandomIds(), Redactor([KEY]).redact, settings)
    try:
        await store.open()
        yield store
    finally:
        await store.aclose()


def add_session(store: StateStore, name: str) -> SessionId:
    """Add a conversation of this name; return its id."""
    return store.sessions.add(session(name)).id


def delta(number: int) -> TextDelta:
    """Return a piece of text as a model sends it."""
    return TextDelta(part_id=PartId("part_0123456789abcdef01234567"), text=f" word{number}")
