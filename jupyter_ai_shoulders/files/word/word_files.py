"""Reads Word documents in a separate process, with limits on memory and time.

Made by ``host.documents.files``, for the texts of files, the tools and ``GET word``. At most two
processes run at once; the texts of the latest documents are cached by their hash.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.files.word.editing.changes import ChangedDocument
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.rendering.outline import Outline, OutlineRange
from jupyter_ai_shoulders.files.word.requests import WordAnswer, WordRequest
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.wire.api.word import WordPage
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.versions import file_version

SIZE_LIMIT = 64 << 20
"""Bytes of the largest document that is opened."""
SECONDS = 25.0
AT_ONCE = 2
CACHED = 32
CACHED_LENGTH = 2_000_000
"""Characters of the longest text that is cached."""
WORKER = "jupyter_ai_shoulders.files.word.worker"

_ERRORS: Mapping[str, type[ShouldersError]] = {
    "too_large": TooLarge,
    "not_found": NotFound,
    "ambiguous": Conflict,
    "conflict": Conflict,
    "denied": PolicyRefusal,
}

_log = logging.getLogger(__name__)
Helper = Callable[[str, tuple[str, ...], bytes, float], WorkerResult]


class WordFiles:
    """Reads Word documents. All methods block: for threads.

    They raise ``InvalidRequest`` (damaged, hostile, protected by a password) and ``TooLarge``.
    """

    def __init__(self, helper: Helper = run_worker, seconds: float = SECONDS) -> None:
        self._helper = helper
        self._seconds = seconds
        self._free = threading.Semaphore(AT_ONCE)
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def text(self, content: bytes, path: str) -> str:
        """Return the text of a document: one line per paragraph, tracked changes accepted."""
        key = file_version(content)
        with self._lock:
            known = self._texts.get(key)
        if known is not None:
            return known
        answer, _ = self._ask(WordRequest(action="text", path=path), content)
        text = answer.text or ""
        self._remember(key, text)
        return text

    def outline(self, content: bytes, path: str, wanted: OutlineRange) -> Outline:
        """Return the numbered paragraphs of a document for a model."""
        answer, _ = self._ask(WordRequest(action="outline", path=path, wanted=wanted), content)
        return Outline(answer.text or "", answer.first, answer.last, answer.total)

    def page(self, content: bytes, path: str) -> WordPage:
        """Return a document as a page."""
        answer, _ = self._ask(WordRequest(action="page", path=path), content)
        assert answer.page is not None
        return answer.page

    def edit(
        self, content: bytes, path: str, edits: Sequence[ParagraphEdit], author: Author
    ) -> ChangedDocument:
        """Return a document with edits made, all or none.

        Raises also ``NotFound`` (no such paragraph or text), ``Conflict`` (``ambiguous``) and
        ``PolicyRefusal`` (a protected document).
        """
        request = WordRequest(action="edit", path=path, edits=tuple(edits), author=author)
        return self._changed(request, content)

    def rewrite(self, content: bytes, path: str, text: str, author: Author) -> bytes:
        """Return a document with another text, one line per paragraph. Raises as ``edit``."""
        request = WordRequest(action="rewrite", path=path, text=text, author=author)
        return self._changed(request, content).content

    def _changed(self, request: WordRequest, content: bytes) -> ChangedDocument:
        answer, changed = self._ask(request, content)
        self._remember(file_version(changed), answer.text or "")
        return ChangedDocument(changed, answer.notes)

    def _remember(self, key: str, text: str) -> None:
        if len(text) > CACHED_LENGTH:
            return
        with self._lock:
            self._texts[key] = text
            while len(self._texts) > CACHED:
                self._texts.popitem(last=False)

    def _ask(self, request: WordRequest, content: bytes) -> tuple[WordAnswer, bytes]:
        path = request.path
        if len(content) > SIZE_LIMIT:
            raise TooLarge(f"{path} has more than {SIZE_LIMIT >> 20} MB; it is not opened.")
        head = request.model_dump_json().encode() + b"\n"
        with self._free:
            done = self._helper(WORKER, (), head + content, self._seconds)
        if done.status != 0:
            _log.info("Reading %s ended with status %s: %s", path, done.status, done.stderr_tail)
            raise TooLarge(
                f"{path} cannot be read: it takes too much time or memory.",
                hint="Ask the user for a smaller document, or for the part that matters.",
            )
        first, _, rest = done.output.partition(b"\n")
        try:
            answer = WordAnswer.model_validate_json(first)
        except ValidationError as error:
            raise InvalidRequest(f"{path} cannot be read: its reader gave no answer.") from error
        if answer.error is not None:
            raise _problem(answer.error, request)
        return answer, rest


def _problem(info: ErrorInfo, request: WordRequest) -> ShouldersError:
    message = f"{request.path} cannot be read: {info.message}."
    if request.action in {"edit", "rewrite"}:
        message = f"{request.path} was not changed: {info.message}."
    kind = _ERRORS.get(info.code, InvalidRequest)
    return kind(message, code=info.code, hint=info.hint)
