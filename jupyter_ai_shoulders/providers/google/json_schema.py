"""Converts JSON Schemas to the subset of ``parametersJsonSchema`` and ``responseJsonSchema``.

Pure; used by ``encode``. Refused keywords are left out or rewritten; those that only inform the
model go into the description.
"""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_list, as_object, as_text

_DROPPED = frozenset(
    {
        "$schema",
        "$id",
        "$comment",
        "discriminator",
        "examples",
        "title",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "format",
        "const",
        "oneOf",
    }
)
_SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_LISTS_OF_SCHEMAS = frozenset({"anyOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "not", "if", "then", "else"})
_LIMITS = {
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "format": "format",
}


def to_gemini(schema: VendorObject) -> VendorObject:
    """Return the schema with the same meaning, as far as the API can express it."""
    made = {
        name: _converted(name, value)
        for name, value in schema.items()
        if name not in _DROPPED and not _is_open_object(name, value)
    }
    if "const" in schema:
        made["enum"] = [schema["const"]]
    if "oneOf" in schema:
        made["anyOf"] = as_list(made.get("anyOf")) + _all(schema["oneOf"])
    remarks = [f"{word} {schema[name]}" for name, word in _LIMITS.items() if name in schema]
    if remarks:
        said = [as_text(schema.get("description")).strip(), f"({', '.join(remarks)})"]
        made["description"] = " ".join(text for text in said if text)
    return made


def _converted(name: str, value: Any) -> Any:
    if name in _SCHEMAS_BY_NAME:
        return {key: _one(inner) for key, inner in as_object(value).items()}
    if name in _LISTS_OF_SCHEMAS:
        return _all(value)
    return _one(value) if name in _SCHEMAS else value


def _all(value: Any) -> list[Any]:
    return [_one(item) for item in as_list(value)]


def _one(value: Any) -> Any:
    """Return a converted schema; ``true`` and ``false`` are schemas too."""
    return to_gemini(as_object(value)) if isinstance(value, dict) else value


def _is_open_object(name: str, value: Any) -> bool:
    """Return whether this describes additional properties, which the API follows unreliably."""
    return name == "additionalProperties" and isinstance(value, dict)
