"""The tools with which the agent schedules and cancels its next runs, where that is switched on.

Registered by ``host``, which enforces the limits: a run continues the conversation that scheduled
it, so it never has a wider mode, toolset, permission or budget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.tools.agent.withheld_tools import SCHEDULE_NEXT_RUN
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import failure_result
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.results import ToolEnvelope

CANCEL_NEXT_RUN = "cancel_next_run"


class NextRuns(Protocol):
    """The agent's schedules; implemented by ``host.automation.next_runs``."""

    def time_of(self, args: ScheduleNextRunArguments) -> str:
        """Return the time in words. Raises ``InvalidRequest``."""
        ...

    async def schedule(
        self, session_id: SessionId, args: ScheduleNextRunArguments
    ) -> tuple[str, str]:
        """Schedule a run; return its id and its time in words.

        Raises ``InvalidRequest`` and ``PolicyRefusal`` (a limit).
        """
        ...

    async def cancel(self, session_id: SessionId, schedule_id: str) -> None:
        """Cancel a run that this conversation scheduled. Raises ``NotFound``."""
        ...


class ScheduleNextRunArguments(ToolArguments):
    """Arguments of ``schedule_next_run``."""

    at: str | None = Field(
        default=None,
        max_length=64,
        description="When, in ISO 8601 with an offset: 2026-11-29T09:00+01:00.",
    )
    in_: str | None = Field(
        default=None,
        alias="in",
        pattern=r"^[1-9][0-9]{0,5} ?(min|h|d)$",
        description="Or after how long: 90min, 2h, 1d.",
    )
    prompt: str = Field(
        min_length=1, max_length=20_000, description="The message that you get then."
    )
    reason: str = Field(
        min_length=1, max_length=500, description="Why, in one sentence for the person."
    )

    @model_validator(mode="after")
    def _has_one_time(self) -> ScheduleNextRunArguments:
        if (self.at is None) == (self.in_ is None):
            raise ValueError("give either at or in")
        return self


class ScheduleNextRun(BaseTool[ScheduleNextRunArguments]):
    """Schedules one more turn of this conversation."""

    name = SCHEDULE_NEXT_RUN
    category = "agent"
    risk = "write"
    arguments = ScheduleNextRunArguments

    def __init__(self, runs: NextRuns) -> None:
        self._runs = runs

    async def subject(self, args: ScheduleNextRunArguments, context: CallContext) -> CallSubject:
        when = self._runs.time_of(args)
        return CallSubject(
            title="Schedule the next run",
            target_label=when,
            target=Target(),
            preview=f"{when}: {args.reason}\n\n{args.prompt}",
            notes=("It then works without you, with the permissions of this conversation.",),
        )

    async def run(
        self, args: ScheduleNextRunArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Schedule it; limits of the host refuse what is too much."""
        try:
            schedule_id, when = await self._runs.schedule(context.session_id, args)
        except ShouldersError as error:
            yield failure_result(error.info)
            return
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"id": schedule_id, "at": when}),
            content=text_content(f"Scheduled for {when} as {schedule_id}."),
        )


class CancelNextRunArguments(ToolArguments):
    """Arguments of ``cancel_next_run``."""

    id: str = Field(min_length=1, max_length=64, description="As schedule_next_run returned it.")


class CancelNextRun(BaseTool[CancelNextRunArguments]):
    """Cancels a run that this conversation scheduled."""

    name = CANCEL_NEXT_RUN
    category = "agent"
    risk = "write"
    arguments = CancelNextRunArguments

    def __init__(self, runs: NextRuns) -> None:
        self._runs = runs

    async def subject(self, args: CancelNextRunArguments, context: CallContext) -> CallSubject:
        return CallSubject(
            title="Cancel the next run",
            target_label=args.id,
            target=Target(),
            preview=args.id,
            preview_is_complete=True,
            is_approved=True,
        )

    async def run(
        self, args: CancelNextRunArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Cancel it; only those of this conversation can be."""
        try:
            await self._runs.cancel(context.session_id, args.id)
        except ShouldersError as error:
            yield failure_result(error.info)
            return
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"id": args.id}),
            content=text_content(f"{args.id} is cancelled."),
        )
