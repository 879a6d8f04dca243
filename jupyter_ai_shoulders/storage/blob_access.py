"""Whether a user may see stored content: only what their conversations name. Called by
``server.handlers.blobs``.

A hash in a message or in arguments is only text: what counts are the fields of events that are
made for hashes. The database is read in a thread by a connection of its own.
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
    """Return whether an event of a conversation names the content.

    On a hub only the conversations of ``owner``, and shared ones, count. It blocks for as long as
    it takes to look through the events, the latest first. Raises ``StateUnavailable``.
    """
    return any(blob in referenced_blobs(event) for event in _holding(database, blob, owner))


def _holding(database: Path, blob: BlobHash, owner: str | None) -> Iterator[Event]:
    """Yield the events that hold the hash anywhere; it is a JSON string of its own."""
    before = _NEWEST
    while found := query_rows(database, _HOLDING, owner, f'"{blob}"', before):
        ((before, body),) = found
        try:
            yield event_adapter().validate_json(body)
        except ValidationError:
            continue  # of a later version, or damaged: the page cannot show it either


def referenced_blobs(value: object) -> Iterator[BlobHash]:
    """Yield what the fields that are made for hashes hold, of a model and of those inside it."""
    if isinstance(value, list | tuple):
        for item in cast("tuple[object, ...]", value):
            yield from referenced_blobs(item)
    if not isinstance(value, BaseModel) or isinstance(value, ImageAttachment):
        return  # what is attached by its hash was named elsewhere, or is nobody's to see
    for name, field in type(value).model_fields.items():
        held: object = getattr(value, name)
        declared: object = field.annotation
        if BlobHash in {declared, *get_args(declared)}:
            if held is not None:
                yield cast("BlobHash", held)
        else:
            yield from referenced_blobs(held)
