"""JSON Schemas for answers that every provider accepts, and the JSON object in an answer's text.

Used by ``one_shot`` and ``inline_completion``. Strict servers refuse limits, defaults, titles and
references in schemas, so limits become part of the description and the rest is left out; the answer
is validated against the model class.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

_KEPT = ("type", "description", "enum", "const")
_LIMITS = {
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
}
MAX_LENGTH = 100_000
"""Characters searched for an object."""
MAX_TRIES = 32
"""Opening braces tried before the search gives up."""

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder()


def answer_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of ``model`` with all fields required; ``model`` must not be recursive."""
    whole = model.model_json_schema()
    return _plain(whole, cast("Schema", whole.get("$defs", {})))


def _plain(schema: Schema, named: Schema) -> Schema:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found = cast("Schema", named[reference.rpartition("/")[2]])
        return _plain(found | {key: schema[key] for key in _KEPT if key in schema}, named)
    made = {key: schema[key] for key in _KEPT if key in schema}
    remarks = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    if remarks:
        said = (str(made.get("description", "")), f"({', '.join(remarks)})")
        made["description"] = " ".join(filter(None, said))
    if "anyOf" in schema:
        made["anyOf"] = [_plain(one, named) for one in schema["anyOf"]]
    if "items" in schema:
        made["items"] = _plain(schema["items"], named)
    if "properties" in schema:
        properties = cast("Schema", schema["properties"])
        made["properties"] = {name: _plain(one, named) for name, one in properties.items()}
        made["required"] = list(properties)
        made["additionalProperties"] = False
    return made


def find_json_object(text: str) -> dict[str, Any] | None:
    """Return the first complete JSON object, preferring one in a code fence; None where there is
    none.
    """
    text = text[:MAX_LENGTH]
    fenced = (_first_object(found) for found in _FENCE.findall(text))
    return next((found for found in fenced if found is not None), None) or _first_object(text)


def _first_object(text: str) -> dict[str, Any] | None:
    at = text.find("{")
    for _ in range(MAX_TRIES):
        if at < 0:
            return None
        try:
            found, _ = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
        else:
            return cast("dict[str, Any]", found)  # a value that begins with a brace is an object
    return None
