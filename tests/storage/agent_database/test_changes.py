"""Changes, their undo, conflicts, and what a kill leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.crash_points import ENABLED
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError, TooLarge
from jupyter_ai_shoulders.files.base import LoggedChange
from jupyter_ai_shoulders.guard.process.worker_process import (
    WorkerResult,
    WorkerStop,
    run_worker,
)
from jupyter_ai_shoulders.host.agent_database.service import DOCUMENT
from jupyter_ai_shoulders.storage.agent_database.requests import WORKER, OutcomeUnknown
from jupyter_ai_shoulders.wire.ids import TurnId
from tests.storage.agent_database.conftest import SESSION, Place, opened, turn

TABLE = "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"


async def test_several_statements_are_one_transaction(place: Place) -> None:
    await place.execute(f"{TABLE}; INSERT INTO t VALUES (1, 'x'); INSERT INTO t VALUES (2, ';')")
    with pytest.raises(ShouldersError):
        await place.execute("DELETE FROM t; INSERT INTO nowhere VALUES (1)")
    assert await place.rows() == [[1, "x"], [2, ";"]]
    states = [row.state for row in place.store.operations.of_session(SESSION)]
    assert states == ["done", "failed"]


async def test_undo_of_a_turn_restores_the_database_and_can_be_undone(place: Place) -> None:
    await place.execute(TABLE)
    await place.execute("INSERT INTO t VALUES (?, ?)", [[1, "x"], [2, "y"]])
    await place.execute("UPDATE t SET b = 'z' WHERE a = 1", number=2)
    await place.execute("ALTER TABLE t ADD COLUMN c DEFAULT 5; DELETE FROM t WHERE a = 2", number=2)
    await place.execute("CREATE VIRTUAL TABLE f USING fts5(x)", number=2)

    report = await place.undo.undo_turn(SESSION, TurnId("turn_2"), turn(3))

    assert (len(report.undone), report.kept) == (3, ())
    assert await place.rows() == [[1, "x"], [2, "y"]]
    again = await place.undo.undo_turn(SESSION, TurnId("turn_3"), turn(4))
    assert (len(again.undone), again.kept) == (3, ())
    assert await place.rows("SELECT a, b, c FROM t") == [[1, "z", 5]]
    history = place.store.operations.recent(path=DOCUMENT)
    assert {row.kind for row in history} == {"database"}


async def test_one_call_can_be_undone(place: Place) -> None:
    await place.execute(TABLE)
    await place.execute("INSERT INTO t VALUES (1, 'x')")
    last = place.undo.latest(SESSION)
    assert last is not None
    await place.undo.undo(last.id, turn(2))
    assert await place.rows() == []
    assert place.store.operations.get(last.id).state == "undone"


async def test_undo_is_possible_while_the_database_is_off(place: Place) -> None:
    await place.execute(TABLE)
    place.settings["enabled"] = False
    with pytest.raises(PolicyRefusal):
        await place.rows()
    with pytest.raises(PolicyRefusal):
        await place.execute("DROP TABLE t")
    report = await place.undo.undo_turn(SESSION, TurnId("turn_1"), turn(2))
    assert report.kept == ()
    place.settings["enabled"] = True
    assert await place.service.tables() == ()


@pytest.mark.parametrize("other", ["conversation", "program"])
async def test_undo_never_overwrites_a_later_change(place: Place, other: str) -> None:
    await place.execute(f"{TABLE}; INSERT INTO t VALUES (1, 'x')")
    if other == "conversation":
        await place.service.execute("UPDATE t SET b = 'theirs'", None, turn(9, "ses_2"))
    else:
        with sqlite3.connect(place.path) as connection:
            connection.execute("UPDATE t SET b = 'theirs'")
        connection.close()

    report = await place.undo.undo_turn(SESSION, TurnId("turn_1"), turn(2))

    assert report.undone == ()
    assert "has been changed since" in report.kept[0].reason
    assert await place.rows() == [[1, "theirs"]]


async def test_a_change_that_changes_nothing_cannot_be_undone(place: Place) -> None:
    await place.execute(TABLE)
    done = await place.service.execute("DELETE FROM t", None, turn(1))
    assert (done.changed, done.rows) == (False, 0)
    assert [row.can_undo for row in place.store.operations.of_session(SESSION)] == [True, False]


async def test_a_full_database_says_so_and_stays_as_it_was(place: Place) -> None:
    place.settings["limit_mb"] = 1
    await place.execute(TABLE)
    with pytest.raises(TooLarge, match="full: its limit is 1 MB"):
        await place.execute("INSERT INTO t VALUES (1, zeroblob(2000000))")
    assert await place.rows() == []


async def test_two_conversations_write_at_once_and_a_kernel_reads(place: Place) -> None:
    await place.execute(TABLE)
    reader = sqlite3.connect(f"file:{place.path}?mode=ro", uri=True)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    insert = "INSERT INTO t (b) VALUES (?)"
    await asyncio.gather(
        *(place.service.execute(insert, [n], turn(n, f"ses_{n % 2}")) for n in range(6))
    )
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)  # its snapshot
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (6,)
    reader.close()


async def test_a_locked_database_gives_a_clear_error(place: Place) -> None:
    await place.execute(TABLE)
    other = sqlite3.connect(place.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Conflict, match="Another program is writing"):
        await place.execute("INSERT INTO t VALUES (1, 'x')")
    other.close()


async def test_a_cancelled_call_ends_its_process_and_leaves_an_ended_row(place: Place) -> None:
    await place.execute(TABLE)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    call = asyncio.create_task(place.execute(f"{endless} INSERT INTO t SELECT x, 1 FROM c"))
    begun = place.store.directory.path / "agent.db-wal"
    while not begun.exists():  # noqa: ASYNC110 another process makes it
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, 5)
    assert place.store.operations.unfinished() == []
    assert await place.rows() == []


POINTS = ("agent_database.difference.written", "agent_database.committed")


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("action", ["execute", "undo"])
@pytest.mark.parametrize("who", ["worker", "server"])
async def test_a_kill_leaves_the_old_or_the_new_content_and_a_way_back(
    tmp_path: Path, action: str, point: str, who: str
) -> None:
    """Kill the worker at its points; then the server lives, or it died in the same moment."""

    def killed(
        _module: str, _arguments: tuple[str, ...], content: bytes, _s: float, _stop: object = None
    ) -> WorkerResult:
        environment = {**os.environ, ENABLED: f"at=1,name={point}"}
        command = [sys.executable, "-m", WORKER]
        done = subprocess.run(
            command, input=content, capture_output=True, env=environment, check=False
        )
        assert done.returncode == -signal.SIGKILL
        return WorkerResult(done.returncode, b"", "")

    def helper(
        module: str,
        arguments: tuple[str, ...],
        content: bytes,
        seconds: float,
        stop: WorkerStop | None = None,
    ) -> WorkerResult:
        if kills and json.loads(content)["action"] == action:
            kills.clear()
            done = killed(module, arguments, content, seconds)
            if who == "server":
                raise ServerKilled
            return done
        return run_worker(module, arguments, content, seconds, stop)

    kills: list[bool] = []
    async with opened(tmp_path, helper) as place:
        await place.execute(f"{TABLE}; INSERT INTO t VALUES (1, 'x')")
        await place.execute("UPDATE t SET b = 'y'", number=2)
        kills.append(True)
        was_made = point == "agent_database.committed"
        try:
            if action == "execute":
                await place.execute("UPDATE t SET b = 'z'", number=3)
            else:
                await place.undo.undo_turn(SESSION, TurnId("turn_2"), turn(3))
        except (OutcomeUnknown, ServerKilled):
            assert who == "server" or not was_made
        assert not kills
    async with opened(tmp_path) as place:
        await place.service.settle()
        assert place.store.operations.unfinished() == []
        new = "z" if action == "execute" else "x"
        assert await place.rows() == [[1, new if was_made else "y"]]
        report = await place.undo.undo_those(SESSION, list, turn(4))
        assert report.kept == ()
        assert await place.service.tables() == ()


SERVER_POINTS = {
    "operations.begin.committed": "y",
    "agent_database.begun": "y",
    "agent_database.changed": "z",
    "operations.end.committed": "z",
}
"""Where the server is killed, and the content that it leaves."""


def kill_server(root: Path, action: str, point: str) -> None:
    """Run a server that is killed at a point."""
    command = [sys.executable, "-m", "tests.storage.agent_database.kill_program"]
    done = subprocess.run(
        [*command, str(root), action],
        cwd=Path(__file__).parents[3],
        env={**os.environ, ENABLED: f"at=1,name={point}"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("point", SERVER_POINTS)
async def test_a_killed_server_leaves_what_the_next_one_settles(tmp_path: Path, point: str) -> None:
    async with opened(tmp_path) as place:
        await place.execute(f"{TABLE}; INSERT INTO t VALUES (1, 'y')")
    await asyncio.to_thread(kill_server, tmp_path, "execute", point)
    if point != "operations.end.committed":
        await asyncio.to_thread(kill_server, tmp_path, "settle", "agent_database.settled")
    async with opened(tmp_path) as place:
        await place.service.settle()
        assert place.store.operations.unfinished() == []
        assert await place.rows() == [[1, SERVER_POINTS[point]]]
        report = await place.undo.undo_those(SESSION, list, turn(4))
        assert report.kept == ()
        assert await place.service.tables() == ()


class ServerKilled(BaseException):
    """Stands for the end of the server: nothing after it runs."""


async def test_a_change_whose_server_is_gone_is_not_committed(place: Place) -> None:
    """A worker that outlives its server must not change what the next server has settled."""
    await place.execute(TABLE)
    request = {
        "action": "execute",
        "path": str(place.path),
        "differences": str(place.store.directory.agent_database_undo),
        "operation": "op_late",
        "limit": 20_000_000,
        "seconds": 5,
        "server": 1,
        "sql": "INSERT INTO t VALUES (1, 'late')",
        "params": None,
    }
    done = run_worker(WORKER, (), json.dumps(request).encode(), 20)
    assert json.loads(done.output)["message"] == "The server ended; nothing was changed."
    assert await place.rows() == []


async def test_a_row_that_never_reached_the_worker_is_settled_as_not_made(place: Place) -> None:
    place.store.operations.begin(LoggedChange("database", DOCUMENT, turn(1)))
    await place.service.settle()
    (row,) = place.store.operations.of_session(SESSION)
    assert (row.state, row.can_undo) == ("failed", False)


async def test_old_differences_are_removed_beyond_a_multiple_of_the_limit(place: Place) -> None:
    place.settings["limit_mb"] = 1
    await place.execute("CREATE TABLE t (a, b)")
    for number in range(8):
        await place.execute(
            "DELETE FROM t; INSERT INTO t SELECT 1, randomblob(900000)", number=number
        )
    kept = list(place.store.directory.agent_database_undo.iterdir())
    assert sum(path.stat().st_size for path in kept) <= 4_000_000
    first = place.store.operations.of_session(SESSION)[1]
    with pytest.raises(Conflict):
        await place.undo.undo(first.id, turn(99))
