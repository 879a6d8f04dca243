"""The index of words: chunks and their documents in a SQLite file, searched with FTS5.

Used by ``retrieval.indexer``, which writes in one thread at a time, and ``retrieval.service``.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.conversation_path import visible_folders
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.words import hidden_words, query_terms, unfinished_word
from jupyter_ai_shoulders.wire.api.search import DocumentKind
from jupyter_ai_shoulders.wire.ids import CellId

WEIGHTS = {"name": 1.5, "heading": 2.0, "text": 1.0, "hidden": 0.6}
"""How much a word counts in each column, for BM25."""
MOST_TERMS = 48
"""Terms of a query that are looked up; further ones are ignored."""
FREQUENT = 0.05
"""Share of all chunks above which a word says little and costs much. Such words are left out of a
query, except for its ``RARE_TERMS`` rarest words. See docs/design/search.md for what that is worth.
"""
RARE_TERMS = 2
CHEAP = 400
"""Chunks up to which a word always counts: it costs little, and in a small index the words of the
subject are in a large share.
"""
_COLUMNS = "name, heading, text, hidden"
_SCORE = f"bm25(words, {', '.join(map(str, WEIGHTS.values()))})"
"""Less is better."""
_CHUNK = "path, kind, chunks.digest, line, text, heading, cell_id, is_output, size, mtime_ns"


class FileStamp(NamedTuple):
    """What shows without reading a file that it has not changed."""

    size: int
    mtime_ns: int


UNSAVED = FileStamp(-1, -1)
"""The stamp of a text that a page has: no file has it, so the file is read once it is saved."""


class IndexedDocument(NamedTuple):
    """A document as it is in the index, without its chunks."""

    stamp: FileStamp
    digest: str
    problem: str


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as it is in the index."""

    path: str
    kind: DocumentKind
    stamp: FileStamp
    digest: str
    chunk: Chunk
    score: float
    """Of one query; higher is better."""


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Which chunks a search considers."""

    path: str = ""
    """A document or a folder; empty: all."""
    kind: DocumentKind | None = None
    owner: str | None = None
    """Whose conversations; None: all."""


class IndexCounts(NamedTuple):
    """What is in an index."""

    files: int
    """Files with chunks."""
    conversations: int
    chunks: int


class WordIndex:
    """The index in one file. All methods block; raises ``sqlite3.Error`` and ``OSError``."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        """Of the reader, which several threads use."""
        self._reader: sqlite3.Connection | None = None
        self._reader_identity: tuple[int, int] | None = None
        self._writer: sqlite3.Connection | None = None
        self._write_lock = threading.Lock()

    # writing

    def open(self) -> None:
        """Open the file for writing; the first call makes it."""
        if self._writer is None:
            self._writer = self._file.open_writer()

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Store everything that is changed inside, or nothing."""
        with self._write_lock:
            self.open()
            writer = self._writing()
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                writer.execute("COMMIT")
            finally:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")

    def replace(self, document: ChunkedDocument, stamp: FileStamp) -> None:
        """Store a document's chunks in place of those it had; in a transaction."""
        writer = self._writing()
        name = document.path.rpartition("/")[2]
        self.remove(document.path)
        (number,) = writer.execute(
            "INSERT INTO documents (path, kind, size, mtime_ns, digest, problem)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (document.path, document.kind, *stamp, document.digest, document.problem),
        ).fetchone()
        for chunk in document.chunks:
            words = (name, chunk.heading, chunk.text, hidden_words(f"{name} {chunk.text}"))
            added = writer.execute(
                "INSERT INTO chunks (document, cell_id, line, is_output, digest, name, heading,"
                " text, hidden) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, chunk.cell_id, chunk.line, chunk.is_output, chunk.digest, *words),
            )
            writer.execute(
                f"INSERT INTO words (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 constants
                (added.lastrowid, *words),
            )

    def remove(self, path: str) -> None:
        """Remove a document, if it is there; in a transaction."""
        writer = self._writing()
        found = writer.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        if found is None:
            return
        writer.execute(
            f"INSERT INTO words (words, rowid, {_COLUMNS})"  # noqa: S608 constants
            f" SELECT 'delete', id, {_COLUMNS} FROM chunks WHERE document = ?",
            found,
        )
        writer.execute("DELETE FROM chunks WHERE document = ?", found)
        writer.execute("DELETE FROM documents WHERE id = ?", found)

    def set_stamp(self, path: str, stamp: FileStamp) -> None:
        """Record that a changed file has the same content as before; in a transaction."""
        self._writing().execute(
            "UPDATE documents SET size = ?, mtime_ns = ? WHERE path = ?", (*stamp, path)
        )

    def set_fact(self, name: str, value: str | None) -> None:
        """Store a value that belongs to the index, or remove it; in a transaction."""
        writer = self._writing()
        writer.execute("DELETE FROM facts WHERE name = ?", (name,))
        if value is not None:
            writer.execute("INSERT INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._write_lock:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()
        with self._lock:
            self._close_reader()

    # reading, in any thread

    def documents(self) -> Mapping[str, IndexedDocument]:
        """Return the indexed documents."""
        with self.reading() as reader:
            rows = reader.execute("SELECT path, size, mtime_ns, digest, problem FROM documents")
            return {
                path: IndexedDocument(FileStamp(size, mtime_ns), digest, problem)
                for path, size, mtime_ns, digest, problem in rows
            }

    def counts(self) -> IndexCounts:
        """Return how much is in the index."""
        with self.reading() as reader:
            (documents,) = reader.execute("SELECT count(DISTINCT document) FROM chunks").fetchone()
            (conversations,) = reader.execute(
                "SELECT count(*) FROM documents WHERE kind = 'conversation' AND EXISTS"
                " (SELECT 1 FROM chunks WHERE document = documents.id)"
            ).fetchone()
            (chunks,) = reader.execute("SELECT count(*) FROM chunks").fetchone()
        return IndexCounts(documents - conversations, conversations, chunks)

    def file_count(self) -> int:
        """Return the number of files in the index."""
        with self.reading() as reader:
            query = "SELECT count(*) FROM documents WHERE kind IS NOT 'conversation'"
            (found,) = reader.execute(query).fetchone()
        return found

    def chunks_of(self, path: str) -> int:
        """Return the number of a document's chunks."""
        with self.reading() as reader:
            (found,) = reader.execute(
                "SELECT count(*) FROM chunks JOIN documents ON documents.id = document"
                " WHERE path = ?",
                (path,),
            ).fetchone()
        return found

    def fact(self, name: str) -> str | None:
        """Return a value that belongs to the index; None without one."""
        with self.reading() as reader:
            row = reader.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def with_digests(self, digests: Sequence[str], among: ChunkFilter) -> list[IndexedChunk]:
        """Return the chunks with these texts, in the order of the digests."""
        condition, values = _where(among)
        marks = ", ".join("?" * len(digests))
        with self.reading() as reader:
            rows = reader.execute(
                f"SELECT {_CHUNK}, 0.0 FROM chunks JOIN documents ON documents.id = document"  # noqa: S608 constants and question marks
                f" WHERE chunks.digest IN ({marks}) AND NOT is_output"
                f"{f' AND {condition}' if condition else ''}",
                (*digests, *values),
            ).fetchall()
        order = {digest: number for number, digest in enumerate(digests)}
        return sorted(map(_indexed, rows), key=lambda each: order[each.digest])

    def search(self, query: str, among: ChunkFilter, limit: int) -> list[IndexedChunk]:
        """Return the best chunks for a query, best first.

        A word at the end of the query may be unfinished: words that begin with it count, too.
        """
        terms = query_terms(query)[:MOST_TERMS]
        with self.reading() as reader:
            looked_up = [f'"{term}"' for term in _telling_terms(reader, terms)]
            if last := unfinished_word(query):
                looked_up.append(f'"{last}"*')
            if not looked_up:
                return []
            condition, values = _where(among)
            found = f"SELECT rowid, {_SCORE} AS score FROM words WHERE words MATCH ?"  # noqa: S608 constants
            if condition:  # otherwise FTS5 ranks alone, without reading a chunk
                chunks = "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document"
                found += f" AND rowid IN ({chunks} WHERE {condition})"
            rows = reader.execute(
                f"SELECT {_CHUNK}, score FROM ({found} ORDER BY score LIMIT ?) AS found"  # noqa: S608 constants
                " JOIN chunks ON chunks.id = found.rowid"
                " JOIN documents ON documents.id = document ORDER BY score",
                (" OR ".join(looked_up), *values, limit),
            )
            return [_indexed(row) for row in rows]

    # connections

    def _writing(self) -> sqlite3.Connection:
        if self._writer is None:
            raise RuntimeError("The index is changed outside of a transaction.")
        return self._writer

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Give the connection for queries to one thread at a time."""
        with self._lock:
            identity = self._file.identity()
            if self._reader is None or identity != self._reader_identity:
                self._close_reader()
                self._reader = self._file.open_reader()
                self._reader_identity = identity
            yield self._reader

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


def _telling_terms(reader: sqlite3.Connection, terms: list[str]) -> Iterable[str]:
    """Return the terms without words that are in too many chunks, but the rarest in any case."""
    if len(terms) <= RARE_TERMS:
        return terms
    (chunks,) = reader.execute("SELECT count(*) FROM chunks").fetchone()
    marks = ", ".join("?" * len(terms))
    counts: dict[str, int] = dict(
        reader.execute(
            f"SELECT term, doc FROM temp.vocabulary WHERE term IN ({marks})",  # noqa: S608 question marks
            terms,
        )
    )
    most = max(FREQUENT * chunks, CHEAP)
    # One without an entry may be an identifier, which is looked up as a sequence of its parts.
    terms = sorted(terms, key=lambda term: counts.get(term, 0))
    return [
        term
        for number, term in enumerate(terms)
        if number < RARE_TERMS or counts.get(term, 0) <= most
    ]


def _where(among: ChunkFilter) -> tuple[str, list[object]]:
    """Return the condition on a document, empty for all, and its values."""
    conditions: list[str] = []
    values: list[object] = []
    if among.path:
        conditions.append("(path = ? OR substr(path, 1, ?) = ?)")
        values += [among.path, len(among.path) + 1, f"{among.path}/"]
    if among.kind is not None:
        conditions.append("kind = ?")
        values.append(among.kind)
    if among.owner is not None:
        folders = visible_folders(among.owner)
        seen = " OR ".join(["kind != 'conversation'", *["substr(path, 1, ?) = ?"] * len(folders)])
        conditions.append(f"({seen})")
        values += [value for folder in folders for value in (len(folder), folder)]
    return " AND ".join(conditions), values


def _indexed(row: tuple[Any, ...]) -> IndexedChunk:
    path, kind, digest, line, text, heading, cell_id, is_output, size, mtime_ns, score = row
    cell = None if cell_id is None else CellId(cell_id)
    chunk = Chunk(line, text, heading, cell, bool(is_output))
    return IndexedChunk(path, kind, FileStamp(size, mtime_ns), digest, chunk, -score)
