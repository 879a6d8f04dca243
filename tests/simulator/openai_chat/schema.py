"""The body of ``POST /v1/chat/completions``; unknown fields are refused at every level.

Which top-level fields exist depends on the server and is checked in ``rules``. Parsed by
``openai_validation_errors.parse``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag


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
