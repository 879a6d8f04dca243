"""The user's conversations as documents that are searched, beside those of the workspace.

Implements ``retrieval.ports.DocumentSource``; made by ``host.search.workspace_search``.
Conversations are searched by words only: they may quote outputs, which never leave the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from jupyter_ai_shoulders.core.errors import StateUnavailable
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
        self._problem = ""
        """Why conversations are not searched, in words."""

    def files(self) -> Mapping[str, FileStamp]:
        """See ``DocumentSource.files``."""
        found = dict(self._files.files())
        self._problem = ""
        if not self._settings().conversations:
            return found
        if self._conversations.available is False:
            self._problem = NOT_READ
        try:
            heads = self._conversations.heads() if self._conversations.available else []
        except StateUnavailable as error:
            self._problem = f"Conversations are not searched: {error}"
            heads = []
        return found | {
            conversation_path(each.session_id, each.owner): _stamp(each) for each in heads
        }

    def stamp(self, path: str) -> FileStamp | None:
        """See ``DocumentSource.stamp``."""
        session_id = conversation_at(path)
        if session_id is None:
            return self._files.stamp(path)
        try:
            head = self._conversations.head(session_id) if self._conversations.available else None
        except StateUnavailable:  # ``files`` reports it
            return None
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
        return bool(self._conversations.available) and not self._problem

    def reason(self, path: str) -> str:
        """See ``DocumentSource.reason``."""
        return self._files.reason(path)

    def notices(self) -> Sequence[str]:
        """See ``DocumentSource.notices``."""
        return (*self._files.notices(), *([self._problem] if self._problem else []))

    async def unsaved(self) -> Sequence[ChunkedDocument]:
        """See ``DocumentSource.unsaved``."""
        return await self._files.unsaved()

    def _read(self, path: str, session_id: SessionId) -> ChunkedDocument:
        try:
            head = self._conversations.head(session_id)
            chunks = () if head is None else tuple(islice(self._chunks(head), MOST_CHUNKS))
        except StateUnavailable as error:
            return ChunkedDocument(path, "conversation", (), problem=str(error))
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
