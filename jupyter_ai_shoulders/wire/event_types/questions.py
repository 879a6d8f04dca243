"""What a call asks the user, and the answers: approval, input for a cell, a question (chapter 05).

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import JsonObject, WireModel
from jupyter_ai_shoulders.wire.event_types.base import Author, EventBase
from jupyter_ai_shoulders.wire.ids import CallId

ApprovalScope = Literal["once", "document", "session", "always"]

ApprovalDecision = Literal["allow", "deny"]


class AskReason(WireModel):
    """Why a call asks."""

    kind: Literal["mode", "rule", "taint", "protected", "run_policy", "loop", "sandbox"]
    text: str


class CommandReach(WireModel):
    """The commands that an answer for longer than once allows."""

    command: str
    exact: bool
    """Whether it is this line only, or every line that begins with these words and only reads."""


EffectKind = Literal[
    "deletes_files",
    "writes_files",
    "network",
    "installs",
    "shell",
    "long_loop",
    "dynamic_code",
    "outside_code",
    "unknown",
]
"""What a static look at code says it does.

``dynamic_code`` runs code that is built at run time, ``outside_code`` code that is not shown;
``unknown``: not all can be seen.
"""


class ApprovalRequest(EventBase):
    """A call waits for the user."""

    type: Literal["approval-request"] = "approval-request"
    call_id: CallId
    tool: str
    arguments: JsonObject
    arguments_hash: str
    """SHA-256 over the canonical JSON of the arguments; the answer is bound to it."""
    preview: str | None
    """The code, command or diff the call would act with, exact, for the card."""
    language: str | None
    reason: AskReason
    scopes: tuple[ApprovalScope, ...]
    sandboxed: bool | None = None
    """Of a command: whether the system keeps it from what it should not reach."""
    network: bool | None = None
    """Of a sandboxed command: whether it may use the network."""
    read_only: bool | None = None
    """Of a sandboxed command: whether it may write nothing in the workspace."""
    reach: CommandReach | None = None
    """Of a command: what "session" and "always" allow."""
    effects: tuple[EffectKind, ...] | None = None
    """Of code: what a static look says it does, a hint only; None where nobody looked."""
    fact_hashes: dict[str, str] = Field(default_factory=dict[str, str])
    """SHA-256 of what else was shown, by name; the answer is bound to it."""


class ApprovalAnswer(EventBase):
    """The user, or a rule, decided."""

    type: Literal["approval-answer"] = "approval-answer"
    call_id: CallId
    decision: ApprovalDecision
    scope: ApprovalScope
    feedback: str | None
    by: Author


class StdinRequest(EventBase):
    """A running cell asks for input."""

    type: Literal["stdin-request"] = "stdin-request"
    call_id: CallId
    prompt: str
    password: bool


class StdinAnswer(EventBase):
    """The input was given; its text is not logged."""

    type: Literal["stdin-answer"] = "stdin-answer"
    call_id: CallId
    answered: bool


class ClarifyRequest(EventBase):
    """The agent asks the user a question."""

    type: Literal["clarify-request"] = "clarify-request"
    call_id: CallId
    question: str
    options: tuple[str, ...]
    allow_multiple: bool


class ClarifyAnswer(EventBase):
    """The user answered."""

    type: Literal["clarify-answer"] = "clarify-answer"
    call_id: CallId
    answer: tuple[str, ...]
