"""What pages say, on its way to those whom it concerns; asked by the page socket.

Notebooks and text files are kept apart below; a page has one socket for both.
"""

from __future__ import annotations

from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles
from jupyter_ai_shoulders.notebook.page_frames import PageFrameHandler
from jupyter_ai_shoulders.wire.frames import PageFrame
from jupyter_ai_shoulders.wire.ids import ClientId


class PageFrameRouter:
    """The frames of pages on their way to notebooks and texts."""

    def __init__(self, notebooks: PageFrameHandler, texts: OpenTextFiles) -> None:
        self._notebooks = notebooks
        self._texts = texts

    def connected(self, client_id: ClientId) -> None:
        """Take note of a page that said hello; it announces what it has open anew."""
        self._notebooks.connected(client_id)
        self._texts.connected(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Take note that a page's socket is closed: by reload, crash, network or for good."""
        self._notebooks.disconnected(client_id)
        self._texts.disconnected(client_id)

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """Take a frame of a page without waiting. Raises ``InvalidRequest``."""
        self._texts.handle(client_id, frame)
        await self._notebooks.handle(client_id, frame)
