"""Which texts of an index have vectors in which collection.

Used by ``retrieval.meaning_index``. The store of vectors may be on another machine; this record
says without asking it what is missing and what is no longer needed. A record that was lost with its
index is made again from the store.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NamedTuple

from jupyter_ai_shoulders.retrieval.word_index import WordIndex

_EMBEDDED = "NOT is_output AND documents.size >= 0 AND kind != 'conversation'"
"""Outputs are never embedded, nor conversations, which may quote them; the text of a page
(``UNSAVED``) is once it is saved."""
_MISSING = f"""
    FROM chunks JOIN documents ON documents.id = document WHERE {_EMBEDDED} AND NOT EXISTS
    (SELECT 1 FROM vectors WHERE collection = ? AND vectors.digest = chunks.digest)
"""  # noqa: S608 constants
ACTIVE = "active_collection"
"""Fact: the collection that answers queries."""
DROPPED = "dropped_collections"
"""Fact: collections that are to be deleted, as a list in JSON."""


class MissingText(NamedTuple):
    """A text without a vector; ``row`` continues the list after it."""

    row: int
    digest: str
    text: str


class VectorRecords:
    """The records of one index. All methods block; raises ``sqlite3.Error`` and ``OSError``."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index

    def missing(self, collection: str, after: int, limit: int) -> list[MissingText]:
        """Return texts without a vector, from a row on; equal texts may occur more than once."""
        with self._index.reading() as reader:
            rows = reader.execute(
                f"SELECT chunks.id, chunks.digest, heading, text {_MISSING}"
                " AND chunks.id > ? ORDER BY chunks.id LIMIT ?",
                (collection, after, limit),
            ).fetchall()
        return [
            MissingText(row, digest, f"{heading}\n{text}" if heading else text)
            for row, digest, heading, text in rows
        ]

    def count_missing(self, collection: str) -> tuple[int, int]:
        """Return the number of texts without a vector, and of their characters."""
        with self._index.reading() as reader:
            found = reader.execute(
                "SELECT count(*), coalesce(sum(length), 0) FROM (SELECT"  # noqa: S608 constants
                f" max(length(text) + length(heading)) AS length {_MISSING}"
                " GROUP BY chunks.digest)",
                (collection,),
            ).fetchone()
        return found[0], found[1]

    def count(self, collection: str) -> int:
        """Return the number of texts with a vector."""
        with self._index.reading() as reader:
            (found,) = reader.execute(
                "SELECT count(*) FROM vectors WHERE collection = ?", (collection,)
            ).fetchone()
        return found

    def add(self, collection: str, digests: Collection[str]) -> None:
        """Record that texts have vectors."""
        with self._index.transaction() as writer:
            writer.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                [(collection, digest) for digest in digests],
            )

    def unneeded(self, collection: str, limit: int) -> list[str]:
        """Return texts with a vector that no document has any more."""
        with self._index.reading() as reader:
            rows = reader.execute(
                "SELECT digest FROM vectors WHERE collection = ? AND NOT EXISTS"
                " (SELECT 1 FROM chunks WHERE chunks.digest = vectors.digest) LIMIT ?",
                (collection, limit),
            ).fetchall()
        return [digest for (digest,) in rows]

    def remove(self, collection: str, digests: Collection[str]) -> None:
        """Forget vectors of texts."""
        with self._index.transaction() as writer:
            writer.executemany(
                "DELETE FROM vectors WHERE collection = ? AND digest = ?",
                [(collection, digest) for digest in digests],
            )

    def begin_drop(self, collection: str) -> None:
        """Forget the vectors of a collection, which is deleted now or after a restart."""
        dropped = self.dropped()
        with self._index.transaction() as writer:
            writer.execute("DELETE FROM vectors WHERE collection = ?", (collection,))
            self._set_dropped([*dropped, collection])

    def end_drop(self, collection: str) -> None:
        """Record that a collection was deleted."""
        kept = [each for each in self.dropped() if each != collection]
        with self._index.transaction():
            self._set_dropped(kept)

    def dropped(self) -> list[str]:
        """Return the collections that are to be deleted."""
        found = self._index.fact(DROPPED)
        return [] if found is None else json.loads(found)

    def active(self) -> str | None:
        """Return the collection that answers queries."""
        return self._index.fact(ACTIVE)

    def set_active(self, collection: str) -> None:
        """Store which collection answers queries; the one before it is to be deleted."""
        former, dropped = self.active(), self.dropped()
        with self._index.transaction():
            self._index.set_fact(ACTIVE, collection)
            if former is not None and former != collection:
                self._set_dropped([*dropped, former])

    def _set_dropped(self, collections: Collection[str]) -> None:
        unique = list(dict.fromkeys(collections))
        self._index.set_fact(DROPPED, json.dumps(unique) if unique else None)
