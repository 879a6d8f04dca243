"""Tracks the web addresses that the user wrote or a search found, from a conversation's events.

Pure. Called by ``engine.loop.event_reducer``; ``tools.permissions.rules`` asks for all other
addresses. What a page links to does not count, nor does what an agent wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.loop.state import SessionState
from jupyter_ai_shoulders.tools.permissions.known_addresses import address_key, addresses_in
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import Json

MOST = 5_000
"""Addresses remembered in a conversation."""
_LISTS: Mapping[str, str] = {"web_search": "results", "search_papers": "works"}
"""Our searches, and the list in their data."""
_FIELDS = ("url", "open_access_url", "doi_url")


def update_addresses(state: SessionState, event: ev.Event) -> SessionState:
    """Return the state with the event's addresses added."""
    match event:
        case ev.SessionCreate():
            return replace(state, prompted_by_agent=event.opener is not None)
        case ev.MessageAdd() if state.prompted_by_agent:
            return replace(state, prompted_by_agent=False)
        case ev.MessageAdd() | ev.MessageUpdate() | ev.ClarifyAnswer():
            return _with(state, addresses_in(_typed(event)))
        case ev.ToolResult() if event.status == "ok" and event.tool in _LISTS:
            return _with(state, _found(state, event))
        case _:
            return state


def _typed(event: ev.MessageAdd | ev.MessageUpdate | ev.ClarifyAnswer) -> str:
    return " ".join(event.answer) if isinstance(event, ev.ClarifyAnswer) else event.text or ""


def _found(state: SessionState, event: ev.ToolResult) -> Iterator[str]:
    call = state.turn.call(event.call_id) if state.turn else None
    if call is None or call.package is not None:  # a tool of another package
        return
    data = event.result.data
    entries = data.get(_LISTS[event.tool]) if isinstance(data, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        for name in _FIELDS if isinstance(entry, dict) else ():
            url: Json = cast("Mapping[str, Json]", entry).get(name)
            key = address_key(url) if isinstance(url, str) else None
            if key is not None:
                yield key


def _with(state: SessionState, keys: Iterable[str]) -> SessionState:
    found = state.addresses.union(keys)
    if found == state.addresses or len(found) > MOST:
        return state
    return replace(state, addresses=found)
