"""What goes on beside the steps of a turn, and wakes the model when it ends. Pure.

Part of ``engine.loop.transition``. The end of a run is logged between two steps, so that what was
sent once stays as it was sent; a turn with nothing else to do stays open until then.
"""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.engine.loop.commands import RunEnded
from jupyter_ai_shoulders.engine.loop.effects import SyncLog
from jupyter_ai_shoulders.engine.loop.state import AwaitingRuns, Idle, Interrupted, SessionState
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder


def has_awaited_runs(state: SessionState) -> bool:
    """Return whether the open turn started what goes on, and has a step left to hear of it."""
    turn = state.turn
    if turn is None or turn.step >= turn.step_limit:
        return False
    return any(run.turn_id == turn.turn_id for run in state.runs)


def wait_for_run_end(draft: TransitionBuilder) -> None:
    """Stand still until a run has ended, however long that takes."""
    draft.enter(AwaitingRuns())
    draft.add(SyncLog())


def log_ended_runs(draft: TransitionBuilder) -> None:
    """Log the ends that waited for this moment between two steps."""
    for event in draft.state.ended:
        draft.record(event)


def record_run_end(draft: TransitionBuilder, signal: RunEnded) -> None:
    """Take the end of a run: log it, or keep it for the next step."""
    event = signal.event
    if all(run.run != event.run for run in draft.state.runs):
        return  # of a branch of the conversation that was left
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
