"""One collection of Qdrant's engine in a folder: opened, made, checked and deleted.

Used by ``edge_store``. The engine (``qdrant-edge-py`` 0.9) keeps its write-ahead log out of this:
without one, a change is durable once ``flush`` returns, the folder is a third of the size, and it
opens in 10 ms instead of 400.
"""

from __future__ import annotations

import errno
import re
import shutil
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.folder_removal import remove_folder
from jupyter_ai_shoulders.retrieval.vectors.optional_packages import edge_engine
from jupyter_ai_shoulders.retrieval.vectors.vector_checks import (
    check_vector,
    check_vectors,
    is_digest,
)

FREE_BYTES = 64 << 20
"""Space on the disk below which nothing is written. The engine writes through memory maps of sparse
files: on a full disk the operating system ends the process (SIGBUS), so that must not happen.
"""
REOPEN_AFTER = 10_000
"""Added vectors after which the files are opened again, because written ones are mapped twice."""
_BYTES_PER_NUMBER = 2
_RESOURCES = (
    *(errno.EACCES, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC),
    *(errno.EIO, errno.EROFS, errno.ESTALE),
)
_RESOURCE_ERROR = re.compile(rf"\(os error (?:{'|'.join(map(str, _RESOURCES))})\)")
"""How Rust ends the text of an error of the operating system that leaves the files as they were."""


class CollectionFormat(BaseModel):
    """What a collection holds, beside the engine's files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1]
    """Raised when what is stored changes: a collection of another format is made again."""
    dimension: int


class EdgeCollection:
    """Vectors at half precision, searched exactly. All methods block; any thread may call them.

    The caller holds a lock for the folder against other processes, in which the engine would
    overwrite the same files. Raises ``VectorStoreUnavailable`` and ``InvalidRequest``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._current = folder / "collection"
        """Complete once it exists: it is made elsewhere and renamed."""
        self._lock = threading.Lock()
        self._shard: Any = None
        self._dimension: int | None = None
        self._verified = False
        self._added = 0
        self.losses = 0
        """How often changes that were not on the disk were dropped with a broken shard."""

    def known(self, digests: Collection[str]) -> set[str]:
        """Return which digests are stored with their vectors."""
        with self._using("looked up"):
            shard = self._open()
            if shard is None:
                return set()
            records = shard.retrieve([_point_id(each) for each in digests], True, False)
            return {record.payload["digest"] for record in records if _has_digest(record)}

    def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors; they are on the disk when ``flush`` returns."""
        with self._using("stored"):
            shard = self._open()
            dimension = check_vectors(vectors, self._dimension)
            self._check_space(len(vectors) * dimension * _BYTES_PER_NUMBER * 2)
            if shard is None:
                self._make(dimension)
                shard = self._open()
            engine = edge_engine()
            points = [
                engine.Point(_point_id(digest), [*vector], {"digest": digest})
                for digest, vector in vectors.items()
            ]
            shard.update(engine.UpdateOperation.upsert_points(points))
            self._added += len(vectors)

    def flush(self, losses: int) -> None:
        """Write to the disk what was added since ``losses`` was read; raise if it was dropped."""
        with self._using("stored"):
            if self.losses != losses:
                raise VectorStoreUnavailable(
                    "The vectors of the search index were not stored, because another call failed.",
                    retryable=True,
                )
            if self._added >= REOPEN_AFTER:
                self._close()
            elif self._shard is not None:  # otherwise it was closed in order, and is on the disk
                self._shard.flush()

    def remove(self, digests: Collection[str]) -> None:
        """Remove vectors, on the disk when it returns."""
        with self._using("removed"):
            shard = self._open()
            if shard is not None:
                self._check_space(0)
                ids = [_point_id(digest) for digest in digests]
                shard.update(edge_engine().UpdateOperation.delete_points(ids))
                shard.flush()

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return digests and cosines of the nearest vectors."""
        with self._using("searched"):
            shard = self._open()
            if shard is None:
                return []
            check_vector(vector, self._dimension)
            found = _query(shard, vector, limit)
            return [
                (hit.payload["digest"], min(hit.score, 1.0)) for hit in found if _has_digest(hit)
            ]

    def count(self) -> int:
        """Return the number of vectors."""
        with self._using("counted"):
            shard = self._open()
            return 0 if shard is None else _count(shard)

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        with self._using("closed"):
            self._close()

    def delete(self) -> None:
        """Delete the collection, whatever its state."""
        with self._using("deleted"):
            self._drop()
            self._dimension = None
            self._verified = False
            removed = self._folder / "collection.old"
            remove_folder(removed)
            if self._current.exists():
                self._current.rename(removed)
            for path in (removed, self._folder / "collection.new"):
                remove_folder(path)

    # the engine's shard, with the lock

    def _open(self) -> Any:
        """Return the open shard; None if there is no collection."""
        if self._shard is None and self._current.exists():
            self._dimension = self._read_format().dimension
            shard = edge_engine().EdgeShard.load(str(self._current / "shard"))
            if not (self._verified or _finds_itself(shard)):
                raise self._damaged("a stored vector is not found")
            self._verified = True
            self._shard = shard
            self._added = 0
        return self._shard

    def _make(self, dimension: int) -> None:
        engine = edge_engine()
        made = self._folder / "collection.new"
        remove_folder(made)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (made / "shard").mkdir(parents=True)
        vectors = engine.EdgeVectorParams(
            size=dimension,
            distance=engine.Distance.Cosine,
            datatype=engine.VectorStorageDatatype.Float16,
            memory=engine.Memory.Cold,
        )
        config = engine.EdgeConfig(vectors=vectors, wal_enabled=False, max_search_threads=1)
        shard = engine.EdgeShard.create(str(made / "shard"), config)
        shard.flush()
        shard.close()
        content = CollectionFormat(format=1, dimension=dimension).model_dump_json()
        (made / "format.json").write_text(content, encoding="utf-8")
        made.rename(self._current)

    def _read_format(self) -> CollectionFormat:
        try:
            text = (self._current / "format.json").read_text("utf-8")
            return CollectionFormat.model_validate_json(text)
        except (FileNotFoundError, UnicodeDecodeError, ValidationError) as error:
            raise self._damaged(error) from error

    def _close(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            shard.flush()
            shard.close()

    def _drop(self) -> None:
        """Forget a shard that cannot be closed in order: after a panic its state is unknown."""
        self._shard = None
        self.losses += 1

    def _check_space(self, needed: int) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free
        if free < needed + FREE_BYTES:
            raise VectorStoreUnavailable(
                f"The vectors of the search index cannot be changed: the disk has {free >> 20} MB.",
                hint=f"Free {(needed + FREE_BYTES - free >> 20) + 1} MB.",
                retryable=True,
            )

    # errors

    @contextmanager
    def _using(self, done: str) -> Generator[None]:
        with self._lock:
            try:
                yield
            except OSError as error:
                raise self._unusable(done, error) from error
            except BaseException as error:
                if not _is_engine_error(error):
                    raise
                self._drop()
                if _RESOURCE_ERROR.search(str(error)):
                    raise self._unusable(done, error) from error
                raise self._damaged(error) from error

    def _unusable(self, done: str, error: BaseException) -> VectorStoreUnavailable:
        return VectorStoreUnavailable(
            f"The vectors of the search index cannot be {done}: {error}",
            hint=f"Check the disk and the rights of {self._folder}.",
            retryable=True,
        )

    def _damaged(self, reason: object) -> VectorStoreUnavailable:
        return VectorStoreUnavailable(
            f"The vectors of the search index are damaged: {reason}",
            hint="Rebuild the search index.",
            is_damaged=True,
        )


def _query(shard: Any, vector: Sequence[float], limit: int, only: Any = None) -> list[Any]:
    engine = edge_engine()
    request = engine.QueryRequest(
        limit=limit,
        query=engine.Query.Nearest([*vector]),
        filter=only,
        with_payload=True,
        params=engine.SearchParams(exact=True),
    )
    return shard.query(request)


def _count(shard: Any) -> int:
    return shard.count(edge_engine().CountRequest(exact=True))


def _finds_itself(shard: Any) -> bool:
    """Return whether a stored vector is found, to see damage that the engine does not report."""
    if not _count(shard):
        return True
    engine = edge_engine()
    first = engine.ScrollRequest(limit=1, with_payload=True, with_vector=True)
    records, _ = shard.scroll(first)
    if not (records and _has_digest(records[0])):
        return False
    only = engine.Filter(must=[engine.HasIdCondition({records[0].id})])
    found = _query(shard, records[0].vector, 1, only)
    return bool(found) and found[0].score > 0.9


def _point_id(digest: str) -> UUID:
    """The engine takes numbers and UUIDs only; the payload has the whole digest."""
    return UUID(digest[:32])


def _has_digest(point: Any) -> bool:
    """Return whether a record or a hit has its payload, which a damaged file may lack."""
    payload: dict[str, object] = point.payload or {}
    return is_digest(payload.get("digest"))


def _is_engine_error(error: BaseException) -> bool:
    """The engine raises ``Exception`` itself; a panic of Rust is a ``BaseException``."""
    return type(error) is Exception or type(error).__module__ == "pyo3_runtime"
