"""Accepted bodies of ``models/{model}:generateContent`` and ``:countTokens``.

Names may be in camel or snake case, as in every JSON form of a protocol buffer; the official SDK
sends both. Fields that only steer the vendor's own service (sampling, safety, tiers, labels) are
accepted and have no effect. Fields that would change the answer and are not supported are refused.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AliasChoices, AliasGenerator, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from jupyter_ai_shoulders.proxy.google.openapi_schema import OpenApiSchema
from jupyter_ai_shoulders.proxy.request_parsing import AnyJson, FreeJson, RequestModel


def both_cases(name: str) -> AliasChoices:
    """Return the spellings a field may have."""
    return AliasChoices(to_camel(name), name)


class GoogleModel(RequestModel):
    """A value of this format."""

    model_config = ConfigDict(alias_generator=AliasGenerator(validation_alias=both_cases))


Unsupported: TypeAlias = None
"""The type of unsupported fields of Google's API; only ``null`` is accepted."""


class Blob(GoogleModel):
    """Inline data, base64 in either alphabet."""

    mime_type: str
    data: str
    display_name: str | None = None


class FunctionCall(GoogleModel):
    """A call the model made; older models send no id."""

    id: str | None = None
    name: str = Field(min_length=1)
    args: FreeJson | None = None
    partial_args: Unsupported = None
    will_continue: Literal[False] | None = None


class FunctionResponsePart(GoogleModel):
    """An image in a result."""

    inline_data: Blob
    file_data: Unsupported = None


class FunctionResponse(GoogleModel):
    """The result of a call."""

    id: str | None = None
    name: str = Field(min_length=1)
    response: FreeJson
    parts: list[FunctionResponsePart] | None = None
    will_continue: Literal[False] | None = None
    scheduling: Unsupported = None


class Part(GoogleModel):
    """One part of a content; exactly one of its data fields is set, see ``contents``."""

    text: str | None = None
    inline_data: Blob | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    media_resolution: AnyJson = None
    part_metadata: AnyJson = None
    file_data: Unsupported = None
    executable_code: Unsupported = None
    code_execution_result: Unsupported = None
    tool_call: Unsupported = None
    tool_response: Unsupported = None
    video_metadata: Unsupported = None


class Content(GoogleModel):
    """One turn; without a role it is the user's."""

    role: Literal["user", "model"] | None = None
    parts: list[Part] = Field(min_length=1)


class TextOnlyPart(GoogleModel):
    """A part of the instructions."""

    text: str


class Instructions(GoogleModel):
    """The system instruction; its role is ignored."""

    role: str | None = None
    parts: list[TextOnlyPart] = Field(min_length=1)


class FunctionDeclaration(GoogleModel):
    """A function of the caller; its parameters are given in one of two schema languages."""

    name: str = Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
    description: str | None = None
    parameters: OpenApiSchema | None = None
    parameters_json_schema: FreeJson | None = None
    response: OpenApiSchema | None = None
    response_json_schema: AnyJson = None
    behavior: Literal["BLOCKING"] | None = None


class Tool(GoogleModel):
    """Functions; Google's own tools run at Google and are refused."""

    function_declarations: list[FunctionDeclaration] | None = None
    google_search: Unsupported = None
    google_search_retrieval: Unsupported = None
    google_maps: Unsupported = None
    code_execution: Unsupported = None
    url_context: Unsupported = None
    file_search: Unsupported = None
    computer_use: Unsupported = None
    mcp_servers: Unsupported = None


class FunctionCallingConfig(GoogleModel):
    """Whether functions are called."""

    mode: Literal["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] | None = None
    allowed_function_names: list[str] | None = None


class ToolConfig(GoogleModel):
    """How tools are used."""

    function_calling_config: FunctionCallingConfig | None = None
    retrieval_config: Unsupported = None
    include_server_side_tool_invocations: Literal[False] | None = None


class ThinkingConfig(GoogleModel):
    """How much the model thinks, as a level or as a budget in tokens (-1: the model decides)."""

    include_thoughts: bool | None = None
    thinking_budget: int | None = Field(default=None, ge=-1)
    thinking_level: (
        Literal["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"] | None
    ) = None


StopTexts = Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=5)]


class GenerationConfig(GoogleModel):
    """Options of the answer."""

    max_output_tokens: int | None = Field(default=None, ge=1)
    stop_sequences: StopTexts | None = None
    thinking_config: ThinkingConfig | None = None
    response_mime_type: Literal["text/plain", "application/json"] | None = None
    response_schema: OpenApiSchema | None = None
    response_json_schema: FreeJson | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: float | None = Field(default=None, ge=1)
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    media_resolution: str | None = None
    enable_enhanced_civic_answers: bool | None = None
    candidate_count: Literal[1] | None = None
    response_modalities: list[Literal["TEXT"]] | None = None
    response_logprobs: Literal[False] | None = None
    logprobs: Unsupported = None
    response_format: Unsupported = None
    speech_config: Unsupported = None
    image_config: Unsupported = None
    audio_transcription_config: Unsupported = None


class SafetySetting(GoogleModel):
    """A safety filter of Google; ignored, as other vendors have none."""

    category: str = Field(pattern="^HARM_CATEGORY_[A-Z_]+$")
    threshold: Literal[
        "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
        "BLOCK_LOW_AND_ABOVE",
        "BLOCK_MEDIUM_AND_ABOVE",
        "BLOCK_ONLY_HIGH",
        "BLOCK_NONE",
        "OFF",
    ]


def _none_as_empty(value: object) -> object:
    return {} if value is None else value


class GenerateBody(GoogleModel):
    """``:generateContent`` and ``:streamGenerateContent``."""

    contents: list[Content] = Field(min_length=1, max_length=100_000)
    system_instruction: Instructions | None = None
    tools: list[Tool] | None = None
    tool_config: ToolConfig | None = None
    generation_config: Annotated[GenerationConfig, BeforeValidator(_none_as_empty)] = (
        GenerationConfig()
    )
    safety_settings: list[SafetySetting] | None = None
    labels: dict[str, str] | None = None
    service_tier: str | None = None
    store: Literal[False] | None = None
    model: str | None = None
    cached_content: Unsupported = None
    continuation_token: Unsupported = None


class CountBody(GoogleModel):
    """``:countTokens``: contents, or a whole request."""

    contents: list[Content] | None = Field(default=None, min_length=1, max_length=100_000)
    generate_content_request: GenerateBody | None = None
