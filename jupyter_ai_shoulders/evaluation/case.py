"""Definition of an evaluation case: workspace, user, model turns and checks. Values only.

``cases`` declares them, ``runner`` runs them, ``checks`` makes the assertions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.evaluation.workspace_fixture import WorkspaceFixture
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedTurn, ScriptEntry
from jupyter_ai_shoulders.wire.events import ApprovalDecision, ApprovalRequest, Event
from jupyter_ai_shoulders.wire.messages import Attachment
from jupyter_ai_shoulders.wire.sessions import Mode, SessionKind, ToolsMode

Script = tuple[ScriptEntry, ...] | Callable[[ModelRequest], ScriptedTurn | str]
"""One entry per request, or a function that answers all requests."""
Domain = Literal["any", "scripted"]
Nudging = Literal["either", "on", "off"]


@dataclass(frozen=True, slots=True)
class Check:
    says: str
    problem: Callable[[CaseRecord], str | None]
    """Returns the problem, None if there is none."""
    domain: Domain = "any"
    """``scripted``: depends on the script, so it is not checked for a real model."""
    nudging: Nudging = "either"
    """Whether it applies to runs with nudges of the model, without them, or to both."""

    def applies(self, *, scripted: bool, nudges: bool) -> bool:
        """Return whether it applies to such a run."""
        wanted = "on" if nudges else "off"
        return (scripted or self.domain == "any") and self.nudging in ("either", wanted)


def of_script(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for scripted runs only."""
    return tuple(replace(check, domain="scripted") for check in checks)


def with_nudges(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for runs with nudges."""
    return tuple(replace(check, nudging="on") for check in checks)


def without_nudges(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for runs without nudges."""
    return tuple(replace(check, nudging="off") for check in checks)


def allow(request: ApprovalRequest) -> ApprovalDecision:
    del request
    return "allow"


def deny(request: ApprovalRequest) -> ApprovalDecision:
    del request
    return "deny"


@dataclass(frozen=True, slots=True)
class User:
    """The scripted behaviour of the simulated user."""

    decides: Callable[[ApprovalRequest], ApprovalDecision] = allow
    answers: tuple[str | tuple[str, ...], ...] = ()
    """Answers to the agent's questions, in order."""
    raised_limit: int | None = None
    """New limit in micro-dollars when a turn pauses at a limit; None discards the turn."""
    actions_before_request: Mapping[int, Callable[[Path], None]] = field(
        default_factory=dict[int, Callable[[Path], None]]
    )
    """Changes of the workspace right before the model answers its n-th request, from 1."""
    stops_at: Callable[[Event], bool] | None = None
    """Presses stop at the first matching event."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A required behaviour of the agent."""

    name: str
    about: str
    """One sentence: the expected behaviour, and why it could fail."""
    fixture: WorkspaceFixture
    messages: tuple[str | Message, ...]
    """The user's messages, in order."""
    script: Script
    checks: tuple[Check, ...]
    user: User = User()
    kind: SessionKind = "chat"
    mode: Mode = "auto_edit"
    tools: ToolsMode = "enabled"
    step_limit: int = 25
    window: int = 100_000
    """Context window of the scripted model, in tokens."""
    limits: SpendingLimits = field(default_factory=SpendingLimits)
    """Spending limits; a call of the scripted model costs at most about 0.2 dollars."""
    inspects: tuple[str, ...] = ()
    """Expressions evaluated at the end in the kernel of ``notebook``."""
    notebook: str = "work.ipynb"
    real: bool = False
    """Whether it suits a real model; the other cases script a model that misbehaves."""
    seconds: float = 60.0
    """Time limit with a script; a real model has ten times as long."""
