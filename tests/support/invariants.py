"""Checks invariants over the database, the files and the events that clients received.

One function each; ``violations`` runs them all. Used by ``tests.crash_sweep`` after every
kill, and by ``tests/test_invariants.py``, which plants a violation of each.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat

from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.storage.schema.event_rows import is_placeholder
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.wire.events import Event, MessageAdd, ToolResult, TurnEnd, parse_event
from tests.engine.log_invariants import check_history, check_log
from tests.support.secret_scanner import find_leaks

ACCEPT_SECONDS = 5.0
"""After a fault a session takes a message, or says why not, within so long (I6)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as a client got it."""

    session: str
    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known after a fault, of all that must hold."""

    logs: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The events of each session as the database has them, in order."""
    seen: Sequence[Seen] = ()
    accepted: Sequence[tuple[str, str]] = ()
    """(session, message id) of messages that the server said it has."""
    effects: Sequence[str] = ()
    """What tools did outside, one label for each time it happened."""
    allowed: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many times a label may be there, where more than one call has it."""
    originals: Mapping[Path, Sequence[bytes]] = field(default_factory=dict[Path, Sequence[bytes]])
    """Files and the contents they may have; no content means any valid notebook."""
    accept_seconds: Mapping[str, float | str] = field(default_factory=dict[str, float | str])
    """How long each session took to accept a message, or the error that it named."""
    slack: float = 1.0
    """How many processes shared a core: time is counted as if we had had one."""
    refusals: Sequence[str] = ()
    """What a strict provider said of the requests it was sent."""
    blobs: Blobs | None = None
    root: Path | None = None
    """All below it is searched for ``secrets``."""
    secrets: Sequence[str] = ()
    ledger: Path | None = None
    requests: int = 0
    """Requests that reached a provider."""
    limit_micro_usd: int | None = None
    dearest_micro_usd: int = 0
    """What one request in flight may cost."""
    typed: Sequence[str] = ()
    """Texts of the user that the server was told of and had time to keep."""
    kept: Sequence[str] = ()
    """Everything that would give them back: recovery copies, files, open pages."""

    def events(self, session: str) -> list[Event]:
        """Return a session's events."""
        return [parse_event(text) for text in self.logs[session]]


def seen_is_logged(evidence: Evidence) -> Iterator[str]:
    """I1: every event a client ever saw is in the log, in the same order."""
    for seen in evidence.seen:
        log = evidence.logs.get(seen.session, ())
        logged = log[seen.seq - 1] if 0 < seen.seq <= len(log) else None
        if logged != seen.text:
            yield f"event {seen.seq} of {seen.session} was seen and is not in the log: {seen.text}"


def accepted_once(evidence: Evidence) -> Iterator[str]:
    """I2: each accepted user message appears exactly once."""
    counted = Counter(
        (session, event.message_id)
        for session in evidence.logs
        for event in evidence.events(session)
        if isinstance(event, MessageAdd)
    )
    for session, message in dict.fromkeys([*evidence.accepted, *counted]):
        count = counted[session, message]  # type: ignore[index]  # ids of both kinds are strings
        if count != 1:
            yield f"message {message} of {session} is {count} times in the log"


def one_result_each(evidence: Evidence) -> Iterator[str]:
    """I3: each tool call has exactly one result, once its turn is over."""
    for session in evidence.logs:
        events = evidence.events(session)
        if any(map(is_placeholder, events)):  # what is missing was damaged, and is said so
            if [event.seq for event in events] != list(range(1, len(events) + 1)):
                yield f"log of {session}: a number is missing"
            continue
        try:
            check_log(events)
        except AssertionError as error:
            yield f"log of {session}: {error or 'not well-formed'}"


def effects_once(evidence: Evidence) -> Iterator[str]:
    """I4: a side effect happens at most once per call."""
    for label, count in Counter(evidence.effects).items():
        if count > evidence.allowed.get(label, 1):
            yield f"{label} happened {count} times"


def files_are_whole(evidence: Evidence) -> Iterator[str]:
    """I5: a notebook or file on disk is always the old or the new valid bytes."""
    for path, allowed in evidence.originals.items():
        content = path.read_bytes() if path.exists() else b""
        if content in allowed:
            continue
        if allowed and path.suffix != ".ipynb":
            yield f"{path.name} holds neither the old nor the new bytes"
            continue
        try:
            nbformat.validate(json.loads(content))
        except (ValueError, nbformat.ValidationError) as error:
            yield f"{path.name} is not a valid notebook: {str(error)[:200]}"


def sessions_answer(evidence: Evidence) -> Iterator[str]:
    """I6: within 5 s a session either accepts a message or shows a named blocking error."""
    for session, took in evidence.accept_seconds.items():
        if isinstance(took, float) and took > ACCEPT_SECONDS * evidence.slack:
            yield f"{session} accepted a message after {took:.1f} s"
        elif took == "":
            yield f"{session} neither accepted a message nor said why"


def histories_are_valid(evidence: Evidence) -> Iterator[str]:
    """I7: the history sent to every provider is valid."""
    yield from (f"a provider refused a request: {refusal}" for refusal in evidence.refusals)
    if evidence.blobs is None:
        return
    for session in evidence.logs:
        events = evidence.events(session)
        ends = [n for n, event in enumerate(events, 1) if isinstance(event, ToolResult | TurnEnd)]
        for end in dict.fromkeys([*ends, len(events)]):
            try:
                check_history(build_request_content(events[:end], evidence.blobs).messages)
            except AssertionError as error:
                yield f"history of {session} after event {end}: {error or 'not valid'}"


def no_secrets(evidence: Evidence) -> Iterator[str]:
    """I8: no secret in log, database, events or HTTP bodies (all of which are files here)."""
    if evidence.root is not None:
        yield from (f"a key is in {leak}" for leak in find_leaks(evidence.root, evidence.secrets))


def spending_is_bounded(evidence: Evidence) -> Iterator[str]:
    """I9: spent ≤ limit + one request in flight, and every request is in the ledger."""
    if evidence.ledger is None:
        return
    if not evidence.ledger.exists():
        if evidence.requests:
            yield f"{evidence.requests} requests were sent and there is no ledger"
        return
    with closing(_read_only(evidence.ledger)) as connection:
        (calls,) = connection.execute("SELECT count(*) FROM calls").fetchone()
        (spent,) = connection.execute(
            "SELECT coalesce(sum(cost_micro_usd), 0) FROM calls"
        ).fetchone()
    if calls < evidence.requests:
        yield f"{evidence.requests} requests were sent, {calls} are in the ledger"
    if evidence.limit_micro_usd is None:
        return
    allowed = evidence.limit_micro_usd + evidence.dearest_micro_usd
    if spent > allowed:
        yield f"{spent} micro-dollars are spent, {allowed} are allowed"


def typing_is_kept(evidence: Evidence) -> Iterator[str]:
    """I10: no keystroke of the user is lost."""
    for text in evidence.typed:
        if not any(text in kept for kept in evidence.kept):
            yield f"the user typed {text!r}, and nothing has it"


INVARIANTS: Mapping[str, Callable[[Evidence], Iterator[str]]] = {
    "I1": seen_is_logged,
    "I2": accepted_once,
    "I3": one_result_each,
    "I4": effects_once,
    "I5": files_are_whole,
    "I6": sessions_answer,
    "I7": histories_are_valid,
    "I8": no_secrets,
    "I9": spending_is_bounded,
    "I10": typing_is_kept,
}


def violations(evidence: Evidence) -> list[str]:
    """Return what does not hold, each with the invariant's number."""
    return [
        f"{name}: {problem}" for name, check in INVARIANTS.items() for problem in check(evidence)
    ]


def logs_of(database: Path) -> dict[str, list[str]]:
    """Return the events of each session of a database, as they are stored."""
    if not database.exists():
        return {}
    with closing(_read_only(database)) as connection:
        sessions = dict(connection.execute("SELECT number, id FROM sessions"))
        logs: dict[str, list[str]] = {name: [] for name in sessions.values()}
        for row_id, body in connection.execute("SELECT id, body FROM events ORDER BY id"):
            number = row_id >> SEQ_BITS
            logs.setdefault(sessions.get(number, f"number {number}"), []).append(body)
    return logs


def crowding() -> float:
    """Return how many processes share a core now, 1 at least (POSIX)."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def notebook_texts(folder: Path) -> list[str]:
    """Return the sources of all cells of all notebooks in a folder."""
    texts: list[str] = []
    for path in sorted(folder.glob("*.ipynb")):
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells]
    return texts


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
