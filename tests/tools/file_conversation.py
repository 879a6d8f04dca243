"""A conversation that calls the file tools on a real workspace and remembers what it has seen."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, cast

import nbformat

from jupyter_ai_shoulders.files.base import FileChanges, TextDocuments
from jupyter_ai_shoulders.files.previews.document_previews import DocumentPreviews
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.base import Notebook
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result, ToolArguments
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import file_tools
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, CellId, SessionId, TurnId, Version
from tests.files.file_workspace import FileWorkspace, file_workspace
from tests.tools.result_checks import check_result


class DiskOnly:
    """``Notebooks`` and ``NotebookIndex`` of files that no page has open."""

    def __init__(self, workspace: Workspace, disk: DiskNotebooks) -> None:
        self._workspace = workspace
        self._disk = disk

    def open(self, path: str) -> Notebook:
        """See ``Notebooks.open``."""
        name = self._workspace.path(path)
        self._workspace.stat(name)
        return self._disk.open(name)

    def in_page(self, path: str) -> bool:
        """See ``Notebooks.in_page``."""
        return False

    async def near(self, path: str) -> Sequence[str]:
        """See ``NotebookIndex.near``."""
        return ()

    async def all(self) -> Sequence[str]:
        """See ``NotebookIndex.all``."""
        return ()


class FileConversation:
    """Calls the file tools."""

    def __init__(
        self,
        here: FileWorkspace,
        notebooks: DiskOnly,
        texts: TextDocuments | None = None,
        changes: FileChanges | None = None,
    ) -> None:
        self.here = here
        self.notebooks = notebooks
        self.registry = ToolRegistry(
            file_tools(
                workspace=here.workspace,
                texts=texts or here.texts,
                changes=changes or here.changes,
                notebooks=NotebookAccess(notebooks, notebooks),
                previews=DocumentPreviews(),
                ids=CountingIds(),
            ),
            lambda name: name,
        )
        self.seen: dict[tuple[str, CellId | None], Version] = {}

    async def call(self, tool: str, path: str, **arguments: object) -> Result:
        """Make a call; remember what it has seen."""
        args = self.arguments(tool, {"path": path, **arguments})
        results: list[Result] = []
        async with aclosing(self.tool(tool).run(args, self.context())) as items:
            results += [item async for item in items]
        [result] = results
        check_result(result)
        self.seen.update({(seen.path, seen.cell_id): seen.version for seen in result.seen})
        return result

    async def subject(self, tool: str, path: str, **arguments: object) -> CallSubject:
        """Return how a call would be shown."""
        args = self.arguments(tool, {"path": path, **arguments})
        return await self.tool(tool).subject(args, self.context())

    def tool(self, name: str) -> Any:
        return self.registry.get(name)

    def arguments(self, tool: str, arguments: dict[str, object]) -> ToolArguments:
        args = self.registry.validate(tool, cast("JsonObject", arguments))
        assert not isinstance(args, InvalidCall), args
        return args

    def context(self) -> CallContext:
        return CallContext(
            session_id=SessionId("session_1"),
            turn_id=TurnId("turn_1"),
            call_id=CallId("call_1"),
            seen=dict(self.seen),
            active_document=None,
        )


@contextmanager
def open_file_conversation(
    folder: Path, loop: asyncio.AbstractEventLoop
) -> Generator[FileConversation]:
    """Make one with a workspace below ``folder``."""
    with file_workspace(folder) as here:
        disk = DiskNotebooks(here.workspace)
        try:
            yield FileConversation(here, DiskOnly(here.workspace, disk))
        finally:
            loop.run_until_complete(disk.close())


def notebook(*sources: str) -> bytes:
    """Return a notebook with these code cells, called cell-1 and so on."""
    made = nbformat.v4.new_notebook()
    made.cells = [
        nbformat.v4.new_code_cell(source, id=f"cell-{number}")
        for number, source in enumerate(sources, 1)
    ]
    return cast("str", nbformat.writes(made)).encode()
