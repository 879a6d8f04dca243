"""What is asked of the worker that reads Word documents, and how it is answered."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import BaseModel

from jupyter_ai_shoulders.files.word.document import WordDocument
from jupyter_ai_shoulders.files.word.outline import OutlineRange, outline
from jupyter_ai_shoulders.files.word.page import word_page
from jupyter_ai_shoulders.wire.api.word import WordPage
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import Version


class WordRequest(BaseModel):
    """A request about the document that follows it."""

    action: Literal["text", "outline", "page"]
    path: str = ""
    wanted: OutlineRange = OutlineRange()
    """The paragraphs of an outline."""


class WordAnswer(BaseModel):
    """The answer, or the reason why there is none."""

    text: str | None = None
    """One line per paragraph, or the outline."""
    first: int = 0
    last: int = 0
    total: int = 0
    page: WordPage | None = None
    error: ErrorInfo | None = None


def answer_request(request: WordRequest, content: bytes) -> tuple[WordAnswer, bytes]:
    """Return the answer, and the new bytes of an edited document. Raises ``ShouldersError``."""
    document = WordDocument(content)
    match request.action:
        case "text":
            total = len(document.paragraphs)
            return WordAnswer(text=document.text, total=total, last=total, first=1), b""
        case "page":
            version = Version(hashlib.sha256(content).hexdigest())
            return WordAnswer(page=word_page(document, request.path, version)), b""
        case "outline":
            shown = outline(document, request.wanted)
            return (
                WordAnswer(text=shown.text, first=shown.first, last=shown.last, total=shown.total),
                b"",
            )
