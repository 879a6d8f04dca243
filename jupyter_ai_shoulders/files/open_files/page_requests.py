"""Requests to a page about a text file and their answers, matched by operation id.

Used by ``files.open_files.open_text_files``. A page answers within two seconds or counts as not
responding; a request is never sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.files.open_files.page_files import PageTextFile
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId, OperationId, Version

log = logging.getLogger(__name__)

Answer = frames.TextContent | frames.TextApplied | frames.TextConflict | frames.TextRefused
Request = frames.TextRead | frames.TextApply


class TextPageTransport(Protocol):
    """Sends frames to pages; the server's socket."""

    def send(self, client_id: ClientId, frame: frames.ServerFrame) -> None:
        """Send a frame to one page; nothing happens when it is gone. Must not block."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    claim: PageTextFile
    answer: asyncio.Future[Answer]


class TextRequests:
    """The requests on their way to all pages."""

    def __init__(
        self, transport: TextPageTransport, clock: Clock, ids: IdSource, answer_seconds: float
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._ids = ids
        self._seconds = answer_seconds
        self._asked: dict[OperationId, _Asked] = {}

    async def read(self, claim: PageTextFile) -> frames.TextContent:
        """Ask for the text. Raises ``Conflict`` (``page_not_responding``)."""
        frame = frames.TextRead(
            operation_id=self._new_id(), claim_epoch=claim.epoch, path=claim.page_path
        )
        answer = await self._ask(claim, frame)
        if not isinstance(answer, frames.TextContent):
            raise _unexpected(claim, answer)
        return answer

    async def apply(
        self, claim: PageTextFile, text: str, expected: Version
    ) -> frames.TextApplied | frames.TextConflict:
        """Ask for a change. Raises ``Conflict`` (``page_not_responding``), ``PolicyRefusal``."""
        frame = frames.TextApply(
            operation_id=self._new_id(),
            claim_epoch=claim.epoch,
            deadline_ms=self._deadline(),
            path=claim.page_path,
            expected=expected,
            text=text,
        )
        answer = await self._ask(claim, frame)
        if not isinstance(answer, frames.TextApplied | frames.TextConflict):
            raise _unexpected(claim, answer)
        return answer

    def answered(self, client: ClientId, answer: Answer) -> None:
        """Take an answer of a page; one to a request that is not known is ignored."""
        asked = self._asked.get(answer.operation_id)
        if asked is None or asked.claim.client != client:
            log.debug("An answer of %s to an unknown request was ignored", client)
            return
        if not asked.answer.done():
            asked.answer.set_result(answer)

    def lost(self, client: ClientId) -> None:
        """Give up the requests to a page that is gone."""
        for asked in self._asked.values():
            if asked.claim.client == client and not asked.answer.done():
                asked.answer.set_exception(not_responding(asked.claim, "closed its socket"))

    def _deadline(self) -> int:
        return round((self._clock.now().timestamp() + self._seconds) * 1000)

    async def _ask(self, claim: PageTextFile, frame: Request) -> Answer:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[frame.operation_id] = _Asked(claim, future)
        self._transport.send(claim.client, frame)
        try:
            async with asyncio.timeout(self._seconds):
                return await future
        except TimeoutError as error:
            raise not_responding(claim, "did not answer") from error
        finally:
            del self._asked[frame.operation_id]

    def _new_id(self) -> OperationId:
        return OperationId(self._ids.new("operation"))


def not_responding(claim: PageTextFile, what: str) -> Conflict:
    """Return the error for a page that does not say what became of a request."""
    return Conflict(
        f"The page that has {claim.path} open {what}; it is not known whether anything changed.",
        code="page_not_responding",
        hint="Bring the page to the front or reload it, then read the file again.",
        retryable=True,
    )


def _unexpected(claim: PageTextFile, answer: Answer) -> ShouldersError:
    """Return the error for a refusal, or for an answer to another question."""
    if not isinstance(answer, frames.TextRefused):
        return Conflict(f"The page gave no usable answer about {claim.path}.", retryable=True)
    if answer.reason == "read_only":
        return PolicyRefusal(
            f"{claim.path} is read-only in the page that has it open.",
            code="forbidden",
            hint="Save it under another name first.",
        )
    if answer.reason == "deadline":
        return not_responding(claim, "was too slow")
    return Conflict(
        f"The page did not change {claim.path}: {answer.message}",
        hint="Read the file again.",
        retryable=True,
    )
