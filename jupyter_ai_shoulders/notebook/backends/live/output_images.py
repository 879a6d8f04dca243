"""Pictures of outputs that only a browser can draw, asked of a page that shows the notebook.

The tools' ``OutputRasterizer``; made by ``host``. A page that cannot draw an output, or does not
answer in time, leaves it to text.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument
from jupyter_ai_shoulders.notebook.backends.live.page_requests import PageTransport
from jupyter_ai_shoulders.wire.frames import OutputDraw, OutputPicture
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, OperationId

DRAW_SECONDS = 10.0
"""A large plot takes a slow page a while; the cell has run already."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    client: ClientId
    answer: asyncio.Future[bytes | None]


class PageOutputRasterizer:
    """Asks the page focused last among those that show a notebook."""

    def __init__(
        self,
        shown_in: Callable[[str], PageDocument | None],
        transport: PageTransport,
        ids: IdSource,
        seconds: float = DRAW_SECONDS,
    ) -> None:
        self._shown_in = shown_in
        self._transport = transport
        self._ids = ids
        self._seconds = seconds
        self._asked: dict[OperationId, _Asked] = {}

    async def picture(self, path: str, cell_id: CellId, index: int) -> bytes | None:
        """Return an output as a page shows it, as PNG; None when no page can."""
        claim = self._shown_in(path)
        if claim is None:
            return None
        operation_id = OperationId(self._ids.new("operation"))
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._asked[operation_id] = _Asked(claim.client, answer)
        self._transport.send(
            claim.client,
            OutputDraw(
                operation_id=operation_id, path=claim.page_path, cell_id=cell_id, index=index
            ),
        )
        try:
            async with asyncio.timeout(self._seconds):
                return await answer
        except TimeoutError:
            _log.info("No page drew output %s of cell %s of %s in time", index, cell_id, path)
            return None
        finally:
            del self._asked[operation_id]

    def answered(self, client: ClientId, frame: OutputPicture) -> None:
        """Take an answer of a page; one to a request that is not known is ignored."""
        asked = self._asked.get(frame.operation_id)
        if asked is None or asked.client != client or asked.answer.done():
            _log.debug("A picture of %s that nobody waits for was ignored", client)
            return
        asked.answer.set_result(_decoded(frame.data))

    def lost(self, client: ClientId) -> None:
        """Wait no more for a page that is gone."""
        for asked in self._asked.values():
            if asked.client == client and not asked.answer.done():
                asked.answer.set_result(None)


def _decoded(data: str | None) -> bytes | None:
    """Return the bytes of base64; None where a page gave none, or something else."""
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        _log.warning("A page answered with a picture that is none")
        return None
