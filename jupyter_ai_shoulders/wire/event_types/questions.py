"""Questions of a call to the user and their answers: approval, input for a cell, clarification.

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


class ApprovalReason(WireModel):
    """Why a call needs approval."""

    kind: Literal["mode", "rule", "taint", "protected", "run_policy", "loop", "sandbox"]
    text: str


class CommandReach(WireModel):
    """The commands allowed by an answer for longer than once."""

    command: str
    exact: bool
    """Whether only this line is allowed, or every read-only line that begins with these words."""


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
"""Effects found by static analysis of code.

``dynamic_code`` runs code built at run time, ``outside_code`` code that is not shown; ``unknown``
means that the analysis is incomplete.
"""


class ApprovalRequest(EventBase):
    """A call waits for the user."""

    type: Literal["approval-request"] = "approval-request"
    call_id: CallId
    tool: str
    arguments: JsonObject
    arguments_hash: str
    """SHA-256 of the canonical JSON of the arguments; the answer is bound to it."""
    preview: str | None
    """The exact code, command or diff, for the card."""
    language: str | None
    reason: ApprovalReason
    scopes: tuple[ApprovalScope, ...]
    sandboxed: bool | None = None
    """For a command: whether a sandbox confines it."""
    network: bool | None = None
    """For a sandboxed command: whether it may use the network."""
    read_only: bool | None = None
    """For a sandboxed command: whether the workspace is read-only."""
    reach: CommandReach | None = None
    """For a command: the commands that "session" and "always" allow."""
    effects: tuple[EffectKind, ...] | None = None
    """For code: effects found by static analysis, as a hint; None without analysis."""
    fact_hashes: dict[str, str] = Field(default_factory=dict[str, str])
    """SHA-256 of other displayed facts, by name; the answer is bound to them."""


class ApprovalAnswer(EventBase):
    """The user or a rule decided."""

    type: Literal["approval-answer"] = "approval-answer"
    call_id: CallId
    decision: ApprovalDecision
    scope: ApprovalScope
    feedback: str | None
    by: Author


class StdinRequest(EventBase):
    """A running cell requests input."""

    type: Literal["stdin-request"] = "stdin-request"
    call_id: CallId
    prompt: str
    password: bool
    choices: tuple[str, ...] = ()
    """Answers that are offered; empty: any text."""


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
