"""OpenAI's rules for JSON Schemas of tools and answers, especially strict ones.

Called by the rules of both OpenAI formats. One small function per rule, each returning an error
message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from tests.simulator.refusal import RequestRefused

Schema = Mapping[str, JsonValue]
Path = tuple[str, ...]

DEEPEST = 10
MOST_PROPERTIES = 5_000
FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
NOT_PERMITTED = (
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "default",
    "minLength",
    "maxLength",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "dependentRequired",
    "dependentSchemas",
)
LOOK_AROUND = re.compile(r"\(\?(=|!|<=|<!)")


def check_parameters(name: str, schema: JsonValue, param: str, *, strict: bool) -> None:
    """The parameters of a function are an object. Raises ``RequestRefused``."""
    code = "invalid_function_parameters"
    kind = schema.get("type") if isinstance(schema, dict) else None
    if schema is not None and kind != "object":
        raise RequestRefused(
            f"Invalid schema for function '{name}': schema must be a JSON Schema of "
            f"'type: \"object\"', got 'type: {kind!r}'.",
            param=param,
            code=code,
        )
    if strict:
        check_strict(schema, f"function '{name}'", param, code)


def check_strict(schema: JsonValue, subject: str, param: str, code: str | None) -> None:
    """A strict schema keeps to the part of JSON Schema that can be enforced.

    Raises ``RequestRefused``.
    """
    problem = strict_problem(schema)
    if problem is not None:
        path, words = problem
        raise RequestRefused(
            f"Invalid schema for {subject}: In context={path!r}, {words}", param=param, code=code
        )


def strict_problem(schema: JsonValue) -> tuple[Path, str] | None:
    """Return what keeps a schema from being strict, and where."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return (), "schema must have type 'object' and not have 'oneOf'/'anyOf' at the top level."
    if "anyOf" in schema:
        return (), "'anyOf' is not permitted at the top level."
    properties = 0
    for path, node in nodes(schema, ()):
        properties += len(named(node.get("properties")))
        if depth(path) > DEEPEST:
            return path, f"the schema has more than {DEEPEST} levels of nesting."
        for rule in RULES:
            words = rule(node, schema)
            if words:
                return path, words
    if properties > MOST_PROPERTIES:
        return (), f"the schema has more than {MOST_PROPERTIES} properties."
    return None


def nodes(schema: JsonValue, path: Path) -> Iterator[tuple[Path, Schema]]:
    """Yield every schema in a schema, itself first."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in ("properties", "$defs", "definitions"):
        for name, inner in named(schema.get(keyword)).items():
            yield from nodes(inner, (*path, keyword, name))
    yield from nodes(schema.get("items"), (*path, "items"))
    options = schema.get("anyOf")
    for index, inner in enumerate(options if isinstance(options, list) else []):
        yield from nodes(inner, (*path, "anyOf", str(index)))


def depth(path: Path) -> int:
    """Return how many objects and arrays deep a place is."""
    return sum(step in {"properties", "items"} for step in path)


def named(value: JsonValue) -> Mapping[str, JsonValue]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def is_closed(node: Schema, _: Schema) -> str | None:
    """Objects say that they have no other properties."""
    if "object" in types(node) and node.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    return None


def requires_all(node: Schema, _: Schema) -> str | None:
    """Objects require every property."""
    required = node.get("required")
    given = set(map(str, required)) if isinstance(required, list) else set[str]()
    missing = set(named(node.get("properties"))) - given
    if missing:
        return (
            "'required' is required to be supplied and to be an array including every key in "
            f"properties. Missing '{min(missing)}'."
        )
    if given - set(named(node.get("properties"))):
        extra = min(given - set(named(node.get("properties"))))
        return f"'required' is required to include only keys of properties. Extra '{extra}'."
    return None


def has_typed_items(node: Schema, _: Schema) -> str | None:
    """Arrays say what they hold."""
    if "array" not in types(node):
        return None
    items = named(node.get("items"))
    return None if items else "array schema missing items."


def is_typed(node: Schema, _: Schema) -> str | None:
    """Every schema says its type."""
    if any(key in node for key in ("type", "$ref", "anyOf", "enum", "const")):
        return None
    return "schema must have a 'type' key."


def refers_well(node: Schema, root: Schema) -> str | None:
    """References go to the root or to its definitions, and stand alone."""
    target = node.get("$ref")
    if target is None:
        return None
    if len(node) > 1:
        siblings = sorted(set(node) - {"$ref"})
        return f"$ref cannot have keywords {siblings!r}."
    known = {"#"} | {
        f"#/{keyword}/{name}"
        for keyword in ("$defs", "definitions")
        for name in named(root.get(keyword))
    }
    return None if target in known else f"reference to component '{target}' which was not found."


def uses_permitted(node: Schema, _: Schema) -> str | None:
    """Only keywords that can be enforced."""
    word = next((word for word in NOT_PERMITTED if word in node), None)
    return None if word is None else f"'{word}' is not permitted."


def has_known_format(node: Schema, _: Schema) -> str | None:
    """Formats and patterns of strings are ones that can be enforced."""
    found, pattern = node.get("format"), node.get("pattern")
    if found is not None and found not in FORMATS:
        return f"'{found}' is not a valid format."
    if isinstance(pattern, str) and LOOK_AROUND.search(pattern):
        return "'pattern' may not use look-around."
    return None


def types(node: Schema) -> frozenset[str]:
    """Return the types a schema names."""
    kind = node.get("type")
    return frozenset(map(str, kind)) if isinstance(kind, list) else frozenset({str(kind)})


RULES: tuple[Callable[[Schema, Schema], str | None], ...] = (
    refers_well,
    uses_permitted,
    is_closed,
    requires_all,
    has_typed_items,
    is_typed,
    has_known_format,
)
