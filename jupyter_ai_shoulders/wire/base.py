"""The base class and scalar types every wire model shares.

Used by every module of ``wire``; nothing here knows what the models mean.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, JsonValue, WithJsonSchema

WIRE_VERSION = 1
"""Version of the vocabulary; a page with another one is told to reload (chapter 02)."""


class WireModel(BaseModel):
    """A frozen value that crosses the socket, the log or the disk.

    Unknown fields are ignored on reading so that an older server can read a newer log. In the
    JSON Schema (serialisation side) every field is required: nulls travel explicitly.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        defer_build=True,
        json_schema_serialization_defaults_required=True,
    )


class CommandModel(WireModel):
    """A request body or a frame from the page: unknown fields are refused with their path."""

    model_config = ConfigDict(extra="forbid")


Json = Annotated[JsonValue, WithJsonSchema({"x-wire-json": True})]
"""Any JSON value; the schema emitter maps it to one named, recursive TypeScript type."""

JsonObject = dict[str, Json]
"""A JSON object."""

Timestamp = str
"""UTC time in ISO 8601 with a ``Z``, for display only: order is by ``seq`` (chapter 02)."""
