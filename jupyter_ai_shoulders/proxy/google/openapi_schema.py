"""Converts Google's schema language, a subset of OpenAPI's, to JSON Schema.

``parameters`` and ``responseSchema`` use it. Used by ``schema`` and ``decode``.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, AliasGenerator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from jupyter_ai_shoulders.proxy.request_parsing import AnyJson, RequestModel
from jupyter_ai_shoulders.wire.base import JsonObject

Count = int | Annotated[str, StringConstraints(pattern="^[0-9]{1,19}$")]
"""The JSON form of a 64-bit number is a string; numbers are accepted too."""


class OpenApiSchema(RequestModel):
    """A schema; type names may be in either case."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(
            validation_alias=lambda name: AliasChoices(to_camel(name), name)
        )
    )

    type: str | None = Field(
        default=None,
        pattern="(?i)^(TYPE_UNSPECIFIED|STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$",
    )
    description: str | None = None
    title: str | None = None
    format: str | None = None
    nullable: bool | None = None
    enum: list[str] | None = None
    items: OpenApiSchema | None = None
    min_items: Count | None = None
    max_items: Count | None = None
    properties: dict[str, OpenApiSchema] | None = None
    required: list[str] | None = None
    property_ordering: list[str] | None = None
    additional_properties: bool | OpenApiSchema | None = None
    min_properties: Count | None = None
    max_properties: Count | None = None
    min_length: Count | None = None
    max_length: Count | None = None
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    any_of: list[OpenApiSchema] | None = None
    default: AnyJson = None
    example: AnyJson = None
    ref: str | None = None
    defs: dict[str, OpenApiSchema] | None = None


_COUNTS = (
    "min_items",
    "max_items",
    "min_properties",
    "max_properties",
    "min_length",
    "max_length",
)
_AS_THEY_ARE = (
    "description",
    "title",
    "format",
    "enum",
    "required",
    "pattern",
    "minimum",
    "maximum",
    "default",
)


def to_json_schema(schema: OpenApiSchema) -> JsonObject:
    """Return the equivalent JSON Schema, without the order of properties."""
    made: dict[str, Any] = _type(schema)
    given = {name: getattr(schema, name) for name in _AS_THEY_ARE}
    made |= {name: value for name, value in given.items() if value is not None}
    if schema.enum is not None and schema.nullable:
        made["enum"] = [*schema.enum, None]
    counts = {to_camel(name): getattr(schema, name) for name in _COUNTS}
    made |= {name: int(value) for name, value in counts.items() if value is not None}
    return made | _inner(schema)


def _type(schema: OpenApiSchema) -> dict[str, Any]:
    kind = (schema.type or "TYPE_UNSPECIFIED").lower()
    if kind == "type_unspecified":
        return {}
    return {"type": [kind, "null"] if schema.nullable else kind}


def _inner(schema: OpenApiSchema) -> dict[str, Any]:
    """Return the nested schemas."""
    made: dict[str, Any] = {}
    if schema.items is not None:
        made["items"] = to_json_schema(schema.items)
    if schema.properties is not None:
        made["properties"] = _named(schema.properties)
    if schema.additional_properties is not None:
        more = schema.additional_properties
        made["additionalProperties"] = more if isinstance(more, bool) else to_json_schema(more)
    if schema.any_of is not None:
        made["anyOf"] = [to_json_schema(item) for item in schema.any_of]
        made["anyOf"] += [{"type": "null"}] if schema.nullable and schema.type is None else []
    if schema.ref is not None:
        made["$ref"] = schema.ref.replace("#/defs/", "#/$defs/")
    if schema.defs is not None:
        made["$defs"] = _named(schema.defs)
    return made


def _named(schemas: dict[str, OpenApiSchema]) -> dict[str, Any]:
    return {name: to_json_schema(schema) for name, schema in schemas.items()}
