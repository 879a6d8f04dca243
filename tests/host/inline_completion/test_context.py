"""Building the context of a suggestion while the server is busy."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

from jupyter_ai_shoulders.engine.environment.snapshot import InstructionSet
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.inline_completion.context import AT_ONCE, CompletionContextBuilder
from jupyter_ai_shoulders.host.inline_completion.variables import (
    CompletionVariables,
    CompletionVariableSet,
)
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    memory_cell,
)
from jupyter_ai_shoulders.wire.api.completions import RequestCompletions
from jupyter_ai_shoulders.wire.ids import CellId

CELLS = 40
LINES = "\n".join(f"x{number} = [{number}]" for number in range(AT_ONCE // 12))


class NoVariables:
    """A notebook whose kernel was never started."""

    async def snapshot(self, path: str) -> CompletionVariableSet:
        return CompletionVariableSet()


async def standing() -> InstructionSet:
    return InstructionSet()


async def test_others_are_let_in_while_a_long_notebook_is_parsed(tmp_path: Path) -> None:
    cells = [memory_cell(f"c{number}", f"{LINES}\n# {number}") for number in range(CELLS)]
    variables = cast("CompletionVariables", NoVariables())
    workspace = Workspace(tmp_path)
    notebooks = MemoryNotebooks(MemoryNotebook("a.ipynb", cells))
    builder = CompletionContextBuilder(workspace, notebooks, variables, standing, str)
    asked = RequestCompletions(
        request_id="r",
        path="a.ipynb",
        cell_id=CellId("c39"),
        language="python",
        prefix="y = x",
        suffix="",
        trigger="plus",
    )
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    worker = asyncio.create_task(work())
    context = await builder.context(asked)
    worker.cancel()
    workspace.close()

    assert context.pieces
    assert turns >= CELLS // 2
