"""Disk faults under a running host, as a table of cases.

Each fault leaves existing data unchanged, is reported in words, and ends with its cause. Damage of
the database, concurrent processes and clocks are in ``test_database``, ``test_event_log`` and
``test_build``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.events import Notice
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.storage.store import OpenStore, Store

IN_OWN_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "--")
FILL = "x" * 200_000


def note(text: str = "Hello") -> Notice:
    return Notice(level="info", code="test", text=text)


def on_a_full_disk(disk: Path) -> None:
    """Run in a separate process whose ``disk`` has one megabyte."""
    from tests.storage.store import MovableClock

    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=True)
    store = Store(disk / "state", MovableClock())
    session = store.add("a").id
    books = disk / "a.ipynb"
    books.write_text("old")
    reserve = disk / "reserve"
    reserve.write_bytes(b"x" * 65_536)
    with pytest.raises(StateUnavailable) as full:
        _append_for_ever(store, session)
    logged = store.log.last_seq(session) - 1
    assert full.value.info.code == "disk_full"
    assert full.value.info.retryable
    assert len(store.log.read(session)) == 1 + logged, "what was not stored is not counted"
    (disk / "filler").write_bytes(b"")
    _fill(disk / "filler")
    for write in _writers(disk):
        with pytest.raises(StateUnavailable) as refused:
            write()
        assert refused.value.info.code == "disk_full", refused.value
    assert books.read_text() == "old"
    assert [path.name for path in disk.glob(".~*")] == [], "nothing half-written stays"
    (disk / "filler").unlink()
    reserve.unlink()
    assert store.log.append(session, note()).event.seq == logged + 2, "the log recovers by itself"
    assert books.read_text() == "old"


def on_a_read_only_disk(disk: Path) -> None:
    """Run in a separate process whose ``disk`` becomes read-only under a running host."""
    from tests.storage.store import MovableClock

    subprocess.run(["mount", "-t", "tmpfs", "none", str(disk)], check=True)
    store = Store(disk / "state", MovableClock())
    session = store.add("a").id
    store.crash()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for write in (lambda: store.log.append(session, note()), *_writers(disk)[:2]):
        with pytest.raises(StateUnavailable) as refused:
            write()
        assert refused.value.info.hint
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert store.log.append(session, note()).event.seq == 2, "the log recovers by itself"


def _append_for_ever(store: Store, session: SessionId) -> None:
    while True:
        store.log.append(session, note(FILL))


def _fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return


def _writers(disk: Path) -> tuple[Callable[[], object], ...]:
    directory = StateDirectory(disk / "state")
    workspace = Workspace(disk)
    book = workspace.path("a.ipynb")
    return (
        lambda: FileBlobs(directory).put(FILL.encode()),
        lambda: StateFile(directory, "tools.json").write(FILL),
        lambda: workspace.replace(book, FILL.encode(), workspace.stat(book)),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs user namespaces")
@pytest.mark.parametrize("fault", ["on_a_full_disk", "on_a_read_only_disk"])
def test_a_disk_that_takes_nothing_is_named_and_nothing_is_lost(tmp_path: Path, fault: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    code = f"from tests.storage.test_disk_faults import *; {fault}(Path({str(disk)!r}))"
    if subprocess.run([*IN_OWN_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine forbids user namespaces; test_log has the quota of SQLite")

    ended = subprocess.run(
        [*IN_OWN_NAMESPACE, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("step", [timedelta(days=-400), timedelta(days=400)], ids=str)
def test_a_clock_that_jumps_changes_no_order(open_store: OpenStore, step: timedelta) -> None:
    store = open_store()
    session = store.add("a").id
    store.log.append(session, note("first"))

    store.clock.move(step)
    store.log.append(session, note("second"))
    store.add("b")

    assert [logged.event.seq for logged in store.log.read(session)] == [1, 2, 3]
    newest = store.log.read(session)[-1].event
    assert isinstance(newest, Notice)
    assert newest.text == "second"
