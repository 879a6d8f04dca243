"""Changes of several files in order, all or none, each logged before it is made.

Used by ``files.file_changes`` and ``files.undo.file_undo``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOutcome, LoggedChange, OperationJournal
from jupyter_ai_shoulders.files.crash_recovery import ChangeVerdict
from jupyter_ai_shoulders.files.disk_texts import end_operation
from jupyter_ai_shoulders.wire.ids import OperationId

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchStep:
    """One change, and the functions that make it and revert it if a later one fails; both block.

    ``notify`` notifies the review of a change that remains although something failed.
    """

    change: LoggedChange
    do: Callable[[OperationId], ChangeOutcome | None]
    revert: Callable[[OperationId], None]
    notify: Callable[[], Awaitable[None]] | None = None


Judge = Callable[[OperationId, LoggedChange], ChangeVerdict]


async def perform_all(
    journal: OperationJournal, steps: Sequence[BatchStep], judge: Judge
) -> list[OperationId]:
    """Make all changes; return their rows. When one fails, the earlier ones are reverted.

    ``judge`` decides the outcome of a change during which the disk failed. Raises the error of the
    failed change, and ``StateUnavailable`` before anything was changed.
    """
    operations = [journal.begin(step.change) for step in steps]
    crash_point("files.steps.begun")
    outcomes: list[ChangeOutcome | None] = []
    try:
        await journal.sync()
        crash_point("files.steps.synced")
        for step, operation in zip(steps, operations, strict=True):
            outcomes.append(await asyncio.to_thread(step.do, operation))
            crash_point("files.steps.made")
    except BaseException as error:
        tried = list(zip(steps, operations, strict=True))
        await _revert(journal, tried, len(outcomes), judge, error)
        raise
    for operation, outcome in zip(operations, outcomes, strict=True):
        end_operation(journal, operation, "done", outcome)
        crash_point("files.steps.ended")
    return operations


async def _revert(
    journal: OperationJournal,
    tried: Sequence[tuple[BatchStep, OperationId]],
    made: int,
    judge: Judge,
    error: BaseException,
) -> None:
    why = f"It failed: {error}" if isinstance(error, ShouldersError) else "It failed."
    for position, (step, operation) in reversed(list(enumerate(tried))):
        if position < made:
            try:
                await asyncio.to_thread(step.revert, operation)
            except ShouldersError as problem:
                # It remains, recorded as done, so that it can be undone by hand.
                _log.warning("%s could not be taken back: %s", step.change.document, problem)
                await _end_remaining(journal, step, operation)
                continue
        elif position == made and not isinstance(error, _TOUCHED_NOTHING):
            verdict = await asyncio.to_thread(judge, operation, step.change)
            if verdict.state == "done":
                await _end_remaining(journal, step, operation)
                continue
        end_operation(journal, operation, "failed", ChangeOutcome(cannot_undo=why))


async def _end_remaining(
    journal: OperationJournal, step: BatchStep, operation: OperationId
) -> None:
    """End the row of a change that remains although something failed, and notify the review."""
    end_operation(journal, operation, "done")
    if step.notify is None:
        return
    try:
        await step.notify()
    except ShouldersError as error:  # the caller gets the first failure
        _log.warning("%s is not up for review: %s", step.change.document, error)


_TOUCHED_NOTHING = (Conflict, NotFound, PolicyRefusal)
"""Raised before anything is changed; a failing disk may raise later."""
