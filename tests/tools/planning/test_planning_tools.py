"""The planning tools as the model gets them, and a plan over a real notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.testing.memory_notebooks import memory_cell
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry, shipped_description
from jupyter_ai_shoulders.tools.tool_factories import with_planning
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Toolset
from tests.engine.engine_harness import MemoryFile
from tests.engine.fake_tools import ToolProbe
from tests.engine.plan_tools import GitLook
from tests.tools.notebook_conversation import PATH, NotebookConversation

GOLDEN = Path(__file__).parent / "golden" / "planning_tools.json"
PLANNING = ("call_tool", "load_tools", "read_output", "run_plan")
READING = {"read_cell_output", "read_notebook", "search_notebook"}
NOTEBOOK = READING | {
    "add_cell",
    "clear_outputs",
    "create_notebook",
    "delete_cell",
    "edit_cell",
    "move_cell",
    "run_all_cells",
    "run_cell",
}


def planning(registry: ToolRegistry) -> ToolRegistry:
    return with_planning(registry, PermissionStore(MemoryFile()), MemoryStore().blobs)


def test_definitions_are_as_recorded():
    tools = planning(ToolRegistry([GitLook(ToolProbe())], _described))
    definitions = [
        tool.model_dump(mode="json")
        for tool in tools.definitions("full", "ask", ())
        if tool.name in PLANNING
    ]
    assert [tool["name"] for tool in definitions] == list(PLANNING)
    assert definitions == json.loads(GOLDEN.read_text("utf-8"))


def _described(name: str) -> str:
    return shipped_description(name) if name in PLANNING else name


@pytest.mark.parametrize("name", PLANNING)
def test_description_is_short(name: str):
    assert 0 < len(shipped_description(name)) < 800


@pytest.mark.parametrize(
    ("toolset", "names"),
    [
        ("document", set[str]()),
        ("notebook", NOTEBOOK | {"read_output", "run_plan"}),
        ("workspace", NOTEBOOK | {"read_output", "run_plan"}),
        ("full", NOTEBOOK | {"read_output", "run_plan"}),
    ],
)
def test_toolset_offers_its_tools(toolset: Toolset, names: set[str]):
    tools = planning(NotebookConversation(memory_cell("a", "1")).registry)
    assert {tool.name for tool in tools.definitions(toolset, "ask", ())} == names
    planned = {tool.name for tool in tools.definitions(toolset, "plan", ())}
    assert planned == names & {*READING, "read_output", "run_plan"}


async def test_plan_reads_a_cell_it_found_and_has_then_seen_it():
    long = "\n".join(f"x{number} = {number}" for number in range(40))
    conversation = NotebookConversation(memory_cell("a", "1"), memory_cell("b", long))
    tools = planning(conversation.registry)
    steps: list[Json] = [
        {"tool": "read_notebook", "args": {"path": PATH}, "save_as": "lists.cells"},
        {
            "tool": "read_notebook",
            "args": {"path": PATH, "cells": [{"var": "lists.cells.1.cell_id"}]},
            "expect": "cells",
        },
    ]
    tool = tools.get("run_plan")
    args = tools.validate("run_plan", {"steps": steps})
    assert tool is not None
    items = [item async for item in tool.run(args, conversation.context())]
    result = items[-1]
    assert isinstance(result, Result)
    assert result.ok
    text = "\n".join(part.text for part in result.content if isinstance(part, TextPart))
    assert "x39 = 39" in text
    assert {seen.cell_id for seen in result.seen} == {"a", "b"}
