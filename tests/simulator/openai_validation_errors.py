"""Parses a request body, and describes errors as OpenAI does.

One small function per kind of error. ``parse`` is used by the endpoints of both OpenAI formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tests.simulator.refusal import RequestRefused

Body = TypeVar("Body", bound=BaseModel)


def parse(kind: type[Body], raw: bytes, *, tagged_tools: bool = False) -> Body:
    """Return the body as a model; ``tagged_tools``: tools are of several types.

    Raises ``RequestRefused`` in OpenAI's words.
    """
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        if tagged_tools and problem["loc"][:1] == ("tools",):
            problem["loc"] = problem["loc"][:2] + problem["loc"][3:]
        raise refusal(problem) from error


TAGGED = re.compile(
    r"(^messages\[\d+\]|^input\[\d+\]|\.content\[\d+\]|\.output\[\d+\]"
    r"|^response_format|^text\.format)$"
)
"""Places where pydantic puts the name of a union's member into the path."""

TWICE_TAGGED = "message"
"""The member that is a union itself: messages of the Responses format, by their role."""


def place(location: Sequence[int | str]) -> str:
    """Return a path as OpenAI writes it: ``messages[0].content[1].text``."""
    path, tag_dropped = "", False
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif TAGGED.search(path) and not tag_dropped:
            tag_dropped = step != TWICE_TAGGED
            continue
        elif not step.startswith("<"):
            path += f".{step}" if path else step
        tag_dropped = False
    return path


def refusal(problem: ErrorDetails) -> RequestRefused:
    """Return a schema problem in OpenAI's words."""
    wording = WORDINGS.get(problem["type"], wrong_type)
    return wording(problem, place(problem["loc"]))


def coded(code: str, where: str, message: str) -> RequestRefused:
    """Return a refusal about one parameter."""
    return RequestRefused(message, param=where, code=code)


def context(problem: ErrorDetails, name: str) -> str:
    """Return what pydantic says besides the message."""
    return str(problem.get("ctx", {}).get(name, ""))


def not_json(problem: ErrorDetails, where: str) -> RequestRefused:
    """The body is not JSON."""
    return RequestRefused(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        f"sent was not valid JSON.) {problem['msg']}",
        param=where or None,
    )


def missing(problem: ErrorDetails, where: str) -> RequestRefused:
    """A field that must be there is not."""
    if problem["type"] == "union_tag_not_found":
        where = f"{where}.{context(problem, 'discriminator').strip(QUOTE)}"
    return coded("missing_required_parameter", where, f"Missing required parameter: '{where}'.")


def unknown_field(problem: ErrorDetails, where: str) -> RequestRefused:
    """A field nobody knows."""
    assert problem["type"] == "extra_forbidden"
    return coded("unknown_parameter", where, f"Unknown parameter: '{where}'.")


def invalid_value(problem: ErrorDetails, where: str) -> RequestRefused:
    """A value outside a closed set."""
    given = context(problem, "tag") or problem["input"]
    expected = context(problem, "expected") or context(problem, "expected_tags")
    if problem["type"] == "union_tag_invalid":
        where = f"{where}.{context(problem, 'discriminator').strip(QUOTE)}"
    return coded(
        "invalid_value", where, f"Invalid value: '{given}'. Supported values are: {expected}."
    )


def pattern_mismatch(problem: ErrorDetails, where: str) -> RequestRefused:
    """A name with characters it may not have."""
    return coded(
        "invalid_value",
        where,
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the "
        f"pattern '{context(problem, 'pattern')}'.",
    )


def empty_array(problem: ErrorDetails, where: str) -> RequestRefused:
    """A list without items."""
    return coded(
        "empty_array",
        where,
        f"Invalid '{where}': empty array. Expected an array with minimum length "
        f"{context(problem, 'min_length')}, but got an empty array instead.",
    )


def too_long(problem: ErrorDetails, where: str) -> RequestRefused:
    """A string that is too long."""
    return coded(
        "string_above_max_length",
        where,
        f"Invalid '{where}': string too long. Expected a string with maximum length "
        f"{context(problem, 'max_length')}, but got a string with length "
        f"{len(str(problem['input']))} instead.",
    )


def out_of_range(problem: ErrorDetails, where: str) -> RequestRefused:
    """A number that is too small or too large."""
    kind = "integer" if isinstance(problem["input"], int) else "decimal"
    if problem["type"] == "greater_than_equal":
        word, code, bound = "below minimum", "below_min", f">= {context(problem, 'ge')}"
    else:
        word, code, bound = "above maximum", "above_max", f"<= {context(problem, 'le')}"
    return coded(
        f"{kind}_{code}_value",
        where,
        f"Invalid '{where}': {kind} {word} value. Expected a value {bound}, but got "
        f"{problem['input']} instead.",
    )


def wrong_type(problem: ErrorDetails, where: str) -> RequestRefused:
    """A value of another type."""
    expected = EXPECTED_TYPES.get(problem["type"], problem["msg"])
    given = next((name for kind, name in GIVEN_TYPES if isinstance(problem["input"], kind)), "?")
    return coded(
        "invalid_type",
        where,
        f"Invalid type for '{where}': expected {expected}, but got {given} instead.",
    )


QUOTE = "'"
WORDINGS: dict[str, Callable[[ErrorDetails, str], RequestRefused]] = {
    "json_invalid": not_json,
    "missing": missing,
    "union_tag_not_found": missing,
    "extra_forbidden": unknown_field,
    "literal_error": invalid_value,
    "union_tag_invalid": invalid_value,
    "string_pattern_mismatch": pattern_mismatch,
    "too_short": empty_array,
    "string_too_long": too_long,
    "greater_than_equal": out_of_range,
    "less_than_equal": out_of_range,
}
EXPECTED_TYPES = {
    "string_type": "a string",
    "list_type": "an array of objects",
    "bool_type": "a boolean",
    "int_type": "an integer",
    "float_type": "a decimal number",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
GIVEN_TYPES: tuple[tuple[type, str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a decimal number"),
    (str, "a string"),
    (list, "an array"),
    (object, "an object"),
)
