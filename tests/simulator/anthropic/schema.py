"""The body of ``POST /v1/messages`` and ``/count_tokens``; unknown fields are refused everywhere.

These models are stricter than the SDK's and independent of it. Rules beyond the schema are in
``rules``, ``thinking_checks`` and ``capabilities``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, ValidationError

from tests.simulator.refusal import RequestRefused


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CacheControl(Strict):
    """A cache breakpoint."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class TextBlock(Strict):
    """Text."""

    type: Literal["text"]
    text: str
    cache_control: CacheControl | None = None
    citations: list[dict[str, JsonValue]] | None = None


class Base64Image(Strict):
    """Image data."""

    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str


class UrlImage(Strict):
    """A link to an image."""

    type: Literal["url"]
    url: str


class ImageBlock(Strict):
    """An image."""

    type: Literal["image"]
    source: Annotated[Base64Image | UrlImage, Field(discriminator="type")]
    cache_control: CacheControl | None = None


class Base64Pdf(Strict):
    """PDF data."""

    type: Literal["base64"]
    media_type: Literal["application/pdf"]
    data: str


class PlainText(Strict):
    """A text document."""

    type: Literal["text"]
    media_type: Literal["text/plain"]
    data: str


class DocumentBlock(Strict):
    """A document; user messages and tool results only."""

    type: Literal["document"]
    source: Annotated[Base64Pdf | PlainText | UrlImage, Field(discriminator="type")]
    title: str | None = None
    context: str | None = None
    cache_control: CacheControl | None = None


class ThinkingBlock(Strict):
    """Thinking with its signature; no cache breakpoint is allowed on it."""

    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinkingBlock(Strict):
    """Thinking only the service can read."""

    type: Literal["redacted_thinking"]
    data: str


class ToolUseBlock(Strict):
    """A call the model made."""

    type: Literal["tool_use"]
    id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    input: dict[str, JsonValue]
    cache_control: CacheControl | None = None


def _text_or_list(value: Any) -> str:
    return "<text>" if isinstance(value, str) else "<list>"


ResultBlock = Annotated[TextBlock | ImageBlock | DocumentBlock, Field(discriminator="type")]
ResultContent = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[list[ResultBlock], Tag("<list>")],
    Discriminator(_text_or_list),
]


class ToolResultBlock(Strict):
    """The result of a call."""

    type: Literal["tool_result"]
    tool_use_id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    content: ResultContent | None = None
    is_error: bool = False
    cache_control: CacheControl | None = None


Block = Annotated[
    TextBlock
    | ImageBlock
    | DocumentBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock,
    Field(discriminator="type"),
]
Content = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[list[Block], Tag("<list>")],
    Discriminator(_text_or_list),
]
SystemPrompt = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[list[TextBlock], Tag("<list>")],
    Discriminator(_text_or_list),
]


class Message(Strict):
    """One turn."""

    role: Literal["user", "assistant", "system"]
    content: Content


class InputSchema(BaseModel):
    """JSON Schema of a tool's input: an object, otherwise free."""

    model_config = ConfigDict(extra="allow", frozen=True)
    type: Literal["object"]


class CustomTool(Strict):
    """A tool the caller runs."""

    type: Literal["custom"] | None = None
    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]
    description: str | None = None
    input_schema: InputSchema
    strict: bool | None = None
    cache_control: CacheControl | None = None
    eager_input_streaming: bool | None = None
    defer_loading: bool | None = None
    input_examples: list[dict[str, JsonValue]] | None = None


class WebSearchTool(Strict):
    """A tool the service runs; the only one of its kind that is simulated, and never called."""

    type: Literal["web_search_20250305"]
    name: Literal["web_search"]
    max_uses: int | None = None
    cache_control: CacheControl | None = None


def _tool_kind(value: Any) -> str:
    named = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    return named or "custom"


Tool = Annotated[
    Annotated[CustomTool, Tag("custom")] | Annotated[WebSearchTool, Tag("web_search_20250305")],
    Discriminator(_tool_kind),
]


class ToolChoiceAuto(Strict):
    """The model decides."""

    type: Literal["auto"]
    disable_parallel_tool_use: bool = False


class ToolChoiceAny(Strict):
    """Some tool must be called."""

    type: Literal["any"]
    disable_parallel_tool_use: bool = False


class ToolChoiceTool(Strict):
    """This tool must be called."""

    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: bool = False


class ToolChoiceNone(Strict):
    """No tool may be called."""

    type: Literal["none"]


ToolChoice = Annotated[
    ToolChoiceAuto | ToolChoiceAny | ToolChoiceTool | ToolChoiceNone, Field(discriminator="type")
]


class BlockBinding(Strict):
    """What happens to thinking of another conversation; needs its beta header."""

    prefix_mismatch_behavior: Literal["error", "drop_block"]


class ThinkingAdaptive(Strict):
    """The model decides how much to think."""

    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] | None = None
    block_binding: BlockBinding | None = None


class ThinkingEnabled(Strict):
    """Thinking with a fixed budget."""

    type: Literal["enabled"]
    budget_tokens: Annotated[int, Field(ge=1024)]
    display: Literal["summarized", "omitted"] | None = None


class ThinkingDisabled(Strict):
    """No thinking."""

    type: Literal["disabled"]


class ThinkingBetweenTools(Strict):
    """Thinking between tool calls only."""

    type: Literal["between_tools"]


Thinking = Annotated[
    ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled | ThinkingBetweenTools,
    Field(discriminator="type"),
]


class JsonFormat(Strict):
    """Structured output."""

    type: Literal["json_schema"]
    schema_: Annotated[dict[str, JsonValue], Field(alias="schema")]


class OutputConfig(Strict):
    """Effort and output format."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: JsonFormat | None = None


class Metadata(Strict):
    """Whom the request is for."""

    user_id: str | None = None


class Diagnostics(Strict):
    """Asks why the cache was missed."""

    previous_message_id: Annotated[str, Field(pattern=r"^msg_")] | None = None


class CountTokensBody(Strict):
    """What both endpoints take."""

    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[Message], Field(max_length=100_000)]
    system: SystemPrompt | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None
    speed: Literal["standard", "fast"] | None = None


class MessagesBody(CountTokensBody):
    """The body of ``POST /v1/messages``."""

    max_tokens: Annotated[int, Field(ge=0)]
    stream: bool = False
    stop_sequences: list[str] | None = None
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    diagnostics: Diagnostics | None = None
    inference_geo: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


Body = TypeVar("Body", bound=CountTokensBody)


def parse(kind: type[Body], raw: bytes) -> Body:
    """Return the body as a model. Raises ``RequestRefused`` in the service's words."""
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        raise RequestRefused(complaint(error)) from error


def complaint(error: ValidationError) -> str:
    """Return the first problem as the service words it: ``messages.0.role: Field required``."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return "The request body is not valid JSON: " + first["msg"].removeprefix("Invalid JSON: ")
    place = ".".join(str(step) for step in first["loc"] if not str(step).startswith("<"))
    message = first["msg"].replace("valid array", "valid list")
    return f"{place}: {message}" if place else message
