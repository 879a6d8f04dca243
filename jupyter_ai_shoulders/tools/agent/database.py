"""The tools of the agent's database: ``db_schema``, ``db_query`` and ``db_execute``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.access import origin_of
from jupyter_ai_shoulders.wire.api.agent_data.database import (
    DatabaseChange,
    DatabaseColumn,
    DatabaseRows,
    DatabaseTable,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

LABEL = "agent.db"
SQL_LIMIT = 1_000_000
MOST_ROWS = 10_000
DEFAULT_ROWS = 200
_PARAMS = "Values for ? (a list) or :name (an object). Never write values into the SQL text."
_MANY = f"{_PARAMS} A list of lists runs the statement once for each."


class Database(Protocol):
    """The agent's database; implemented by ``host.agent_database.service``."""

    async def tables(self) -> tuple[DatabaseTable, ...]:
        """Return the tables and views. Raises ``ShouldersError``."""
        ...

    async def query(self, sql: str, params: Json, limit: int) -> DatabaseRows:
        """Run one reading statement. Raises ``ShouldersError``."""
        ...

    async def execute(self, sql: str, params: Json, origin: ChangeOrigin) -> DatabaseChange:
        """Run statements in one transaction. Raises ``ShouldersError``; nothing changed then."""
        ...


class SchemaArguments(ToolArguments):
    """Arguments of ``db_schema``: none."""


class QueryArguments(ToolArguments):
    """Arguments of ``db_query``."""

    sql: str = Field(min_length=1, max_length=SQL_LIMIT, description="One SELECT statement.")
    params: list[Json] | dict[str, Json] | None = Field(default=None, description=_PARAMS)
    limit: int | None = Field(
        default=None, ge=1, le=MOST_ROWS, description=f"Most rows; none: {DEFAULT_ROWS}."
    )


class ExecuteArguments(ToolArguments):
    """Arguments of ``db_execute``."""

    sql: str = Field(
        min_length=1, max_length=SQL_LIMIT, description="One or more statements, separated by ;"
    )
    params: list[Json] | dict[str, Json] | None = Field(default=None, description=_MANY)


class DatabaseSchema(BaseTool[SchemaArguments]):
    """Lists the tables of the agent's database."""

    name = "db_schema"
    category = "agent"
    risk = "read"
    arguments = SchemaArguments

    def __init__(self, database: Database) -> None:
        self._database = database

    async def subject(self, args: SchemaArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="List the agent's tables", target_label=LABEL, target=Target())

    async def run(
        self, args: SchemaArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        tables = await self._database.tables()
        text = "\n\n".join(map(_definition, tables)) or "The database has no tables yet."
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="listing",
                data=[table.model_dump(mode="json") for table in tables],
                meta=ResultMeta(total=len(tables), truncated=False),
            ),
            content=text_content(text),
        )


class DatabaseQuery(BaseTool[QueryArguments]):
    """Reads the agent's database."""

    name = "db_query"
    category = "agent"
    risk = "read"
    arguments = QueryArguments

    def __init__(self, database: Database) -> None:
        self._database = database

    async def subject(self, args: QueryArguments, context: CallContext) -> CallSubject:
        return CallSubject(
            title="Query the agent's database",
            target_label=LABEL,
            target=Target(),
            preview=_preview(args.sql, args.params),
            language="sql",
        )

    async def run(
        self, args: QueryArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        found = await self._database.query(args.sql, args.params, args.limit or DEFAULT_ROWS)
        data = found.model_dump(mode="json")
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="table",
                data=data,
                meta=ResultMeta(total=found.total, truncated=found.cut is not None),
            ),
            content=text_content(_table(found, data["rows"])),
        )


class DatabaseExecute(BaseTool[ExecuteArguments]):
    """Changes the agent's database in one transaction."""

    name = "db_execute"
    category = "agent"
    risk = "write"
    arguments = ExecuteArguments

    def __init__(self, database: Database) -> None:
        self._database = database

    async def subject(self, args: ExecuteArguments, context: CallContext) -> CallSubject:
        return CallSubject(
            title="Change the agent's database",
            target_label=LABEL,
            target=Target(),
            preview=_preview(args.sql, args.params),
            language="sql",
            undoable=True,
            changes="the agent's database",
        )

    async def run(
        self, args: ExecuteArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        done = await self._database.execute(args.sql, args.params, origin_of(context))
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=done.model_dump(mode="json")),
            content=text_content(_outcome(done)),
        )


def database_tools(
    database: Database,
) -> Sequence[DatabaseSchema | DatabaseQuery | DatabaseExecute]:
    return [DatabaseSchema(database), DatabaseQuery(database), DatabaseExecute(database)]


def _definition(table: DatabaseTable) -> str:
    """Return a table as the model reads it."""
    columns = ", ".join(map(_column, table.columns))
    problem = f"\n-- cannot be read: {table.problem}" if table.problem else ""
    return f"-- {table.kind} {table.name}: {columns}{problem}\n{table.sql}"


def _column(column: DatabaseColumn) -> str:
    return f"{column.name} {column.type}".strip()


def _table(found: DatabaseRows, rows: Json) -> str:
    """Return rows as lines of JSON, which keeps NULL, texts and numbers apart."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows] if isinstance(rows, list) else []
    total = "more" if found.total is None else str(found.total)
    head = f"{len(lines)} of {total} rows; columns {json.dumps(found.columns, ensure_ascii=False)}"
    if found.cut == "bytes":
        head += "; the rest is too long for one answer"
    return "\n".join([head, *lines])


def _outcome(done: DatabaseChange) -> str:
    if not done.changed:
        return "Done; nothing changed."
    if done.rows is None:
        return "The change was made, but its answer was lost. Check with db_query."
    rows = f"{done.rows} row{'' if done.rows == 1 else 's'} changed"
    return f"Done: {rows}." + (f" Last row id: {done.last_id}." if done.last_id else "")


def _preview(sql: str, params: Json) -> str:
    if params is None:
        return sql
    return f"{sql}\n-- params: {json.dumps(params, ensure_ascii=False)}"
