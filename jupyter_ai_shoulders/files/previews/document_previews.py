"""Previews of binary documents: spreadsheets, Word documents, PDFs, Parquet.

Made by ``host`` for the tool ``read_file``. Documents are read in a separate process
(``files.previews.worker``) with limits on memory and time, at most two at once.
"""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import Callable, Mapping

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError, TooLarge
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.wire.errors import ErrorCode

SIZE_LIMIT = 64 << 20
"""Bytes of the largest document that is opened."""
SECONDS = 25.0
AT_ONCE = 2
WORKER = "jupyter_ai_shoulders.files.previews.worker"

KINDS: Mapping[str, str] = {
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    ".xlsb": "workbook",
    ".xls": "workbook",
    ".ods": "workbook",
    ".docx": "word",
    ".docm": "word",
    ".pdf": "pdf",
    ".parquet": "parquet",
}

_log = logging.getLogger(__name__)

Helper = Callable[[str, tuple[str, ...], bytes, float], WorkerResult]


class _WorkerAnswer(BaseModel):
    """The worker's answer: the text, or the reason why there is none."""

    text: str | None = None
    code: ErrorCode = "invalid_request"
    message: str = ""
    hint: str | None = None


def document_kind(path: str) -> str | None:
    """Return the reader for a file, by its name; None for text and for unsupported files."""
    return KINDS.get(posixpath.splitext(path)[1].lower())


class DocumentPreviews:
    """Reads documents."""

    def __init__(self, helper: Helper = run_worker, seconds: float = SECONDS) -> None:
        self._helper = helper
        self._seconds = seconds
        self._free = asyncio.Semaphore(AT_ONCE)

    async def text(self, path: str, content: bytes) -> str:
        """Return a document's text, bounded; ``document_kind`` tells which paths have a reader.

        Raises ``InvalidRequest`` (damaged, hostile), ``TooLarge`` (too much to read) and
        ``PolicyRefusal`` (``disabled``: the extra ``docs`` is not installed).
        """
        kind = document_kind(path)
        if kind is None:
            raise InvalidRequest(f"There is no preview of {path}.")
        if len(content) > SIZE_LIMIT:
            raise TooLarge(f"{path} has more than {SIZE_LIMIT >> 20} MB, too much to preview.")
        async with self._free:
            done = await asyncio.to_thread(self._helper, WORKER, (kind,), content, self._seconds)
        return _text(path, done)


def _text(path: str, done: WorkerResult) -> str:
    """Return the worker's text, or raise its error."""
    if done.status != 0:
        _log.info("The preview of %s ended with status %s: %s", path, done.status, done.stderr_tail)
        raise TooLarge(
            f"{path} cannot be previewed: reading it takes too much time or memory.",
            hint="Ask the user for a smaller file, or for the part that matters as CSV or text.",
        )
    try:
        answer = _WorkerAnswer.model_validate_json(done.output)
    except ValidationError as error:
        raise InvalidRequest(f"{path} cannot be previewed: its reader gave no answer.") from error
    if answer.text is None:
        raise _problem(answer, path)
    return answer.text


def _problem(answer: _WorkerAnswer, path: str) -> ShouldersError:
    message = f"{path} cannot be previewed: {answer.message}."
    match answer.code:
        case "too_large":
            return TooLarge(message, hint=answer.hint)
        case "disabled":
            return PolicyRefusal(message, code="disabled", hint=answer.hint)
        case _:
            return InvalidRequest(message, hint=answer.hint)
