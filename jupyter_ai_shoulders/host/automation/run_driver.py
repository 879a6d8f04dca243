"""Drives runs of schedules: their conversation, their messages, and how they end.

Made by ``host.automation.automation``; ``scheduler`` starts runs. Ids of the conversation and its
messages follow from the run's id, so driving a run again after a crash repeats nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.catalogue.external_agents import SCHEDULE_MODEL
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    NotFound,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.file_changes.prompt import change_message
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.ports import Models
from jupyter_ai_shoulders.host.automation.admission import RunPolicy
from jupyter_ai_shoulders.host.automation.notebook_plans import call_outcomes
from jupyter_ai_shoulders.host.automation.run_end import RunOutcome, outcome_of, run_cost
from jupyter_ai_shoulders.host.automation.timing import stored
from jupyter_ai_shoulders.host.automation.turn_watch import TurnWatch
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.base import EventLog, Sessions
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    RunState,
    Schedule,
    ScheduleRun,
)
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import FileAttachment
from jupyter_ai_shoulders.wire.sessions import Session

_log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0
INTERRUPTED = (
    "The server ended during this run. What it did is in the conversation; resume it there, or "
    "start the schedule again."
)


_NEEDS_PERSON = frozenset({"waiting", "interrupted"})


class RunEvents(Protocol):
    """Receives what happens to runs; must not block or raise."""

    def ended(self, run: ScheduleRun, schedule: Schedule) -> None:
        """The run has ended."""
        ...

    def changed(self) -> None:
        """Some run changed."""
        ...


@dataclass(frozen=True, slots=True)
class DriverPorts:
    """What driving a run needs of the host."""

    schedules: SqliteSchedules
    sessions: Sessions
    conversations: SessionService
    engine: Engine
    models: Models
    log: EventLog
    events: EventBus
    clock: Clock
    kernels: KernelDirectory
    end_kernel: Callable[[str], Awaitable[None]] | None
    caps: dict[SessionId, int]
    """Where the limit of a run's conversation is set, see ``OwnerBudgets``."""
    turn_cost: Callable[[str | None, SessionId, TurnId], Awaitable[int]]
    """Returns what a turn cost with its sub-agents; raises ``StateUnavailable``."""


class RunDriver:
    """The runs that have begun and not ended."""

    def __init__(self, ports: DriverPorts, listener: RunEvents) -> None:
        self._ports = ports
        self._listener = listener
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy) -> None:
        """Drive a run whose start is on disk."""
        task = asyncio.create_task(self._drive(run, schedule, policy), name=f"schedule {run.id}")
        self._tasks[run.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run.id, None))

    async def settled(self) -> None:
        """Wait until no run is driven; for tests."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def aclose(self) -> None:
        """Stop following; the runs go on at the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy) -> None:
        turns: list[TurnId] = []
        try:
            outcome = await self._play(run, schedule, policy, turns)
        except ShouldersError as error:
            hint = f" {error.info.hint}" if error.info.hint else ""
            outcome = RunOutcome("failed", f"{error.info.message}{hint}")
        except Exception:  # noqa: BLE001 a bug: logged, and the run may not stay open for ever
            _log.exception("The run %s of schedule %s failed.", run.id, schedule.id)
            outcome = RunOutcome("failed", "Something went wrong on the server; its log says more.")
        while True:
            try:
                await self._end(run, schedule, outcome, turns)
            except StateUnavailable as error:  # a full disk; the schedule waits for the end
                _log.warning("The end of run %s could not be stored: %s", run.id, error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    async def _end(
        self, run: ScheduleRun, schedule: Schedule, outcome: RunOutcome, turns: Sequence[TurnId]
    ) -> None:
        assert run.session_id is not None
        cost = await self._cost(run, schedule, turns)
        self._ports.caps.pop(run.session_id, None)
        ended = run.model_copy(
            update={
                "state": outcome.state,
                "message": outcome.message,
                "ended_at": stored(self._ports.clock.now()),
                "cost_micro_usd": cost,
            }
        )
        self._ports.schedules.update_run(ended)
        crash_point("schedules.run.ended")
        self._listener.ended(ended, schedule)

    async def _cost(
        self, run: ScheduleRun, schedule: Schedule, turns: Sequence[TurnId]
    ) -> int | None:
        """Return what a run cost, as far as it is known."""
        assert run.session_id is not None
        logged = run_cost(self._ports.log, run, turns)
        try:
            booked = [
                await self._ports.turn_cost(schedule.owner, run.session_id, turn) for turn in turns
            ]
        except StateUnavailable as error:
            _log.warning("The cost of run %s may lack that of its sub-agents: %s", run.id, error)
            return logged
        return max(sum(booked), logged or 0) if any(booked) else logged

    async def _play(
        self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy, turns: list[TurnId]
    ) -> RunOutcome:
        """Drive a run to its end; ``turns`` receives its turns as they begin."""
        session = self._session(run, schedule, policy)
        crash_point("schedules.session.found")
        self._ports.caps[session.id] = policy.micro_usd + (session.cost_micro_usd or 0)
        started_kernel = await self._starts_kernel(run)
        outcome = RunOutcome("failed", "Nothing was run.")
        try:
            for message in await self._messages(run, schedule):
                outcome = await self._turn(run, schedule, session.id, message, turns)
                if outcome.state != "done":
                    break
        finally:
            if started_kernel and run.notebook is not None:
                await self._end_kernel(run.notebook)
        return outcome

    async def _end_kernel(self, notebook: str) -> None:
        """End the kernel that the run started; a kernel that cannot be ended fails no run."""
        if self._ports.end_kernel is None:
            return
        try:
            await self._ports.end_kernel(notebook)
        except Exception:  # noqa: BLE001 whatever a kernel manager raises
            _log.exception("The kernel of %s could not be ended.", notebook)

    async def _starts_kernel(self, run: ScheduleRun) -> bool:
        """Return whether the run starts the notebook's kernel, which then ends with it."""
        return run.notebook is not None and await self._ports.kernels.find(run.notebook) is None

    def _session(self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy) -> Session:
        """Return the run's conversation, made unless it exists."""
        assert run.session_id is not None
        try:
            return _attended(self._ports.sessions.get(run.session_id))
        except NotFound:
            if schedule.options.session_id is not None:
                raise Conflict(
                    "The conversation that this schedule continues was deleted.",
                    hint="Restore it, or make the schedule start new conversations.",
                ) from None
        options = schedule.options
        return self._ports.conversations.create(
            CreateSession(
                kind="scheduled",
                source="watcher" if schedule.trigger.kind == "files" else None,
                title=options.title,
                model=options.model,
                mode=policy.mode,
                toolset=policy.toolset,
                interactive=options.on_question == "wait",
            ),
            schedule.owner,
            run.session_id,
        )

    async def _messages(self, run: ScheduleRun, schedule: Schedule) -> list[SendMessage]:
        """Return the messages of a run: the plan of its notebook, then its prompt."""
        options = schedule.options
        messages: list[SendMessage] = []
        model = options.model
        if run.notebook is not None:
            text = f"Run {run.notebook}."
            messages.append(
                SendMessage(id=MessageId(f"{run.id}.nb"), text=text, model=SCHEDULE_MODEL)
            )
            if options.prompt and model is None:  # the conversation's own is the plan now
                await self._ports.models.refresh_default()
                model = self._ports.models.resolve(None).spec.id
        if options.prompt:
            paths = [run.notebook] if run.notebook else []
            text = change_message(options.prompt, run.files) if run.files else options.prompt
            messages.append(
                SendMessage(
                    id=MessageId(run.id),
                    text=text,
                    attachments=tuple(FileAttachment(kind="file", path=path) for path in paths),
                    model=None if options.session_id is not None else model,
                )
            )
        return messages

    async def _turn(
        self,
        run: ScheduleRun,
        schedule: Schedule,
        session_id: SessionId,
        message: SendMessage,
        turns: list[TurnId],
    ) -> RunOutcome:
        """Send a message and wait for the end of its turn."""
        watch = TurnWatch(self._ports.events, session_id)
        try:
            accepted = await self._send(schedule, session_id, message)
            turns.append(accepted.turn_id)
            crash_point("schedules.message.accepted")
            state: RunState = run.state
            while True:
                watch.wake.clear()
                end = watch.end_of(accepted.turn_id, self._ports.log)
                if end is not None and not self._ports.engine.is_running(session_id):
                    calls = call_outcomes(self._ports.log, session_id, accepted.turn_id)
                    return outcome_of(end, calls, is_plan=message.model == SCHEDULE_MODEL)
                status = self._ports.sessions.get(session_id).status
                if status == "interrupted" and state != "waiting":
                    return RunOutcome("interrupted", INTERRUPTED)
                if status in _NEEDS_PERSON:
                    state = self._follow(run, state, waits=True)
                elif status == "running":
                    state = self._follow(run, state, waits=False)
                await watch.wake.wait()
        finally:
            watch.close()

    def _follow(self, run: ScheduleRun, state: RunState, *, waits: bool) -> RunState:
        """Store that a run runs, or waits for the person; return the state.

        Of any conversation that waits, ``notifications.waiting`` notifies the person.
        """
        now: RunState = "waiting" if waits else "running"
        if now == state:
            return now
        message = "It waits for you in its conversation." if waits else None
        followed = run.model_copy(update={"state": now, "message": message})
        self._ports.schedules.update_run(followed)
        self._listener.changed()
        return now

    async def _send(
        self, schedule: Schedule, session_id: SessionId, message: SendMessage
    ) -> MessageAccepted:
        """Send a message, once however often it is tried."""
        if schedule.options.session_id is not None:  # never the answer to a question there
            return await self._ports.engine.send_notification(session_id, message)
        return await self._ports.engine.send(session_id, message)


def _attended(session: Session) -> Session:
    """Return the conversation unless nothing may run in it without the person."""
    if session.mode == "bypass":
        raise Conflict(
            "The conversation is in the mode bypass, in which nothing runs unattended.",
            hint="Choose another mode there, and start the schedule again.",
        )
    return session
