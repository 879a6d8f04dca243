"""Checks that a user may see stored content: only if a conversation of theirs refers to it.

Called by ``server.handlers.blobs``. A hash in a message or in arguments is only text;
only the event fields for hashes count. Reads the database in a thread with its own connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.wire.events import Event, event_adapter
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.messages import ImageAttachment

_NEWEST = 1 << 62
_HOLDING = f"""
    SELECT e.id, e.body FROM events e JOIN sessions s ON s.number = e.id >> {SEQ_BITS}
    WHERE s.deleted_at IS NULL AND (?1 IS NULL OR s.owner IS NULL OR s.owner = ?1)
      AND e.{UNSTREAMED} AND instr(e.body, ?2) > 0 AND e.id < ?3
    ORDER BY e.id DESC LIMIT 1
"""  # noqa: S608 constants


def is_blob_referenced(database: Path, blob: BlobHash, owner: str | None) -> bool:
    """Return whether an event of a conversation refers to the content.

    On a hub only the conversations of ``owner`` and shared ones count. Blocks while it searches the
    events, the latest first. Raises ``StateUnavailable``.
    """
    return any(blob in referenced_blobs(event) for event in _holding(database, blob, owner))


def _holding(database: Path, blob: BlobHash, owner: str | None) -> Iterator[Event]:
    """Yield the events that contain the hash as a JSON string anywhere."""
    before = _NEWEST
    while found := query_rows(database, _HOLDING, owner, f'"{blob}"', before):
        ((before, body),) = found
        try:
            yield event_adapter().validate_json(body)
        except ValidationError:
            continue  # damaged or of a later version, so the page cannot show it either


def referenced_blobs(value: object) -> Iterator[BlobHash]:
    """Yield the hashes in the hash fields of a model and its nested models."""
    if isinstance(value, list | tuple):
        for item in cast("tuple[object, ...]", value):
            yield from referenced_blobs(item)
    if not isinstance(value, BaseModel) or isinstance(value, ImageAttachment):
        return  # an attachment by hash must be referred to elsewhere to be visible
    for name, field in type(value).model_fields.items():
        held: object = getattr(value, name)
        declared: object = field.annotation
        if BlobHash in {declared, *get_args(declared)}:
            if held is not None:
                yield cast("BlobHash", held)
        else:
            yield from referenced_blobs(held)
