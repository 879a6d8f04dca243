"""What the index needs: documents (from ``host.search``), and vectors (from ``vectors``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Protocol

from jupyter_ai_shoulders.core.embedding import Embedder
from jupyter_ai_shoulders.core.errors import StateUnavailable
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

    def covers(self, path: str) -> bool:
        """Return whether ``files`` can say that a document is gone."""
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


class VectorStoreUnavailable(StateUnavailable):
    """Vectors cannot be stored or searched; search by words still works.

    ``info.retryable`` says whether the same call may succeed later. ``is_damaged`` says that what
    is stored cannot be read and has to be made again; only a store on this machine sets it.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        is_damaged: bool = False,
        **details: Any,
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable, **details)
        self.is_damaged = is_damaged


class VectorStore(Protocol):
    """Vectors of one collection, by the digest (hex SHA-256, 64 characters) of their text.

    The first vectors decide the dimension of a collection. All methods raise
    ``VectorStoreUnavailable``, and ``InvalidRequest`` for what a store cannot hold: digests of
    another form, vectors of another dimension or of length zero, and numbers that are not finite.
    """

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return which of these digests are stored."""
        ...

    async def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors in place of those with the same digests; durable when it returns.

        After an error some may be stored: ``known`` says which.
        """
        ...

    async def remove(self, digests: Collection[str]) -> None:
        """Remove the vectors of these digests; those that are not stored are ignored."""
        ...

    async def clear(self) -> None:
        """Remove all vectors, damaged ones too."""
        ...

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return the digests of the nearest vectors with the cosine of the angle, best first."""
        ...

    async def count(self) -> int:
        """Return the number of stored vectors."""
        ...

    async def aclose(self) -> None:
        """Close files and connections, and give back memory; the next call opens them again."""
        ...


class VectorCollections(Protocol):
    """Where collections of vectors are kept. Raises ``VectorStoreUnavailable``."""

    @property
    def kind(self) -> Literal["local", "server"]:
        """Whether they are on this machine or on a server."""
        ...

    async def open(self, name: str) -> VectorStore:
        """Open a collection; it is made with its first vectors."""
        ...

    async def drop(self, name: str) -> None:
        """Delete a collection, if it is there. After an error a part of it may be gone."""
        ...

    async def drop_all(self) -> None:
        """Delete all collections of this index. After an error some may be there."""
        ...


class EmbedderSource(Protocol):
    """Chooses the embedder, as the settings say."""

    @property
    def enabled(self) -> bool:
        """Whether search by meaning is switched on."""
        ...

    async def wanted(self, active: str | None) -> Embedder | None:
        """Return the embedder to use; None without one. Raises ``ShouldersError``.

        ``active`` is the id of the one whose vectors answer queries now.
        """
        ...

    def by_id(self, embedder_id: str) -> Embedder | None:
        """Return an embedder that was used before, if it is still available."""
        ...

    def may_send_to(self, host: str) -> bool:
        """Return whether the user allowed to send texts of this workspace to a host."""
        ...
