"""The body of ``:generateContent``; unknown names are refused at every level, as by the service.

Names may be camel or snake case, as in every JSON form of a protocol buffer. Parsed by
``validation_errors.parse``; rules beyond the schema are in ``rules``, ``turn_order`` and
``capabilities``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, AliasGenerator, BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel


def both_cases(name: str) -> AliasChoices:
    """Return the spellings a field may have."""
    return AliasChoices(to_camel(name), name)


class Message(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=AliasGenerator(validation_alias=both_cases),
    )


class Blob(Message):
    """Data in the request, base64."""

    mime_type: str
    data: str
    display_name: str | None = None


class FileData(Message):
    """A file that was uploaded."""

    file_uri: str
    mime_type: str | None = None


class FunctionCall(Message):
    """A call the model made."""

    id: str | None = None
    name: str
    args: dict[str, JsonValue] | None = None


class FunctionResponsePart(Message):
    """A file in a result."""

    inline_data: Blob | None = None
    file_data: FileData | None = None


class FunctionResponse(Message):
    """The result of a call."""

    id: str | None = None
    name: str
    response: dict[str, JsonValue]
    parts: list[FunctionResponsePart] | None = None
    will_continue: bool | None = None


class Part(Message):
    """One piece of a content; exactly one of its data fields is set."""

    text: str | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    thought: bool | None = None
    thought_signature: str | None = None


class Content(Message):
    """One turn."""

    role: str | None = None
    parts: list[Part] | None = None


class FunctionDeclaration(Message):
    """A function the caller runs; its parameters are said in one of two ways."""

    name: str
    description: str | None = None
    parameters: dict[str, JsonValue] | None = None
    parameters_json_schema: dict[str, JsonValue] | None = None
    response: dict[str, JsonValue] | None = None
    response_json_schema: dict[str, JsonValue] | None = None
    behavior: Literal["BLOCKING", "NON_BLOCKING"] | None = None


class Tool(Message):
    """Functions, or one of the service's own tools."""

    function_declarations: list[FunctionDeclaration] | None = None
    google_search: dict[str, JsonValue] | None = None
    code_execution: dict[str, JsonValue] | None = None
    url_context: dict[str, JsonValue] | None = None


class FunctionCallingConfig(Message):
    """Whether functions are called."""

    mode: Literal["AUTO", "ANY", "NONE", "VALIDATED"] | None = None
    allowed_function_names: list[str] | None = None


class ToolConfig(Message):
    """How tools are used."""

    function_calling_config: FunctionCallingConfig | None = None


class ThinkingConfig(Message):
    """How much the model thinks, said as a level or as a budget."""

    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"] | None = None


class GenerationConfig(Message):
    """Options of the answer."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[float, Field(ge=1)] | None = None
    candidate_count: Annotated[int, Field(ge=1, le=8)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    stop_sequences: Annotated[list[str], Field(max_length=5)] | None = None
    response_mime_type: Literal["text/plain", "application/json", "text/x.enum"] | None = None
    response_schema: dict[str, JsonValue] | None = None
    response_json_schema: JsonValue = None
    thinking_config: ThinkingConfig | None = None
    media_resolution: str | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_logprobs: bool | None = None
    logprobs: int | None = None
    response_modalities: list[str] | None = None


class SafetySetting(Message):
    """What is blocked."""

    category: str
    threshold: str


class GenerateContentBody(Message):
    """The body."""

    contents: list[Content] | None = None
    system_instruction: Content | None = None
    tools: list[Tool] | None = None
    tool_config: ToolConfig | None = None
    safety_settings: list[SafetySetting] | None = None
    generation_config: GenerationConfig = GenerationConfig()
    cached_content: str | None = None
    labels: dict[str, str] | None = None
    service_tier: Literal["flex", "standard", "priority"] | None = None
    store: bool | None = None
    continuation_token: str | None = None
    model: str | None = None

    @property
    def turns(self) -> list[Content]:
        """The contents; none where they are not given."""
        return self.contents or []

    @property
    def functions(self) -> list[FunctionDeclaration]:
        """The functions of all tools."""
        return [item for tool in self.tools or [] for item in tool.function_declarations or []]


class CountTokensBody(Message):
    """The body of ``:countTokens``: contents, or a whole request."""

    contents: list[Content] | None = None
    generate_content_request: GenerateContentBody | None = None
