"""A folder of text files as the documents of an index, and its owner."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.document_kinds import document_kind, split_text
from jupyter_ai_shoulders.retrieval.word_index import FileStamp


class FolderDocuments:
    """``DocumentSource`` over a folder.

    ``in_pages`` are unsaved texts by path, ``problems`` the reasons of files that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.in_pages: dict[str, str] = {}
        self.problems: dict[str, str] = {}
        self.reads: list[str] = []
        folder.mkdir(exist_ok=True)

    def put(self, path: str, text: str) -> None:
        """Write a file."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def files(self) -> Mapping[str, FileStamp]:
        paths = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        names = [path.relative_to(self.folder).as_posix() for path in paths]
        return {name: stamp for name in names if (stamp := self.stamp(name))}

    def stamp(self, path: str) -> FileStamp | None:
        try:
            found = (self.folder / path).stat()
        except OSError:
            return None
        return FileStamp(found.st_size, found.st_mtime_ns)

    def read(self, path: str) -> ChunkedDocument | None:
        self.reads.append(path)
        if document_kind(path) == "document":
            return None
        if path in self.problems:
            return ChunkedDocument(path, "text", (), problem=self.problems[path])
        return chunked(path, (self.folder / path).read_text())

    async def preview(self, path: str) -> ChunkedDocument:
        return chunked(path, (self.folder / path).read_text())

    def covers(self, path: str) -> bool:
        return True

    def reason(self, path: str) -> str:
        return "" if (self.folder / path).exists() else "There is no such file."

    def notices(self) -> Sequence[str]:
        return ()

    async def unsaved(self) -> Sequence[ChunkedDocument]:
        return [chunked(path, text) for path, text in self.in_pages.items()]


def chunked(path: str, text: str) -> ChunkedDocument:
    """Return a text as a document."""
    kind = document_kind(path) or "text"
    digest = hashlib.sha256(text.encode()).hexdigest()
    return ChunkedDocument(path, kind, split_text(path, kind, text), digest)


class FakeOwnership:
    """``IndexOwnership``; ``other`` stands for another process that writes the index."""

    def __init__(self) -> None:
        self.other = False
        self.trusted = True

    def acquire(self) -> None:
        if self.other:
            raise StateUnavailable("Another server writes the index.")

    def is_trusted(self) -> bool:
        return self.trusted

    def release(self) -> None:
        pass
