"""Suggestions at the caret (chapter 10): what a page asks, and what it is told, whole or in steps.

``POST completions`` answers with a ``CompletionEnd``. With ``Accept: text/event-stream`` it is a
stream of server-sent events named by their ``type``: each suggestion as soon as it is whole, then
the list that holds, best first. Having nothing to say is no error: 200, no suggestions, a reason.
``GET completions`` shows what models were sent for the latest of them (chapter 11).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition

LONGEST_SIDE = 20_000
"""Characters accepted before and after the caret; fewer are sent on (chapter 10)."""

CompletionTrigger = Literal["plus", "invoke", "automatic"]
"""``plus`` is ``++``; ``invoke`` the lab's own command; ``automatic`` typing."""

SilenceReason = Literal[
    "no_key",
    "budget",
    "provider_down",
    "private",
    "disabled",
    "no_model",
    "cancelled",
    "nothing",
]
"""Why there are no suggestions: ``private`` cell or secret file; ``disabled`` by the settings;
``cancelled`` by the page or by a newer request; ``nothing`` usable in the model's answer."""


class RequestCompletions(CommandModel):
    """``POST completions``: the text around the caret of one editor."""

    request_id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\w.:-]+$")]
    """Made by the page; names the request for ``DELETE completions/{request_id}``."""
    client_id: ClientId | None = None
    """Of the page: a newer request of it overtakes the older one. Without it, one for the same
    document does."""
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """Of the notebook or the file, as the page calls it."""
    cell_id: CellId | None = None
    """Null in a file."""
    language: Annotated[str, Field(max_length=64)]
    """As the editor has it: ``python``, ``r``, ``markdown``; empty when it is not known."""
    prefix: Annotated[str, Field(max_length=LONGEST_SIDE)]
    """What stands before the caret in this cell or file; the end of it where that is longer."""
    suffix: Annotated[str, Field(max_length=LONGEST_SIDE)]
    """What stands after it; the beginning where that is longer."""
    trigger: CompletionTrigger


class CompletionSuggestion(WireModel):
    """One suggestion, whole: what to put at the caret. ``index`` counts from 0 as they come."""

    type: Literal["completion-suggestion"] = "completion-suggestion"
    request_id: str
    index: int
    text: str


class CompletionEnd(WireModel):
    """All suggestions, best first; nothing comes after it."""

    type: Literal["completion-end"] = "completion-end"
    request_id: str
    suggestions: tuple[str, ...]
    model: ModelId | None
    """That answered, or would have; null where none can."""
    reason: SilenceReason | None
    """Why there are none; null when there are some."""
    message: str | None
    """The reason in words, and what to do about it, where somebody should know."""


class SentCompletion(WireModel):
    """What a model was sent for one caret, in the common form, from which the provider's own body
    is encoded.
    """

    request_id: str
    at: str
    """When, in UTC."""
    path: str
    trigger: CompletionTrigger
    model: ModelId
    provider: ProviderId
    calls: int
    """How often it was sent: models that fill in are asked for one suggestion at a time."""
    system: str
    messages: tuple[ModelMessage, ...]
    """Of a model that fills in one, which is the text before the caret."""
    suffix: str | None
    """The text after the caret, for a model that fills in; null for others."""
    tools: tuple[ToolDefinition, ...]
    response_schema: JsonObject | None
    """The form of the answer, where it is no tool's."""


class SentCompletions(WireModel):
    """``GET completions``: the latest, newest first, since the server was started."""

    requests: tuple[SentCompletion, ...]
