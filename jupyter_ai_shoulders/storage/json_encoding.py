"""Encodes wire models as JSON text, once for log, socket and SSE.

Called by ``SqliteEventLog`` for each event, and by the server for frames and for bodies with lone
surrogates.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError

from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.versions import well_formed

ModelT = TypeVar("ModelT", bound=WireModel)


def encode_model(model: ModelT) -> tuple[ModelT, str]:
    """Return the model's JSON text, and the model that this text represents.

    They differ from the argument only where a string has a lone surrogate, which has no UTF-8 form;
    it becomes U+FFFD in both.
    """
    try:
        return model, model.model_dump_json()
    except (PydanticSerializationError, UnicodeError):
        clean = type(model).model_validate(well_formed_json(model.model_dump()))
        return clean, clean.model_dump_json()


def well_formed_json(value: JsonValue) -> JsonValue:
    """Return the value with every lone surrogate in its strings replaced by U+FFFD."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): well_formed_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):  # pydantic may dump a tuple
        return [well_formed_json(item) for item in value]
    return value


def decode_lenient(raw: bytes) -> str:
    """Decode a stored text; a damaged byte must not make a query fail for all its rows."""
    return raw.decode("utf-8", "replace")
