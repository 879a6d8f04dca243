"""The envelope of every tool result."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Json, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, Version

ResultKind = Literal[
    "listing",
    "file",
    "cells",
    "matches",
    "outputs",
    "diff",
    "not_found",
    "text",
    "proposal",
    "page",
    "search_results",
    "papers",
    "table",
    "memory",
    "none",
]


class ResultMeta(WireModel):
    """Facts about a result beside its content."""

    total: int | None = None
    truncated: bool | None = None
    duration_ms: int | None = None
    document_version: Version | None = None


class ToolEnvelope(WireModel):
    """A tool's answer: content or an error, never both empty."""

    ok: bool
    kind: ResultKind
    data: Json
    """For people and programs: rows, diffs, outputs. The model reads ``tool-result.content``."""
    warning: str | None = None
    error: ErrorInfo | None = None
    meta: ResultMeta = ResultMeta()


class SeenVersion(WireModel):
    """The conversation has read or written this version of a file or cell."""

    path: str
    cell_id: CellId | None
    version: Version
