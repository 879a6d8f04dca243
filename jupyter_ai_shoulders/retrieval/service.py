"""Search in the workspace: what the tool, the routes and the command line call.

Made by ``host.search`` on first use. Every result is checked against its document as it is now.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.conversation_path import conversation_at
from jupyter_ai_shoulders.retrieval.fusion import RankedPlace, rank_places
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.index_writer import IndexWriter
from jupyter_ai_shoulders.retrieval.indexer import Indexer
from jupyter_ai_shoulders.retrieval.meaning_index import MeaningIndex, MeaningUnavailable
from jupyter_ai_shoulders.retrieval.ports import (
    DocumentSource,
    EmbedderSource,
    IndexOwnership,
    VectorCollections,
)
from jupyter_ai_shoulders.retrieval.snippets import MatchingWords, snippet
from jupyter_ai_shoulders.retrieval.vector_records import VectorRecords
from jupyter_ai_shoulders.retrieval.word_index import (
    UNSAVED,
    ChunkFilter,
    IndexCounts,
    IndexedDocument,
    WordIndex,
)
from jupyter_ai_shoulders.wire.api.search import (
    ConversationPlace,
    IndexedFile,
    IndexProblem,
    IndexState,
    SearchIndexStatus,
    SearchIndexSummary,
    SearchMatch,
    SearchQuery,
    SearchResults,
)
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId

CANDIDATES = 100
"""Chunks that are looked at for one answer."""
MAX_AGE_SECONDS = 1.0
"""How long ago the documents may have been compared with the index for an answer."""
WAIT_SECONDS = 0.25
"""How long an answer waits for documents that were found to have changed."""
MOST_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class Searcher:
    """Who searches, which decides about conversations; the default sees all."""

    owner: str | None = None
    """The user whose conversations count, where users are distinguished."""
    session_id: SessionId | None = None
    """The conversation of the agent that searches: it knows its own words."""


@dataclass(frozen=True, slots=True)
class IndexLevel:
    """How far the index is."""

    state: IndexState
    files: int
    behind: int
    """Documents that are new or changed and not indexed yet."""


@dataclass(frozen=True, slots=True)
class MeaningPorts:
    """What search by meaning needs."""

    embedders: EmbedderSource
    collections: VectorCollections


ANYONE = Searcher()


class SearchService:
    """Search over one index. Used on the event loop; ``aclose`` it."""

    def __init__(
        self,
        file: IndexFile,
        source: DocumentSource,
        ownership: IndexOwnership,
        clock: Clock,
        *,
        changed: Callable[[], None],
        meaning: MeaningPorts | None = None,
    ) -> None:
        """``changed`` is called when the state of the index may have changed."""
        self._file = file
        self._source = source
        self._index = WordIndex(file)
        self._writer = IndexWriter(self._index, file, source, ownership)
        self._meaning: MeaningIndex | None = None
        if meaning is not None:
            self._meaning = MeaningIndex(
                VectorRecords(self._index),
                meaning.embedders,
                meaning.collections,
                changed=changed,
            )
        self._indexer = Indexer(
            self._writer,
            source,
            clock,
            changed=changed,
            updated=self._embed,
            idle=self._stop_meaning,
        )

    async def search(self, query: SearchQuery, by: Searcher = ANYONE) -> SearchResults:
        """Return the places that match best. Raises ``InvalidRequest`` for an empty query."""
        if not query.q.strip():
            raise InvalidRequest("The query is empty.", hint="Give some words to search for.")
        await self._indexer.refresh(max_age=MAX_AGE_SECONDS, wait=query.wait_s)
        nearest, warning = await self._nearest(query)
        try:
            places = await self._current(query, nearest, by)
        except sqlite3.Error as error:
            await self._indexer.report(error)
            places = []
        words = MatchingWords(query.q)
        return SearchResults(
            matches=tuple(_match(place, words) for place in places[: query.limit]),
            total=len(places),
            index=SearchIndexSummary(state=self._state(), behind=self._indexer.behind),
            warning=" ".join(filter(None, [self._warning(), warning])) or None,
        )

    async def status(self, path: str = "") -> SearchIndexStatus:
        """Return the state of the index and, with a path, whether that file is in it.

        Does not begin an index.
        """
        if self._file.exists():
            await self._indexer.refresh(max_age=MAX_AGE_SECONDS, wait=WAIT_SECONDS, is_use=False)
        return await asyncio.to_thread(self._status, path)

    async def settings_changed(self) -> None:
        """Let the index and the vectors follow changed settings, if there is an index."""
        if self._file.exists():
            await self._stop_meaning()  # another embedder, or consent was withdrawn
            await self._indexer.refresh(max_age=0, wait=0, is_use=False)

    async def rebuild(self) -> None:
        """Delete the index and build it again. Raises ``StateUnavailable``.

        Vectors are kept: the same texts need not be embedded again.
        """
        await self._stop_meaning()
        await self._indexer.delete()
        await self._indexer.refresh(max_age=0, wait=WAIT_SECONDS)

    async def clear(self) -> None:
        """Delete the index and the vectors; the next search builds them again.

        Raises ``StateUnavailable``.
        """
        await self._stop_meaning()
        await self._indexer.delete()
        if self._meaning is not None:
            await self._meaning.delete()

    async def set_paused(self, *, paused: bool) -> None:
        """Stop or continue indexing. Raises ``StateUnavailable``."""
        if paused:
            await self._stop_meaning()
        await self._indexer.set_paused(paused=paused)

    async def aclose(self) -> None:
        """Stop the background work, and close the index."""
        await self._indexer.aclose()

    def _embed(self) -> None:
        """Let vectors follow the index, which was just updated."""
        if self._meaning is not None:
            self._meaning.refresh()

    async def _stop_meaning(self) -> None:
        if self._meaning is not None:
            await self._meaning.stop()

    # results

    async def _nearest(self, query: SearchQuery) -> tuple[list[str], str | None]:
        """Return the digests of the nearest texts, or why there are none, in words."""
        meaning, writer = self._meaning, self._writer
        if meaning is None or query.by == "words" or not writer.readable:
            return [], None
        if not (writer.writes or meaning.is_shared):  # another process has the vectors open
            return [], None
        try:
            return await meaning.nearest(query.q, CANDIDATES), None
        except MeaningUnavailable as error:
            return [], str(error) or None
        except sqlite3.Error as error:  # of the index, which the words may still be read from
            await self._indexer.report(error)
            return [], None

    async def _current(
        self, query: SearchQuery, nearest: Sequence[str], by: Searcher
    ) -> list[RankedPlace]:
        """Return the best places, of which none differs from its document."""
        found, changed = await asyncio.to_thread(self._search, query, nearest, by)
        if not changed:
            return found
        await self._indexer.refresh(max_age=0, wait=WAIT_SECONDS)
        found, changed = await asyncio.to_thread(self._search, query, nearest, by)
        if not changed:
            return found
        unsaved = {each.path: each for each in await self._source.unsaved()}
        return await asyncio.to_thread(self._without_stale, found, changed, unsaved)

    def _search(
        self, query: SearchQuery, nearest: Sequence[str], by: Searcher
    ) -> tuple[list[RankedPlace], set[str]]:
        """Return the places that match, and the documents among them that have changed."""
        if not (self._writer.readable and self._file.exists()):
            return [], set()
        among = ChunkFilter(query.path.strip("/"), query.kind, by.owner)
        by_words = self._index.search(query.q, among, CANDIDATES)
        by_meaning = self._index.with_digests(nearest, among) if nearest else []
        found = rank_places(by_words, by_meaning)
        if by.session_id is not None:
            found = [place for place in found if conversation_at(place.chunk.path) != by.session_id]
        stamps = {place.chunk.path: place.chunk.stamp for place in found[: 2 * query.limit]}
        return found, {
            path
            for path, stamp in stamps.items()
            if stamp != UNSAVED and self._source.stamp(path) != stamp
        }

    def _without_stale(
        self,
        found: Sequence[RankedPlace],
        changed: set[str],
        unsaved: Mapping[str, ChunkedDocument],
    ) -> list[RankedPlace]:
        """Leave out chunks of changed documents that are not in the document any more."""
        current: dict[str, frozenset[str]] = {}
        for path in changed:
            document = unsaved.get(path) or self._source.read(path)
            chunks = document.chunks if document is not None else ()
            current[path] = frozenset(chunk.digest for chunk in chunks)
        return [
            place
            for place in found
            if (chunk := place.chunk).digest in current.get(chunk.path, {chunk.digest})
        ]

    # state

    def _state(self) -> IndexState:
        if self._indexer.error is not None:
            return "failed"
        if self._writer.paused:
            return "paused"
        if self._indexer.building:
            return "building"
        return "ready" if self._file.exists() else "empty"

    def _warning(self) -> str | None:
        """Return what an answer may lack, in words."""
        behind = self._indexer.behind
        is_one = behind == 1
        match self._state():
            case "building" if behind:
                return (
                    "The index is being built: 1 new or changed file is not searched yet."
                    if is_one
                    else f"The index is being built: {behind} new or changed files are not searched"
                    " yet."
                )
            case "paused" if behind:
                return (
                    "Indexing is paused: 1 new or changed file is not searched."
                    if is_one
                    else f"Indexing is paused: {behind} new or changed files are not searched."
                )
            case "failed":
                return self._indexer.error
            case "empty" if self._writer.other_writer:
                return self._writer.other_writer
            case _ if behind:
                return (
                    "1 new or changed file is not searched yet."
                    if is_one
                    else f"{behind} new or changed files are not searched yet."
                )
            case _:
                return None

    def level(self) -> IndexLevel:
        """Return how far the index is, without looking at the files; takes a few milliseconds."""
        files = 0
        if self._writer.readable and self._file.exists():
            with contextlib.suppress(sqlite3.Error):  # ``status`` reports it
                files = self._index.file_count()
        return IndexLevel(self._state(), files, self._indexer.behind)

    def _status(self, path: str) -> SearchIndexStatus:
        counts = IndexCounts(0, 0, 0)
        problems = [IndexProblem(path=None, message=text) for text in self._indexer.notices]
        problems += [IndexProblem(path=None, message=text) for text in self._source.notices()]
        file: IndexedFile | None = None
        if self._writer.readable and self._file.exists():
            try:
                counts = self._index.counts()
                documents = self._index.documents()
                problems += [
                    IndexProblem(
                        path=None if conversation_at(name) else name, message=document.problem
                    )
                    for name, document in documents.items()
                    if document.problem
                ]
                if path:
                    file = self._indexed_file(path, documents.get(path))
            except sqlite3.Error as error:
                problems.append(IndexProblem(path=None, message=f"It cannot be read: {error}"))
        elif path:
            file = IndexedFile(path=path, chunks=0, reason="There is no index yet.")
        return SearchIndexStatus(
            state=self._state(),
            files=counts.files,
            conversations=counts.conversations,
            chunks=counts.chunks,
            behind=self._indexer.behind,
            bytes=self._file.size(),
            problems=tuple(problems[:MOST_PROBLEMS]),
            meaning=None if self._meaning is None else self._meaning.status(),
            file=file,
        )

    def _indexed_file(self, path: str, document: IndexedDocument | None) -> IndexedFile:
        reason = document.problem if document is not None else self._source.reason(path)
        chunks = self._index.chunks_of(path)
        if not reason and document is None:
            reason = "It is not read yet."
        elif not reason and not chunks:
            reason = "It has no text."
        return IndexedFile(path=path, chunks=chunks, reason=reason or None)


def _match(place: RankedPlace, words: MatchingWords) -> SearchMatch:
    found, chunk = place.chunk, place.chunk.chunk
    shown = snippet(chunk.text, words)
    session_id = conversation_at(found.path)
    conversation = None
    if session_id is not None:
        message = None if chunk.cell_id is None else MessageId(chunk.cell_id)
        conversation = ConversationPlace(session_id=session_id, message_id=message)
    return SearchMatch(
        path="" if conversation else found.path,
        kind=found.kind,
        cell_id=None if conversation else chunk.cell_id,
        conversation=conversation,
        line=1 if chunk.is_output else chunk.line + shown.line,
        heading=chunk.heading,
        heading_marks=tuple(words.spans(chunk.heading)),
        name_marks=() if conversation else tuple(words.spans(found.path.rpartition("/")[2])),
        snippet=shown.text,
        is_output=chunk.is_output,
        marks=shown.marks,
        score=round(place.score, 4),
        matched_by=place.matched_by,
    )
