"""The agent's activity while the user had no page connected: ``GET away``."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.events import CallStatus, Exit
from jupyter_ai_shoulders.wire.ids import CellId, SessionId


class AwayRun(WireModel):
    """A cell, code or command that ran."""

    title: str
    """Title of the call ("Run cell 4")."""
    target: str | None
    status: CallStatus | Literal["running"]
    duration_ms: int | None


class AwayChange(WireModel):
    """A cell or file with a pending edit."""

    document: str
    cell_id: CellId | None
    title: str
    """The first line of the cell's text; empty for a file."""


class AwayQuestion(WireModel):
    """A question the conversation waits for."""

    kind: Literal["approval", "clarify", "input"]
    text: str
    """The question, or the title of the call that needs approval."""


class AwayReport(WireModel):
    """One conversation, from the disconnection of the last page to the next connection."""

    session_id: SessionId
    since: Timestamp
    until: Timestamp
    working_ms: int
    """Total duration of turns in that time."""
    runs: tuple[AwayRun, ...]
    """The most recent runs, in order."""
    run_count: int
    changes: tuple[AwayChange, ...]
    """The most recent changes, in order."""
    change_count: int
    state: Literal["running", "waiting", "ended"]
    question: AwayQuestion | None
    exit: Exit | None
    """The exit of the last turn that ended."""


class AwayAnswer(WireModel):
    """The answer of ``GET away``; null when there is nothing to report."""

    report: AwayReport | None
