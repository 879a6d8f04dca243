"""The agent's database: its tables, pages of rows, and exports."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

PAGE_LIMIT = 500
"""Most rows of a page of a table."""


class LargeInteger(WireModel):
    """An integer that JavaScript would round, in digits."""

    integer: str


class NotFinite(WireModel):
    """A number that JSON does not have, such as ``inf``."""

    real: str


class CutText(WireModel):
    """The beginning of a long text."""

    text: str
    characters: int


class BlobCell(WireModel):
    """Bytes; ``base64`` only if they are few."""

    bytes: int
    base64: str | None = None


DatabaseCell = None | int | float | str | LargeInteger | NotFinite | CutText | BlobCell
"""A value of a row."""


class DatabaseColumn(WireModel):
    """A column of a table or view."""

    name: str
    type: str
    """As declared; empty if it is not."""
    key: bool
    required: bool
    """Whether it is declared ``NOT NULL``."""


class DatabaseTable(WireModel):
    """A table or a view."""

    name: str
    kind: Literal["table", "view"]
    columns: tuple[DatabaseColumn, ...]
    sql: str
    """Its definition, with those of its indexes and triggers."""
    problem: str | None
    """Why its columns cannot be listed, such as a view of a table that is gone."""


class AgentDatabase(WireModel):
    """``GET agent-database``."""

    enabled: bool
    tables: tuple[DatabaseTable, ...]
    path: str | None
    """Where the file is on the server's machine; None if it is off or there is none yet."""
    file: str | None
    """Device and number of the file, by which a program finds out that it sees the same file."""
    size: int | None
    """Bytes."""
    limit: int
    problem: str | None
    """Why the file cannot be read, in words."""


class DatabaseRows(WireModel):
    """Rows of a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[DatabaseCell, ...], ...]
    total: int | None
    """None if counting them takes too long."""
    cut: Literal["rows", "bytes"] | None
    """Which limit left out rows."""


class DatabasePage(WireModel):
    """``GET agent-database/tables/{name}``."""

    columns: tuple[DatabaseColumn, ...]
    rows: tuple[tuple[DatabaseCell, ...], ...]
    total: int
    offset: int


class DatabasePageQuery(CommandModel):
    """Query arguments of ``GET agent-database/tables/{name}``."""

    offset: int = Field(default=0, ge=0, le=2**53)
    limit: int = Field(default=100, ge=1, le=PAGE_LIMIT)
    order: str | None = Field(default=None, max_length=1_000)
    """The column to sort by; None: as stored."""
    descending: bool = False


class DatabaseExportQuery(CommandModel):
    """Query arguments of ``GET agent-database/tables/{name}/export``."""

    format: Literal["csv", "parquet"] = "csv"


class DatabaseChange(WireModel):
    """What ``db_execute`` did."""

    rows: int | None
    """Rows inserted, updated or deleted; None if the answer was lost."""
    statements: int | None = None
    last_id: int | None = None
    """The row id of the last insert."""
    changed: bool
