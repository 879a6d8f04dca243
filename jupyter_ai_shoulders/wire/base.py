"""The base class and scalar types of all wire models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, JsonValue, WithJsonSchema

WIRE_VERSION = 1
"""Protocol version; a page with another version must reload."""


class WireModel(BaseModel):
    """A frozen value that crosses the socket, the log or the disk.

    Unknown fields are ignored on reading, so that an older server can read a newer log. In the JSON
    Schema (for serialisation) every field is required: nulls are sent explicitly.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        defer_build=True,
        json_schema_serialization_defaults_required=True,
    )


class CommandModel(WireModel):
    """A request body or a frame from the page; rejects unknown fields with their path."""

    model_config = ConfigDict(extra="forbid")


Json = Annotated[JsonValue, WithJsonSchema({"x-wire-json": True})]
"""Any JSON value; the schema maps it to one named, recursive TypeScript type."""

JsonObject = dict[str, Json]

Timestamp = str
"""UTC time in ISO 8601 with a ``Z``, for display only: events are ordered by ``seq``."""
