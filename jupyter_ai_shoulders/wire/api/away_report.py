"""What the agent did while a person had no page connected: ``GET away`` (chapter 08)."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.events import CallStatus, Exit
from jupyter_ai_shoulders.wire.ids import CellId, SessionId


class AwayRun(WireModel):
    """A cell, code or command that ran."""

    title: str
    """Of the call ("Run cell 4")."""
    target: str | None
    status: CallStatus | Literal["running"]
    duration_ms: int | None


class AwayChange(WireModel):
    """A cell or file with a pending edit."""

    document: str
    cell_id: CellId | None
    title: str
    """The first line of the cell's text; empty of files."""


class AwayQuestion(WireModel):
    """What the conversation waits for."""

    kind: Literal["approval", "clarify", "input"]
    text: str
    """The question, or the title of the call that asks."""


class AwayReport(WireModel):
    """One conversation, from when the last page went away to when one came back."""

    session_id: SessionId
    since: Timestamp
    until: Timestamp
    working_ms: int
    """How long turns ran in that time."""
    runs: tuple[AwayRun, ...]
    """The last ones, in order."""
    run_count: int
    changes: tuple[AwayChange, ...]
    """The last ones, in order."""
    change_count: int
    state: Literal["running", "waiting", "ended"]
    question: AwayQuestion | None
    exit: Exit | None
    """How the last turn ended, where one did."""


class AwayAnswer(WireModel):
    """The answer of ``GET away``; null when there is nothing to say."""

    report: AwayReport | None
