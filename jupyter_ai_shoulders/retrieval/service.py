"""Search in the workspace: what the tool, the routes and the command line call.

Made by ``host.search`` on first use. Every result is checked against its document as it is now.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.retrieval.chunk import ChunkedDocument
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.index_writer import IndexWriter
from jupyter_ai_shoulders.retrieval.indexer import Indexer
from jupyter_ai_shoulders.retrieval.ports import DocumentSource, IndexOwnership
from jupyter_ai_shoulders.retrieval.snippets import matching_words, snippet
from jupyter_ai_shoulders.retrieval.word_index import (
    UNSAVED,
    ChunkFilter,
    IndexedChunk,
    IndexedDocument,
    WordIndex,
)
from jupyter_ai_shoulders.wire.api.search import (
    IndexedFile,
    IndexProblem,
    IndexState,
    SearchIndexStatus,
    SearchIndexSummary,
    SearchMatch,
    SearchQuery,
    SearchResults,
)

CANDIDATES = 100
"""Chunks that are looked at for one answer."""
MAX_AGE_SECONDS = 1.0
"""How long ago the documents may have been compared with the index for an answer."""
WAIT_SECONDS = 0.25
"""How long an answer waits for documents that were found to have changed."""
MOST_PROBLEMS = 50


class SearchService:
    """Search over one index. Used on the event loop; ``aclose`` it."""

    def __init__(
        self,
        file: IndexFile,
        source: DocumentSource,
        ownership: IndexOwnership,
        clock: Clock,
        changed: Callable[[], None],
    ) -> None:
        """``changed`` is called when the state of the index may have changed."""
        self._file = file
        self._source = source
        self._index = WordIndex(file)
        self._writer = IndexWriter(self._index, file, source, ownership)
        self._indexer = Indexer(self._writer, source, clock, changed=changed)

    async def search(self, query: SearchQuery) -> SearchResults:
        """Return the places that match best. Raises ``InvalidRequest`` for an empty query."""
        if not query.q.strip():
            raise InvalidRequest("The query is empty.", hint="Give some words to search for.")
        await self._indexer.refresh(max_age=MAX_AGE_SECONDS, wait=query.wait_s)
        try:
            found = await self._current(query)
        except sqlite3.Error as error:
            await self._indexer.report(error)
            found = []
        words = matching_words(query.q)
        places = list(_by_place(found))
        return SearchResults(
            matches=tuple(_match(chunk, words) for chunk in places[: query.limit]),
            total=len(places),
            index=SearchIndexSummary(state=self._state(), behind=self._indexer.behind),
            warning=self._warning(),
        )

    async def status(self, path: str = "") -> SearchIndexStatus:
        """Return the state of the index and, with a path, whether that file is in it.

        Does not begin an index.
        """
        if self._file.exists():
            await self._indexer.refresh(max_age=MAX_AGE_SECONDS, wait=WAIT_SECONDS, is_use=False)
        return await asyncio.to_thread(self._status, path)

    async def rebuild(self) -> None:
        """Delete the index and build it again. Raises ``StateUnavailable``."""
        await self._indexer.delete()
        await self._indexer.refresh(max_age=0, wait=WAIT_SECONDS)

    async def clear(self) -> None:
        """Delete the index; the next search builds it. Raises ``StateUnavailable``."""
        await self._indexer.delete()

    async def set_paused(self, *, paused: bool) -> None:
        """Stop or continue indexing. Raises ``StateUnavailable``."""
        await self._indexer.set_paused(paused=paused)

    async def aclose(self) -> None:
        """Stop the background work, and close the index."""
        await self._indexer.aclose()

    # results

    async def _current(self, query: SearchQuery) -> list[IndexedChunk]:
        """Return the best chunks, of which none differs from its document."""
        found, changed = await asyncio.to_thread(self._search, query)
        if not changed:
            return found
        await self._indexer.refresh(max_age=0, wait=WAIT_SECONDS)
        found, changed = await asyncio.to_thread(self._search, query)
        if not changed:
            return found
        unsaved = {each.path: each for each in await self._source.unsaved()}
        return await asyncio.to_thread(self._without_stale, found, changed, unsaved)

    def _search(self, query: SearchQuery) -> tuple[list[IndexedChunk], set[str]]:
        """Return the chunks that match, and the documents among them that have changed."""
        if not (self._writer.readable and self._file.exists()):
            return [], set()
        among = ChunkFilter(query.path.strip("/"), query.kind)
        found = self._index.search(query.q, among, CANDIDATES)
        stamps = {each.path: each.stamp for each in found[: 2 * query.limit]}
        return found, {
            path
            for path, stamp in stamps.items()
            if stamp != UNSAVED and self._source.stamp(path) != stamp
        }

    def _without_stale(
        self,
        found: Sequence[IndexedChunk],
        changed: set[str],
        unsaved: Mapping[str, ChunkedDocument],
    ) -> list[IndexedChunk]:
        """Leave out chunks of changed documents that are not in the document any more."""
        current: dict[str, frozenset[str]] = {}
        for path in changed:
            document = unsaved.get(path) or self._source.read(path)
            chunks = document.chunks if document is not None else ()
            current[path] = frozenset(chunk.digest for chunk in chunks)
        return [each for each in found if each.digest in current.get(each.path, {each.digest})]

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
        files = f"{behind} new or changed file{'s are' if behind != 1 else ' is'} not searched"
        match self._state():
            case "building" if behind:
                return f"The index is being built: {files} yet."
            case "paused" if behind:
                return f"Indexing is paused: {files}."
            case "failed":
                return self._indexer.error
            case "empty" if self._writer.other_writer:
                return self._writer.other_writer
            case _:
                return f"{files[0].upper()}{files[1:]} yet." if behind else None

    def _status(self, path: str) -> SearchIndexStatus:
        files = chunks = 0
        problems = [IndexProblem(path=None, message=text) for text in self._indexer.notices]
        problems += [IndexProblem(path=None, message=text) for text in self._source.notices()]
        file: IndexedFile | None = None
        if self._writer.readable and self._file.exists():
            try:
                files, chunks = self._index.counts()
                documents = self._index.documents()
                problems += [
                    IndexProblem(path=name, message=document.problem)
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
            files=files,
            chunks=chunks,
            behind=self._indexer.behind,
            bytes=self._file.size(),
            problems=tuple(problems[:MOST_PROBLEMS]),
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


def _by_place(found: Iterable[IndexedChunk]) -> Iterator[IndexedChunk]:
    """Yield the best chunk of each cell, and every chunk of other documents."""
    seen: set[tuple[str, object]] = set()
    for each in found:
        place = (each.path, each.chunk.cell_id or each.chunk.line)
        if place not in seen:
            seen.add(place)
            yield each


def _match(found: IndexedChunk, words: re.Pattern[str]) -> SearchMatch:
    chunk = found.chunk
    shown = snippet(chunk.text, words)
    return SearchMatch(
        path=found.path,
        kind=found.kind,
        cell_id=chunk.cell_id,
        line=1 if chunk.is_output else chunk.line + shown.line,
        heading=chunk.heading,
        snippet=shown.text,
        is_output=chunk.is_output,
        marks=shown.marks,
        score=round(found.score, 4),
        matched_by="words",
    )
