"""Single calls: suggestions, titles and forced tools, answered with the request's own words."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.budget.account import Purpose, UsageAccount
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool
from jupyter_ai_shoulders.providers.demo.completions import completions
from jupyter_ai_shoulders.providers.demo.planner import plan
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.parts import TextPart, ToolDefinition, UserMessage

FRAME = "import pandas as pd\nsales = pd.DataFrame({'region': [1], 'units sold': [2]})\n"
COMPLETIONS: dict[str, tuple[str, str, list[str]]] = {
    "earlier line": (FRAME + "sal", "", ["es = pd.DataFrame({'region': [1], 'units sold': [2]})"]),
    "column": (FRAME + "sales['", "", ["region']", "units sold']"]),
    "column of its kind": (FRAME + "sales['u", "", ["nits sold']"]),
    "column before a bracket": (FRAME + "sales['u", "']", ["nits sold"]),
    "method of a dataframe": (FRAME + "sales.desc", "", ["ribe"]),
    "attribute used before": ("model.fitted_\nmodel.fi", "", ["tted_"]),
    "line that followed": ("a()\nb()\na()\n", "", ["b()"]),
    "name": ("total_price = 1\nprint(total_p", "", ["rice"]),
    "nothing known": ("qq = zz.", "", []),
    "nothing at all": ("", "", []),
}


@pytest.mark.parametrize("name", COMPLETIONS)
def test_completion_comes_from_the_context(name: str) -> None:
    before, after, expected = COMPLETIONS[name]
    found = completions(before, after)
    assert found[: len(expected)] == expected
    assert bool(found) == bool(expected)


@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=100))
def test_any_text_is_completed_with_its_own_words_or_not_at_all(
    before: str, after: str, context: str
) -> None:
    found = completions(before, after, context)
    assert len(found) <= 5
    assert len(set(found)) == len(found)
    assert all(text.strip() for text in found)


GHOST: JsonObject = {
    "type": "object",
    "properties": {
        "prefix_end": {"type": "string"},
        "suffix_start": {"type": "string"},
        "suggestions": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 3,
            "maxItems": 5,
        },
    },
    "required": ["prefix_end", "suffix_start", "suggestions"],
    "additionalProperties": False,
}


def asking(text: str, purpose: Purpose = "turn", **more: Any) -> ModelRequest:
    message = UserMessage(parts=(TextPart(text=text),))
    return ModelRequest("demo", "", (message,), account=UsageAccount(purpose), **more)


PROMPT = f"Complete the code.\n<prefix>{FRAME}sales['</prefix>\n<suffix>\nx = 1</suffix>"
TOOL = ToolDefinition(name="suggest", description="", parameters=GHOST)


@pytest.mark.parametrize(
    "more",
    [
        {"response_schema": GHOST},
        {"tools": (TOOL,), "tool_choice": NamedTool("suggest")},
        {"tools": (TOOL,), "tool_choice": AnyTool()},
    ],
    ids=["schema", "named tool", "any tool"],
)
def test_suggestions_follow_the_schema(more: dict[str, Any]) -> None:
    reply = plan(asking(PROMPT, "ghost", **more))
    value = json.loads(reply.text) if reply.act is None else reply.act.arguments
    assert value == {
        "prefix_end": f"{FRAME}sales['"[-40:],
        "suffix_start": "\nx = 1",
        "suggestions": ["region']", "units sold']", "units sold']"],
    }


def test_caret_in_the_text_parts_it() -> None:
    reply = plan(asking(f"{FRAME}sales.desc<CURSOR>()", "ghost"))
    assert reply.text == "ribe"


def test_nothing_to_suggest_is_silence() -> None:
    assert plan(asking("qq = zz.", "ghost")).text == ""


def test_title_is_the_first_line() -> None:
    long = "Please plot the alcohol of all the wines against their colour, and then explain it"
    assert plan(asking(f"{long}\nmore", "title")).text == (
        "Please plot the alcohol of all the wines against their…"
    )
    assert plan(asking("Give this conversation a title: Fix my cell", "title")).text == (
        "Fix my cell"
    )


def test_summary_says_that_it_is_none() -> None:
    assert plan(asking("Plot the ash", "summary")).text == (
        "Demo (no AI model): no summary, only what the user asked for:\n- Plot the ash"
    )


LEAVES: list[JsonObject] = [
    {"type": "string"},
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 4},
    {"type": "integer"},
    {"type": "number", "minimum": 2},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["a", "b"]},
    {"const": 7},
    {"$ref": "#/$defs/leaf"},
    {"type": ["string", "null"]},
]


def listing(item: JsonObject, least: int) -> JsonObject:
    """The schema of a list."""
    return {"type": "array", "items": item, "minItems": least}


def record(fields: dict[str, JsonObject]) -> JsonObject:
    """The schema of an object."""
    return {
        "type": "object",
        "properties": {**fields},
        "required": [*fields],
        "additionalProperties": False,
    }


def either(one: JsonObject, two: JsonObject) -> JsonObject:
    """The schema of one of two."""
    return {"anyOf": [one, two]}


def bigger(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    """Schemas made of others."""
    names = st.sampled_from(["title", "suggestions", "text", "x"])
    return st.one_of(
        st.builds(listing, inner, st.integers(0, 3)),
        st.builds(record, st.dictionaries(names, inner)),
        st.builds(either, inner, inner),
    )


schemas = st.recursive(st.sampled_from(LEAVES), bigger, max_leaves=8)


@settings(deadline=None)
@given(schemas, st.text(max_size=60))
def test_any_schema_is_filled(schema: JsonObject, text: str) -> None:
    whole: JsonObject = {**schema, "$defs": {"leaf": {"type": "string", "minLength": 1}}}
    reply = plan(asking(text, response_schema=whole))
    jsonschema.validate(json.loads(reply.text), whole)


def test_schema_that_points_at_itself_comes_to_an_end() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}},
                "required": ["next"],
            },
            "loop": {"$ref": "#/$defs/loop"},
        },
    }
    assert plan(asking("x", response_schema=schema)).text
    assert plan(asking("x", response_schema={**schema, "$ref": "#/$defs/loop"})).text
