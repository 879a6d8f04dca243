"""A conversation that calls tools and remembers what it has seen, as the engine does."""

from contextlib import aclosing
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.base import KernelSpec
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    ScriptedRunner,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.output_images import OutputImageExtractor
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import creation_and_output_tools, notebook_tools
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, CellId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.tools.result_checks import check_result

PATH = "work/analysis.ipynb"


class FakeRasterizer:
    """``OutputRasterizer`` that draw what they are given, by output index."""

    def __init__(self) -> None:
        self.drawn: dict[int, bytes] = {}

    async def picture(self, path: str, cell_id: CellId, index: int) -> bytes | None:
        """See ``OutputRasterizer.picture``."""
        del path, cell_id
        return self.drawn.get(index)


class FakeNotebookDirectory:
    """``NewNotebooks`` and ``KernelSpecs`` that remember what was made."""

    def __init__(self) -> None:
        self.made: dict[str, JsonObject] = {}

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """See ``NewNotebooks.create``."""
        if path in self.made:
            raise Conflict(f"{path} already exists; it was not changed.")
        self.made[path] = content
        return WorkspacePath(path)

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        if name not in {None, "ir"}:
            raise NotFound(f"The kernel {name!r} is not installed.", code="no_kernel")
        return KernelSpec("ir", "R", "R") if name else KernelSpec("python3", "Python 3", "python")


class NotebookConversation:
    """Calls the notebook tools on one notebook in memory."""

    def __init__(self, *cells: NotebookCell, runner: ScriptedRunner | None = None) -> None:
        self.notebook = MemoryNotebook(PATH, cells)
        self.notebooks = MemoryNotebooks(self.notebook)
        self.names = NotebookNameList("work/analysis.ipynb", "other.ipynb")
        self.runner = runner or ScriptedRunner()
        self.browser = FakeRasterizer()
        self.shelf = FakeNotebookDirectory()
        more = creation_and_output_tools(
            NotebookAccess(self.notebooks, self.names),
            pictures=OutputImageExtractor(self.browser),
            new=self.shelf,
            specs=self.shelf,
        )
        self.registry = ToolRegistry(
            [*notebook_tools(self.notebooks, self.runner, CountingIds(), self.names), *more],
            lambda name: name,
        )
        self.seen: dict[tuple[str, CellId | None], Version] = {}
        self.step = 1
        self.progress: list[Progress] = []

    async def call(self, tool: str, **arguments: object) -> Result:
        """Make a call with a path and these arguments; remember what it has seen."""
        args = self.arguments(tool, arguments)
        results: list[Result] = []
        self.progress = []
        async with aclosing(self.tool(tool).run(args, self.context())) as items:
            async for item in items:
                if isinstance(item, Result):
                    results.append(item)
                elif isinstance(item, Progress):
                    self.progress.append(item)
        [result] = results
        check_result(result)
        self.seen.update({(seen.path, seen.cell_id): seen.version for seen in result.seen})
        return result

    async def subject(self, tool: str, **arguments: object) -> CallSubject:
        """Return how a call would be shown."""
        return await self.tool(tool).subject(self.arguments(tool, arguments), self.context())

    def tool(self, name: str) -> Any:
        return self.registry.get(name)

    def arguments(self, tool: str, arguments: dict[str, object]) -> ToolArguments:
        values = cast("JsonObject", {"path": PATH, **arguments})
        args = self.registry.validate(tool, values)
        assert not isinstance(args, InvalidCall), args
        return args

    def context(self) -> CallContext:
        return CallContext(
            session_id=SessionId("session"),
            turn_id=TurnId("turn"),
            call_id=CallId("call"),
            seen=dict(self.seen),
            active_document=PATH,
            step=self.step,
        )

    def sources(self) -> list[str]:
        return [cell.source for cell in self.notebook.cells]


def text_of(result: Result) -> str:
    """Return what the model reads."""
    return "".join(part.text for part in result.content if isinstance(part, TextPart))
