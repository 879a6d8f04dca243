"""Accepted bodies of ``POST v1/messages`` and ``v1/messages/count_tokens``.

Fields that only steer the vendor's own service (caching, metadata, sampling, tiers) are accepted
and have no effect: the adapters set caching themselves, and current models refuse sampling.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from jupyter_ai_shoulders.proxy.request_parsing import (
    AnyJson,
    FreeJson,
    RequestModel,
    StopList,
    as_text_blocks,
)

ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


class CacheControl(RequestModel):
    """A cache breakpoint."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class Block(RequestModel):
    """Fields common to all blocks; older clients also send a signature."""

    cache_control: CacheControl | None = None
    google_signature: AnyJson = Field(default=None, validation_alias="_googleThoughtSignature")


class TextBlock(Block):
    """Text."""

    type: Literal["text"]
    text: str
    citations: list[AnyJson] | None = None


class ImageSource(RequestModel):
    """An image in the request; images are never fetched."""

    type: Literal["base64"]
    media_type: ImageType
    data: str


class ImageBlock(Block):
    """An image."""

    type: Literal["image"]
    source: ImageSource


class TextSource(RequestModel):
    """A plain-text document."""

    type: Literal["text"]
    media_type: Literal["text/plain"]
    data: str


class DocumentBlock(Block):
    """A document; only text can be passed on to every provider."""

    type: Literal["document"]
    source: TextSource
    title: str | None = None
    context: str | None = None


class ThinkingBlock(Block):
    """Thinking of an earlier answer, with its sealed state."""

    type: Literal["thinking"]
    thinking: str
    signature: str = ""


class RedactedThinkingBlock(Block):
    """Thinking without text."""

    type: Literal["redacted_thinking"]
    data: str


class ToolUseBlock(Block):
    """A call the model made."""

    type: Literal["tool_use"]
    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    input: FreeJson
    caller: AnyJson = None


ResultItem = Annotated[TextBlock | ImageBlock | DocumentBlock, Field(discriminator="type")]
ResultContent = Annotated[list[ResultItem], BeforeValidator(as_text_blocks)]


class ToolResultBlock(Block):
    """The result of a call."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: ResultContent = Field(default_factory=list[ResultItem])
    is_error: bool | None = None


UserBlock = Annotated[
    TextBlock | ImageBlock | DocumentBlock | ToolResultBlock, Field(discriminator="type")
]
AssistantBlock = Annotated[
    TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock, Field(discriminator="type")
]
TextBlocks = Annotated[list[TextBlock], BeforeValidator(as_text_blocks)]


class UserMessageBody(RequestModel):
    """A user's message."""

    role: Literal["user"]
    content: Annotated[list[UserBlock], BeforeValidator(as_text_blocks)]


class AssistantMessageBody(RequestModel):
    """An answer."""

    role: Literal["assistant"]
    content: Annotated[list[AssistantBlock], BeforeValidator(as_text_blocks)]


class SystemMessageBody(RequestModel):
    """An instruction in the middle of the conversation."""

    role: Literal["system"]
    content: TextBlocks


MessageBody = Annotated[
    UserMessageBody | AssistantMessageBody | SystemMessageBody, Field(discriminator="role")
]


class ToolBody(RequestModel):
    """A tool of the caller; the vendor's server tools are not passed on."""

    type: Literal["custom"] | None = "custom"
    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")
    description: str = ""
    input_schema: FreeJson
    strict: bool | None = None
    cache_control: CacheControl | None = None
    eager_input_streaming: bool | None = None
    defer_loading: bool | None = None
    input_examples: list[FreeJson] | None = None


class AutoChoice(RequestModel):
    """The model decides, or must call any tool."""

    type: Literal["auto", "any"]
    disable_parallel_tool_use: bool | None = None


class NamedChoice(RequestModel):
    """The model must call this tool."""

    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: bool | None = None


class NoChoice(RequestModel):
    """No tools."""

    type: Literal["none"]


class AdaptiveThinking(RequestModel):
    """The model thinks as it sees fit."""

    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] | None = None


class BudgetThinking(RequestModel):
    """The model may think for so many tokens."""

    type: Literal["enabled"]
    budget_tokens: int = Field(ge=1024)
    display: Literal["summarized", "omitted"] | None = None


class NoThinking(RequestModel):
    """The model does not think, or as little as it can."""

    type: Literal["disabled", "between_tools"]


class JsonFormat(RequestModel):
    """The schema of the answer."""

    type: Literal["json_schema"]
    schema_: FreeJson = Field(validation_alias="schema")


class OutputConfig(RequestModel):
    """Effort and form of the answer."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: JsonFormat | None = None


class Metadata(RequestModel):
    """Ignored."""

    user_id: str | None = None


class CountBody(RequestModel):
    """``POST v1/messages/count_tokens``."""

    model: str = Field(min_length=1)
    messages: list[MessageBody] = Field(min_length=1, max_length=100_000)
    system: TextBlocks = Field(default_factory=list[TextBlock])
    tools: list[ToolBody] = Field(default_factory=list[ToolBody])
    tool_choice: (
        Annotated[AutoChoice | NamedChoice | NoChoice, Field(discriminator="type")] | None
    ) = None
    thinking: (
        Annotated[AdaptiveThinking | BudgetThinking | NoThinking, Field(discriminator="type")]
        | None
    ) = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None


class MessagesBody(CountBody):
    """``POST v1/messages``."""

    max_tokens: int = Field(ge=1)
    stream: bool | None = None
    stop_sequences: StopList | None = None
    metadata: Metadata | None = None
    temperature: float | None = Field(default=None, ge=0, le=1)
    top_p: float | None = None
    top_k: int | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    speed: Literal["standard", "fast"] | None = None
    inference_geo: str | None = None
