"""Reads the intact rows of a damaged database.

Called by ``storage.database`` after it moved the damaged file aside. Only single rows are trusted:
events are read from the leaf pages of the file and its write-ahead log, and their checksums show
which are intact. The others keep their numbers, so that the log shows how many are missing and
where.
"""

from __future__ import annotations

import contextlib
import mmap
import re
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from jupyter_ai_shoulders.storage.json_encoding import decode_lenient
from jupyter_ai_shoulders.storage.salvage import database_header
from jupyter_ai_shoulders.storage.salvage.leaf_rows import LeafRow, leaf_ids, leaf_rows
from jupyter_ai_shoulders.storage.salvage.wal_file import PAGE_SIZE, WalContent, read_wal
from jupyter_ai_shoulders.storage.schema.event_rows import LONGEST_GAP, SEQ_MASK, is_intact
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.wire.events import Event, parse_event
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

SESSION = (
    "number, id, kind, source, title, document, owner, open_turn, message_count, updated_order, "
    "deleted_at, body"
)
OPERATION = "number, id, at, state, session, document, new_document, batch, body"
SCHEDULE = "number, id, owner, next_at, body"
SCHEDULE_RUN = "number, id, schedule, started_at, is_open, body"
PLAIN_TABLES = {"operations": OPERATION, "schedules": SCHEDULE, "schedule_runs": SCHEDULE_RUN}
"""Tables whose rows are copied as they are, with their columns."""
_SESSION_ID = re.compile(rb'\{"seq":\d+,"session_id":"([^"\\]+)"')
"""The start of each event's text."""


@dataclass(frozen=True, slots=True)
class SalvagedEvent:
    """An intact event."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class SalvagedSession:
    """The remains of a session."""

    id: SessionId
    row: Session | None
    """Its row in the table of sessions."""
    deleted_at: str | None
    events: dict[int, SalvagedEvent]
    """By ``seq``."""
    last_seq: int
    """Highest known event number, including lost events."""


@dataclass(frozen=True, slots=True)
class SalvagedData:
    """Data read from a damaged database."""

    source: Path
    sessions: tuple[SalvagedSession, ...] = ()
    rows: Mapping[str, tuple[tuple[object, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[object, ...], ...]]
    )
    """Rows of ``PLAIN_TABLES``, in order."""


@dataclass(slots=True)
class _Tables:
    """Rows that SQLite itself can read."""

    sessions: dict[int, tuple[str, str, str | None]] = field(
        default_factory=dict[int, tuple[str, str, str | None]]
    )
    """Id, body and deletion time by number."""
    numbers: set[int] = field(default_factory=set[int])
    """Numbers of sessions that have events."""
    rows: dict[str, dict[int, tuple[object, ...]]] = field(
        default_factory=lambda: {table: {} for table in PLAIN_TABLES}
    )
    complete: bool = True
    """Whether sessions and events were read to the end."""


@dataclass(slots=True)
class _NumberedEvents:
    """Events of one session number; a reused number has several sessions."""

    intact: dict[str, dict[int, SalvagedEvent]] = field(
        default_factory=lambda: defaultdict[str, dict[int, SalvagedEvent]](dict)
    )
    damaged: set[int] = field(default_factory=set[int])


def read_damaged_database(path: Path, last_event: int = 0) -> SalvagedData:
    """Read the intact data of the damaged database at ``path``.

    ``last_event`` is the row of the newest event known to be stored. Never raises for damage.
    Raises ``OSError`` (no space for a copy, not readable).
    """
    with _image(path) as (copy, page_size):
        tables = _tables(copy)
        found = _events(copy, page_size)
    sessions = tuple(_sessions(tables, found, last_event))
    rows = {
        table: tuple(row for _, row in sorted(found.items()))
        for table, found in tables.rows.items()
    }
    return SalvagedData(path, sessions, rows)


def holds_unseen_events(database: Path, wal: WalContent) -> bool:
    """Return whether frames that do not verify hold events that exist nowhere else.

    A write cut short by a crash leaves no such frame, or one without new events.
    """
    seen = {row for page in wal.pages.values() for row in leaf_ids(page)}
    unseen: set[int] = set()
    with database.open("rb") as file:
        for number, page in wal.unverified:
            file.seek((number - 1) * wal.page_size if number else 0)
            unseen |= leaf_ids(page) - leaf_ids(file.read(wal.page_size))
    return any(row >> SEQ_BITS for row in unseen - seen)


@contextmanager
def _image(path: Path) -> Generator[tuple[Path, int]]:
    """Make a copy with a sound header and the pages of the write-ahead log."""
    wal = read_wal(path.with_name(f"{path.name}-wal"))
    copy = path.with_name("state.db.salvage")
    try:
        if path.exists():
            shutil.copyfile(path, copy)
        else:
            copy.write_bytes(b"")
        size = _page_size(copy, wal)
        with copy.open("r+b") as file:
            for page, content in wal.pages.items():
                file.seek((page - 1) * size)
                file.write(content)
            length = -(-file.seek(0, 2) // size) * size
            file.truncate(length)
            file.seek(0)
            file.write(database_header.rebuild_header(size, length // size))
            file.seek(0, 2)  # beyond what SQLite reads: pages to search for single rows
            file.writelines(content for _, content in wal.unverified)
        yield copy, size
    finally:
        copy.unlink(missing_ok=True)


def _page_size(copy: Path, wal: WalContent) -> int:
    if wal.pages:
        return wal.page_size
    with copy.open("rb") as file:
        header = file.read(database_header.SIZE)
    sound = database_header.is_sound(header)
    return (database_header.page_size(header) if sound else None) or PAGE_SIZE


def _tables(copy: Path) -> _Tables:
    """Read rows with SQLite; a damaged page ends a scan, so scan from both ends."""
    tables = _Tables()
    with (
        contextlib.suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{quote(str(copy))}?mode=ro", uri=True)) as connection,
    ):
        connection.text_factory = decode_lenient
        connection.execute("PRAGMA writable_schema = ON")  # accept a truncated file
        for direction in ("ASC", "DESC"):
            of_sessions = f"number, id, body, deleted_at FROM sessions ORDER BY number {direction}"
            for number, name, body, deleted_at in _scan(connection, tables, of_sessions):
                if isinstance(number, int) and isinstance(name, str) and isinstance(body, str):
                    tables.sessions[number] = (name, body, deleted_at)
            for (row,) in _scan(connection, tables, f"id FROM events ORDER BY id {direction}"):
                tables.numbers |= {row >> SEQ_BITS} if isinstance(row, int) else set()
            for table, columns in PLAIN_TABLES.items():
                plain = f"{columns} FROM {table} ORDER BY number {direction}"
                for values in _scan(connection, _Tables(), plain):
                    if isinstance(values[0], int):
                        tables.rows[table][values[0]] = values
        return tables
    tables.complete = False
    return tables


def _scan(connection: sqlite3.Connection, tables: _Tables, query: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from connection.execute(f"SELECT {query}")
    except sqlite3.Error:
        tables.complete = False


def _events(copy: Path, page_size: int) -> dict[int, _NumberedEvents]:
    """Return the events of all leaf pages by session number."""
    found: dict[int, _NumberedEvents] = defaultdict(_NumberedEvents)
    with (
        copy.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image,
    ):
        for row in leaf_rows(image, page_size):
            _collect_row(found, row)
    return found


def _collect_row(found: dict[int, _NumberedEvents], row: LeafRow) -> None:
    """Collect a row if it belongs to the table of events: id, type, body, perhaps a checksum."""
    number, seq = row.id >> SEQ_BITS, row.id & SEQ_MASK
    if number < 1 or seq < 1 or len(row.values) not in (3, 4) or row.values[0] is not None:
        return
    _, kind, body, *rest = row.values
    stored = rest[0] if rest else None
    if not isinstance(kind, bytes) or not isinstance(body, bytes) or isinstance(stored, bytes):
        return
    of_number = found[number]
    if is_intact((row.id, body, stored)):
        name = _session_id(body)
        if name is not None:
            of_number.intact[name][seq] = SalvagedEvent(decode_lenient(kind), decode_lenient(body))
            return
    of_number.damaged.add(seq)


def _session_id(body: bytes) -> str | None:
    begin = _SESSION_ID.match(body)
    if begin is not None:
        return decode_lenient(begin[1])
    event = parse_stored_event(decode_lenient(body))
    return event.session_id if event else None


def _sessions(
    tables: _Tables, found: dict[int, _NumberedEvents], last_event: int
) -> Iterator[SalvagedSession]:
    """Yield the sessions in order.

    Unused pages may hold sessions that were purged. When SQLite read its tables to the end, only
    the sessions in them count.
    """
    for number in sorted({*tables.sessions, *found}):
        row = tables.sessions.get(number)
        if tables.complete and row is None and number not in tables.numbers:
            continue
        events = found.get(number, _NumberedEvents())
        names = list(events.intact) or ([row[0]] if row else [])
        if row is not None or tables.complete:
            known = row is not None and row[0] in names
            best = max(names, key=lambda name: len(events.intact[name]), default=None)
            names = [row[0]] if row and known else [best] if best is not None else []
        for name in names:
            ours = dict(sorted(events.intact[name].items()))
            session = _session(row)
            noted = last_event & SEQ_MASK if last_event >> SEQ_BITS == number else 0
            known = {*events.damaged, noted, session.last_seq if session else 0}
            last = _last_seq(max(ours, default=0), known)
            yield SalvagedSession(SessionId(name), session, row[2] if row else None, ours, last)


def _last_seq(newest: int, known: set[int]) -> int:
    """Return the highest known event number; an outlier is considered damaged."""
    return max(newest, *(seq for seq in known if seq <= newest + LONGEST_GAP))


def _session(row: tuple[str, str, str | None] | None) -> Session | None:
    try:
        return Session.model_validate_json(row[1]) if row else None
    except ValidationError:
        return None


def parse_stored_event(text: str) -> Event | None:
    """Return the event of a stored text, or None if it cannot be parsed."""
    try:
        return parse_event(text)
    except ValidationError:
        return None
