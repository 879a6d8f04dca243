"""The accepted body of ``POST v1/responses``.

Fields that only steer the vendor's own service (sampling, caching, tiers, tags) are accepted and
have no effect. Responses are not stored and no tools run here: fields that need that are refused by
name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from jupyter_ai_shoulders.proxy.request_parsing import AnyJson, FreeJson, RequestModel
from jupyter_ai_shoulders.wire.base import Json

NOT_STORED = "Responses are not stored here; send the whole conversation as 'input'."
FUNCTION_NAME = r"^[a-zA-Z0-9_-]{1,128}$"

Status = Literal["in_progress", "completed", "incomplete"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Summary = Literal["auto", "concise", "detailed"]


def _refused(why: str) -> AfterValidator:
    """Return a validator that accepts only null or false."""

    def check(value: Json) -> Json:
        if value in (None, False, [], {}):
            return value
        raise PydanticCustomError("not_supported", "{why}", {"why": why})

    return AfterValidator(check)


def _parts(kind: str) -> BeforeValidator:
    """Return a validator that turns a string into a list of one part."""

    def parts(value: Any) -> Any:
        return [{"type": kind, "text": value}] if isinstance(value, str) else value

    return BeforeValidator(parts)


def _as_items(value: Any) -> Any:
    """Return a string as a user message."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


def _as_item(value: Any) -> Any:
    """Return an item with its type, which messages may omit."""
    if not isinstance(value, dict):
        return value
    item = cast("dict[str, Any]", value)
    if item.get("type") == "item_reference":
        raise PydanticCustomError("not_supported", "{why}", {"why": NOT_STORED})
    return {"type": "message", **item} if "role" in item else item


def _as_function(value: Any) -> Any:
    """Return a function tool; the vendor's own tools are refused."""
    kind = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind != "function":
        raise PydanticCustomError(
            "not_supported",
            "Tools of type '{kind}' run at OpenAI and cannot be passed on; only functions can.",
            {"kind": kind},
        )
    return value  # pyright: ignore[reportUnknownVariableType] - JSON of any kind


class InputText(RequestModel):
    """Text for the model."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: AnyJson = None


class InputImage(RequestModel):
    """An image in the request; images are never fetched."""

    type: Literal["input_image"]
    image_url: str = Field(pattern=r"^data:image/(png|jpeg|gif|webp);base64,")
    detail: Literal["auto", "low", "high", "original"] | None = None
    file_id: None = None
    prompt_cache_breakpoint: AnyJson = None


class OutputText(RequestModel):
    """Text the model wrote."""

    type: Literal["output_text"]
    text: str
    annotations: list[AnyJson] | None = None
    logprobs: list[AnyJson] | None = None


class Refusal(RequestModel):
    """A refusal by the model."""

    type: Literal["refusal"]
    refusal: str


InputPart = Annotated[InputText | InputImage, Field(discriminator="type")]
InputParts = Annotated[list[InputPart], _parts("input_text")]


class Item(RequestModel):
    """Fields common to all items."""

    id: str | None = None
    status: Status | None = None


class UserMessageItem(Item):
    """A user's message."""

    type: Literal["message"]
    role: Literal["user"]
    content: InputParts


class InstructionItem(Item):
    """Instructions."""

    type: Literal["message"]
    role: Literal["system", "developer"]
    content: Annotated[list[InputText], _parts("input_text")]


class AssistantMessageItem(Item):
    """A message of the model."""

    type: Literal["message"]
    role: Literal["assistant"]
    content: Annotated[
        list[Annotated[OutputText | Refusal, Field(discriminator="type")]], _parts("output_text")
    ]
    phase: Literal["commentary", "final_answer"] | None = None


class CallItem(Item):
    """A call the model made; ``arguments`` is JSON text."""

    type: Literal["function_call"]
    call_id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    arguments: str


class OutputItem(Item):
    """The result of a call."""

    type: Literal["function_call_output"]
    call_id: str = Field(min_length=1)
    output: InputParts


class SummaryText(RequestModel):
    """A part of a summary of reasoning."""

    type: Literal["summary_text"]
    text: str


class ReasoningText(RequestModel):
    """The text of reasoning."""

    type: Literal["reasoning_text"]
    text: str


class ReasoningItem(Item):
    """Reasoning of an earlier reply; in ours, ``encrypted_content`` is the sealed state."""

    type: Literal["reasoning"]
    summary: list[SummaryText]
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None


MessageItem = Annotated[
    UserMessageItem | InstructionItem | AssistantMessageItem, Field(discriminator="role")
]
InputItem = Annotated[
    MessageItem | CallItem | OutputItem | ReasoningItem, Field(discriminator="type")
]


class FunctionTool(RequestModel):
    """A function of the caller."""

    type: Literal["function"]
    name: str = Field(pattern=FUNCTION_NAME)
    description: str | None = None
    parameters: FreeJson | None = None
    strict: bool | None = None


class FunctionName(RequestModel):
    """Names a function; as a tool choice, it must be called."""

    type: Literal["function"]
    name: str


class AllowedTools(RequestModel):
    """Restricts the tools that may, or must, be called."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[FunctionName] = Field(min_length=1)


class ReasoningOptions(RequestModel):
    """How much to reason, and whether to show it."""

    effort: Effort | None = None
    summary: Summary | None = None
    generate_summary: Summary | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: Literal["standard", "pro"] | None = None


class PlainFormat(RequestModel):
    """The answer is text, or any JSON object."""

    type: Literal["text", "json_object"]


class SchemaFormat(RequestModel):
    """The answer is JSON of this schema."""

    type: Literal["json_schema"]
    name: str
    schema_: FreeJson = Field(validation_alias="schema", serialization_alias="schema")
    description: str | None = None
    strict: bool | None = None


class TextOptions(RequestModel):
    """The form of the answer."""

    format: Annotated[PlainFormat | SchemaFormat, Field(discriminator="type")] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class StreamOptions(RequestModel):
    """Options of a stream."""

    include_obfuscation: bool | None = None


class CountBody(RequestModel):
    """``POST v1/responses/input_tokens``, and the fields of both requests."""

    model: str = Field(min_length=1)
    input: Annotated[
        list[Annotated[InputItem, BeforeValidator(_as_item)]],
        Field(min_length=1, max_length=100_000),
        BeforeValidator(_as_items),
    ]
    instructions: str | None = None
    tools: list[Annotated[FunctionTool, BeforeValidator(_as_function)]] | None = None
    tool_choice: (
        Literal["none", "auto", "required"]
        | Annotated[FunctionName | AllowedTools, Field(discriminator="type")]
        | None
    ) = None
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningOptions | None = None
    text: TextOptions | None = None
    truncation: Literal["auto", "disabled"] | None = None
    previous_response_id: Annotated[Json, _refused(NOT_STORED)] = None
    conversation: Annotated[Json, _refused(NOT_STORED)] = None


class ResponsesBody(CountBody):
    """``POST v1/responses``."""

    include: list[Literal["reasoning.encrypted_content"]] | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    prompt_cache_key: str | None = None

    store: Annotated[Json, _refused("Answers are not stored here; leave 'store' out or false.")] = (
        None
    )
    prompt: Annotated[
        Json, _refused("Prompts stored at OpenAI cannot be used; send their text.")
    ] = None
    background: Annotated[
        Json, _refused("Answers are not made in the background; leave it out or false.")
    ] = None
    background_options: Annotated[Json, _refused("Answers are not made in the background.")] = None
    context_management: Annotated[Json, _refused("Conversations are not compacted here.")] = None
    moderation: Annotated[
        Json, _refused("Moderation is a service of OpenAI's; it cannot be passed on.")
    ] = None

    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = Field(default=None, max_length=16)
    prompt_cache_options: AnyJson = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    safety_identifier: str | None = None
    service_tier: Literal["auto", "default", "flex", "priority", "fast", "ultrafast"] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_logprobs: Literal[0] | None = None
    top_p: float | None = Field(default=None, ge=0, le=1)
    user: str | None = None
