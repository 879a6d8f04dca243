"""Changes of files on a real state directory, in a process that is killed at each crash point.

Run by ``test_crash_recovery`` as a program, started with its points armed: it forks for each point,
so that a kill costs no start.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.crash_points import CrashPlan, CrashPoints, crash_point
from jupyter_ai_shoulders.files.base import (
    ChangeOrigin,
    ChangeOutcome,
    NoOpenFiles,
    NullChangeObserver,
)
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

SESSION = SessionId("ses_1")
TURN = ChangeOrigin(SESSION, TurnId("turn_1"))
LATER = ChangeOrigin(SESSION, TurnId("turn_2"))
FILES = {"a.txt": b"one\r\ntwo\nthree\n", "run.sh": b"#!/bin/sh\n", "data/b.bin": b"\x00\x01"}


@dataclass(slots=True)
class World:
    """A workspace with its state directory, as a server has them."""

    root: Path
    store: StateStore
    settling: CrashRecovery
    texts: DiskTexts
    changes: DiskChanges
    undo: FileUndo

    async def settle(self) -> None:
        """Determine the outcome of the last process's changes, a minute later."""
        for left in self.root.rglob(".~*"):
            os.utime(left, (0, 0))
        journal = self.store.operations
        begun = [(row.id, journal.change(row.id)) for row in journal.unfinished()]
        for operation_id, verdict in self.settling.verdicts(begun):
            journal.end(operation_id, verdict.state, ChangeOutcome(cannot_undo=verdict.why))

    def tree(self) -> dict[str, bytes | None]:
        """Return every file's bytes, None for folders, without remains of killed writers."""
        return {
            path.relative_to(self.root).as_posix(): None if path.is_dir() else path.read_bytes()
            for path in self.root.rglob("*")
            if not path.name.startswith(".~")
        }


@contextmanager
def world(place: Path) -> Generator[World]:
    """Open the workspace at ``place``; create and fill it if it does not exist."""
    root = place / "workspace"
    if not root.exists():
        for name, content in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
    ids, locks = RandomIds(), PathLocks()
    store = StateStore(place / "state", SystemClock(), ids, str, place / "home")
    workspace, trash = Workspace(root), Trash(store.directory.prepare_trash)
    settling = CrashRecovery(workspace, trash)
    texts = DiskTexts(workspace, store.operations, store.blobs, NullChangeObserver(), locks)
    changes = DiskChanges(
        workspace=workspace,
        trash=trash,
        journal=store.operations,
        store=store.blobs,
        observer=NullChangeObserver(),
        open_files=NoOpenFiles(),
        ids=ids,
        locks=locks,
        recovery=settling,
    )
    undo = FileUndo(
        journal=store.operations,
        texts=texts,
        disk=texts,
        changes=changes,
        store=store.blobs,
        ids=ids,
    )
    try:
        yield World(root, store, settling, texts, changes, undo)
    finally:
        workspace.close()
        trash.close()


async def edit(at: World, path: str, old: str, new: str) -> None:
    read = await at.texts.read(path)
    await at.texts.replace(path, read.text.replace(old, new), read.version, TURN)


async def delete_and_undo(at: World) -> None:
    applied = await at.changes.delete("data/b.bin", TURN)
    await at.undo.undo(applied.operation_id, LATER)


async def turn_and_undo(at: World) -> None:
    await edit(at, "a.txt", "two", "2\n2")
    await at.changes.move("run.sh", "bin/run.sh", TURN)
    await at.undo.undo_turn(SESSION, TurnId("turn_1"), LATER)


SCENARIOS: dict[str, Callable[[World], Awaitable[object]]] = {
    "edit": lambda at: edit(at, "a.txt", "two", "2\n2"),
    "create": lambda at: at.changes.create("x/y/new.txt", "new", TURN),
    "move": lambda at: at.changes.move("data", "old/data", TURN),
    "copy": lambda at: at.changes.copy("run.sh", "copy.sh", TURN),
    "delete": lambda at: at.changes.delete("data/b.bin", TURN),
    "delete and undo": delete_and_undo,
    "turn and undo": turn_and_undo,
}


async def _run(place: Path, scenario: str) -> None:
    with world(place) as at:
        await SCENARIOS[scenario](at)
        await at.store.aclose()


def _forked(place: Path, scenario: str, at: int) -> bool:
    """Run the scenario in a child that exits at a point; return whether it was reached."""
    child = os.fork()
    if child == 0:
        assert isinstance(crash_point, CrashPoints)
        crash_point.plan(CrashPlan(at=at))
        asyncio.run(_run(place, scenario))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main() -> None:
    folder, scenario = Path(sys.argv[1]), sys.argv[2]
    at = 1
    while _forked(folder / str(at), scenario, at):
        at += 1


if __name__ == "__main__":
    main()
