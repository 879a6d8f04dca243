"""What clients send becomes a wire model here, or an error that names the field.

Used by the HTTP handlers and by the page socket.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge
from jupyter_ai_shoulders.storage.encode import well_formed_json

MAX_BODY_BYTES = 32 << 20
"""Of an HTTP request; images come as base64, so this is a 24 MB image."""

_SHOWN_FIELDS = 10

ModelT = TypeVar("ModelT", bound=BaseModel)
ValueT = TypeVar("ValueT")


def parse_body(model: type[ModelT], raw: bytes) -> ModelT:
    """Read a request body; an empty one counts as ``{}``.

    Raises ``InvalidRequest`` with the field path, and ``TooLarge``.
    """
    if len(raw) > MAX_BODY_BYTES:
        raise TooLarge(
            f"The request has {len(raw) >> 20} MB; at most {MAX_BODY_BYTES >> 20} MB are accepted.",
            hint="Attach a path instead of the content, or a smaller image.",
        )
    return parse_json(adapter_of(model), raw or b"{}")


@cache
def adapter_of(model: type[ModelT]) -> TypeAdapter[ModelT]:
    """Return what reads the model; building it takes 2 ms (chapter 14), so it is built once."""
    return TypeAdapter(model)


def parse_json(adapter: TypeAdapter[ValueT], raw: str | bytes) -> ValueT:
    """Read what the adapter describes. Raises ``InvalidRequest`` with the field path."""
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        if error.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid":
            raise _invalid(error) from error
    return parse_value(adapter, _loads(raw))


def parse_value(adapter: TypeAdapter[ValueT], value: object) -> ValueT:
    """Check a value that is decoded already. Raises ``InvalidRequest`` with the field path."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise _invalid(error) from error


def _loads(raw: str | bytes) -> JsonValue:
    """Read JSON that pydantic's parser refuses: browsers escape lone surrogates in it."""
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
        return well_formed_json(cast("JsonValue", value))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"The body is not JSON: {error}.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _invalid(error: ValidationError) -> InvalidRequest:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    fields = {_path(item): item["msg"] for item in found[:_SHOWN_FIELDS]}
    path, message = next(iter(fields.items()))
    return InvalidRequest(f"{path}: {message}." if path else f"{message}.", fields=fields)


def _path(item: ErrorDetails) -> str:
    """Return where in the body it is wrong, as in ``attachments.0.path``."""
    return ".".join(str(step) for step in item["loc"])
