"""Parses client input into wire models, or raises an error that names the field.

Used by the HTTP handlers, the model proxy and the page socket. The cost of a body is bounded before
it is parsed: by its bytes, and by the number of its values.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge
from jupyter_ai_shoulders.core.json_limits import json_excess
from jupyter_ai_shoulders.storage.json_encoding import well_formed_json
from jupyter_ai_shoulders.wire.api.commands import MESSAGE_TOO_LONG

MAX_BODY_BYTES = 32 << 20
"""For a request with whole files or conversations."""
LONG_TEXT_BYTES = 8 << 20
"""For a request with a text of a million characters, however they are escaped."""
MESSAGE_BYTES = 6 << 20
"""For a message with its pictures, of which services accept 5 MB each; it is one event."""
SMALL_BODY_BYTES = 1 << 20
"""For a short command."""
MAX_VALUES = 30_000
"""Maximum JSON values in a request; reporting an error for each of them takes 60 ms."""
MAX_FIELDS = 1_000
"""Maximum fields at the top level of a body or frame; models define a few dozen at most."""
_MAX_DETAILED = 1_000
"""Beyond this number, errors are counted and not listed: listing takes longer."""
_MEASURED_AT_ONCE = 1 << 17
"""Bytes that are measured in less than a millisecond."""

_SHOWN_FIELDS = 10

ModelT = TypeVar("ModelT", bound=BaseModel)
ValueT = TypeVar("ValueT")


async def check_size(raw: bytes, max_bytes: int, max_values: int) -> None:
    """Raise ``TooLarge`` for a body that takes too long to parse; large ones are measured in a
    thread.
    """
    check_bytes(len(raw), max_bytes)
    if len(raw) <= _MEASURED_AT_ONCE:
        excess = json_excess(raw, max_values)
    else:
        excess = await asyncio.to_thread(json_excess, raw, max_values)
    if excess is not None:
        raise TooLarge(
            f"The request has {excess}.",
            hint="Send less at once; attach a large text as a file.",
        )


def check_bytes(size: int, max_bytes: int) -> None:
    """Raise ``TooLarge`` for a body of more than ``max_bytes``."""
    if size > max_bytes:
        raise TooLarge(
            f"The request has {size / 2**20:.1f} MB; at most {max_bytes >> 20} MB are "
            "accepted here.",
            hint="Attach a path instead of the content, or a smaller image.",
        )


def parse_body(model: type[ModelT], raw: bytes) -> ModelT:
    """Parse a request body whose size was checked; an empty one counts as ``{}``.

    Raises ``InvalidRequest`` with the field path, and ``TooLarge`` for a message.
    """
    return parse_json(adapter_of(model), raw or b"{}")


@cache
def adapter_of(model: type[ModelT]) -> TypeAdapter[ModelT]:
    """Return the model's type adapter; building it takes 2 ms, so it is cached."""
    return TypeAdapter(model)


def parse_json(adapter: TypeAdapter[ValueT], raw: str | bytes) -> ValueT:
    """Parse JSON with the adapter. Raises ``InvalidRequest`` with the field path.

    In two steps, because an error of ``validate_json`` copies the part of the body it is about, and
    the error of a missing field copies all of it.
    """
    value = _decoded(raw)
    if isinstance(value, dict) and len(value) > MAX_FIELDS:
        raise InvalidRequest(
            f"The request has {len(value):,} fields; at most {MAX_FIELDS:,} are accepted."
        )
    return parse_value(adapter, value)


def parse_value(adapter: TypeAdapter[ValueT], value: object) -> ValueT:
    """Validate a decoded value. Raises ``InvalidRequest`` with the field path."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise _invalid(error) from error


def _decoded(raw: str | bytes) -> JsonValue:
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError:
        return _loads(raw)


def _loads(raw: str | bytes) -> JsonValue:
    """Parse JSON that pydantic's parser refuses: browsers escape lone surrogates in it."""
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
        return well_formed_json(cast("JsonValue", value))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"The request is not JSON: {error}.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _invalid(error: ValidationError) -> InvalidRequest | TooLarge:
    count = error.error_count()
    if count > _MAX_DETAILED:
        return InvalidRequest(f"The request has {count:,} wrong or unknown fields.")
    found = error.errors(include_url=False, include_input=False, include_context=False)
    fields = {_path(item): item["msg"] for item in found[:_SHOWN_FIELDS]}
    path, message = next(iter(fields.items()))
    text = f"{path}: {message}." if path else f"{message}."
    if found[0]["type"] == MESSAGE_TOO_LONG:
        return TooLarge(text, hint="Save the text as a file in the workspace and attach the file.")
    return InvalidRequest(text, fields=fields)


def _path(item: ErrorDetails) -> str:
    """Return the path of the wrong field, such as ``attachments.0.path``."""
    return ".".join(str(step) for step in item["loc"])
