"""Filters page frames about notebooks before ``notebook.backends.live.open_notebooks``.

Used by the page socket. A page also announces notebooks that are in a room: it shows runs, asks for
input and reports renames. But their unsaved changes belong to the room: no copy is kept, and
nothing is written when the page disconnects.
"""

from __future__ import annotations

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StalenessTracker
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.live.output_images import PageOutputRasterizer
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.wire.frames import DocumentChange, DocumentOpen, OutputPicture, PageFrame
from jupyter_ai_shoulders.wire.ids import ClientId


class PageFrameHandler:
    """Passes frames of pages to the live notebooks."""

    def __init__(
        self,
        workspace: Workspace,
        shared: SharedNotebooks,
        live: OpenNotebooks,
        rasterizer: PageOutputRasterizer,
        stale: StalenessTracker | None = None,
    ) -> None:
        self._workspace = workspace
        self._shared = shared
        self._live = live
        self._rasterizer = rasterizer
        self._stale = stale

    def connected(self, client_id: ClientId) -> None:
        """See ``OpenNotebooks.connected``."""
        self._live.connected(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """See ``OpenNotebooks.disconnected``."""
        self._rasterizer.lost(client_id)
        if self._stale is not None:
            self._stale.page_disconnected(client_id)
        self._live.disconnected(client_id)

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """See ``OpenNotebooks.handle``. Raises ``InvalidRequest``."""
        match frame:
            case OutputPicture():
                self._rasterizer.answered(client_id, frame)
                return
            case DocumentOpen() | DocumentChange() if frame.dirty and self._in_room(frame.path):
                frame = frame.model_copy(update={"dirty": False})
            case _:
                pass
        await self._live.handle(client_id, frame)
        if self._stale is not None:
            if isinstance(frame, DocumentChange):
                cells = self._live.announced(client_id, frame.path)
                frame = frame.model_copy(update={"cells": cells, "order": None})
            self._stale.handle_frame(client_id, frame)

    def _in_room(self, path: str) -> bool:
        return self._shared.find(self._workspace.path(path)) is not None
