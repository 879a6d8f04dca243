"""Databases of every released schema stay readable for ever; golden files are never regenerated."""

import json
import shutil
from pathlib import Path
from typing import get_args

import pytest
from pydantic import JsonValue

from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.operation_journal import SqliteOperationJournal
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.wire.events import Event, parse_event
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId
from jupyter_ai_shoulders.wire.operations import OperationKind
from tests.storage.store import OpenStore

JOURNALS = Path(__file__).parent.parent / "golden_databases"
VERSIONS = sorted(path.name for path in JOURNALS.glob("v*"))
SESSIONS = [SessionId("ses_golden"), SessionId("ses_thread"), SessionId("ses_deleted")]


def journal(version: str) -> list[str]:
    return (JOURNALS / version / "events.jsonl").read_text(encoding="utf-8").splitlines()


def operations(version: str) -> list[dict[str, JsonValue]]:
    lines = (JOURNALS / version / "operations.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def later_events() -> list[str]:
    """Return events added after the schema of a golden file, in their original form."""
    files = sorted((JOURNALS / "later").glob("*.jsonl"))
    return [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def event_types() -> set[str]:
    return {member.model_fields["type"].default for member in get_args(get_args(Event)[0])}


def within(old: JsonValue, new: JsonValue) -> bool:
    """Return whether ``new`` contains all of ``old``; newer models may have more fields."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and within(value, new[key]) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(within, old, new))
    return old == new


@pytest.mark.parametrize("version", VERSIONS)
def test_a_golden_database_is_read_and_written(
    open_store: OpenStore, state_dir: Path, version: str
) -> None:
    state_dir.mkdir(parents=True)
    shutil.copy(JOURNALS / version / "state.db", state_dir)
    store = open_store()

    texts = [text.text for session_id in SESSIONS for text in store.log.texts(session_id)]
    shown = store.sessions.page(SessionFilter(), None, 10).sessions

    assert texts == journal(version)
    assert [session.id for session in shown] == ["ses_thread", "ses_golden"]
    assert shown[1].message_count == 2
    assert store.sessions.needing_recovery() == ["ses_thread"]
    assert store.sessions.undelete(SESSIONS[2]).last_seq == 2


@pytest.mark.parametrize("version", ["v2", "v4"])
def test_a_golden_operation_log_is_read(
    open_store: OpenStore, state_dir: Path, version: str
) -> None:
    state_dir.mkdir(parents=True)
    shutil.copy(JOURNALS / version / "state.db", state_dir)
    store = open_store()
    log = SqliteOperationJournal(store.database, store.log, store.clock, CountingIds())

    rows = [json.loads(row.model_dump_json()) for row in reversed(log.recent())]

    written = operations(version)
    assert len(rows) == len(written)
    for old, new in zip(written, rows, strict=True):
        assert within(old, new), old
    assert [row.document for row in log.unfinished()] == ["left.txt"]
    assert log.change(OperationId("operation_6")).kept_as == "operation_5"


def test_every_kind_of_operation_is_in_a_golden_file() -> None:
    kinds = {str(row["kind"]) for version in ("v2", "v4") for row in operations(version)}

    assert kinds == set(get_args(OperationKind))


def test_golden_schedules_and_runs_are_read(open_store: OpenStore, state_dir: Path) -> None:
    state_dir.mkdir(parents=True)
    shutil.copy(JOURNALS / "v4" / "state.db", state_dir)
    store = open_store()
    stored = SqliteSchedules(store.database, store.log)

    rows = [*stored.all(), *stored.runs("sched_4", 9), *stored.open_runs()]

    written = (JOURNALS / "v4" / "schedules.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(written)
    for old, new in zip(map(json.loads, written), rows, strict=True):
        assert within(old, json.loads(new.model_dump_json())), old
    assert stored.next_at() == "2026-11-30T01:00:00.000Z"


@pytest.mark.parametrize("version", [*VERSIONS, "later"])
def test_every_golden_event_is_understood_as_it_was_written(version: str) -> None:
    for line in later_events() if version == "later" else journal(version):
        written = json.loads(line)
        assert within(written, json.loads(parse_event(line).model_dump_json())), line


def test_the_golden_events_cover_the_vocabulary() -> None:
    written = [line for version in VERSIONS for line in journal(version)]
    seen = {parse_event(line).type for line in (*written, *later_events())}

    assert event_types() - seen == set()
