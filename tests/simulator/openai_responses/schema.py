"""The bodies of ``/v1/responses``; unknown fields are refused at every level.

Parsed by ``openai_validation_errors.parse``. Hosted tools other than the web search, and the items
of all of them, are refused as unknown. Namespaces and the web search are as in the types of the
openai SDK 3.54; that messages may have an ``id`` and requests ``client_metadata`` is known from
OpenAI's own client, Codex 0.166, which sends both.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
)

FUNCTION_NAME = r"^[a-zA-Z0-9_-]+$"
MOST_METADATA = 16

ItemId = Annotated[str, Field(min_length=1, max_length=64)]
CallId = Annotated[str, Field(min_length=1, max_length=64)]
Status = Literal["in_progress", "completed", "incomplete"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _text_or_list(value: Any) -> str:
    return "<text>" if isinstance(value, str) else "<list>"


def _with_type(value: Any) -> Any:
    """A message may leave its type out."""
    if isinstance(value, dict) and "type" not in value and "role" in value:
        return {"type": "message", **cast("dict[str, Any]", value)}
    return value  # pyright: ignore[reportUnknownVariableType] - JSON of any kind


class Breakpoint(Strict):
    """A place up to which the prompt is cached."""

    mode: Literal["explicit"]
    ttl: Literal["30m", "12h"] | None = None


class InputText(Strict):
    """Text for the model."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Breakpoint | None = None


class InputImage(Strict):
    """An image: a link or a data URL."""

    type: Literal["input_image"]
    detail: Literal["auto", "low", "high", "original"] | None = None
    image_url: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: Breakpoint | None = None


class InputFile(Strict):
    """A file: its name and content."""

    type: Literal["input_file"]
    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    detail: Literal["auto", "low", "high"] | None = None
    prompt_cache_breakpoint: Breakpoint | None = None


class OutputText(Strict):
    """Text the model wrote."""

    type: Literal["output_text"]
    text: str
    annotations: list[dict[str, JsonValue]] | None = None
    logprobs: list[dict[str, JsonValue]] | None = None


class Refusal(Strict):
    """A refusal the model wrote."""

    type: Literal["refusal"]
    refusal: str


InputPart = Annotated[InputText | InputImage | InputFile, Field(discriminator="type")]
OutputPart = Annotated[OutputText | Refusal, Field(discriminator="type")]
InputContent = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[InputPart], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]
OutputContent = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[OutputPart], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]


class SystemMessage(Strict):
    """Instructions."""

    type: Literal["message"]
    role: Literal["system"]
    content: InputContent
    id: ItemId | None = None
    status: Status | None = None


class DeveloperMessage(Strict):
    """Instructions, as newer models call them."""

    type: Literal["message"]
    role: Literal["developer"]
    content: InputContent
    id: ItemId | None = None
    status: Status | None = None


class UserMessage(Strict):
    """What the user said."""

    type: Literal["message"]
    role: Literal["user"]
    content: InputContent
    id: ItemId | None = None
    status: Status | None = None


class AssistantMessage(Strict):
    """What the model said; with ``id`` the item the service made."""

    type: Literal["message"]
    role: Literal["assistant"]
    content: OutputContent
    id: ItemId | None = None
    status: Status | None = None
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCall(Strict):
    """A call the model made; the arguments are JSON in a string."""

    type: Literal["function_call"]
    call_id: CallId
    name: Annotated[str, Field(pattern=FUNCTION_NAME, max_length=128)]
    arguments: str
    namespace: str | None = None
    id: ItemId | None = None
    status: Status | None = None


class FunctionCallOutput(Strict):
    """The result of a call."""

    type: Literal["function_call_output"]
    call_id: CallId
    output: InputContent
    id: ItemId | None = None
    status: Status | None = None


class SummaryText(Strict):
    """A part of a summary."""

    type: Literal["summary_text"]
    text: str


class ReasoningText(Strict):
    """Reasoning as it was; not to be sent."""

    type: Literal["reasoning_text"]
    text: str


class ReasoningItem(Strict):
    """Reasoning the model did."""

    type: Literal["reasoning"]
    id: ItemId
    summary: list[SummaryText]
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None
    status: Status | None = None


class ItemReference(Strict):
    """An item the service stored."""

    type: Literal["item_reference"]
    id: ItemId


Message = Annotated[
    SystemMessage | DeveloperMessage | UserMessage | AssistantMessage, Field(discriminator="role")
]
AnyItem = Message | FunctionCall | FunctionCallOutput | ReasoningItem | ItemReference
InputItem = Annotated[AnyItem, Field(discriminator="type"), BeforeValidator(_with_type)]
Input = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Annotated[list[InputItem], Field(min_length=1)], Tag("<list>")],
    Discriminator(_text_or_list),
]


class FunctionTool(Strict):
    """A function the caller runs; schema and strictness must be said, if only as null."""

    type: Literal["function"]
    name: Annotated[str, Field(pattern=FUNCTION_NAME, max_length=64)]
    parameters: dict[str, JsonValue] | None
    strict: bool | None
    description: str | None = None


class NamespaceTool(Strict):
    """Functions of one group."""

    type: Literal["namespace"]
    name: Annotated[str, Field(pattern=FUNCTION_NAME, max_length=64)]
    description: str
    tools: Annotated[list[FunctionTool], Field(min_length=1)]


class WebSearchTool(Strict):
    """The search of the service; scripts never use it."""

    type: Literal["web_search"]
    external_web_access: bool | None = None
    search_context_size: Literal["low", "medium", "high"] | None = None

    @property
    def name(self) -> str:
        """The name in lists of tools."""
        return self.type


AnyTool = Annotated[FunctionTool | NamespaceTool | WebSearchTool, Field(discriminator="type")]


class NamedChoice(Strict):
    """This function must be called."""

    type: Literal["function"]
    name: str


class AllowedFunction(Strict):
    """A function by name."""

    type: Literal["function"]
    name: str


class AllowedTools(Strict):
    """Only these functions may, or one of them must, be called."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: Annotated[list[AllowedFunction], Field(min_length=1)]


def _choice(value: Any) -> str:
    """A word, or an object of one of two types (a model already when it is written)."""
    if isinstance(value, str):
        return "<word>"
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    allowed = isinstance(value, AllowedTools) or found.get("type") == "allowed_tools"
    return "<allowed>" if allowed else "<named>"


ToolChoice = Annotated[
    Annotated[Literal["none", "auto", "required"], Tag("<word>")]
    | Annotated[NamedChoice, Tag("<named>")]
    | Annotated[AllowedTools, Tag("<allowed>")],
    Discriminator(_choice),
]


class Reasoning(Strict):
    """How to reason, and what to show of it."""

    effort: Effort | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: Literal["standard", "pro"] | None = None


class PlainFormat(Strict):
    """Text."""

    type: Literal["text"]


class JsonObjectFormat(Strict):
    """Any JSON object."""

    type: Literal["json_object"]


class JsonSchemaFormat(Strict):
    """JSON that follows a schema."""

    type: Literal["json_schema"]
    name: Annotated[str, Field(pattern=FUNCTION_NAME, max_length=64)]
    schema_: Annotated[dict[str, JsonValue], Field(alias="schema")]
    description: str | None = None
    strict: bool | None = None


class TextOptions(Strict):
    """How to answer."""

    format: (
        Annotated[PlainFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")]
        | None
    ) = None
    verbosity: Literal["low", "medium", "high"] | None = None


class InputTokensBody(Strict):
    """The body of ``POST /v1/responses/input_tokens``, and what both requests have."""

    model: str
    input: Input
    instructions: str | None = None
    parallel_tool_calls: bool | None = None
    previous_response_id: str | None = None
    conversation: str | None = None
    reasoning: Reasoning | None = None
    text: TextOptions | None = None
    tool_choice: ToolChoice | None = None
    tools: list[AnyTool] | None = None
    truncation: Literal["auto", "disabled"] | None = None

    @property
    def items(self) -> list[AnyItem]:
        """The input as items; text is a user's message."""
        if isinstance(self.input, str):
            return [UserMessage(type="message", role="user", content=self.input)]
        return self.input


class StreamOptions(Strict):
    """Options of a stream."""

    include_obfuscation: bool | None = None


class CacheOptions(Strict):
    """How the prompt is cached."""

    mode: Literal["implicit", "explicit"] | None = None
    ttl: Literal["30m", "12h"] | None = None
    prewarm: bool | None = None
    comparison_response_id: str | None = None


Includable = Literal[
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
]
MetadataKey = Annotated[str, Field(max_length=64)]
MetadataValue = Annotated[str, Field(max_length=512)]


class ResponsesBody(InputTokensBody):
    """The body of ``POST /v1/responses``."""

    background: bool | None = None
    client_metadata: dict[str, str] | None = None
    include: list[Includable] | None = None
    max_output_tokens: Annotated[int, Field(ge=16)] | None = None
    max_tool_calls: Annotated[int, Field(ge=1)] | None = None
    metadata: dict[MetadataKey, MetadataValue] | None = None
    prompt_cache_key: Annotated[str, Field(max_length=512)] | None = None
    prompt_cache_options: CacheOptions | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    safety_identifier: Annotated[str, Field(max_length=128)] | None = None
    service_tier: Literal["auto", "default", "flex", "priority", "fast", "ultrafast"] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    user: str | None = None
