"""The bodies of ``/api/chat`` and ``/api/show``; unknown fields are refused.

A real Ollama drops unknown fields, which would hide our mistakes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CallFunction(Strict):
    """Name and arguments of a call; the arguments are an object."""

    index: int | None = None
    name: str
    arguments: dict[str, JsonValue]


class ToolCall(Strict):
    """A call the model made."""

    id: str | None = None
    function: CallFunction


class Message(Strict):
    """A message."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class Function(Strict):
    """A function the caller runs."""

    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    parameters: dict[str, JsonValue]


class Tool(Strict):
    """A tool."""

    type: Literal["function"]
    function: Function


class Options(Strict):
    """Options of the runner."""

    num_ctx: Annotated[int, Field(ge=1)] | None = None
    num_predict: int | None = None
    num_keep: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    seed: int | None = None
    stop: list[str] | None = None


class ChatBody(Strict):
    """The body of ``/api/chat``."""

    model: str = ""
    messages: list[Message] = []
    stream: bool = True
    tools: list[Tool] | None = None
    format: JsonValue = None
    think: bool | Literal["low", "medium", "high", "max"] | None = None
    options: Options = Options()
    keep_alive: str | int | float | None = None
    truncate: bool | None = None
    shift: bool | None = None


class GenerateBody(Strict):
    """The body of ``/api/generate``."""

    model: str = ""
    prompt: str = ""
    suffix: str | None = None
    system: str | None = None
    template: str | None = None
    raw: bool | None = None
    stream: bool = True
    format: JsonValue = None
    think: bool | Literal["low", "medium", "high", "max"] | None = None
    images: list[str] | None = None
    options: Options = Options()
    keep_alive: str | int | float | None = None


class ShowBody(Strict):
    """The body of ``/api/show``."""

    model: str = ""
    verbose: bool | None = None
