"""The plan of a scheduled run of a notebook, as the "model" that leads its turn.

The engine sees the plan as a model that makes fixed calls: copy the notebook where asked, run all
of its cells, and say how it ended. So the calls are checked, recorded, undone and shown like those
of a language model, and none is needed. What was done is read from the log, so a turn continues
after a restart. Made by ``host.build``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.catalogue.external_agents import (
    SCHEDULE_MODEL,
    program_name,
)
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolCallReady,
    UsageReport,
)
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.tools.permissions.grants import Grant, normalize_path
from jupyter_ai_shoulders.wire.api.automation.schedules import ScheduleRun
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import CallStatus, RunEnd, ToolCall, ToolResult
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, PartId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.usage import TokenUsage

PROVIDER = ProviderId("schedule")
_CALL_EVENTS = frozenset({"tool-call", "tool-result", "run-end"})


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call of a turn stands; no status while it runs."""

    tool: str
    status: CallStatus | None
    result: ToolEnvelope | None

    @property
    def problem(self) -> str | None:
        """What went wrong, None while it runs and when it ended well."""
        if self.status is None or self.result is None:
            return None
        if self.status == "ok" and self.result.ok:
            return None
        error = self.result.error
        return error.message if error is not None else f"{self.tool} ended with {self.status}."


def call_outcomes(log: EventLog, session_id: SessionId, turn_id: TurnId) -> list[CallOutcome]:
    """Return the calls of a turn in order."""
    events = [logged.event for logged in log.find(_CALL_EVENTS, session_id)]
    ends: dict[CallId, ToolResult | RunEnd] = {}
    for event in events:
        if isinstance(event, RunEnd) or (isinstance(event, ToolResult) and event.run is None):
            ends[event.call_id] = event
    calls = [e for e in events if isinstance(e, ToolCall) and e.turn_id == turn_id]
    return [
        CallOutcome(call.tool, end.status, end.result)
        if (end := ends.get(call.call_id)) is not None
        else CallOutcome(call.tool, None, None)
        for call in calls
    ]


class NotebookPlans:
    """The plans of all runs; implements ``ExternalAgents`` and ``Provider``."""

    def __init__(self, schedules: SqliteSchedules, log: EventLog) -> None:
        self._schedules = schedules
        self._log = log

    def resolve(self, model_id: ModelId) -> ResolvedModel:
        """Return the plan as a model; starts nothing.

        The conversation does not keep it: a later message is answered, and runs nothing again.
        """
        name = program_name(model_id) or ""
        spec = ModelSpec(id=model_id, name=name, provider=PROVIDER, model=name)
        return ResolvedModel(spec, self, is_stand_in=True)

    def grants(self, session_id: SessionId, model: ModelId) -> Sequence[Grant]:
        """Return what the person allowed by scheduling the notebook: to copy and to run it."""
        run = self._schedules.run_of_session(session_id) if model == SCHEDULE_MODEL else None
        return [] if run is None else [Grant(tool, path=path) for tool, path in _allowed(run)]

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Yield the next call of the plan, or the end."""
        yield UsageReport(TokenUsage())
        account = request.account
        if account is not None and account.session_id is not None and account.turn_id is not None:
            run = self._schedules.run_of_session(account.session_id)
            if run is not None:
                done = call_outcomes(self._log, account.session_id, account.turn_id)
                for event in _next_events(run, done):
                    yield event
                return
        for event in _said("This run is no longer known; nothing was run."):
            yield event

    async def list_models(self) -> list[ListedModel]:
        """Return none: nobody chooses a plan."""
        return []

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return 0: nothing is sent to a model."""
        del request
        return 0

    async def aclose(self) -> None:
        """Do nothing: it holds nothing."""


def steps(run: ScheduleRun) -> list[tuple[str, JsonObject]]:
    """Return the calls of a run's plan."""
    if run.notebook is None:
        return []
    copy: list[tuple[str, JsonObject]] = []
    if run.copied_from is not None:
        copy = [("duplicate_file", {"path": run.copied_from, "new_path": run.notebook})]
    return [*copy, ("run_all_cells", {"path": run.notebook})]


def _allowed(run: ScheduleRun) -> list[tuple[str, str]]:
    return [(tool, normalize_path(str(arguments["path"]))) for tool, arguments in steps(run)]


def _next_events(run: ScheduleRun, done: Sequence[CallOutcome]) -> Iterator[ProviderEvent]:
    plan = steps(run)
    if done and done[-1].status is None:
        yield Stop("end_turn")  # the turn waits for the end of the call
    elif done and done[-1].problem is not None:
        yield from _said(f"{run.notebook} did not run to its end. {done[-1].problem}")
    elif len(done) < len(plan):
        tool, arguments = plan[len(done)]
        raw = json.dumps(arguments, ensure_ascii=False)
        yield ToolCallReady(CallId(f"{run.id}_{len(done) + 1}"), tool, arguments, raw)
        yield Stop("tool_use")
    else:
        yield from _said(f"{run.notebook} ran to its end.")


def _said(text: str) -> Iterator[ProviderEvent]:
    part = PartId("end")
    yield PartStart("text", part)
    yield PartDelta(part, text)
    yield PartEnd(part)
    yield Stop("end_turn")
