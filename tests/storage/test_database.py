import logging
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.schema import migrations
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.events import Notice, TextDelta
from jupyter_ai_shoulders.wire.ids import PartId, SessionId
from tests.storage.store import OpenStore, Store

ALL = SessionFilter()


def test_first_use_makes_a_private_directory_that_git_ignores(store: Store) -> None:
    assert not store.directory.path.exists()

    store.add("a")

    assert store.directory.path.stat().st_mode & 0o777 == 0o700
    assert "*" in (store.directory.path / ".gitignore").read_text().splitlines()


def test_an_existing_directory_becomes_private_and_keeps_its_gitignore(store: Store) -> None:
    store.directory.path.mkdir(parents=True, mode=0o755)
    (store.directory.path / ".gitignore").write_text("!skills\n")

    store.add("a")

    assert store.directory.path.stat().st_mode & 0o777 == 0o700
    assert (store.directory.path / ".gitignore").read_text() == "!skills\n"


def test_a_directory_that_cannot_be_made_is_named(open_store: OpenStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = open_store(tmp_path / "file" / ".shoulders")

    with pytest.raises(StateUnavailable, match=r"file/.shoulders: not a directory") as caught:
        store.add("a")

    assert caught.value.info.code == "state_unavailable"
    assert "Shoulders.state_dir" in (caught.value.info.hint or "")
    assert store.published.events == []


def test_a_second_process_is_refused_until_the_first_is_gone(
    open_store: OpenStore, state_dir: Path
) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.storage.store import *;"
        "s = Store(Path(sys.argv[1]), MovableClock()); s.add('theirs');"
        "print('ready', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(state_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "ready\n"
        store = open_store()

        with pytest.raises(StateUnavailable, match=rf"server \(process {other.pid}\)") as caught:
            store.sessions.get(SessionId("ses_theirs"))
        with pytest.raises(StateUnavailable):
            store.add("mine")
        assert caught.value.info.hint is not None

        other.stdin.close()

    assert store.sessions.get(SessionId("ses_theirs")).title == "theirs"
    store.add("mine")


def test_a_killed_process_loses_no_commit_and_no_lock(
    open_store: OpenStore, state_dir: Path
) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from tests.storage.store import *;"
        "from jupyter_ai_shoulders.wire.events import Notice;"
        "s = Store(Path(sys.argv[1]), MovableClock()); i = s.add('a').id\n"
        "n = Notice(level='info', code='c', text='x')\n"
        "while True: print(s.log.append(i, n).event.seq, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(state_dir)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        for line in other.stdout:
            if int(line) > 200:
                break
        other.kill()
        seen = [int(line) for line in other.stdout.read().splitlines()[:-1]]

    store = open_store()

    assert store.log.last_seq(SessionId("ses_a")) >= max(seen, default=201)
    assert [logged.event.seq for logged in store.log.read(SessionId("ses_a"))] == list(
        range(1, store.log.last_seq(SessionId("ses_a")) + 1)
    )
    store.add("b")


def test_a_directory_without_shared_memory_is_used_with_one_warning(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(vfs="unix-dotfile")
    with caplog.at_level(logging.WARNING):
        store.add("a")
        store.add("b")
        store.database.flush()
        store.database.checkpoint()

    assert ["network share" in record.message for record in caplog.records] == [True]
    assert store.sessions.get(SessionId("ses_a")).title == "a"


def test_a_database_of_a_newer_version_is_left_alone(open_store: OpenStore) -> None:
    store = open_store()
    store.add("a")
    store.database.open().execute(
        "INSERT INTO schema_version VALUES (?, '')",
        (migrations.SCHEMA_VERSION + 1,),
    )
    store.crash()
    before = store.directory.database.read_bytes()

    with pytest.raises(StateUnavailable, match="newer version"):
        open_store().add("b")

    assert store.directory.database.read_bytes() == before


def test_a_failed_migration_changes_nothing(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store().add("a")
    broken = ("CREATE TABLE half (x)", "CREATE TABLE half (x)")
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, broken))
        patched.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 1)
        connection = sqlite3.connect(":memory:", isolation_level=None)
        with pytest.raises(sqlite3.OperationalError):
            migrations.migrate(connection, "now")

    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    versions = connection.execute("SELECT version FROM schema_version").fetchall()
    connection.close()
    assert "half" not in tables
    assert "events" in tables
    assert versions == [(number + 1,) for number in range(migrations.SCHEMA_VERSION)]


def fill(store: Store, sessions: int, events: int) -> None:
    for name in range(sessions):
        session_id = store.add(str(name)).id
        for number in range(events):
            store.log.append(session_id, TextDelta(part_id=PartId("p"), text=f"{number} " * 40))
    store.crash()


def test_a_file_that_is_no_database_is_moved_aside(
    open_store: OpenStore, state_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state_dir.mkdir(parents=True)
    (state_dir / "state.db").write_bytes(b"not a database at all" * 1000)
    store = open_store()

    with caplog.at_level(logging.WARNING):
        store.add("fresh")

    (aside,) = state_dir.glob("state.db.damaged-*Z")
    assert aside.read_bytes() == b"not a database at all" * 1000
    assert str(aside) in caplog.text


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_database_gives_back_what_can_be_read(
    open_store: OpenStore, state_dir: Path, damage: str
) -> None:
    fill(open_store(), sessions=4, events=200)
    content = bytearray((state_dir / "state.db").read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    if damage == "truncated":
        del content[middle:]
    else:
        content[middle : middle + 4096] = b"\xa5" * 4096
    (state_dir / "state.db").write_bytes(content)

    store = open_store()
    shown = store.sessions.page(ALL, None, 50).sessions

    assert list(state_dir.glob("state.db.damaged-*"))
    assert shown
    whole = 0
    for session in shown:
        events = [logged.event for logged in store.log.read(session.id)]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert isinstance(events[-1], Notice)
        assert events[-1].code == "salvaged"
        whole += len(events) == 202
        assert store.log.append(session.id, events[-1]).event.seq == len(events) + 1
    assert whole >= 1


def test_damage_met_while_running_is_repaired_at_the_next_start(
    open_store: OpenStore, state_dir: Path
) -> None:
    fill(open_store(), sessions=3, events=200)
    store = open_store()
    shown = store.sessions.page(ALL, None, 50).sessions
    content = bytearray((state_dir / "state.db").read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096
    (state_dir / "state.db").write_bytes(content)
    store.database.open().execute("PRAGMA shrink_memory")  # forget the pages read before

    with pytest.raises(StateUnavailable, match="damaged") as caught:
        _ = [store.log.read(session.id) for session in shown]
    assert "Restart the server" in (caught.value.info.hint or "")
    store.crash()

    again = open_store()
    restored = again.sessions.page(ALL, None, 50).sessions
    assert restored
    assert not (state_dir / "state.damaged").exists()
    for session in restored:
        again.log.read(session.id)


def test_a_deleted_session_stays_deleted_when_salvaged(
    open_store: OpenStore, state_dir: Path
) -> None:
    store = open_store()
    kept, gone = store.add("kept").id, store.add("gone").id
    store.sessions.delete(gone)
    store.crash()
    (state_dir / "state.damaged").touch()

    again = open_store()

    assert [s.id for s in again.sessions.page(ALL, None, 9).sessions] == [kept]
    assert again.sessions.undelete(gone).title == "gone"
