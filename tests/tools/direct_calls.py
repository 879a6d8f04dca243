"""Calls of tools that need no conversation: made with arguments, answered with a result."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.base import Notebook
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.tools.result_checks import check_result


class OpenNotebooks:
    """``Notebooks`` of the disk, by any path a tool may be given."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.disk = DiskNotebooks(workspace)

    def open(self, path: str) -> Notebook:
        """See ``Notebooks.open``."""
        found = self._workspace.path(path)
        self.disk.check(found)
        return self.disk.open(found)

    def in_page(self, path: str) -> bool:
        """See ``Notebooks.in_page``."""
        del path
        return False


def put(workspace: Workspace, name: str, content: str | bytes = "") -> Path:
    """Write a file of the workspace, as another program would."""
    path = workspace.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def context(active_document: str | None = None, call_id: str = "call") -> CallContext:
    return CallContext(
        session_id=SessionId("session"),
        turn_id=TurnId("turn"),
        call_id=CallId(call_id),
        seen={},
        active_document=active_document,
    )


async def subject_of(
    tool: Any, at: CallContext | None = None, /, **arguments: object
) -> CallSubject:
    """Return how a call would be shown."""
    return await tool.subject(tool.arguments(**arguments), at or context())


async def call(tool: Any, at: CallContext | None = None, /, **arguments: object) -> Result:
    """Make a call; return its result."""
    results: list[Result] = []
    async with aclosing(tool.run(tool.arguments(**arguments), at or context())) as items:
        results += [item async for item in items if isinstance(item, Result)]
    [result] = results
    check_result(result)
    return result


def text_of(result: Result) -> str:
    """Return what the model reads."""
    return "".join(part.text for part in result.content if isinstance(part, TextPart))


def rows_of(result: Result, name: str) -> list[dict[str, Any]]:
    """Return a list of the envelope's data."""
    data: Any = result.envelope.data
    return list(data[name])
