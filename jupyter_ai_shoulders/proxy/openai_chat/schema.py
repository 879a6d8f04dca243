"""The accepted body of ``POST v1/chat/completions``.

Fields that only steer the vendor's own service (sampling, caching, tiers, tags) are accepted and
have no effect. Fields that would change the answer's form and are not supported (``n``, audio) are
refused.
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


class TextItem(RequestModel):
    """Text."""

    type: Literal["text"]
    text: str
    prompt_cache_breakpoint: AnyJson = None


class ImageUrl(RequestModel):
    """An image in the request; images are never fetched."""

    url: str = Field(pattern=r"^data:image/(png|jpeg|gif|webp);base64,")
    detail: Literal["auto", "low", "high", "original"] | None = None


class ImageItem(RequestModel):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageUrl


class RefusalItem(RequestModel):
    """A refusal by the model."""

    type: Literal["refusal"]
    refusal: str


class CalledFunction(RequestModel):
    """The called function; ``arguments`` is JSON text."""

    name: str = Field(min_length=1)
    arguments: str


class CallItem(RequestModel):
    """A call the model made; ``extra_content`` returns its sealed state."""

    id: str = Field(min_length=1)
    type: Literal["function"] = "function"
    function: CalledFunction
    index: int | None = None
    extra_content: AnyJson = None
    google_signature: AnyJson = Field(default=None, validation_alias="_googleThoughtSignature")


class ReasoningDetail(RequestModel):
    """A piece of reasoning; in ours, ``data`` is the sealed state."""

    type: Literal["reasoning.text", "reasoning.summary", "reasoning.encrypted"]
    text: str | None = None
    summary: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None
    index: int | None = None


Texts = Annotated[list[TextItem], BeforeValidator(as_text_blocks)]


class SystemMessageBody(RequestModel):
    """Instructions."""

    role: Literal["system", "developer"]
    content: Texts
    name: str | None = None


class UserMessageBody(RequestModel):
    """A user's message."""

    role: Literal["user"]
    content: Annotated[
        list[Annotated[TextItem | ImageItem, Field(discriminator="type")]],
        BeforeValidator(as_text_blocks),
    ]
    name: str | None = None


class AssistantMessageBody(RequestModel):
    """An answer."""

    role: Literal["assistant"]
    content: (
        Annotated[
            list[Annotated[TextItem | RefusalItem, Field(discriminator="type")]],
            BeforeValidator(as_text_blocks),
        ]
        | None
    ) = None
    tool_calls: list[CallItem] | None = None
    refusal: str | None = None
    name: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_details: list[ReasoningDetail] | None = None
    annotations: list[AnyJson] | None = None
    audio: None = None
    function_call: None = None


class ToolMessageBody(RequestModel):
    """The result of a call."""

    role: Literal["tool"]
    tool_call_id: str
    content: Texts


MessageBody = Annotated[
    SystemMessageBody | UserMessageBody | AssistantMessageBody | ToolMessageBody,
    Field(discriminator="role"),
]


class FunctionBody(RequestModel):
    """A function of the caller."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")
    description: str | None = None
    parameters: FreeJson | None = None
    strict: bool | None = None


class ToolBody(RequestModel):
    """A tool."""

    type: Literal["function"]
    function: FunctionBody


class FunctionName(RequestModel):
    """Names a function."""

    name: str


class NamedChoice(RequestModel):
    """The model must call this tool."""

    type: Literal["function"]
    function: FunctionName


class StreamOptions(RequestModel):
    """Options of a stream."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class SchemaBody(RequestModel):
    """A schema for the answer."""

    name: str
    description: str | None = None
    schema_: FreeJson | None = Field(default=None, validation_alias="schema")
    strict: bool | None = None


class SchemaFormat(RequestModel):
    """The answer is JSON of this schema."""

    type: Literal["json_schema"]
    json_schema: SchemaBody


class PlainFormat(RequestModel):
    """The answer is text, or any JSON object."""

    type: Literal["text", "json_object"]


class ChatBody(RequestModel):
    """``POST v1/chat/completions``."""

    model: str = Field(min_length=1)
    messages: list[MessageBody] = Field(min_length=1, max_length=100_000)
    tools: list[ToolBody] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = (
        None
    )
    response_format: Annotated[SchemaFormat | PlainFormat, Field(discriminator="type")] | None = (
        None
    )
    stop: str | StopList | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    prompt_cache_key: str | None = None
    n: Literal[1] | None = None
    modalities: list[Literal["text"]] | None = None
    logprobs: Literal[False] | None = None
    store: Literal[False] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    seed: int | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    prediction: AnyJson = None
    prompt_cache_retention: str | None = None
    prompt_cache_options: AnyJson = None
