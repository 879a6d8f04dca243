"""A chunk: one cell, definition or section of a document, and the entry of both indexes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from jupyter_ai_shoulders.wire.api.search import DocumentKind
from jupyter_ai_shoulders.wire.ids import CellId


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document, at its place."""

    line: int
    """First line, from 1, in its cell or file."""
    text: str
    heading: str = ""
    """The headings above it, or the name of its definition."""
    cell_id: CellId | None = None
    """In a conversation: the user's message that it is, or that it answers."""
    is_output: bool = False
    """Whether it is the output of its cell, which only the index of words gets."""

    @property
    def digest(self) -> str:
        """The SHA-256 of what an embedder gets: unchanged text is embedded once."""
        return sha256(self.embedded.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def embedded(self) -> str:
        """The text for an embedder. It lacks the file's name, so that it survives a move."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """All chunks of a document."""

    path: str
    kind: DocumentKind
    chunks: tuple[Chunk, ...]
    digest: str = ""
    """The SHA-256 of the bytes, or of the text that a page has."""
    problem: str = ""
    """Why it has no chunks, in words."""
