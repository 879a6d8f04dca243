"""Inline completions: requests of a page, and answers at once or streamed.

``POST completions`` answers with a ``CompletionEnd``. With ``Accept: text/event-stream`` it answers
with server-sent events named by their ``type``: each suggestion as soon as it is complete, then the
final list, best first. An answer without suggestions is no error: it has status 200 and a reason.
``GET completions`` shows the latest requests to models.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition

LONGEST_SIDE = 20_000
"""Maximum characters before and after the caret; fewer are sent to the model."""

CompletionTrigger = Literal["plus", "invoke", "automatic"]
"""``plus`` is ``++``; ``invoke`` is JupyterLab's command; ``automatic`` is typing."""

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
``cancelled`` by the page or by a newer request; ``nothing`` usable in the model's answer.
"""


class RequestCompletions(CommandModel):
    """``POST completions``: the text around the caret of one editor."""

    request_id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\w.:-]+$")]
    """Made by the page; used in ``DELETE completions/{request_id}``."""
    client_id: ClientId | None = None
    """The page; its newer request replaces an older one. Without it, a newer request for the same
    document does.
    """
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """Path of the notebook or file, as given by the page."""
    cell_id: CellId | None = None
    """Null for a file."""
    language: Annotated[str, Field(max_length=64)]
    """The editor's language: ``python``, ``r``, ``markdown``; empty when unknown."""
    prefix: Annotated[str, Field(max_length=LONGEST_SIDE)]
    """Text before the caret in this cell or file; a longer text is truncated at its start."""
    suffix: Annotated[str, Field(max_length=LONGEST_SIDE)]
    """Text after the caret; a longer text is truncated at its end."""
    trigger: CompletionTrigger


class CompletionSuggestion(WireModel):
    """A complete suggestion to insert at the caret. ``index`` counts from 0 in order of arrival."""

    type: Literal["completion-suggestion"] = "completion-suggestion"
    request_id: str
    index: int
    text: str


class CompletionEnd(WireModel):
    """All suggestions, best first; the last message."""

    type: Literal["completion-end"] = "completion-end"
    request_id: str
    suggestions: tuple[str, ...]
    model: ModelId | None
    """The model that answered or would have; null if none can."""
    reason: SilenceReason | None
    """Why there are no suggestions; null if there are."""
    message: str | None
    """The reason in words with advice, if the user should know."""


class SentCompletion(WireModel):
    """A request to a model for one caret, in the provider-independent form."""

    request_id: str
    at: str
    """Time in UTC."""
    path: str
    trigger: CompletionTrigger
    model: ModelId
    provider: ProviderId
    calls: int
    """Number of calls: fill-in models return one suggestion per call."""
    system: str
    messages: tuple[ModelMessage, ...]
    """For a fill-in model one message, with the text before the caret."""
    suffix: str | None
    """The text after the caret for a fill-in model; null for others."""
    tools: tuple[ToolDefinition, ...]
    response_schema: JsonObject | None
    """The schema of the answer, unless it is a tool's."""


class SentCompletions(WireModel):
    """``GET completions``: the latest since the server's start, newest first."""

    requests: tuple[SentCompletion, ...]
