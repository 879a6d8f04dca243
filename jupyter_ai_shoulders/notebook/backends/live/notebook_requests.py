"""Requests to a page about a notebook.

Used by ``notebook.backends.live.open_notebooks``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.live_documents.page_requests import (
    MAX_REQUESTS,
    PageAnswer,
    PageRequests,
    PageTransport,
    PendingRequest,
)
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.wire.frames import (
    DocumentApplied,
    DocumentApply,
    DocumentConflict,
    DocumentContent,
    DocumentRead,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, OperationId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit


class NotebookRequests:
    """Reads and changes of notebooks in all pages."""

    def __init__(
        self,
        transport: PageTransport,
        clock: Clock,
        ids: IdSource,
        *,
        answer_seconds: float,
        on_answer: Callable[[PendingRequest, PageAnswer], None],
    ) -> None:
        self._transport = transport
        self._requests = PageRequests(
            transport,
            clock,
            ids,
            document_kind="notebook",
            answer_seconds=answer_seconds,
            on_answer=on_answer,
        )
        self._copies: dict[OperationId, tuple[ClientId, Callable[[PageAnswer], None]]] = {}

    async def read(
        self, claim: NotebookClaim, outputs: Sequence[CellId], since: int | None
    ) -> DocumentContent:
        """Ask for what changed in the notebook since an answer; for all of it if that is None.

        Raises ``Conflict`` (``page_not_responding``).
        """
        frame = DocumentRead(
            operation_id=self._requests.new_id(),
            claim_epoch=claim.epoch,
            path=claim.page_path,
            outputs=tuple(outputs),
            since=since,
        )
        answer = await self._requests.ask(claim, frame)
        if not isinstance(answer, DocumentContent):
            raise self._requests.unexpected(claim, answer)
        return answer

    def unusable(self, claim: NotebookClaim, answer: PageAnswer) -> ShouldersError:
        """Return the error for an answer that is not about the notebook as it is known."""
        return self._requests.unexpected(claim, answer)

    async def apply(
        self,
        claim: NotebookClaim,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> DocumentApplied | DocumentConflict:
        """Ask for a change. Raises ``Conflict`` (``page_not_responding``), ``PolicyRefusal``."""
        answer = await self._requests.ask(claim, self._change(claim, edits, expected))
        if not isinstance(answer, DocumentApplied | DocumentConflict):
            raise self._requests.unexpected(claim, answer)
        return answer

    def apply_copy(
        self,
        claim: NotebookClaim,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
        on_answer: Callable[[PageAnswer], None],
    ) -> None:
        """Show a change that another page applied."""
        frame = self._change(claim, edits, expected)
        self._copies[frame.operation_id] = (claim.client, on_answer)
        while len(self._copies) > MAX_REQUESTS:
            self._copies.pop(next(iter(self._copies)))
        self._transport.send(claim.client, frame)

    def answered(self, client: ClientId, answer: PageAnswer) -> None:
        """Take an answer of a page; an answer to an unknown request is ignored."""
        copy = self._copies.get(answer.operation_id)
        if copy is None or copy[0] != client:
            self._requests.answered(client, answer)
            return
        del self._copies[answer.operation_id]
        copy[1](answer)

    def lost(self, client: ClientId) -> None:
        """Give up the requests to a page that disconnected."""
        self._copies = {key: copy for key, copy in self._copies.items() if copy[0] != client}
        self._requests.lost(client)

    def _change(
        self, claim: NotebookClaim, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> DocumentApply:
        return DocumentApply(
            operation_id=self._requests.new_id(),
            claim_epoch=claim.epoch,
            deadline_ms=self._requests.deadline_ms(),
            path=claim.page_path,
            expected=dict(expected),
            edits=tuple(edits),
        )
