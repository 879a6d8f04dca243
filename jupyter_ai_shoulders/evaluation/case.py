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
"""One entry per request, or a function that answers them all."""
Domain = Literal["any", "scripted"]
Nudging = Literal["either", "on", "off"]


@dataclass(frozen=True, slots=True)
class Check:
    says: str
    problem: Callable[[CaseRecord], str | None]
    """Returns what is wrong, None when nothing is."""
    domain: Domain = "any"
    """``scripted``: it depends on what the script does, so a real model is not held to it."""
    nudging: Nudging = "either"
    """Whether it is about what is said to a model, or about what becomes of one told nothing."""

    def applies(self, *, scripted: bool, nudges: bool) -> bool:
        """Return whether it is held against such a run."""
        wanted = "on" if nudges else "off"
        return (scripted or self.domain == "any") and self.nudging in ("either", wanted)


def of_script(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for scripted runs only."""
    return tuple(replace(check, domain="scripted") for check in checks)


def with_nudges(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for runs in which the model is told when it strays."""
    return tuple(replace(check, nudging="on") for check in checks)


def without_nudges(*checks: Check) -> tuple[Check, ...]:
    """Return the checks for runs in which it is not."""
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
    """To the agent's questions, in order."""
    raised_limit: int | None = None
    """Micro-dollars, when a turn pauses at a limit; None discards the turn."""
    actions_before_request: Mapping[int, Callable[[Path], None]] = field(
        default_factory=dict[int, Callable[[Path], None]]
    )
    """What happens in the workspace right before the model answers for the n-th time, from 1."""
    stops_at: Callable[[Event], bool] | None = None
    """Presses stop at the first event like this."""


@dataclass(frozen=True, slots=True)
class Message:
    """What the user sends."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One thing the agent must do right."""

    name: str
    about: str
    """One sentence: what must happen, and why it could go wrong."""
    fixture: WorkspaceFixture
    messages: tuple[str | Message, ...]
    """What the user sends, one after the other."""
    script: Script
    checks: tuple[Check, ...]
    user: User = User()
    kind: SessionKind = "chat"
    mode: Mode = "auto_edit"
    tools: ToolsMode = "enabled"
    step_limit: int = 25
    window: int = 100_000
    """Of the scripted model, in tokens."""
    limits: SpendingLimits = field(default_factory=SpendingLimits)
    """Of money; a call of the scripted model costs about 0.2 dollars at most."""
    inspects: tuple[str, ...] = ()
    """Expressions evaluated in the kernel of ``notebook`` at the end."""
    notebook: str = "work.ipynb"
    real: bool = False
    """Whether it makes sense with a real model; the others script a model that misbehaves."""
    seconds: float = 60.0
    """The longest it may take with a script; ten times that with a real model."""
