"""Parses a body, and describes errors as Google does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from tests.simulator.refusal import RequestRefused

Body = TypeVar("Body", bound=BaseModel)

INVALID = "INVALID_ARGUMENT"
PAYLOAD = "Invalid JSON payload received."


def parse(kind: type[Body], raw: bytes) -> Body:
    """Return the body. Raises ``RequestRefused``."""
    try:
        return kind.model_validate_json(raw or b"{}")
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        wording = WORDINGS.get(problem["type"], wrong_value)
        raise invalid(wording(problem)) from error


def invalid(message: str) -> RequestRefused:
    """Return the refusal of an argument."""
    return RequestRefused(message, type=INVALID)


def required(place: str, words: str) -> RequestRefused:
    """Return the refusal of a request that lacks something."""
    return invalid(f"* GenerateContentRequest.{place}: {words}")


def path(location: Sequence[int | str]) -> str:
    """Return a place as Google writes it: ``contents[0].parts[1].inline_data``."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{to_snake(step)}"
    return text.removeprefix(".")


def unknown_name(problem: ErrorDetails) -> str:
    """A name nobody knows."""
    *parents, name = problem["loc"]
    where = f" at '{path(parents)}'" if parents else ""
    return f'{PAYLOAD} Unknown name "{name}"{where}: Cannot find field.'


def not_json(problem: ErrorDetails) -> str:
    """The body is not JSON."""
    return f"{PAYLOAD} {problem['msg'].removeprefix('Invalid JSON: ')}."


def missing(problem: ErrorDetails) -> str:
    """A field that must be there is not."""
    return f"* GenerateContentRequest.{path(problem['loc'])}: required field is not set"


def wrong_value(problem: ErrorDetails) -> str:
    """A value of another type, or outside its range."""
    kind = KINDS.get(problem["type"], "TYPE_ENUM")
    return f"Invalid value at '{path(problem['loc'])}' ({kind}), {json.dumps(problem['input'])}"


WORDINGS: dict[str, Callable[[ErrorDetails], str]] = {
    "extra_forbidden": unknown_name,
    "json_invalid": not_json,
    "missing": missing,
}
KINDS = {
    "string_type": "TYPE_STRING",
    "bool_type": "TYPE_BOOL",
    "int_type": "TYPE_INT32",
    "float_type": "TYPE_DOUBLE",
    "list_type": "TYPE_REPEATED",
    "dict_type": "TYPE_MESSAGE",
    "model_type": "TYPE_MESSAGE",
    "greater_than_equal": "TYPE_RANGE",
    "less_than_equal": "TYPE_RANGE",
    "too_long": "TYPE_REPEATED",
}
