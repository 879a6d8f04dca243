"""Runs that continue after their step and wake the model when they end. Pure.

Part of ``engine.loop.transition``. The end of a run is logged between two steps, so that sent
messages do not change. A turn with nothing else to do stays open until then.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.loop.commands import RunEnded
from jupyter_ai_shoulders.engine.loop.effects import SyncLog
from jupyter_ai_shoulders.engine.loop.state import AwaitingRuns, Idle, Interrupted, SessionState
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder


def has_awaited_runs(state: SessionState) -> bool:
    """Return whether the open turn started a run and has a step left for its end."""
    turn = state.turn
    if turn is None or turn.step >= turn.step_limit:
        return False
    return any(run.turn_id == turn.turn_id for run in state.runs)


def wait_for_run_end(draft: TransitionBuilder) -> None:
    """Wait for the end of a run, without a time limit."""
    draft.enter(AwaitingRuns())
    draft.add(SyncLog())


def log_ended_runs(draft: TransitionBuilder) -> None:
    """Log the ends of runs that arrived during the step."""
    for event in draft.state.ended:
        draft.record(event)


def record_run_end(draft: TransitionBuilder, signal: RunEnded) -> None:
    """Log the end of a run, or keep it for the next step."""
    event = signal.event
    if all(run.run != event.run for run in draft.state.runs):
        return  # of an abandoned branch
    draft.state = replace(draft.state, ended=(*draft.state.ended, event))
    if _is_between_steps(draft.state):
        log_ended_runs(draft)
        draft.add(SyncLog())
    if isinstance(draft.state.phase, Idle) and not draft.state.runs:
        draft.set_status("idle")


def _is_between_steps(state: SessionState) -> bool:
    match state.phase:
        case Idle() | AwaitingRuns():
            return True
        case Interrupted():
            turn = state.turn
            return turn is None or (
                turn.reply_complete and all(call.settled for call in turn.calls)
            )
        case _:
            return False
