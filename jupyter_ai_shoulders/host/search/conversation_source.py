"""The user's conversations as documents that are searched, beside those of the workspace.

Implements ``retrieval.ports.DocumentSource``; made by ``host.search.workspace_search``.
Conversations are searched by words only: they may quote outputs, which never leave the machine.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from jupyter_ai_shoulders.host.search.document_source import WorkspaceDocuments
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.chunking import split
from jupyter_ai_shoulders.retrieval.conversation_path import conversation_at, conversation_path
from jupyter_ai_shoulders.retrieval.document_kinds import MOST_CHUNKS
from jupyter_ai_shoulders.retrieval.word_index import FileStamp
from jupyter_ai_shoulders.storage.sessions.conversation_texts import (
    ConversationHead,
    ConversationTexts,
)
from jupyter_ai_shoulders.wire.api.settings import SearchSettings
from jupyter_ai_shoulders.wire.ids import CellId, SessionId

NOT_READ = (
    "Conversations are not searched: the state directory is on a file system without shared memory."
)


class SearchedDocuments:
    """The documents of a workspace and the conversations about them."""

    def __init__(
        self,
        files: WorkspaceDocuments,
        conversations: ConversationTexts,
        settings: Callable[[], SearchSettings],
    ) -> None:
        self._files = files
        self._conversations = conversations
        self._settings = settings

    def files(self) -> Mapping[str, FileStamp]:
        """See ``DocumentSource.files``."""
        found = dict(self._files.files())
        if self._settings().conversations and self._conversations.available:
            for head in self._conversations.heads():
                found[conversation_path(head.session_id, head.owner)] = _stamp(head)
        return found

    def stamp(self, path: str) -> FileStamp | None:
        """See ``DocumentSource.stamp``."""
        session_id = conversation_at(path)
        if session_id is None:
            return self._files.stamp(path)
        if not self._conversations.available:
            return None
        head = self._conversations.head(session_id)
        return None if head is None else _stamp(head)

    def read(self, path: str) -> ChunkedDocument | None:
        """See ``DocumentSource.read``."""
        session_id = conversation_at(path)
        return self._files.read(path) if session_id is None else self._read(path, session_id)

    async def preview(self, path: str) -> ChunkedDocument:
        """See ``DocumentSource.preview``."""
        return await self._files.preview(path)

    def covers(self, path: str) -> bool:
        """See ``DocumentSource.covers``: conversations can be switched off, and be out of reach."""
        if conversation_at(path) is None or not self._settings().conversations:
            return True
        return self._conversations.available

    def reason(self, path: str) -> str:
        """See ``DocumentSource.reason``."""
        return self._files.reason(path)

    def notices(self) -> Sequence[str]:
        """See ``DocumentSource.notices``."""
        is_missed = self._settings().conversations and self._conversations.is_excluded
        return (*self._files.notices(), *([NOT_READ] if is_missed else []))

    async def unsaved(self) -> Sequence[ChunkedDocument]:
        """See ``DocumentSource.unsaved``."""
        return await self._files.unsaved()

    def _read(self, path: str, session_id: SessionId) -> ChunkedDocument:
        try:
            head = self._conversations.head(session_id)
            chunks = () if head is None else tuple(islice(self._chunks(head), MOST_CHUNKS))
        except sqlite3.Error as error:
            problem = f"The conversation cannot be read: {error}"
            return ChunkedDocument(path, "conversation", (), problem=problem)
        said = "\n".join(f"{chunk.cell_id} {chunk.line} {chunk.digest}" for chunk in chunks)
        digest = hashlib.sha256(said.encode()).hexdigest()
        return ChunkedDocument(path, "conversation", chunks, digest)

    def _chunks(self, head: ConversationHead) -> Iterator[Chunk]:
        for message_id, text in self._conversations.texts(head.session_id):
            place = None if message_id is None else CellId(message_id)
            for line, piece in split(text):
                yield Chunk(line, piece, head.title, place)


def _stamp(head: ConversationHead) -> FileStamp:
    return FileStamp(head.messages, head.updated)
