"""A state directory with the agent's database switched on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.files.base import ChangeOrigin, NoOpenFiles, NullChangeObserver
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.process.worker_process import run_worker
from jupyter_ai_shoulders.host.agent_database.service import AgentDatabaseService
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.storage.agent_database.requests import DatabaseRequests, Helper
from jupyter_ai_shoulders.wire.api.settings import AgentDatabaseSettings
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

SESSION = SessionId("ses_1")


def turn(number: int, session: str = SESSION) -> ChangeOrigin:
    return ChangeOrigin(SessionId(session), TurnId(f"turn_{number}"))


@dataclass(slots=True)
class Place:
    """The database of a workspace, with the operation log and undo."""

    store: StateStore
    service: AgentDatabaseService
    undo: FileUndo
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def path(self) -> Path:
        return self.store.directory.path / "agent.db"

    async def execute(self, sql: str, params: Any = None, number: int = 1) -> None:
        await self.service.execute(sql, params, turn(number))

    async def rows(self, sql: str = "SELECT * FROM t ORDER BY 1", params: Any = None) -> list[Any]:
        found = await self.service.query(sql, params, 100)
        return [list(row) for row in found.model_dump()["rows"]]


@asynccontextmanager
async def opened(root: Path, helper: Helper = run_worker) -> AsyncGenerator[Place]:
    ids, locks = RandomIds(), PathLocks()
    store = StateStore(root / "state", SystemClock(), ids, str, root / "home")
    (root / "workspace").mkdir(exist_ok=True)
    workspace, trash = Workspace(root / "workspace"), Trash(store.directory.prepare_trash)
    settings: dict[str, Any] = {"enabled": True, "limit_mb": 20}
    service = AgentDatabaseService(
        store.directory,
        store.operations,
        lambda: AgentDatabaseSettings(**settings),
        DatabaseRequests(store.directory, helper=helper),
    )
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
        recovery=CrashRecovery(workspace, trash),
    )
    undo = FileUndo(
        journal=store.operations,
        texts=texts,
        disk=texts,
        changes=changes,
        store=store.blobs,
        ids=ids,
        others={"database": service},
    )
    try:
        yield Place(store, service, undo, settings)
    finally:
        await store.aclose()
        workspace.close()
        trash.close()


@pytest.fixture
def place(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Generator[Place]:
    context = opened(tmp_path)
    yield jp_asyncio_loop.run_until_complete(context.__aenter__())
    jp_asyncio_loop.run_until_complete(context.__aexit__(None, None, None))
