"""Requests pictures of outputs that only a browser can draw from a page that shows the notebook.

The tools' ``OutputRasterizer``; made by ``host``. When a page cannot draw an output, or does not
answer in time, the tools use text.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Callable

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.live_documents.page_requests import PageRequests, PageTransport
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.wire.frames import OutputDraw, OutputPicture
from jupyter_ai_shoulders.wire.ids import CellId, ClientId

DRAW_SECONDS = 10.0
"""A large plot can take a slow page several seconds; the cell has run already."""
_log = logging.getLogger(__name__)


class PageOutputRasterizer:
    """Asks the page focused last among those that show a notebook."""

    def __init__(
        self,
        shown_in: Callable[[str], NotebookClaim | None],
        transport: PageTransport,
        clock: Clock,
        ids: IdSource,
        seconds: float = DRAW_SECONDS,
    ) -> None:
        self._shown_in = shown_in
        self._requests = PageRequests(
            transport, clock, ids, document_kind="notebook", answer_seconds=seconds
        )

    async def picture(self, path: str, cell_id: CellId, index: int) -> bytes | None:
        """Return an output as a page shows it, as PNG; None when no page can."""
        claim = self._shown_in(path)
        if claim is None:
            return None
        operation_id = self._requests.new_id()
        frame = OutputDraw(
            operation_id=operation_id, path=claim.page_path, cell_id=cell_id, index=index
        )
        try:
            answer = await self._requests.ask(claim, frame)
        except Conflict as error:
            _log.info("No picture of output %s of cell %s: %s", index, cell_id, error)
            return None
        return _decoded(answer.data) if isinstance(answer, OutputPicture) else None

    def answered(self, client: ClientId, frame: OutputPicture) -> None:
        """Take an answer of a page; an answer to an unknown request is ignored."""
        self._requests.answered(client, frame)

    def lost(self, client: ClientId) -> None:
        """Stop waiting for a page that disconnected."""
        self._requests.lost(client)


def _decoded(data: str | None) -> bytes | None:
    """Decode base64; None without data or when it is invalid."""
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        _log.warning("A page answered with a picture that is none")
        return None
