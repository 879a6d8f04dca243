"""What is asked of the worker that reads Word documents, and how it is answered."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import BaseModel

from jupyter_ai_shoulders.files.word.editing.changes import edited
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.line_edits import line_edits
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from jupyter_ai_shoulders.files.word.rendering.outline import OutlineRange, outline
from jupyter_ai_shoulders.files.word.rendering.page import word_page
from jupyter_ai_shoulders.wire.api.word import WordPage
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import Version


class WordRequest(BaseModel):
    """A request about the document that follows it."""

    action: Literal["text", "outline", "page", "edit", "rewrite"]
    path: str = ""
    wanted: OutlineRange = OutlineRange()
    """The paragraphs of an outline."""
    edits: tuple[ParagraphEdit, ...] = ()
    text: str = ""
    """For ``rewrite``: the new text, one line per paragraph."""
    author: Author | None = None


class WordAnswer(BaseModel):
    """The answer, or the reason why there is none."""

    text: str | None = None
    """One line per paragraph, or the outline."""
    first: int = 0
    last: int = 0
    total: int = 0
    page: WordPage | None = None
    notes: tuple[str, ...] = ()
    """What an edit could not do as asked."""
    error: ErrorInfo | None = None


def _changed(request: WordRequest, document: WordDocument) -> tuple[WordAnswer, bytes]:
    assert request.author is not None
    edits = request.edits
    if request.action == "rewrite":
        edits = line_edits([each.text for each in document.paragraphs], request.text)
    made = edited(document, edits, request.author)
    return WordAnswer(text=WordDocument(made.content).text, notes=made.notes), made.content


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
        case "edit" | "rewrite":
            return _changed(request, document)
