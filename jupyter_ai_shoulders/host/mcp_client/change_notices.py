"""Tells conversations that use a server when its tools changed, between their turns.

An ``EventListener``. A conversation uses a server once it loaded its tools; it gets one notice
until its next turn ends, however often the server changes. Made by ``host.mcp_client.offers``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.tools.load_tools import loaded_category
from jupyter_ai_shoulders.tools.mcp.names import category_name
from jupyter_ai_shoulders.tools.mcp.offers import OfferedTool, ServerOffer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.ids import SessionId

CODE = "server_tools_changed"
MAX_KNOWN = 500
"""Conversations with a server that are remembered."""
_NAMES = 8
_NAME = 60
_log = logging.getLogger(__name__)
_Use = tuple[SessionId, str]


class ChangeNotices:
    """What each conversation was last told about the tools of a server."""

    def __init__(self, append: Callable[[SessionId, ev.Notice], object]) -> None:
        """``append`` adds a notice to a conversation; raises ``ShouldersError``."""
        self._append = append
        self._offers: dict[str, ServerOffer] = {}
        """What is offered now, by category."""
        self._told: dict[_Use, ServerOffer] = {}
        self._waiting: set[_Use] = set()
        """Told since their last turn."""

    def offered(self, offer: ServerOffer) -> None:
        """Note what a server offers from now on, and tell it."""
        category = category_name(offer.server)
        self._offers[category] = offer
        for use in [use for use in self._told if use[1] == category]:
            self._tell(use)

    def on_event(self, logged: LoggedEvent) -> None:
        """Note which conversation loads which tools."""
        event = logged.event
        if isinstance(event, ev.TurnEnd):
            for use in [use for use in self._told if use[0] == event.session_id]:
                self._waiting.discard(use)
                self._tell(use)
        elif isinstance(event, ev.ToolResult) and event.tool == "load_tools" and event.result:
            for category in loaded_category(event.result) & self._offers.keys():
                self._told[event.session_id, category] = self._offers[category]
                while len(self._told) > MAX_KNOWN:
                    oldest = next(iter(self._told))
                    del self._told[oldest]
                    self._waiting.discard(oldest)

    def _tell(self, use: _Use) -> None:
        told, offer = self._told.get(use), self._offers[use[1]]
        if told is None or use in self._waiting:
            return
        said = "; ".join(_differences(told.tools, offer.tools))
        self._told[use] = offer
        if not said:
            return
        self._waiting.add(use)
        text = f"The MCP server {offer.server} changed its tools: {said}."
        asyncio.get_running_loop().call_soon(self._say, use, text)  # after the event that runs

    def _say(self, use: _Use, text: str) -> None:
        try:
            self._append(use[0], ev.Notice(level="info", code=CODE, text=text))
        except ShouldersError as error:  # the conversation is deleted
            _log.debug("A conversation was not told of changed tools: %s", error)
            self._told.pop(use, None)


def _differences(before: Iterable[OfferedTool], now: Iterable[OfferedTool]) -> list[str]:
    """Return the names of tools that are new, changed and removed."""
    old = {tool.tool: tool.definition for tool in before}
    new = {tool.tool: tool.definition for tool in now}
    groups = {
        "new": new.keys() - old.keys(),
        "changed": {name for name in new.keys() & old.keys() if new[name] != old[name]},
        "removed": old.keys() - new.keys(),
    }
    return [f"{kind} {_listed(sorted(names))}" for kind, names in groups.items() if names]


def _listed(names: list[str]) -> str:
    shown = ", ".join(visible(name)[:_NAME] for name in names[:_NAMES])
    more = len(names) - _NAMES
    return f"{shown} and {more} more" if more > 0 else shown
