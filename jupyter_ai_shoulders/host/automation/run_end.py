"""How a run ended, judged by the end of its turn and its calls. Used by ``run_driver``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.host.automation.notebook_plans import CallOutcome
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.api.automation.schedules import RunState, ScheduleRun
from jupyter_ai_shoulders.wire.event_types.turns import Exit
from jupyter_ai_shoulders.wire.events import TurnEnd, UsageUpdate
from jupyter_ai_shoulders.wire.ids import TurnId

_COMPLETED = frozenset({"final_response", "ended_by_tool"})
_STOPPED: Mapping[Exit, tuple[RunState, str]] = {
    "cancelled": ("cancelled", "It was stopped in its conversation."),
    "interrupted": ("interrupted", "It was interrupted and discarded."),
    "step_cap": ("done", "It stopped at the most steps a turn may have."),
}


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The state a run ends with, and why."""

    state: RunState
    message: str | None = None


def outcome_of(end: TurnEnd, calls: Sequence[CallOutcome], *, is_plan: bool) -> RunOutcome:
    """Return how a turn ended; a plan fails with its last call."""
    if end.exit in _STOPPED:
        return RunOutcome(*_STOPPED[end.exit])
    refused = [call for call in calls if call.status == "denied"]
    if is_plan and calls and calls[-1].problem is not None:
        return RunOutcome("refused" if refused else "failed", calls[-1].problem)
    if end.exit == "tool_rejected":
        return RunOutcome("refused", refused[-1].problem if refused else None)
    if end.exit not in _COMPLETED:
        message = end.error.message if end.error is not None else f"It ended with {end.exit}."
        return RunOutcome("failed", message)
    return RunOutcome("done", _refused_note(refused))


def _refused_note(refused: Sequence[CallOutcome]) -> str | None:
    if not refused:
        return None
    count = "1 call was" if len(refused) == 1 else f"{len(refused)} calls were"
    return f"{count} refused. {refused[0].problem}"


def run_cost(log: EventLog, run: ScheduleRun, turns: Sequence[TurnId]) -> int | None:
    """Return what the turns of a run cost as far as it is known; None if no part is."""
    if run.session_id is None or not turns:
        return None
    costs = [
        logged.event.cost_micro_usd
        for logged in log.find({"usage-update"}, run.session_id)
        if isinstance(logged.event, UsageUpdate) and logged.event.turn_id in turns
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known or not costs else None
