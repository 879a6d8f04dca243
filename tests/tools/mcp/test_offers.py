"""Names, schemas and limits of what servers offer as tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.tools.mcp.names import MAX_NAME, category_name, tool_name
from jupyter_ai_shoulders.tools.mcp.offers import MAX_LEFT_OUT, MAX_TOOLS, offer_of
from jupyter_ai_shoulders.tools.mcp.schema_subset import UnusableSchemaError, usable_schema
from tests.tools.mcp.fake_servers import tool

EDGES = ["a.b", "x y", "é", "\u202e", "__", "a" * 300, "-", "a\0b"]


@pytest.mark.parametrize("server", ["github", "a.b", "a__b", "z" * 64])
@pytest.mark.parametrize("name", EDGES)
def test_names_fit_every_provider(server: str, name: str):
    made = tool_name(server, name)
    assert len(made) <= MAX_NAME
    assert made.isascii()
    assert made.replace("_", "").replace("-", "").isalnum()
    assert made.startswith("mcp__")


def test_names_are_unique_and_depend_on_nothing_else():
    pairs = [(s, t) for s in ("a", "a_", "a__b", "a.b", "a_b") for t in ("b__c", "c", "_c", "b c")]
    assert len({tool_name(*pair) for pair in pairs}) == len(pairs)
    assert tool_name("github", "list_issues") == "mcp__github__list_issues"
    assert category_name("github") == "mcp__github"


TREE: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}}
SCHEMAS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "boolean": ({"a": True}, {"a": {}}),
    "missing type": (
        {"a": {"properties": {"b": {}}}},
        {"a": {"type": "object", "properties": {"b": {}}}},
    ),
    "pattern properties": (
        {"a": {"type": "object", "patternProperties": {"^x": {}}}},
        {"a": {"type": "object"}},
    ),
    "any of": (
        {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    ),
    "reference": (
        {"a": {"$ref": "#/$defs/tree"}},
        {"a": {"type": "object", "properties": {"child": {"type": "object"}}}},
    ),
    "constant": ({"a": {"const": "x"}}, {"a": {"enum": ["x"], "type": "string"}}),
    "hidden characters": (
        {"a": {"type": "string", "description": "a\u202eb"}},
        {"a": {"type": "string", "description": "a\\u202eb"}},
    ),
    "array": ({"a": {"type": "array"}}, {"a": {"type": "array", "items": {}}}),
}


@pytest.mark.parametrize(("given", "made"), SCHEMAS.values(), ids=SCHEMAS)
def test_schemas_are_adapted(given: dict[str, Any], made: dict[str, Any]):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": given,
        "$defs": {"tree": TREE},
        "anyOf": [{}],
    }
    assert usable_schema(schema) == {"type": "object", "properties": made}


def test_a_huge_enumeration_becomes_a_description():
    schema: dict[str, Any] = {"properties": {"a": {"enum": [str(n) for n in range(5_000)]}}}
    part = usable_schema(schema)["properties"]
    assert "One of 5000 values" in json.dumps(part)
    assert len(json.dumps(part)) < 2_000


NO_SCHEMAS: dict[str, tuple[dict[str, Any], str]] = {
    "another document": ({"properties": {"a": {"$ref": "https://x.test/s"}}}, "another document"),
    "no such part": ({"properties": {"a": {"$ref": "#/nowhere"}}}, "has no"),
    "array": ({"type": "array"}, "not an object"),
    "odd name": ({"properties": {"a b\u202e": {}}}, "argument named"),
    "wide": ({"properties": {f"p{n}": {} for n in range(500)}}, "more than 100"),
}


@pytest.mark.parametrize(("schema", "reason"), NO_SCHEMAS.values(), ids=NO_SCHEMAS)
def test_other_schemas_are_refused_with_a_reason(schema: dict[str, Any], reason: str):
    with pytest.raises(UnusableSchemaError, match=reason):
        usable_schema(schema)


def test_references_that_multiply_are_bounded():
    levels: dict[str, Any] = {
        f"l{n}": {"properties": {f"p{k}": {"$ref": f"#/$defs/l{n + 1}"} for k in range(9)}}
        for n in range(9)
    }
    schema: dict[str, Any] = {
        "properties": {"a": {"$ref": "#/$defs/l0"}},
        "$defs": {**levels, "l9": {}},
    }
    with pytest.raises(UnusableSchemaError, match="too many parts"):
        usable_schema(schema)


def test_a_flood_of_tools_is_cut_and_said():
    offer = offer_of("demo", [tool(f"t{n}") for n in range(10_000)])
    assert len(offer.tools) == MAX_TOOLS
    assert len(offer.left_out) == MAX_LEFT_OUT
    assert offer.more_left_out == 10_000 - MAX_TOOLS - MAX_LEFT_OUT
    assert offer_of("demo", [tool()], "Only one was read.").unread == "Only one was read."


def test_what_cannot_be_offered_is_named_with_its_reason():
    huge: dict[str, Any] = {"type": "object", "properties": {}, "x": "y" * 5_000_000}
    offer = offer_of(
        "demo", [tool("a"), tool("a"), tool("big", input_schema=huge), tool("n" * 999)]
    )
    assert [each.tool for each in offer.tools] == ["a"]
    reasons = [each.reason for each in offer.left_out]
    assert reasons[0] == "its name is that of an earlier tool"
    assert "larger than 32 KB" in reasons[1]
    assert "1 to 256" in reasons[2]
    assert all(len(each.tool) < 200 for each in offer.left_out)


def test_texts_are_cut_and_hidden_characters_shown():
    [made] = offer_of("demo", [tool("a\u200b", "d\x1b[31m" + "x" * 9_000)]).tools
    assert "\x1b" not in made.description
    assert len(made.description) <= 4_096
    assert made.description.endswith("(9006 characters)")


def test_tools_beyond_the_budget_are_described_alone():
    offer = offer_of("demo", [tool(f"t{n}", "d" * 4_000) for n in range(40)])
    assert [each.brief for each in offer.tools] == [False] * 14 + [True] * 26


CHANGES = {
    "description": {"description": "Other."},
    "arguments": {"input_schema": {"type": "object"}},
    "title": {"title": "Other"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_change_changes_the_definition(change: dict[str, Any]):
    [before], [after] = offer_of("demo", [tool()]).tools, offer_of("demo", [tool(**change)]).tools
    assert before.definition != after.definition
