"""Lists who approved what, from the approvals in the event log.

Called by ``server.handlers.tools``. Includes deleted conversations until they are
purged, but not the copies in forks, which were approved once, in the origin. Reads the database in
a thread with its own connection.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jupyter_ai_shoulders.core.catalogue.external_agents import program_name
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import OWN_EVENT
from jupyter_ai_shoulders.wire.api.audit import AuditEntry, AuditPage, AuditQuery
from jupyter_ai_shoulders.wire.events import ApprovalAnswer, ApprovalRequest

_SELECT = f"""
    SELECT events.id, events.body, s.title, s.owner, s.deleted_at IS NOT NULL,
      (SELECT asked.body FROM events asked
       WHERE asked.type = 'approval-request' AND asked.{UNSTREAMED}
         AND asked.id > s.number << {SEQ_BITS} AND asked.id < events.id
         AND iif(json_valid(asked.body), json_extract(asked.body, '$.call_id'), '')
           = iif(json_valid(events.body), json_extract(events.body, '$.call_id'), '')
       ORDER BY asked.id DESC LIMIT 1) AS request,
      iif(json_valid(events.body), json_extract(events.body, '$.at'), '') AS moment,
      iif(json_valid(s.body), json_extract(s.body, '$.model'), NULL)
    FROM events JOIN sessions s ON s.number = events.id >> {SEQ_BITS}
    WHERE events.type = 'approval-answer' AND events.{UNSTREAMED} AND {OWN_EVENT}
"""  # noqa: S608 constants


def audit_page(database: Path, query: AuditQuery, owner: str | None) -> AuditPage:
    """Return decisions, the latest first; on a hub those of ``owner`` and of shared sessions.

    Blocks. Raises ``InvalidRequest`` (cursor), ``StateUnavailable``.
    """
    conditions, values = _conditions(query, owner)
    found = query_rows(
        database,
        f"{_SELECT} {''.join(f' AND {condition}' for condition in conditions)}"
        " ORDER BY moment DESC, events.id DESC LIMIT ?",
        *values,
        query.limit + 1,
    )
    shown = found[: query.limit]
    more = len(found) > query.limit
    return AuditPage(
        entries=tuple(entry for row in shown if (entry := _entry(row)) is not None),
        next_cursor=f"{shown[-1][6]}|{shown[-1][0]}" if more else None,
    )


def _conditions(query: AuditQuery, owner: str | None) -> tuple[list[str], list[object]]:
    given: list[tuple[str, tuple[object, ...]]] = []
    if query.session is not None:
        given.append(("s.id = ?", (query.session,)))
    if query.tool is not None:
        given.append(
            ("iif(json_valid(request), json_extract(request, '$.tool'), '') = ?", (query.tool,))
        )
    if query.from_ is not None:
        given.append(("moment >= ?", (query.from_,)))
    if query.to is not None:
        given.append(("moment < ?", (_end(query.to),)))
    if query.cursor is not None:
        moment, event_id = _cursor(query.cursor)
        given.append(("(moment, events.id) < (?, ?)", (moment, event_id)))
    if owner is not None:
        given.append(("(s.owner IS NULL OR s.owner = ?)", (owner,)))
    return [condition for condition, _ in given], [v for _, values in given for v in values]


def _end(moment: str) -> str:
    """Return the end of a period, which includes its last day."""
    return f"{moment}T~" if len(moment) == len("2026-01-31") else moment


def _cursor(text: str) -> tuple[str, int]:
    moment, _, event_id = text.partition("|")
    if not (event_id.isdecimal() and len(event_id) <= 18):
        raise InvalidRequest(f"cursor: {text[:40]!r} is not a cursor of this list.")
    return moment, int(event_id)


def _entry(row: tuple[Any, ...]) -> AuditEntry | None:
    """Return a row as an entry, or None if its answer cannot be parsed."""
    _, body, title, owner, deleted, request, _, model = row
    try:
        answer = ApprovalAnswer.model_validate_json(body)
        asked = ApprovalRequest.model_validate_json(request) if request else None
    except ValidationError:
        return None
    return AuditEntry(
        session_id=answer.session_id,
        session_title=title,
        owner=owner,
        program=program_name(model),
        deleted=bool(deleted),
        turn_id=answer.turn_id,
        call_id=answer.call_id,
        seq=answer.seq,
        at=answer.at,
        tool=asked.tool if asked else "",
        arguments_hash=asked.arguments_hash if asked else "",
        reason=asked.reason if asked else None,
        decision=answer.decision,
        scope=answer.scope,
        feedback=answer.feedback,
        by=answer.by,
    )
