"""What the index needs from the workspace; implemented by ``host.search``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.word_index import FileStamp


class DocumentSource(Protocol):
    """The documents of the workspace that may be searched."""

    def files(self) -> Mapping[str, FileStamp]:
        """Return all files that belong into the index. Blocks."""
        ...

    def stamp(self, path: str) -> FileStamp | None:
        """Return the stamp of a file as it is now; None without one. Blocks."""
        ...

    def read(self, path: str) -> ChunkedDocument | None:
        """Return a file's chunks, or its problem; None if it needs ``preview``. Blocks."""
        ...

    async def preview(self, path: str) -> ChunkedDocument:
        """Return the chunks of a file that another process reads, or its problem."""
        ...

    def reason(self, path: str) -> str:
        """Return why a file does not belong into the index; empty if it does. Blocks."""
        ...

    def notices(self) -> Sequence[str]:
        """Return what the last ``files`` left out as a whole, in words."""
        ...

    async def unsaved(self) -> Sequence[ChunkedDocument]:
        """Return the documents whose text in a page differs from the file."""
        ...


class IndexOwnership(Protocol):
    """One process writes an index; others read it."""

    def acquire(self) -> None:
        """Become the writer, and delete an index that came with the folder. Blocks.

        Raises ``StateUnavailable`` when another process is the writer, or nothing can be stored.
        """
        ...

    def is_trusted(self) -> bool:
        """Return whether the index was made on this machine by this user. Blocks."""
        ...

    def release(self) -> None:
        """Let another process become the writer."""
        ...
