"""The request body of ``POST /v1/chat/completions``, unknown fields refused at every level.

Which top-level fields exist depends on the server and is checked in ``rules``; here stands what
they hold. Used by ``endpoint``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, ValidationError
from pydantic_core import ErrorDetails

from jupyter_ai_shoulders.testing.simulator.refusal import Refused


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _text_or_list(value: Any) -> str:
    return "<text>" if isinstance(value, str) else "<list>"


class TextPart(Strict):
    """Text."""

    type: Literal["text"]
    text: str


class RefusalPart(Strict):
    """A refusal the model gave."""

    type: Literal["refusal"]
    refusal: str


class ImageUrl(Strict):
    """Where an image is: a link or a data URL."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | None = None


class ImagePart(Strict):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageUrl


class FileData(Strict):
    """A file's name and content."""

    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None


class FilePart(Strict):
    """A file."""

    type: Literal["file"]
    file: FileData


UserPart = Annotated[TextPart | ImagePart | FilePart, Field(discriminator="type")]
AssistantPart = Annotated[TextPart | RefusalPart, Field(discriminator="type")]
TextContent = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[TextPart], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]
UserContent = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[UserPart], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]
AssistantContent = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[AssistantPart], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]


class SystemMessage(Strict):
    """Instructions."""

    role: Literal["system"]
    content: TextContent
    name: str | None = None


class DeveloperMessage(Strict):
    """Instructions, as OpenAI's newer models call them."""

    role: Literal["developer"]
    content: TextContent
    name: str | None = None


class UserMessage(Strict):
    """The user's turn."""

    role: Literal["user"]
    content: UserContent
    name: str | None = None


class FunctionCall(Strict):
    """Name and arguments of a call; the arguments are JSON in a string."""

    name: str
    arguments: str


class ToolCall(Strict):
    """A call the model made. ``extra_content`` is what some servers want echoed."""

    id: Annotated[str, Field(min_length=1)]
    type: Literal["function"]
    function: FunctionCall
    extra_content: dict[str, JsonValue] | None = None


class AssistantMessage(Strict):
    """The model's turn; the reasoning fields belong to some servers only."""

    role: Literal["assistant"]
    content: AssistantContent | None = None
    refusal: str | None = None
    name: str | None = None
    tool_calls: Annotated[list[ToolCall], Field(min_length=1)] | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_details: list[dict[str, JsonValue]] | None = None


class ToolMessage(Strict):
    """The result of a call."""

    role: Literal["tool"]
    content: TextContent
    tool_call_id: str


Message = Annotated[
    SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage,
    Field(discriminator="role"),
]


class Function(Strict):
    """A function the caller runs."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=64)]
    description: str | None = None
    parameters: dict[str, JsonValue] | None = None
    strict: bool | None = None


class Tool(Strict):
    """A tool."""

    type: Literal["function"]
    function: Function


class NamedFunction(Strict):
    """A function by name."""

    name: str


class NamedChoice(Strict):
    """This function must be called."""

    type: Literal["function"]
    function: NamedFunction


def _word_or_object(value: Any) -> str:
    return "<word>" if isinstance(value, str) else "<object>"


ToolChoice = Annotated[
    Annotated[Literal["none", "auto", "required"], Tag("<word>")]
    | Annotated[NamedChoice, Tag("<object>")],
    Discriminator(_word_or_object),
]


class StreamOptions(Strict):
    """Options of a stream."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class PlainFormat(Strict):
    """Text."""

    type: Literal["text"]


class JsonObjectFormat(Strict):
    """Any JSON object."""

    type: Literal["json_object"]


class JsonSchema(Strict):
    """A named schema."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=64)]
    description: str | None = None
    schema_: Annotated[dict[str, JsonValue] | None, Field(alias="schema")] = None
    strict: bool | None = None


class JsonSchemaFormat(Strict):
    """JSON that follows a schema."""

    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[
    PlainFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")
]


class ChatBody(BaseModel):
    """The body; fields that only some servers have are read as plain JSON."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    model: str
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    tools: Annotated[list[Tool], Field(min_length=1)] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = (
        None
    )
    response_format: ResponseFormat | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    metadata: dict[str, str] | None = None
    prompt_cache_key: str | None = None


def parse(raw: bytes) -> ChatBody:
    """Return the body as a model. Raises ``Refused`` in OpenAI's words."""
    try:
        return ChatBody.model_validate_json(raw)
    except ValidationError as error:
        raise refusal(error.errors(include_url=False)[0]) from error


TAGGED = re.compile(r"(^messages\[\d+\]|\.content\[\d+\]|^response_format)$")
"""Places where pydantic puts the name of a union's member into the path."""


def place(location: Sequence[int | str]) -> str:
    """Return a path as OpenAI writes it: ``messages[0].content[1].text``."""
    path, tag_dropped = "", False
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif TAGGED.search(path) and not tag_dropped:
            tag_dropped = True
            continue
        elif not step.startswith("<"):
            path += f".{step}" if path else step
        tag_dropped = False
    return path


def refusal(problem: ErrorDetails) -> Refused:
    """Return a schema problem in OpenAI's words."""
    wording = WORDINGS.get(problem["type"], wrong_type)
    return wording(problem, place(problem["loc"]))


def coded(code: str, where: str, message: str) -> Refused:
    """Return a refusal about one parameter."""
    return Refused(message, param=where, code=code)


def context(problem: ErrorDetails, name: str) -> str:
    """Return what pydantic says besides the message."""
    return str(problem.get("ctx", {}).get(name, ""))


def not_json(problem: ErrorDetails, where: str) -> Refused:
    """The body is not JSON."""
    return Refused(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        f"sent was not valid JSON.) {problem['msg']}",
        param=where or None,
    )


def missing(problem: ErrorDetails, where: str) -> Refused:
    """A field that must be there is not."""
    if problem["type"] == "union_tag_not_found":
        where = f"{where}.{context(problem, 'discriminator').strip(QUOTE)}"
    return coded("missing_required_parameter", where, f"Missing required parameter: '{where}'.")


def unknown_field(problem: ErrorDetails, where: str) -> Refused:
    """A field nobody knows."""
    assert problem["type"] == "extra_forbidden"
    return coded("unknown_parameter", where, f"Unknown parameter: '{where}'.")


def invalid_value(problem: ErrorDetails, where: str) -> Refused:
    """A value outside a closed set."""
    given = context(problem, "tag") or problem["input"]
    expected = context(problem, "expected") or context(problem, "expected_tags")
    if problem["type"] == "union_tag_invalid":
        where = f"{where}.{context(problem, 'discriminator').strip(QUOTE)}"
    return coded(
        "invalid_value", where, f"Invalid value: '{given}'. Supported values are: {expected}."
    )


def pattern_mismatch(problem: ErrorDetails, where: str) -> Refused:
    """A name with characters it may not have."""
    return coded(
        "invalid_value",
        where,
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the "
        f"pattern '{context(problem, 'pattern')}'.",
    )


def empty_array(problem: ErrorDetails, where: str) -> Refused:
    """A list without items."""
    return coded(
        "empty_array",
        where,
        f"Invalid '{where}': empty array. Expected an array with minimum length "
        f"{context(problem, 'min_length')}, but got an empty array instead.",
    )


def too_long(problem: ErrorDetails, where: str) -> Refused:
    """A string that is too long."""
    return coded(
        "string_above_max_length",
        where,
        f"Invalid '{where}': string too long. Expected a string with maximum length "
        f"{context(problem, 'max_length')}, but got a string with length "
        f"{len(str(problem['input']))} instead.",
    )


def out_of_range(problem: ErrorDetails, where: str) -> Refused:
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


def wrong_type(problem: ErrorDetails, where: str) -> Refused:
    """A value of another type."""
    expected = EXPECTED_TYPES.get(problem["type"], problem["msg"])
    given = next((name for kind, name in GIVEN_TYPES if isinstance(problem["input"], kind)), "?")
    return coded(
        "invalid_type",
        where,
        f"Invalid type for '{where}': expected {expected}, but got {given} instead.",
    )


QUOTE = "'"
WORDINGS: dict[str, Callable[[ErrorDetails, str], Refused]] = {
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
