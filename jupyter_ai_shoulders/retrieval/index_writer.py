"""Writes documents into the index, in short steps.

Used by ``retrieval.indexer``, which calls one method after the other, each in a thread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.index_update import IndexUpdate, index_update
from jupyter_ai_shoulders.retrieval.ports import DocumentSource, IndexOwnership
from jupyter_ai_shoulders.retrieval.word_index import (
    UNSAVED,
    FileStamp,
    IndexedDocument,
    WordIndex,
)

STEP_SECONDS = 0.05
"""Work of one step, if no single document takes longer."""
PAUSED = "paused"
"""Fact of an index whose background work the user stopped."""


class IndexWriter:
    """The writer of one index. All methods block; raises ``sqlite3.Error`` and ``OSError``."""

    def __init__(
        self,
        index: WordIndex,
        file: IndexFile,
        source: DocumentSource,
        ownership: IndexOwnership,
    ) -> None:
        self._index = index
        self._file = file
        self._source = source
        self._ownership = ownership
        self._indexed: dict[str, IndexedDocument] | None = None
        self.other_writer: str | None = None
        """Why another process writes the index and this one only reads it, in words."""
        self.readable = False
        """Whether the index was made by this user and may be searched."""
        self.writes = False
        """Whether this process is the writer."""
        self.paused = False
        self.generation = 0
        """Counts the changes of the index."""

    def open(self) -> None:
        """Become the writer if no other process is, and open or make the index."""
        if self._indexed is not None and self.other_writer is None and self._file.exists():
            return
        self._indexed, self.writes = None, False
        try:
            self._ownership.acquire()
        except StateUnavailable as error:
            self.other_writer = str(error)
            self.readable = self._file.exists() and self._ownership.is_trusted()
            self._indexed = dict(self._index.documents()) if self.readable else {}
            return
        self.other_writer = None
        self._index.close()
        self._index.open()
        self.readable = self.writes = True
        self._indexed = {
            # What could not be read is tried again: the reason may be gone.
            path: document._replace(stamp=UNSAVED) if document.problem else document
            for path, document in self._index.documents().items()
        }
        self.paused = self._index.fact(PAUSED) is not None

    def compare(
        self, files: Mapping[str, FileStamp], unsaved: Sequence[ChunkedDocument]
    ) -> IndexUpdate:
        """Return what differs from the index."""
        return index_update(files, self._indexed or {}, unsaved, self._source.covers)

    def apply(self, update: IndexUpdate) -> None:
        """Remove documents, and store the unsaved texts."""
        self.generation += 1
        with self._index.transaction():
            for path in update.removed:
                self._index.remove(path)
            for document in update.unsaved:
                self._index.replace(document, UNSAVED)
        for path in update.removed:
            self._documents.pop(path, None)
        for document in update.unsaved:
            self._note(document, UNSAVED)

    def step(self, queue: deque[str], files: Mapping[str, FileStamp]) -> list[str]:
        """Index the first files of the queue; return those that need a preview."""
        end = time.perf_counter() + STEP_SECONDS
        previews: list[str] = []
        stored: list[tuple[ChunkedDocument, FileStamp]] = []
        with self._index.transaction():
            while queue and (time.perf_counter() < end):
                path = queue.popleft()
                document = self._source.read(path)
                if document is None:
                    previews.append(path)
                    continue
                self._store(document, files[path])
                stored.append((document, files[path]))
        for document, stamp in stored:
            self._note(document, stamp)
        return previews

    def store(self, document: ChunkedDocument, stamp: FileStamp) -> None:
        """Store one document."""
        with self._index.transaction():
            self._store(document, stamp)
        self._note(document, stamp)

    def set_paused(self, *, paused: bool) -> None:
        """Store whether the background work is stopped."""
        with self._index.transaction():
            self._index.set_fact(PAUSED, "yes" if paused else None)
        self.paused = paused

    def delete(self) -> None:
        """Delete the index. Raises ``StateUnavailable`` when another process writes it."""
        self._ownership.acquire()
        self.close()
        self._file.delete()
        self.paused = False

    def close(self) -> None:
        """Close the index; ``open`` opens it again."""
        self._index.close()
        self._indexed = None

    def release(self) -> None:
        """Close the index, and let another process write it."""
        self.close()
        self.writes = False
        self._ownership.release()

    @property
    def _documents(self) -> dict[str, IndexedDocument]:
        if self._indexed is None:
            raise RuntimeError("The index is written before it was opened.")
        return self._indexed

    def _store(self, document: ChunkedDocument, stamp: FileStamp) -> None:
        known = self._documents.get(document.path)
        if known is not None and known.digest == document.digest and not document.problem:
            self._index.set_stamp(document.path, stamp)  # the same content at another time
        else:
            self._index.replace(document, stamp)

    def _note(self, document: ChunkedDocument, stamp: FileStamp) -> None:
        self.generation += 1
        entry = IndexedDocument(stamp, document.digest, document.problem)
        self._documents[document.path] = entry
