"""Reads a notebook from the page that has it open.

Used by ``notebook.backends.live.open_notebooks``. Every read asks the page, which may have text it
has not announced yet; it sends what changed since its last answer. Where that does not fit what the
server kept, it is asked for all of it.
"""

from __future__ import annotations

from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.live.cell_lists import NOTHING_SENT
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.notebook_requests import NotebookRequests
from jupyter_ai_shoulders.notebook.backends.live.page_registry import PageRegistry
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot


class PageReads:
    """Asks pages for notebooks, and keeps their last answers with their claims."""

    def __init__(self, registry: PageRegistry, requests: NotebookRequests) -> None:
        self._registry = registry
        self._requests = requests

    async def read(self, claim: NotebookClaim, outputs: OutputSelection) -> NotebookSnapshot:
        """Return the notebook as the page has it; the caller holds the notebook's lock.

        Raises ``Conflict`` (``page_not_responding``).
        """
        wanted = claim.order if outputs == "all" else tuple(outputs)
        answer = await self._requests.read(claim, wanted, claim.sent.revision)
        sent = claim.sent.updated(answer)
        if sent is None:
            answer = await self._requests.read(claim, wanted, None)
            sent = NOTHING_SENT.updated(answer)
        if sent is None:
            raise self._requests.unusable(claim, answer)
        self._registry.keep_sent(claim, sent)
        whole = {cell.id: cell for cell in answer.cells if cell.outputs is not None}
        cells = tuple(whole.get(cell.id, cell) for cell in sent.cells) if whole else sent.cells
        return NotebookSnapshot(claim.path, "live", cells, sent.metadata, answer.dirty)
