"""Values between JSON and SQLite. Pure; standard library only: for the worker.

A parameter is a JSON value, ``{"base64": "…"}`` for bytes or ``{"integer": "…"}`` for an integer
that JSON readers would round. A cell of an answer has the same forms, and ``{"text": "…",
"characters": n}`` or ``{"bytes": n}`` where it is too long to be shown whole.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed

Value = None | int | float | str | bytes
Cell = None | bool | int | float | str | dict[str, Any]
Parameters = Sequence[Value] | Mapping[str, Value]

LARGEST_INTEGER = 2**63 - 1
SAFE_INTEGER = 2**53 - 1
"""The largest integer that JavaScript reads exactly."""


def decode_value(given: object) -> Value:
    """Return a parameter as SQLite stores it. Raises ``RequestFailed``."""
    match given:
        case None:
            return None
        case bool() | int():
            return _integer(int(given))
        case float():
            if not math.isfinite(given):
                raise _refused(f"{given} is no value of a database", "Use null instead.")
            return given
        case str():
            return _text(given)
        case dict():
            return _object(cast("dict[str, Any]", given))
        case _:
            raise _refused("A list is not a value", "Pass JSON as a string: json_each reads it.")


def decode_parameters(given: object) -> Parameters:
    """Return the parameters of one statement. Raises ``RequestFailed``."""
    match given:
        case None:
            return ()
        case list():
            return [decode_value(value) for value in cast("list[object]", given)]
        case dict():
            named = cast("dict[str, object]", given)
            return {name.lstrip(":@$"): decode_value(value) for name, value in named.items()}
        case _:
            raise _refused("params must be a list or an object", "Give one value for each ?.")


def encode_cell(value: Value, longest: int) -> Cell:
    """Return a value of a row for an answer; texts and bytes are cut at ``longest``."""
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        return {"integer": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"real": str(value)}
    if isinstance(value, str) and len(value) > longest:
        return {"text": value[:longest], "characters": len(value)}
    if isinstance(value, bytes):
        whole = {} if len(value) > longest else {"base64": base64.b64encode(value).decode()}
        return {"bytes": len(value), **whole}
    return value


def _integer(value: int) -> int:
    if not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
        raise _refused("An integer of more than 64 bits cannot be stored", "Store it as text.")
    return value


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _refused("A text with half a character cannot be stored", str(error)) from error
    return value


def _object(value: dict[str, Any]) -> Value:
    match value:
        case {"base64": str(encoded)} if len(value) <= 2:
            try:
                return base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise _refused(f"The base64 of a value is wrong: {error}") from error
        case {"integer": str(digits)} if len(value) == 1 and len(digits) <= 20:
            try:
                return _integer(int(digits))
            except ValueError as error:
                raise _refused(f"{digits!r} is no integer") from error
        case _:
            raise _refused(
                "An object is not a value",
                'Pass JSON as a string, and bytes as {"base64": "…"}.',
            )


def _refused(message: str, hint: str = "") -> RequestFailed:
    return RequestFailed("refused", f"{message}.", hint)
