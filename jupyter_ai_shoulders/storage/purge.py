"""Purges sessions deleted long ago: their events, and the files only they refer to.

Run by ``host.state.store`` in a thread when the process starts, before the database is used. A
crash leaves a shorter deleted conversation; the next start continues.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import chain
from pathlib import Path

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.operation_journal import changes_with_trash
from jupyter_ai_shoulders.storage.schema.migrations import UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import first_id, last_id
from jupyter_ai_shoulders.storage.sessions.text_index import remove_text_index
from jupyter_ai_shoulders.wire.ids import SessionId

RETENTION = timedelta(days=30)
LONGEST_SECONDS = 2.0
"""Time limit at each start; the rest is removed at the next one."""
_CHUNK = 2_000
"""Events removed in one transaction."""
_BLOB = re.compile(r'"([0-9a-f]{64})"')
"""A hash is a JSON string by itself. Searching for quotes first makes a gigabyte of text fast
enough for a start; a hash inside a longer text refers to nothing of ours.
"""


class Purge:
    """Removes deleted sessions whose retention time is over."""

    def __init__(
        self, database: Database, clock: Clock, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._clock = clock
        self._now = now

    def run(self, seconds: float = LONGEST_SECONDS) -> list[SessionId]:
        """Remove sessions deleted more than 30 days ago, within the time limit; return their ids.

        Blocks: for a thread. Raises ``StateUnavailable``.
        """
        until = self._now() + seconds
        before = timestamp(self._clock.now() - RETENTION)
        rows = self._database.rows("SELECT number, id FROM sessions WHERE deleted_at < ?", before)
        gone: list[SessionId] = []
        for number, session_id in rows:
            if not (
                self._remove_files(number, session_id, until) and self._remove_events(number, until)
            ):
                break
            gone.append(SessionId(session_id))
        return gone

    def _remove_events(self, number: int, until: float) -> bool:
        """Remove events from the last to the first, then the session; False when time is up."""
        removed = _CHUNK
        while removed == _CHUNK:
            if self._now() > until:
                return False
            with self._database.transaction("remove a deleted conversation") as connection:
                removed = connection.execute(
                    "DELETE FROM events WHERE id IN "
                    "(SELECT id FROM events WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT ?)",
                    (first_id(number), last_id(number), _CHUNK),
                ).rowcount
                if removed < _CHUNK:
                    connection.execute(
                        "DELETE FROM operations WHERE session = "
                        "(SELECT id FROM sessions WHERE number = ?)",
                        (number,),
                    )
                    connection.execute("DELETE FROM sessions WHERE number = ?", (number,))
            crash_point("purge.chunk.removed")
        return True

    def _remove_files(self, number: int, session_id: str, until: float) -> bool:
        """Remove shared and deleted files, and stored contents nothing else refers to.

        Also the indexes of messages, which the next search builds again without the session.

        Done first, while the events still list them; the session is no longer read.
        """
        directory = self._database.directory
        blobs = self._unshared(number, session_id, until)
        if blobs is None:
            return False
        with storage_errors("remove the files of a deleted conversation", directory.path):
            remove_text_index(directory)
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{directory.words}{suffix}").unlink(missing_ok=True)
            crash_point("purge.index.removed")
            shutil.rmtree(directory.path / "artifacts" / session_id, ignore_errors=True)
            crash_point("purge.artifacts.removed")
            for operation_id in changes_with_trash(self._database.open(), session_id):
                (directory.trash / operation_id).unlink(missing_ok=True)
                (directory.agent_database_undo / operation_id).unlink(missing_ok=True)
                crash_point("purge.trash.removed")
            for blob in blobs:
                (directory.blobs / blob[:2] / blob[2:]).unlink(missing_ok=True)
                crash_point("purge.blob.removed")
        return True

    def _unshared(self, number: int, session_id: str, until: float) -> set[str] | None:
        """Return the contents only this session refers to; None when time is up."""
        span = (first_id(number), last_id(number))
        own = chain(
            self._bodies("id > ? AND id <= ?", *span), self._changes("session = ?", session_id)
        )
        blobs = {blob for body in own for blob in referenced_hashes(body)}
        if not blobs:
            return blobs
        others = chain(
            self._changes("session IS NOT ?", session_id),
            self._bodies("(id <= ? OR id > ?)", *span),
        )
        for position, body in enumerate(others):
            if position % _CHUNK == 0 and self._now() > until:
                return None
            blobs.difference_update(referenced_hashes(body))
        return blobs

    def _changes(self, condition: str, session_id: str) -> Iterator[str]:
        """Yield the rows of the operation log. Raises ``StateUnavailable``."""
        return self._texts(f"SELECT body FROM operations WHERE {condition}", session_id)  # noqa: S608 constants

    def _bodies(self, condition: str, *parameters: int) -> Iterator[str]:
        """Yield events one by one, without deltas, which contain no hashes. Raises
        ``StateUnavailable``.
        """
        query = f"SELECT body FROM events WHERE {condition} AND {UNSTREAMED}"  # noqa: S608 constants
        return self._texts(query, *parameters)

    def _texts(self, query: str, *parameters: object) -> Iterator[str]:
        try:
            for (body,) in self._database.open().execute(query, parameters):
                yield body
        except sqlite3.Error as error:
            raise self._database.failed("look for unused files", error) from error


def referenced_hashes(body: str) -> list[str]:
    """Return the hashes of stored contents in an event's text."""
    return _BLOB.findall(body)
