"""Requests to pages about open documents, and their answers, matched by operation id.

Used by ``notebook.backends.live`` and ``files.open_files``. A request is never sent twice. A page
that does not answer in time counts as not responding; its late answer is still reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.live_documents.page_claims import PageClaim
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, OperationId

log = logging.getLogger(__name__)

PageRequest = (
    frames.DocumentRead
    | frames.DocumentApply
    | frames.TextRead
    | frames.TextApply
    | frames.OutputDraw
)
PageAnswer = (
    frames.DocumentApplied
    | frames.DocumentConflict
    | frames.DocumentContent
    | frames.DocumentRefused
    | frames.TextContent
    | frames.TextApplied
    | frames.TextConflict
    | frames.TextRefused
    | frames.OutputPicture
)
MAX_REQUESTS = 500
"""Requests that are remembered for a late answer, the newest."""


class PageTransport(Protocol):
    """Sends frames to pages; the server's socket."""

    def send(self, client_id: ClientId, frame: frames.ServerFrame) -> None:
        """Send a frame to one page; nothing happens when it has disconnected. Must not block."""
        ...


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that was sent."""

    claim: PageClaim
    frame: PageRequest
    answer: asyncio.Future[PageAnswer]


class PageRequests:
    """The requests to all pages about documents of one kind, named in error hints."""

    def __init__(
        self,
        transport: PageTransport,
        clock: Clock,
        ids: IdSource,
        *,
        document_kind: Literal["notebook", "file"],
        answer_seconds: float,
        on_answer: Callable[[PendingRequest, PageAnswer], None] | None = None,
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._ids = ids
        self._kind = document_kind
        self._seconds = answer_seconds
        self._on_answer = on_answer
        self._pending: dict[OperationId, PendingRequest] = {}

    def new_id(self) -> OperationId:
        """Return the id of a new request."""
        return OperationId(self._ids.new("operation"))

    def deadline_ms(self, seconds: float | None = None) -> int:
        """Return when a page has to refuse a request sent now, in epoch milliseconds."""
        seconds = self._seconds if seconds is None else seconds
        return round((self._clock.now().timestamp() + seconds) * 1000)

    async def ask(
        self, claim: PageClaim, frame: PageRequest, seconds: float | None = None
    ) -> PageAnswer:
        """Send a request and return its answer, within ``seconds`` if they are given.

        Raises ``Conflict`` (``page_not_responding``).
        """
        future: asyncio.Future[PageAnswer] = asyncio.get_running_loop().create_future()
        self._pending[frame.operation_id] = PendingRequest(claim, frame, future)
        while len(self._pending) > MAX_REQUESTS:
            self._pending.pop(next(iter(self._pending)))
        self._transport.send(claim.client, frame)
        try:
            async with asyncio.timeout(self._seconds if seconds is None else seconds):
                return await future
        except TimeoutError as error:
            raise self._not_responding(claim, "did not answer") from error

    def answered(self, client: ClientId, answer: PageAnswer) -> None:
        """Take an answer of a page; an answer to an unknown request is ignored."""
        request = self._pending.get(answer.operation_id)
        if request is None or request.claim.client != client:
            log.debug("An answer of %s to an unknown request was ignored", client)
            return
        del self._pending[answer.operation_id]
        if self._on_answer is not None:
            self._on_answer(request, answer)
        if not request.answer.done():
            request.answer.set_result(answer)
        elif isinstance(answer, frames.DocumentApplied):
            log.warning("A page changed %s after its time was up", request.claim.path)

    def lost(self, client: ClientId) -> None:
        """Give up the requests to a page that disconnected."""
        for operation_id, request in list(self._pending.items()):
            if request.claim.client == client:
                del self._pending[operation_id]
                if not request.answer.done():
                    error = self._not_responding(request.claim, "closed its socket")
                    request.answer.set_exception(error)

    def unexpected(self, claim: PageClaim, answer: PageAnswer) -> ShouldersError:
        """Return the error for a refusal, or for an answer of another kind."""
        if claim.in_editor and isinstance(answer, frames.TextRefused):
            return _refused_by_editor(claim, answer)
        if not isinstance(answer, frames.DocumentRefused | frames.TextRefused):
            return Conflict(f"The page gave no usable answer about {claim.path}.", retryable=True)
        if answer.reason == "read_only":
            return PolicyRefusal(
                f"{claim.path} is read-only in the page that has it open.",
                code="forbidden",
                hint="Save it under another name first.",
            )
        if answer.reason == "deadline":
            return self._not_responding(claim, "was too slow")
        return Conflict(
            f"The page did not change {claim.path}: {answer.message}",
            hint="Read the file again." if self._kind == "file" else "Read the notebook again.",
            retryable=True,
        )

    def _not_responding(self, claim: PageClaim, what: str) -> Conflict:
        if claim.in_editor:
            return Conflict(
                f"The editor {what} when asked about {claim.path}; "
                "it is not known whether anything changed.",
                code="page_not_responding",
                hint="Read the file again.",
                retryable=True,
            )
        return Conflict(
            f"The page that has {claim.path} open {what}; "
            "it is not known whether anything changed.",
            code="page_not_responding",
            hint="Bring the page to the front or reload it, then read the file again."
            if self._kind == "file"
            else "Bring the page to the front or reload it, then read the notebook again.",
            retryable=True,
        )


def _refused_by_editor(claim: PageClaim, answer: frames.TextRefused) -> ShouldersError:
    return Conflict(
        f"The editor refused a request about {claim.path}: {answer.message.rstrip('.')}.",
        hint="Nothing was changed. Ask the user to look at the file in the editor.",
        retryable=True,
    )
