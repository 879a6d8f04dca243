"""Compares an index with the documents. Pure; used by ``retrieval.indexer``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.word_index import UNSAVED, FileStamp, IndexedDocument


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """What makes the index like the documents."""

    read: tuple[str, ...]
    """Files that are new or have another stamp, the most recently changed first."""
    removed: tuple[str, ...]
    unsaved: tuple[ChunkedDocument, ...]
    """Texts of pages that differ from the indexed ones."""

    @property
    def size(self) -> int:
        """The number of documents to change."""
        return len(self.read) + len(self.removed) + len(self.unsaved)


def index_update(
    files: Mapping[str, FileStamp],
    indexed: Mapping[str, IndexedDocument],
    unsaved: Sequence[ChunkedDocument],
    covers: Callable[[str], bool],
) -> IndexUpdate:
    """Return the update for the files and unsaved texts as they are now.

    For ``covers`` see ``DocumentSource``.
    """
    in_pages = {document.path for document in unsaved}
    changed = [
        path
        for path, stamp in files.items()
        if path not in in_pages and (path not in indexed or indexed[path].stamp != stamp)
    ]
    changed.sort(key=lambda path: -files[path].mtime_ns)
    return IndexUpdate(
        read=tuple(changed),
        removed=tuple(
            path for path in indexed if path not in files and path not in in_pages and covers(path)
        ),
        unsaved=tuple(
            document
            for document in unsaved
            if document.path not in indexed
            or indexed[document.path].stamp != UNSAVED
            or indexed[document.path].digest != document.digest
        ),
    )
