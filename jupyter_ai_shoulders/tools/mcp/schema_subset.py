"""Turns the JSON Schema of a server's tool into one that every provider accepts. Pure.

References are put in place, keywords that some provider refuses are left out, and what the schema
is about stays. The result only guides the model: the server checks the arguments itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import cast

from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.hidden_characters import visible

MAX_CHOICES = 100
"""Values of an enumeration that are shown."""
MAX_DEPTH = 12
MAX_NODES = 2_000
"""Schemas within a schema, once references are in place."""
MAX_TEXT = 1_000
"""Characters of one description within a schema."""
MAX_PROPERTIES = 100
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NUMBERS = frozenset(
    {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "multipleOf"}
)
_TEXTS = frozenset({"description", "format"})


class UnusableSchemaError(ValueError):
    """A schema that no provider would accept; the text is the end of a sentence."""


def usable_schema(schema: Mapping[str, Json]) -> JsonObject:
    """Return the schema of an object with named properties. Raises ``UnusableSchemaError``."""
    subset = _Subset(schema).convert(dict(schema), 0)
    if subset.get("type", "object") != "object":
        raise UnusableSchemaError("its arguments are not an object")
    for word in ("anyOf", "enum"):  # providers refuse them at the top
        subset.pop(word, None)
    properties = subset.get("properties", {})
    return {**subset, "type": "object", "properties": properties}


class _Subset:
    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._nodes = 0

    def convert(self, schema: Json, depth: int, following: tuple[str, ...] = ()) -> JsonObject:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise UnusableSchemaError("its schema is too deep or has too many parts")
        if not isinstance(schema, dict):
            return {}  # true and false: anything
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in following:
                return {"type": "object"}  # contains itself
            found = self._resolve(reference)
            merged = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
            return self.convert(merged, depth + 1, (*following, reference))
        schema = _merged_all_of(schema, self._resolve)
        made = _plain_keywords(schema)
        self._add_parts(made, schema, depth, following)
        _complete(made)
        return made

    def _add_parts(
        self, made: JsonObject, schema: JsonObject, depth: int, following: tuple[str, ...]
    ) -> None:
        properties = schema.get("properties")
        if isinstance(properties, dict):
            if len(properties) > MAX_PROPERTIES:
                raise UnusableSchemaError(f"it has more than {MAX_PROPERTIES} arguments in one")
            bad = next((name for name in properties if not _PROPERTY.fullmatch(name)), None)
            if bad is not None:
                raise UnusableSchemaError(f"it has an argument named {visible(bad)[:80]!r}")
            made["properties"] = {
                name: self.convert(part, depth + 1, following) for name, part in properties.items()
            }
            required = schema.get("required")
            if isinstance(required, list):
                made["required"] = [name for name in required if name in properties]
        if "items" in schema:
            items = schema["items"]
            made["items"] = (
                {} if isinstance(items, list) else self.convert(items, depth + 1, following)
            )
        if schema.get("additionalProperties") is False:
            made["additionalProperties"] = False
        options = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(options, list) and options:
            made["anyOf"] = [
                self.convert(option, depth + 1, following) for option in options[:MAX_CHOICES]
            ]

    def _resolve(self, reference: str) -> JsonObject:
        if not reference.startswith("#"):
            raise UnusableSchemaError("its schema refers to another document")
        place: Json = cast("JsonObject", self._root)
        for step in filter(None, reference[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise UnusableSchemaError(f"its schema has no {visible(reference)[:80]!r}")
        return place


def _merged_all_of(schema: JsonObject, resolve: Callable[[str], JsonObject]) -> JsonObject:
    """Return the schema with the parts of ``allOf`` in it, as far as they are simple."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    merged: JsonObject = {key: value for key, value in schema.items() if key != "allOf"}
    for given in parts[:MAX_CHOICES]:
        part = given
        if isinstance(part, dict) and isinstance(part.get("$ref"), str):
            part = resolve(cast("str", part["$ref"]))
        if not isinstance(part, dict):
            continue
        for key, value in part.items():
            known = merged.get(key)
            if key == "properties" and isinstance(known, dict) and isinstance(value, dict):
                merged[key] = {**known, **value}
            elif key == "required" and isinstance(known, list) and isinstance(value, list):
                merged[key] = [*known, *value]
            else:
                merged.setdefault(key, value)
    return merged


def _plain_keywords(schema: JsonObject) -> JsonObject:
    made: JsonObject = {}
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        made["type"] = kind
    elif isinstance(kind, list):
        kinds = [each for each in kind if isinstance(each, str) and each in _TYPES]
        if kinds:
            made["type"] = kinds[0] if len(kinds) == 1 else cast("list[Json]", kinds)
    for name, value in schema.items():
        if name in _TEXTS and isinstance(value, str):
            made[name] = _cut(value)
        elif name in _NUMBERS and isinstance(value, int | float):
            made[name] = value
    _add_choices(made, schema)
    default = schema.get("default")
    if isinstance(default, str | int | float | bool) and len(str(default)) <= MAX_TEXT:
        made["default"] = visible(default) if isinstance(default, str) else default
    return made


def _add_choices(made: JsonObject, schema: JsonObject) -> None:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(choices, list) or not choices:
        return
    simple = [each for each in choices if isinstance(each, str | int | float | bool)]
    if len(simple) != len(choices) or len(simple) > MAX_CHOICES:
        shown = ", ".join(str(each) for each in simple[:MAX_CHOICES])
        said = made.get("description", "")
        made["description"] = _cut(f"{said} One of {len(choices)} values, such as {shown}".strip())
        return
    made["enum"] = cast("list[Json]", simple)


def _complete(made: JsonObject) -> None:
    """Add the type that some providers require."""
    if "type" in made or "anyOf" in made:
        kind = made.get("type")
        if kind == "array":
            made.setdefault("items", {})
        return
    if "properties" in made:
        made["type"] = "object"
    elif "items" in made:
        made["type"] = "array"
    elif "enum" in made:
        values = cast("list[Json]", made["enum"])
        if all(isinstance(value, str) for value in values):
            made["type"] = "string"


def _cut(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MAX_TEXT else shown[: MAX_TEXT - 1] + "…"
