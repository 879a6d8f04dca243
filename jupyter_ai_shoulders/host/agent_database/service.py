"""The agent's database: queries, changes with undo, pages of tables, exports.

Made by ``host.shared_services``; used by the tools of ``tools.agent.database``, by undo and by the
routes of ``agent-database``. See docs/design/agent-database.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import replace
from typing import Any, Literal

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.files.shielded_write import run_to_completion
from jupyter_ai_shoulders.storage.agent_database.export_files import ExportFiles
from jupyter_ai_shoulders.storage.agent_database.requests import DatabaseRequests, OutcomeUnknown
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.api.agent_data.database import (
    AgentDatabase,
    DatabaseChange,
    DatabasePage,
    DatabasePageQuery,
    DatabaseRows,
    DatabaseTable,
)
from jupyter_ai_shoulders.wire.api.settings import AgentDatabaseSettings
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.ids import OperationId, Version
from jupyter_ai_shoulders.wire.operations import OperationState

DOCUMENT = ".shoulders/agent.db"
"""The name of the database in the operation log."""
TOOLS = ("db_schema", "db_query", "db_execute")
SHOWN_CELL = 1_000
"""Characters or bytes of a cell in a page of a table."""
_MEGABYTE = 1_000_000
_FAILED = "It failed: nothing was changed."
_NOTHING = "It changed nothing."
_NOT_KNOWN = "The server stopped in the middle; whether it was made is not known."
_HINT = "The person can switch it on in AI Settings, under Agent's database."

_log = logging.getLogger(__name__)


class AgentDatabaseService:
    """The database of one workspace."""

    def __init__(
        self,
        directory: StateDirectory,
        journal: OperationJournal,
        settings: Callable[[], AgentDatabaseSettings],
        requests: DatabaseRequests | None = None,
    ) -> None:
        self._directory = directory
        self._journal = journal
        self._settings = settings
        self._requests = requests or DatabaseRequests(directory)
        self._exports = ExportFiles(directory)
        self._writing = asyncio.Lock()

    def disabled_tools(self) -> Collection[str]:
        """Return the tools that the setting switches off."""
        try:
            return () if self._settings().enabled else TOOLS
        except StateUnavailable:
            return TOOLS

    # reading

    async def overview(self) -> AgentDatabase:
        """Return the tables, or why there are none. Never raises for a damaged file."""
        settings = self._settings()
        limit = settings.limit_mb * _MEGABYTE
        path, facts = self._requests.path, await asyncio.to_thread(self._requests.facts)
        shown = AgentDatabase(
            enabled=settings.enabled,
            tables=(),
            path=str(path) if facts and settings.enabled else None,
            file=f"{facts.st_dev}:{facts.st_ino}" if facts and settings.enabled else None,
            size=facts.st_size if facts else None,
            limit=limit,
            problem=None,
        )
        if not settings.enabled:
            return shown
        try:
            tables = await self.tables()
        except ShouldersError as error:
            return shown.model_copy(update={"problem": _in_words(error)})
        return shown.model_copy(update={"tables": tables})

    async def tables(self) -> tuple[DatabaseTable, ...]:
        """Return the tables and views. Raises as ``DatabaseRequests.send``."""
        answer = await self._send("tables")
        return tuple(DatabaseTable.model_validate(table) for table in answer["tables"])

    async def query(self, sql: str, params: Json, limit: int) -> DatabaseRows:
        """Run one reading statement. Raises as ``DatabaseRequests.send``."""
        answer = await self._send("query", sql=sql, params=params, rows=limit)
        return DatabaseRows.model_validate(answer)

    async def page(self, table: str, query: DatabasePageQuery) -> DatabasePage:
        """Return some rows of a table. Raises as ``DatabaseRequests.send``."""
        wanted = {"table": table, "longest": SHOWN_CELL, **query.model_dump()}
        return DatabasePage.model_validate(await self._send("page", page=wanted))

    async def export(self, table: str, form: Literal["csv", "parquet"]) -> AsyncIterator[bytes]:
        """Yield a table as a file, in pieces. Raises before the first one."""
        target = await asyncio.to_thread(self._exports.new, form)
        try:
            await self._send("export", table=table, form=form, target=str(target))
            chunks = await asyncio.to_thread(self._exports.chunks, target)
            while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
                yield chunk
        finally:
            await asyncio.to_thread(self._exports.remove, target)

    # changing

    async def execute(self, sql: str, params: Json, origin: ChangeOrigin) -> DatabaseChange:
        """Run statements in one transaction, logged before and after.

        Raises as ``DatabaseRequests.send``; then nothing was changed.
        """
        self._check_enabled()
        _, done = await self._change("execute", origin, sql=sql, params=params)
        return DatabaseChange(
            rows=done.get("rows"),
            statements=done.get("statements"),
            last_id=done.get("last_id"),
            changed=done["after"] is not None,
        )

    async def undo(self, operation_id: OperationId, origin: ChangeOrigin) -> OperationId:
        """Restore the content before a change. Raises ``Conflict`` if it has changed since.

        Also while the database is switched off: what the agent did can always be taken back.
        """
        origin = replace(origin, undoes=operation_id)
        undone, _ = await self._change("undo", origin, undone=operation_id)
        return undone

    async def settle(self) -> None:
        """End the changes that the last process began, by the database's version.

        Raises ``StateUnavailable``.
        """
        for row in self._journal.unfinished():
            if row.kind == "database":
                await self._settle(row.id)
                crash_point("agent_database.settled")

    async def _change(
        self, action: str, origin: ChangeOrigin, **request: Any
    ) -> tuple[OperationId, dict[str, Any]]:
        async with self._writing:
            await asyncio.to_thread(self._directory.prepare)
            row = self._journal.begin(LoggedChange("database", DOCUMENT, origin))
            await self._journal.sync()
            crash_point("agent_database.begun")
            try:
                done = await self._requests.send(action, self._limit(), operation=row, **request)
            except OutcomeUnknown:
                state = await run_to_completion(self._settle(row))
                if state != "done":
                    raise
                return row, {"after": ""}
            except ShouldersError:
                self._end(row, "failed", _FAILED)
                raise
            except asyncio.CancelledError:
                await run_to_completion(self._settle(row))
                raise
            crash_point("agent_database.changed")
            if done["after"] is None:
                self._end(row, "failed", _NOTHING)
            else:
                self._end(row, "done", None, done)
            return row, done

    async def _settle(self, row: OperationId) -> OperationState:
        """Find out whether a change was made, and log it."""
        try:
            found = await self._requests.send("version", self._limit(), operation=row)
        except ShouldersError as error:
            _log.warning("What became of change %s of the agent's database: %s", row, error)
            self._end(row, "failed", _NOT_KNOWN)
            return "failed"
        if found["now"] is not None and found["now"] == found["after"]:
            self._end(row, "done", None, found)
            return "done"
        is_old = found["now"] is None or found["now"] == found["before"]
        self._end(row, "failed", _FAILED if is_old else _NOT_KNOWN)
        return "failed"

    def _end(
        self,
        row: OperationId,
        state: OperationState,
        why: str | None,
        versions: dict[str, Any] | None = None,
    ) -> None:
        outcome = ChangeOutcome(cannot_undo=why)
        if versions is not None:
            outcome = ChangeOutcome(
                before_version=Version(versions["before"]), after_version=Version(versions["after"])
            )
        self._journal.end(row, state, outcome)

    async def _send(self, action: str, **request: Any) -> dict[str, Any]:
        self._check_enabled()
        return await self._requests.send(action, self._limit(), **request)

    def _check_enabled(self) -> None:
        if not self._settings().enabled:
            raise PolicyRefusal("The agent's database is off.", code="disabled", hint=_HINT)

    def _limit(self) -> int:
        return self._settings().limit_mb * _MEGABYTE


def _in_words(error: ShouldersError) -> str:
    return f"{error} {error.info.hint or ''}".strip()
