"""Whether a user may see stored content: only what their conversations name. Called by
``server.blobs``.

The database is read in a thread by a connection of its own.
"""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.storage.ledger_file import rows
from jupyter_ai_shoulders.storage.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.wire.ids import BlobHash

_NAMED = f"""
    SELECT 1 FROM events e JOIN sessions s ON s.number = e.id >> {SEQ_BITS}
    WHERE s.deleted_at IS NULL AND (?1 IS NULL OR s.owner IS NULL OR s.owner = ?1)
      AND e.{UNSTREAMED} AND instr(e.body, ?2) > 0
    ORDER BY e.id DESC LIMIT 1
"""  # noqa: S608 constants


def is_named(database: Path, blob: BlobHash, owner: str | None) -> bool:
    """Return whether an event of a conversation names the content.

    On a hub only the conversations of ``owner``, and shared ones, count. A hash is a JSON string of
    its own. It blocks for as long as it takes to look through the events, the latest first. Raises
    ``StateUnavailable``.
    """
    return bool(rows(database, _NAMED, owner, f'"{blob}"'))
