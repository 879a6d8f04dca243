"""A Word document as a text file of one line per paragraph, for reading, review and undo.

Writing another text makes the difference of the lines as edits of paragraphs, tracked where the
settings say so. Used by ``files.disk_texts`` for the files that ``is_word`` names. Blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.files.encoding import TextForm, decode_text
from jupyter_ai_shoulders.files.word.editing.changes import ChangedDocument
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.files.word.word_files import WordFiles

AUTHOR = "AI"
"""The author of the agent's changes and comments."""


@dataclass(frozen=True, slots=True)
class WordText:
    """A document as text."""

    text: str
    encoding_name: str
    newline: str
    _content: bytes
    _path: str
    _texts: WordTexts
    _changed: bool = False

    def with_text(self, text: str) -> TextForm:
        """Return the document with another text."""
        return replace(self, text=text, _changed=self._changed or text != self.text)

    def encoded(self) -> bytes:
        """Return the bytes. Raises what ``WordFiles.edit`` raises."""
        if not self._changed:
            return self._content
        return self._texts.rewritten(self._content, self._path, self.text)


class WordTexts:
    """Decodes all files of a workspace: Word documents by paragraphs, others as text."""

    def __init__(self, files: WordFiles, clock: Clock, tracked: Callable[[], bool]) -> None:
        """``tracked`` returns whether changes are tracked."""
        self._files = files
        self._clock = clock
        self._tracked = tracked

    def decode(self, content: bytes, path: str) -> TextForm:
        """Return a file's text. Raises ``InvalidRequest`` and ``TooLarge``."""
        if not is_word(path):
            return decode_text(content, path)
        text = self._files.text(content, path)
        return WordText(text, "Word document, a line per paragraph", "\n", content, path, self)

    def edited(self, content: bytes, path: str, edits: Sequence[ParagraphEdit]) -> ChangedDocument:
        """Return a document with edits made. Raises what ``WordFiles.edit`` raises."""
        return self._files.edit(content, path, edits, self._author())

    def rewritten(self, content: bytes, path: str, text: str) -> bytes:
        """Return a document with another text, a line per paragraph."""
        return self._files.rewrite(content, path, text, self._author())

    def _author(self) -> Author:
        date = self._clock.now().replace(microsecond=0, tzinfo=None).isoformat()
        return Author(AUTHOR, f"{date}Z", tracked=self._tracked())
