"""Requests to a page and their answers, matched by operation id.

Used by ``notebook.backends.live.open_notebooks``.

A page answers within two seconds or counts as not responding. A request is never sent twice; an
answer that comes too late is still told to whoever keeps the journal.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.notebook.backends.live.open_documents import PageDocument
from jupyter_ai_shoulders.wire.frames import (
    DocumentApplied,
    DocumentApply,
    DocumentConflict,
    DocumentContent,
    DocumentRead,
    DocumentRefused,
    ServerFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, OperationId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit

log = logging.getLogger(__name__)

PageAnswer = DocumentApplied | DocumentConflict | DocumentContent | DocumentRefused
_KEPT_REQUESTS = 500


class PageTransport(Protocol):
    """Sends frames to pages; the server's socket."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page; nothing happens when it is gone. Must not block."""
        ...


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request on its way."""

    claim: PageDocument
    frame: DocumentRead | DocumentApply
    answer: asyncio.Future[PageAnswer]


class PageRequests:
    """The requests on their way to all pages."""

    def __init__(
        self,
        transport: PageTransport,
        clock: Clock,
        ids: IdSource,
        *,
        answer_seconds: float,
        heard: Callable[[PendingRequest, PageAnswer], None],
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._ids = ids
        self._answer_seconds = answer_seconds
        self._heard = heard
        self._asked: dict[OperationId, PendingRequest] = {}
        self._copies: dict[OperationId, tuple[ClientId, Callable[[PageAnswer], None]]] = {}

    async def read(self, claim: PageDocument, outputs: Sequence[CellId]) -> DocumentContent:
        """Ask for the notebook. Raises ``Conflict`` (``page_not_responding``)."""
        frame = DocumentRead(
            operation_id=self._new_id(),
            claim_epoch=claim.epoch,
            path=claim.page_path,
            outputs=tuple(outputs),
        )
        answer = await self._ask(claim, frame)
        if not isinstance(answer, DocumentContent):
            raise _unexpected(claim, answer)
        return answer

    async def apply(
        self,
        claim: PageDocument,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> DocumentApplied | DocumentConflict:
        """Ask for a change. Raises ``Conflict`` (``page_not_responding``), ``PolicyRefusal``."""
        answer = await self._ask(claim, self._change(claim, edits, expected))
        if not isinstance(answer, DocumentApplied | DocumentConflict):
            raise _unexpected(claim, answer)
        return answer

    def apply_copy(
        self,
        claim: PageDocument,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
        answered: Callable[[PageAnswer], None],
    ) -> None:
        """Show a change that another page applied; ``answered`` gets the outcome."""
        frame = self._change(claim, edits, expected)
        self._copies[frame.operation_id] = (claim.client, answered)
        while len(self._copies) > _KEPT_REQUESTS:
            self._copies.pop(next(iter(self._copies)))
        self._transport.send(claim.client, frame)

    def answered(self, client: ClientId, answer: PageAnswer) -> None:
        """Take an answer of a page; one to a request that is not known is ignored."""
        copy = self._copies.get(answer.operation_id)
        if copy is not None and copy[0] == client:
            del self._copies[answer.operation_id]
            copy[1](answer)
            return
        asked = self._asked.get(answer.operation_id)
        if asked is None or asked.claim.client != client:
            log.debug("An answer of %s to an unknown request was ignored", client)
            return
        del self._asked[answer.operation_id]
        self._heard(asked, answer)
        if not asked.answer.done():
            asked.answer.set_result(answer)
        elif isinstance(answer, DocumentApplied):
            log.warning("A page changed %s after its time was up", asked.claim.path)

    def lost(self, client: ClientId) -> None:
        """Give up the requests to a page that is gone."""
        for operation_id, (asked_client, _) in list(self._copies.items()):
            if asked_client == client:
                del self._copies[operation_id]
        for operation_id, asked in list(self._asked.items()):
            if asked.claim.client == client:
                del self._asked[operation_id]
                if not asked.answer.done():
                    asked.answer.set_exception(_not_responding(asked.claim, "closed its socket"))

    def _change(
        self, claim: PageDocument, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> DocumentApply:
        deadline = self._clock.now().timestamp() + self._answer_seconds
        return DocumentApply(
            operation_id=self._new_id(),
            claim_epoch=claim.epoch,
            deadline_ms=round(deadline * 1000),
            path=claim.page_path,
            expected=dict(expected),
            edits=tuple(edits),
        )

    async def _ask(self, claim: PageDocument, frame: DocumentRead | DocumentApply) -> PageAnswer:
        future: asyncio.Future[PageAnswer] = asyncio.get_running_loop().create_future()
        self._asked[frame.operation_id] = PendingRequest(claim, frame, future)
        while len(self._asked) > _KEPT_REQUESTS:
            self._asked.pop(next(iter(self._asked)))
        self._transport.send(claim.client, frame)
        try:
            async with asyncio.timeout(self._answer_seconds):
                return await future
        except TimeoutError as error:
            raise _not_responding(claim, "did not answer") from error

    def _new_id(self) -> OperationId:
        return OperationId(self._ids.new("operation"))


def _not_responding(claim: PageDocument, what: str) -> Conflict:
    return Conflict(
        f"The page that has {claim.path} open {what}; it is not known whether anything changed.",
        code="page_not_responding",
        hint="Bring the page to the front or reload it, then read the notebook again.",
        retryable=True,
    )


def _unexpected(claim: PageDocument, answer: PageAnswer) -> ShouldersError:
    """Return the error for a refusal, or for an answer to another question."""
    if not isinstance(answer, DocumentRefused):
        return Conflict(f"The page gave no usable answer about {claim.path}.", retryable=True)
    if answer.reason == "read_only":
        return PolicyRefusal(
            f"{claim.path} is read-only in the page that has it open.",
            code="forbidden",
            hint="Save it under another name first.",
        )
    if answer.reason == "deadline":
        return _not_responding(claim, "was too slow")
    return Conflict(
        f"The page did not change {claim.path}: {answer.message}",
        hint="Read the notebook again.",
        retryable=True,
    )
