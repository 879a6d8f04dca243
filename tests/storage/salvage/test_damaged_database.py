"""Damage of the database or its write-ahead log: nothing is lost silently."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_ai_shoulders.storage.salvage.wal_file import read_wal
from jupyter_ai_shoulders.storage.schema.event_rows import DAMAGED
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.events import Event, MessageAdd, Notice, TextDelta
from jupyter_ai_shoulders.wire.ids import MessageId, PartId, SessionId
from tests.storage.store import MovableClock, OpenStore, Store

NAMES = ("one", "two", "three")
FRAME = 24 + 4096


def talk(store: Store, count: int) -> None:
    for number in range(count):
        for name in NAMES:
            session_id = SessionId(f"ses_{name}")
            if number % 10 == 0:
                long = "long " * (2_000 if number == 10 else 1)  # uses overflow pages
                message = MessageAdd(message_id=MessageId(f"{name}{number}"), text=long)
                store.log.append(session_id, message)
            else:
                store.log.append(session_id, TextDelta(part_id=PartId("p"), text=f"{number} " * 30))


def logs(store: Store) -> dict[str, list[Event]]:
    return {
        name: [logged.event for logged in store.log.read(SessionId(f"ses_{name}"))]
        for name in NAMES
    }


class Stored:
    """Files of a checkpointed database, and of one with a log left by a killed process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpointed = folder / "checkpointed"
        self.killed = folder / "killed"
        store = Store(folder / "live", MovableClock())
        for name in NAMES:
            store.add(name)
        talk(store, 60)
        self.before = logs(store)
        store.crash()
        shutil.copytree(folder / "live", self.checkpointed)
        store = Store(folder / "live", MovableClock())
        talk(store, 20)
        store.database.flush()
        self.whole = logs(store)
        shutil.copytree(folder / "live", self.killed)
        store.crash()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored(tmp_path_factory.mktemp("stored"))


def check(store: Store, whole: dict[str, list[Event]], *, report: bool = True) -> int:
    """Check that each event is present or reported missing; return the number of missing events."""
    shown = {
        session.title: session for session in store.sessions.page(SessionFilter(), None, 9).sessions
    }
    assert store.directory.path.exists()
    missing = 0
    kept = store.directory.damage_report()
    assert (kept is not None) == report
    for name, events in whole.items():
        if name not in shown and "Recovered conversation" not in shown:
            assert kept is not None
            missing += len(events)
            continue
        found = [logged.event for logged in store.log.read(SessionId(f"ses_{name}"))]
        assert [event.seq for event in found] == list(range(1, len(found) + 1))
        if report:
            assert isinstance(found[-1], Notice)
            assert found[-1].code == "salvaged"
            found.pop()
        for was, now in zip(events, found, strict=False):
            assert now == was or (isinstance(now, Notice) and now.code == DAMAGED)
            missing += now != was
        missing += max(0, len(events) - len(found))
        store.log.append(SessionId(f"ses_{name}"), Notice(level="info", code="t", text="on"))
    if report:
        (aside,) = store.directory.path.glob("state.db.damaged-*Z")
        assert aside.name in (kept or "")
        assert f"{missing} event" in (kept or "") or "newest ones may be" in (kept or "")
    return missing


def overwritten(at: int, length: int, fill: bytes = b"\0") -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with (folder / "state.db").open("r+b") as file:
            file.seek(at)
            file.write(fill * length)

    return damage


def without_first_page(folder: Path) -> None:
    overwritten(0, 4096)(folder)


def without_half_of_the_events(folder: Path) -> None:
    """Cut the file in the middle of the pages with events, which follow those of empty tables."""
    fresh = Store(folder.with_name("fresh"), MovableClock())
    fresh.add("one")
    fresh.crash()
    empty = (fresh.directory.path / "state.db").stat().st_size
    whole = (folder / "state.db").stat().st_size
    os.truncate(folder / "state.db", empty + (whole - empty) // 2)


def renamed_table(folder: Path) -> None:
    content = (folder / "state.db").read_bytes()
    (folder / "state.db").write_bytes(content.replace(b"TABLE events", b"TABLE evexts", 1))


def other_version(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "state.db", isolation_level=None)) as connection:
        connection.execute("UPDATE schema_version SET version = 77 WHERE version = 3")


@pytest.mark.parametrize(
    ("damage", "most"),
    {
        "magic": (overwritten(0, 16), 0),
        "header zeroed": (overwritten(0, 100), 0),
        "header random": (overwritten(0, 100, b"\xa5"), 0),
        "encoding": (overwritten(59, 1, b"\2"), 0),
        "versions": (overwritten(18, 2, b"\7"), 0),
        "first page": (without_first_page, 0),
        "second page": (overwritten(4096, 4096), 40),
        "name of a table": (renamed_table, 0),
        "version of the schema": (other_version, 0),
        "half of the events": (without_half_of_the_events, 130),
    }.values(),
    ids=[
        *("magic", "header zeroed", "header random", "encoding", "versions", "first page"),
        *("second page", "name of a table", "version of the schema", "half of the events"),
    ],
)
def test_a_damaged_database_keeps_all_but_the_damaged_pages(
    stored: Stored,
    open_store: OpenStore,
    tmp_path: Path,
    damage: Callable[[Path], None],
    most: int,
) -> None:
    shutil.copytree(stored.checkpointed, tmp_path / "state")
    damage(tmp_path / "state")

    store = open_store(tmp_path / "state")

    assert check(store, stored.before) <= most


def test_a_sound_log_of_a_killed_process_raises_no_alarm(
    stored: Stored, open_store: OpenStore, tmp_path: Path
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    assert not read_wal(tmp_path / "state" / "state.db-wal").is_damaged

    store = open_store(tmp_path / "state")

    assert check(store, stored.whole, report=False) == 0


@pytest.mark.parametrize("within", [2, 6, 9, 18, 24, 500, 4000], ids=lambda at: f"byte {at}")
def test_a_damaged_log_loses_at_most_the_damaged_rows(
    stored: Stored, open_store: OpenStore, tmp_path: Path, within: int
) -> None:
    size = (stored.killed / "state.db-wal").stat().st_size
    frames = (size - 32) // FRAME
    for frame in (0, 1, frames // 2, frames - 2, frames - 1):
        folder = tmp_path / str(frame)
        shutil.copytree(stored.killed, folder)
        content = bytearray((folder / "state.db-wal").read_bytes())
        content[32 + frame * FRAME + within] ^= 0x10
        (folder / "state.db-wal").write_bytes(content)

        store = open_store(folder)

        assert check(store, stored.whole) <= 1, f"frame {frame}"


@pytest.mark.parametrize("at", [0, 4, 8, 12, 16, 24, 31], ids=lambda at: f"byte {at}")
def test_a_damaged_header_of_the_log_loses_nothing(
    stored: Stored, open_store: OpenStore, tmp_path: Path, at: int
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    content = bytearray((tmp_path / "state" / "state.db-wal").read_bytes())
    content[at] ^= 0x10
    (tmp_path / "state" / "state.db-wal").write_bytes(content)

    assert check(open_store(tmp_path / "state"), stored.whole) == 0


@pytest.mark.parametrize("left", [0, 32, 32 + 7 * FRAME, 32 + 11 * FRAME + 900], ids=str)
def test_a_log_that_was_cut_off_is_noticed(
    stored: Stored, open_store: OpenStore, tmp_path: Path, left: int
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    content = (tmp_path / "state" / "state.db-wal").read_bytes()
    (tmp_path / "state" / "state.db-wal").write_bytes(content[:left])

    assert check(open_store(tmp_path / "state"), stored.whole) > 0


def test_a_write_that_a_crash_cut_short_raises_no_alarm(
    stored: Stored, open_store: OpenStore, tmp_path: Path
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    log = tmp_path / "state" / "state.db-wal"
    content = log.read_bytes()
    last = content[-FRAME:]
    for torn in (last[:17], last[:24], last[:24] + bytes(4096), last[:24] + content[-4096:-2048]):
        log.write_bytes(content + torn)
        store = open_store(tmp_path / "state")
        assert check(store, stored.whole, report=False) == 0
        store.crash()
        shutil.rmtree(tmp_path / "state")
        shutil.copytree(stored.killed, tmp_path / "state")


def test_a_database_that_is_gone_is_restored_from_its_log(
    stored: Stored, open_store: OpenStore, tmp_path: Path
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    (tmp_path / "state" / "state.db").write_bytes(b"")

    store = open_store(tmp_path / "state")

    shown = store.sessions.page(SessionFilter(), None, 9).sessions
    assert {session.id for session in shown} == {f"ses_{name}" for name in NAMES}


def test_a_restoration_that_is_killed_begins_again(
    stored: Stored, open_store: OpenStore, tmp_path: Path
) -> None:
    shutil.copytree(stored.killed, tmp_path / "state")
    overwritten(0, 100)(tmp_path / "state")
    first = open_store(tmp_path / "state")
    first.sessions.page(SessionFilter(), None, 9)
    first.crash()
    (aside,) = (tmp_path / "state").glob("state.db.damaged-*Z")
    (tmp_path / "state" / "state.damaged").write_text(aside.name)
    with closing(sqlite3.connect(tmp_path / "state" / "state.db")) as connection, connection:
        connection.execute("DELETE FROM sessions")

    assert check(open_store(tmp_path / "state"), stored.whole) == 0
