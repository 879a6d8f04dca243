"""The registry: what the model is offered, and how wrong calls are answered."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pydantic import Field

from jupyter_ai_shoulders.tools.base import ToolArguments
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.events import Risk
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe, registry


class Place(ToolArguments):
    """A place in a file."""

    title: str = Field(description="A property that is named like an annotation.")
    line: int = 1


class NestedArguments(ToolArguments):
    """Arguments with a model inside."""

    place: Place
    places: tuple[Place, ...] = ()


class Nested(FakeTool):
    """Takes nested arguments."""

    name: ClassVar[str] = "nested"
    risk: ClassVar[Risk] = "read"
    arguments: Any = NestedArguments


def test_definitions_are_sorted_and_follow_toolset_mode_and_switches():
    tools = registry(ToolProbe())
    names = [tool.name for tool in tools.definitions("notebook", "ask", ())]
    assert names == ["buggy", "complete", "edit", "failing", "look", "run_it", "stubborn"]
    planned = [tool.name for tool in tools.definitions("notebook", "plan", {"buggy"})]
    assert planned == ["complete", "failing", "look"]


def test_toolset_leaves_out_other_tools_but_never_the_loop():
    class Narrow(FakeTool):
        name = "narrow"
        risk = "read"
        toolsets = frozenset({"full"})

    narrow: Any = Narrow(ToolProbe())
    tools = ToolRegistry([narrow], str)
    assert tools.definitions("notebook", "ask", ()) == ()
    assert [tool.name for tool in tools.definitions("full", "ask", ())] == ["narrow"]


def test_toolset_offers_at_once_the_category_it_is_named_for():
    class Files(FakeTool):
        name = "files"
        category = "workspace"
        risk = "read"

    files: Any = Files(ToolProbe())
    tools = ToolRegistry([files], str)
    assert tools.loadable("full", "ask", ()) == ("workspace",)
    assert tools.definitions("full", "ask", ()) == ()
    assert tools.loadable("workspace", "ask", ()) == ()
    assert [tool.name for tool in tools.definitions("workspace", "ask", ())] == ["files"]


def test_schema_has_no_titles_but_keeps_a_property_of_that_name():
    nested: Any = Nested(ToolProbe())
    (definition,) = ToolRegistry([nested], str).definitions("full", "ask", ())
    place = {
        "additionalProperties": False,
        "description": "A place in a file.",
        "properties": {
            "title": {
                "description": "A property that is named like an annotation.",
                "type": "string",
            },
            "line": {"default": 1, "type": "integer"},
        },
        "required": ["title"],
        "type": "object",
    }
    assert definition.parameters == {
        "$defs": {"Place": place},
        "additionalProperties": False,
        "properties": {
            "place": {"$ref": "#/$defs/Place"},
            "places": {"default": [], "items": {"$ref": "#/$defs/Place"}, "type": "array"},
        },
        "required": ["place"],
        "type": "object",
    }
    assert definition.description == "nested"


def test_schema_text_is_the_same_each_time():
    first, second = (
        [tool.model_dump_json() for tool in registry(ToolProbe()).definitions("full", "ask", ())]
        for _ in range(2)
    )
    assert first == second


def test_valid_arguments_become_the_model():
    checked = registry(ToolProbe()).validate("look", {"path": "a"})
    assert checked == PathArguments(path="a")


def test_unknown_tool_names_the_nearest_and_all():
    problem = registry(ToolProbe()).validate("lok", {})
    assert isinstance(problem, InvalidCall)
    assert problem.error.code == "unknown_tool"
    assert problem.error.message == "There is no tool named 'lok'. Did you mean 'look'?"
    assert problem.error.hint is not None
    assert "complete, edit" in problem.error.hint


def test_wrong_arguments_name_each_fault_and_show_the_schema():
    problem = registry(ToolProbe()).validate("look", {"paht": "a", "word": 3})
    assert isinstance(problem, InvalidCall)
    assert problem.error.code == "invalid_arguments"
    for fault in ("path: Field required", "paht: Extra inputs", "word: Input should be"):
        assert fault in problem.error.message
    hint = problem.error.hint or ""
    assert json.loads(hint[hint.index("{") :])["required"] == ["path"]


def test_catalogue_lists_every_tool_and_whether_it_is_on():
    infos = registry(ToolProbe()).infos({"look": "disabled"})
    assert [info.name for info in infos][:2] == ["complete", "buggy"]
    assert {info.name for info in infos if not info.enabled} == {"look"}
