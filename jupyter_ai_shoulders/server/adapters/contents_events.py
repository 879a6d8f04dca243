"""Listens to the contents manager for renamed and saved files.

Made by ``server.extension_services``. References to a notebook must follow its new name: a page
reports the notebooks it has open, but a suspended page, a recovery copy and a proposal know their
notebook only by path. An instruction file that the user saves counts as theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from jupyter_events import EventLogger
from jupyter_server.services.contents.manager import ContentsManager

from jupyter_ai_shoulders.core.errors import ShouldersError

_log = logging.getLogger(__name__)

SCHEMA_ID = ContentsManager.event_schema_id
"""jupyter_server/event_schemas/contents_service/v1.yaml: ``action``, ``path``, ``source_path``."""


class ContentsListener:
    """Reports each rename and save until closed."""

    def __init__(
        self,
        events: EventLogger,
        renamed: Callable[[str, str], Awaitable[None]],
        saved: Callable[[str], Awaitable[None]],
    ) -> None:
        """``renamed`` gets the old path and the new one, ``saved`` the path."""
        self._events = events
        self._renamed = renamed
        self._saved = saved
        events.add_listener(schema_id=SCHEMA_ID, listener=self._on_event)

    def close(self) -> None:
        """Stop listening."""
        self._events.remove_listener(listener=self._on_event)

    async def _on_event(self, logger: EventLogger, schema_id: str, data: dict[str, Any]) -> None:
        """Handle an event; the parameter names are jupyter_events'."""
        del logger, schema_id
        if data.get("action") == "save":
            await self._saved(data["path"].strip("/"))
            return
        if data.get("action") != "rename":
            return
        try:
            await self._renamed(data["source_path"].strip("/"), data["path"].strip("/"))
        except ShouldersError as error:
            _log.debug("A rename outside the workspace: %s", error)
