"""The bodies of the fill-in-the-middle endpoints; unknown fields are refused.

A real llama.cpp drops unknown fields, which would hide our mistakes.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Tokens = Annotated[int, Field(ge=0)]
Temperature = Annotated[float, Field(ge=0, le=2)]


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StreamOptions(Strict):
    """What a stream has besides its text."""

    include_usage: bool = False


class MistralBody(Strict):
    """The body of ``/v1/fim/completions``."""

    model: str
    prompt: str
    suffix: str | None = None
    max_tokens: Tokens | None = None
    min_tokens: Tokens | None = None
    temperature: Annotated[float, Field(ge=0, le=1.5)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    random_seed: int | None = None
    stop: str | list[str] | None = None
    stream: bool = False
    metadata: dict[str, JsonValue] | None = None


class DeepSeekBody(Strict):
    """The body of ``/beta/completions``."""

    model: str
    prompt: str
    suffix: str | None = None
    max_tokens: Annotated[int, Field(ge=1, le=4_096)] | None = None
    temperature: Temperature | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    echo: bool | None = None
    logprobs: int | None = None
    stop: str | list[str] | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None


class ExtraFile(Strict):
    """Another file as context."""

    filename: str
    text: str


class InfillBody(Strict):
    """The body of ``/infill``."""

    input_prefix: str
    input_suffix: str
    input_extra: list[ExtraFile] | None = None
    prompt: str | None = None
    n_predict: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: list[str] | None = None
    cache_prompt: bool | None = None
    stream: bool = False
