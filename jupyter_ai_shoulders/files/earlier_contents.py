"""Finds the bytes that a file had before its latest changes, from the operation log.

Used by ``files.disk_texts`` for files whose bytes hold more than their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.base import ByteStore, LoggedChange, OperationJournal
from jupyter_ai_shoulders.wire.ids import BlobHash

MOST = 50
"""Changes of a file that are looked at."""


def earlier_changes(journal: OperationJournal, path: str) -> Sequence[LoggedChange]:
    """Return the latest edits of a file, the latest first."""
    rows = journal.recent(path=path, limit=MOST)
    return [journal.change(row.id) for row in rows if row.kind == "edit" and row.state != "failed"]


def earlier_contents(
    changes: Sequence[LoggedChange], store: ByteStore, now: BlobHash
) -> Iterator[bytes]:
    """Yield the contents that led to the present one without a change by others. Blocks."""
    for change in changes:
        if change.after == now and change.before is not None:
            now = change.before
            try:
                yield store.get(now)
            except NotFound:
                return
