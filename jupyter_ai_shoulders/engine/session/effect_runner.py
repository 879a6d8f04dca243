"""Performs the operations of a session, one at a time, each to its end signal.

Made by ``engine.session.driver``; the work is in ``engine.request`` and ``engine.calls``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.external_agents import is_client
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.calls.approvals import Approvals
from jupyter_ai_shoulders.engine.calls.batch_runner import BatchRunner, BatchServices
from jupyter_ai_shoulders.engine.calls.execution import (
    CallRecording,
    ToolCallExecution,
    ToolCallOutcome,
)
from jupyter_ai_shoulders.engine.calls.interrupted_calls import (
    end_orphaned_processes,
    resolve_interrupted_calls,
)
from jupyter_ai_shoulders.engine.calls.model_call import ModelCall, ModelCallServices
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.engine.loop.operations import (
    CallModel,
    CallsDone,
    CheckPermission,
    CompactContext,
    ContextCompacted,
    ModelFailed,
    ModelFinished,
    Operation,
    OperationEnd,
    PermissionChecked,
    PrepareRequest,
    RequestOverflowed,
    RequestPrepared,
    RetryElapsed,
    RunCalls,
    WaitRetry,
)
from jupyter_ai_shoulders.engine.loop.state import (
    CallState,
    SessionState,
    Stopping,
    StopReason,
    TurnState,
)
from jupyter_ai_shoulders.engine.ports import (
    ResolvedModel,
)
from jupyter_ai_shoulders.engine.request.builder import RequestBuilder
from jupyter_ai_shoulders.engine.request.compaction import Compaction
from jupyter_ai_shoulders.engine.request.context import SessionContext
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.providers.base import ModelRequest, ToolCallReady
from jupyter_ai_shoulders.tools.agent.withheld_tools import withheld_tools
from jupyter_ai_shoulders.tools.base import CallContext
from jupyter_ai_shoulders.tools.read_output import READ_OUTPUT
from jupyter_ai_shoulders.wire.events import Event, ToolCall, ToolResult, UsageUpdate
from jupyter_ai_shoulders.wire.ids import CallId, CellId, ModelId, SessionId, Version
from jupyter_ai_shoulders.wire.sessions import Toolset

CLIENT_STEP_SECONDS = 1.0
"""How long a client's next calls wait for one that may outlast its step."""


class EffectRunner:
    """The operations of one session."""

    def __init__(
        self,
        session_id: SessionId,
        services: EngineServices,
        *,
        context: SessionContext,
        index: SessionIndex,
        state: Callable[[], SessionState],
        record: Callable[[Event], None],
    ) -> None:
        self.model: ResolvedModel | None = None
        """The model of the open turn; set by the driver when a turn starts or resumes."""
        self._session_id = session_id
        session = services.sessions.get(session_id)
        self._toolset: Toolset = session.toolset
        self._withheld = withheld_tools(session)
        self._services = services
        self._index = index
        self._state = state
        self._record = record
        self._approvals = Approvals(services.tools, services.rules, services.planned_grants)
        self._preparation = RequestBuilder(
            context=context,
            index=index,
            record=record,
            blobs=services.blobs,
            tools=services.tools,
            rules=services.rules,
            clock=services.clock,
            settings=services.settings,
            encoded=services.encoded,
            environment=services.environment,
        )
        self._compaction = Compaction(
            session_id=session_id,
            context=context,
            index=index,
            blobs=services.blobs,
            summarizer=services.summarizer,
            time_limit_s=services.settings.compaction_time_limit_s,
        )
        self._request: tuple[ModelRequest, int] | None = None
        self._call: ModelCall | None = None

    async def perform(self, operation: Operation) -> OperationEnd:
        """Perform the operation. Raises only for bugs and a failing log."""
        match operation:
            case PrepareRequest():
                return await self._prepare(operation)
            case CompactContext():
                return await self._compact(operation)
            case CallModel():
                return await self._call_model(operation)
            case WaitRetry():
                crash_point("engine.retry.waiting")
                await asyncio.sleep(operation.delay_ms / 1000)
                return RetryElapsed()
            case CheckPermission():
                return await self._check_permission(operation)
            case RunCalls():
                return await self._run_calls(operation)
            case _:
                assert_never(operation)

    def take_partial_usage(self) -> UsageUpdate | None:
        """Return the usage of the stopped model call so far, once."""
        call, self._call = self._call, None
        return call.take_partial_usage() if call else None

    # the model

    async def _prepare(self, operation: PrepareRequest) -> RequestPrepared | RequestOverflowed:
        session = self._services.sessions.get(self._session_id)
        request, size = await self._preparation.build(
            operation, self._turn(), session, self._resolved().spec
        )
        self._request = (request, size.tokens)
        crash_point("engine.request.prepared")
        return size

    async def _compact(self, operation: CompactContext) -> ContextCompacted | RequestOverflowed:
        return await self._compaction.run(operation, self._turn(), self._resolved().spec)

    async def _call_model(self, operation: CallModel) -> ModelFinished | ModelFailed:
        assert self._request is not None, "a request is prepared before it is sent"
        request, tokens = self._request
        resolved = self._resolved()
        settings = self._services.settings
        tools = ModelCallServices(
            record=self._record,
            describe=self._describe,
            ids=self._services.ids,
            delta_interval=settings.delta_interval_s,
            attempts=settings.model_attempts,
            rng=self._services.rng,
            budgets=self._services.budgets,
            turn_id=self._turn().turn_id,
            redactor=resolved.redactor,
        )
        self._call = ModelCall(resolved.spec, resolved.provider, request, tokens, tools)
        end = await self._call.run(operation.attempt)
        self._call = None
        return end

    async def _describe(self, ready: ToolCallReady) -> ToolCall:
        call_id = _unused(ready.call_id, self._index.call_ids)
        return await self._approvals.describe(ready, self._call_context(call_id, self._index.seen))

    # tool calls

    async def _check_permission(self, operation: CheckPermission) -> PermissionChecked:
        turn = self._turn()
        call = turn.call(operation.call_id)
        assert call is not None, "only calls of the step are judged"
        session = self._services.sessions.get(self._session_id)
        context = self._call_context(call.call_id, self._index.seen)
        outcome = await self._approvals.judge(
            call, context, self._state(), turn.mode, session.tools
        )
        return PermissionChecked(call.call_id, outcome)

    async def _run_calls(self, operation: RunCalls) -> CallsDone:
        services = self._services
        wanted = set(operation.call_ids)
        calls = [call for call in self._turn().calls if call.call_id in wanted]
        truncator = self.truncator

        def move_to_background(call: CallState, run: ToolCallExecution) -> ToolCallOutcome:
            return services.background_tasks.adopt(self._session_id, call, run, truncator)

        tools = BatchServices(
            sync=services.log.sync,
            context=self._call_context,
            stop_reason=self._stop_reason,
            policy=self._state().policy,
            check_policy=self._approvals.check_policy,
            tools=services.tools,
            truncator=truncator,
            recording=CallRecording(
                record=self._record,
                clock=services.clock,
                interval=services.settings.delta_interval_s,
                redactor=self._resolved().redactor,
            ),
            settle_timeout=services.settings.settle_timeout_s,
            patience=_patience(self._turn().model, services.settings.run_wait_s),
            move_to_background=move_to_background,
        )
        return await BatchRunner(calls, self._index.seen, tools).run()

    @property
    def truncator(self) -> OutputTruncator:
        """Stores long outputs of this session."""
        services = self._services
        paged = READ_OUTPUT in services.tools.names(self._toolset)
        redactor = self.model.redactor() if self.model else Redactor()
        return OutputTruncator(
            services.blobs, redactor, paged and READ_OUTPUT not in services.rules.disabled
        )

    async def end_orphans(self) -> None:
        """Kill processes that calls of a dead server left running."""
        turn, runs = self._state().turn, self._state().runs
        known = self._services.background_tasks.is_running
        await end_orphaned_processes(
            run.start for run in runs if not known(self._session_id, run.run)
        )
        await end_orphaned_processes(
            call.start for call in (turn.calls if turn else ()) if not call.settled
        )

    async def find_interrupted_outcomes(self) -> tuple[ToolResult, ...]:
        """Return the outcomes of interrupted calls that can be determined."""
        turn = self._state().turn
        if turn is None or not any(call.started for call in turn.calls):
            return ()
        context = self._call_context(CallId(""), self._index.seen)
        return await resolve_interrupted_calls(turn.calls, self._services.tools, context)

    def _call_context(
        self, call_id: CallId, seen: Mapping[tuple[str, CellId | None], Version]
    ) -> CallContext:
        around, services = self._index.environment, self._services
        return CallContext(
            session_id=self._session_id,
            turn_id=self._turn().turn_id,
            call_id=call_id,
            seen=dict(seen),
            active_document=around.active_document,
            active_cell_id=around.active_cell_id,
            selection=around.selection,
            step=self._turn().step,
            toolset=self._toolset,
            mode=self._turn().mode,
            handles=self._index.handles,
            plan=self._index.plan,
            interactive=self._state().policy.interactive,
            earlier_versions=self._index.earlier,
            undone=self._index.taken_back,
            client_id=services.senders.page_of(self._session_id, self._index.last_message),
            withheld=self._withheld,
        )

    def _stop_reason(self) -> StopReason | None:
        phase = self._state().phase
        return phase.reason if isinstance(phase, Stopping) else None

    def _turn(self) -> TurnState:
        turn = self._state().turn
        assert turn is not None, "operations run while a turn is open"
        return turn

    def _resolved(self) -> ResolvedModel:
        assert self.model is not None, "a turn starts with a model"
        return self.model


def _patience(model: ModelId, seconds: float | None) -> float | None:
    """Return how long a step waits for a call that may outlast it.

    A client's call is answered at its end in any case; its other calls need not wait so long.
    """
    return CLIENT_STEP_SECONDS if is_client(model) else seconds


def _unused(call_id: CallId, used: set[CallId]) -> CallId:
    """Return an unused call id: some servers restart their count in every reply."""
    number, unused = 2, call_id
    while unused in used:
        unused = CallId(f"{call_id}_{number}")
        number += 1
    return unused
