"""The conversation of one client of the MCP server: its calls, and the turns they are made in.

``host.mcp_server.clients`` makes one per client. The engine sees the client as a model: its calls
are what that "model" asks for (``host.mcp_server.provider``), and their results are taken from the
log, so that a client never gets a result that is not recorded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.loop.synthetic_results import CANCELLED, internal_error
from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ApprovalAnswer,
    ApprovalRequest,
    CallStatus,
    MessageAdd,
    RunEnd,
    StdinAnswer,
    StdinRequest,
    ToolProgress,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, MessageId, SessionId
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

_log = logging.getLogger(__name__)

IDLE_SECONDS = 30.0
"""A turn of a client ends this long after its last call."""
CHECK_SECONDS = 5.0
"""How often a waiting call looks whether its turn is still alive."""
MOST_WAITING = 64
"""Calls of one client that may wait at once."""
QUEUED = "queued behind an earlier call"
APPROVAL = "waiting for approval in JupyterLab"
INPUT = "waiting for input in JupyterLab"
RUNNING = "running"

STOPPED = ErrorInfo(
    code="aborted",
    message="The user stopped this in JupyterLab.",
    hint="Ask the user before you try again.",
)
LOST = ErrorInfo(
    code="aborted",
    message="The server stopped before the call had a result; what it did is unknown.",
    hint="Read the notebook before you repeat the call.",
)
TOO_MANY = ErrorInfo(
    code="rate_limited",
    message=f"{MOST_WAITING} calls of this client are waiting already.",
    hint="Wait for their results.",
)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a client gets for a call."""

    status: CallStatus
    envelope: ToolEnvelope
    content: tuple[ResultContent, ...]


@dataclass(eq=False, slots=True)
class ClientCall:
    """A call from its request to its result."""

    call_id: CallId
    tool: str
    arguments: JsonObject
    outcome: asyncio.Future[CallOutcome]
    report: Callable[[str], None]
    """Receives what the call waits for, and lines of its output; must not block or raise."""
    given: bool = False
    """Whether the engine has it."""
    run: LongRunId | None = None
    """Its run, once it outlasted its step."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ConversationPorts:
    """What all conversations of clients share."""

    engine: Engine
    events: EventBus
    background: BackgroundTasks
    ids: IdSource


@dataclass(eq=False)
class ClientConversation:
    """The calls of one client; ``close`` it."""

    session_id: SessionId
    client: str
    """The client's name, as it is shown."""
    ports: ConversationPorts
    _queue: list[ClientCall] = field(default_factory=list[ClientCall])
    _calls: dict[CallId, ClientCall] = field(default_factory=dict[CallId, ClientCall])
    """Calls without a result, also those whose client is gone."""
    _turn: Literal["closed", "starting", "open"] = "closed"
    _messages: set[MessageId] = field(default_factory=set[MessageId])
    """Messages that opened turns; any other is the user's."""
    _remarks: list[str] = field(default_factory=list[str])
    """What the user wrote since the last result."""
    _ended_runs: set[LongRunId] = field(default_factory=set[LongRunId])
    """Runs whose end the log gets with the next step."""
    _finished: bool = False
    """Whether the client has disconnected."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def __post_init__(self) -> None:
        """Follow the log of the session."""
        self.ports.events.follow(self.session_id, self, self.close)

    # the client's side

    async def call(
        self, tool: str, arguments: JsonObject, report: Callable[[str], None]
    ) -> CallOutcome:
        """Make a call and return its outcome; cancelling this cancels the call."""
        if len(self._calls) >= MOST_WAITING:
            return _refused(TOO_MANY)
        call = ClientCall(
            CallId(self.ports.ids.new("call")),
            tool,
            arguments,
            asyncio.get_running_loop().create_future(),
            report,
        )
        self._calls[call.call_id] = call
        self._queue.append(call)
        self._wake.set()
        if self._turn == "closed":
            self._begin_soon()
        elif len(self._calls) > 1:
            report(QUEUED)
        try:
            return await self._outcome(call)
        finally:
            self._leave(call)

    @property
    def is_busy(self) -> bool:
        """Whether a call has no result yet."""
        return bool(self._calls)

    def close(self) -> None:
        """Fail the calls that wait: the server stops, or the conversation is gone."""
        self.ports.events.unfollow(self.session_id, self)
        for call in list(self._calls.values()):
            self._settle(call, _refused(LOST))
        self._queue.clear()
        for task in self._tasks:
            task.cancel()

    def finish(self) -> None:
        """End the open turn: the client has disconnected."""
        if self._turn == "open" and not self._calls:
            self._finished = True
            self._wake.set()

    # the engine's side

    async def take(self) -> list[ClientCall] | None:
        """Return the calls to make next, after waiting for them; None ends the turn.

        An empty list makes a step without calls, with which ends of runs get into the log.
        """
        while True:
            if self._queue:
                calls, self._queue = self._queue, []
                for call in calls:
                    call.given = True
                    call.report(RUNNING)
                return calls
            if self._ended_runs:
                return []
            self._wake.clear()
            if not self._calls and not await self._more():
                return None
            await self._wake.wait()

    async def _more(self) -> bool:
        """Wait for another call as long as a turn may be idle."""
        if self._finished:
            return False
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return False
        return not self._finished

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event of the session."""
        event = logged.event
        match event:
            case TurnStart():
                self._turn, self._finished = "open", False
            case TurnEnd():
                self._turn_ended(STOPPED if event.exit == "cancelled" else event.error)
            case ToolResult():
                self._result(event)
            case RunEnd():
                self._ended_runs.discard(event.run)
                self._end(event.call_id, event.status, event.result, event.content)
            case ToolProgress(call_id=call_id, text=text):
                self._report(call_id, text)
            case ApprovalRequest(call_id=call_id):
                self._report(call_id, APPROVAL)
            case StdinRequest(call_id=call_id):
                self._report(call_id, INPUT)
            case ApprovalAnswer(call_id=call_id) | StdinAnswer(call_id=call_id):
                self._report(call_id, RUNNING)
            case MessageAdd() if event.message_id not in self._messages:
                self._remarks.append(event.text)
            case _:
                pass

    def _turn_ended(self, why: ErrorInfo | None) -> None:
        """Begin another turn with the calls that wait, or fail them for this reason."""
        self._turn = "closed"
        if why is not None:
            self._fail_queue(why)
        elif self._queue:
            self._begin_soon()

    def _fail_queue(self, why: ErrorInfo) -> None:
        waiting, self._queue = self._queue, []
        for call in waiting:
            self._settle(call, _refused(why))

    def _result(self, event: ToolResult) -> None:
        call = self._calls.get(event.call_id)
        if call is None:
            return
        if event.run is None:
            self._end(event.call_id, event.status, event.result, event.content)
            return
        call.run = event.run
        self._start(self._watch(event.run))
        if call.cancelled:
            self.ports.background.cancel_run(self.session_id, event.run, CANCELLED)

    def _end(
        self,
        call_id: CallId,
        status: CallStatus,
        envelope: ToolEnvelope,
        content: tuple[ResultContent, ...],
    ) -> None:
        call = self._calls.get(call_id)
        if call is None:
            return
        remarks, self._remarks = self._remarks, []
        said = tuple(
            TextPart(text=f"[The user wrote in JupyterLab:]\n{remark}") for remark in remarks
        )
        self._settle(call, CallOutcome(status, envelope, (*content, *said)))

    def _settle(self, call: ClientCall, outcome: CallOutcome) -> None:
        self._calls.pop(call.call_id, None)
        if not call.outcome.done():
            call.outcome.set_result(outcome)
        self._wake.set()

    def _report(self, call_id: CallId, text: str) -> None:
        call = self._calls.get(call_id)
        if call is not None:
            call.report(text)

    # turns

    def _begin_soon(self) -> None:
        self._turn = "starting"
        self._start(self._begin())  # its own task: a client that leaves must not stop it half-way

    async def _begin(self) -> None:
        """Open a turn with the waiting calls; they fail if there can be none."""
        message = SendMessage(
            id=MessageId(self.ports.ids.new("msg")), text=f"{self.client} calls tools."
        )
        self._messages.add(message.id)
        try:
            await self.ports.engine.send(self.session_id, message)
        except ShouldersError as error:
            self._turn = "closed"
            self._fail_queue(error.info)
        except Exception:  # noqa: BLE001 a bug: logged, and no call may wait for ever
            _log.exception("No turn could be opened for %s.", self.client)
            self._turn = "closed"
            self._fail_queue(internal_error("The start of a turn"))

    async def _outcome(self, call: ClientCall) -> CallOutcome:
        """Wait for the outcome, however long; a turn that died without a word ends it."""
        while not call.outcome.done():
            await asyncio.wait({call.outcome}, timeout=CHECK_SECONDS)
            alive = call.run is not None or self._turn == "starting"
            if not call.outcome.done() and not alive and self._has_died():
                self._turn = "closed"
                self._settle(call, _refused(LOST))
        return call.outcome.result()

    def _has_died(self) -> bool:
        return self._turn == "open" and not self.ports.engine.is_running(self.session_id)

    def _leave(self, call: ClientCall) -> None:
        """Stop a call whose client no longer waits."""
        if call.outcome.done():
            return
        call.cancelled = True
        if not call.given:
            self._queue = [other for other in self._queue if other is not call]
            self._settle(call, _refused(CANCELLED))
        elif call.run is not None:
            self.ports.background.cancel_run(self.session_id, call.run, CANCELLED)
        elif all(other is call or not other.given or other.run for other in self._calls.values()):
            self._start(self._cancel_turn())

    async def _cancel_turn(self) -> None:
        try:
            await self.ports.engine.cancel(self.session_id)
        except ShouldersError:
            _log.exception("A call of %s could not be stopped.", self.client)

    async def _watch(self, run: LongRunId) -> None:
        """Wake the turn when the run has ended, so that its end gets into the log."""
        while self.ports.background.is_running(self.session_id, run):
            await self.ports.background.poll(self.session_id, run, CHECK_SECONDS)
        if any(call.run == run for call in self._calls.values()):
            self._ended_runs.add(run)
            self._wake.set()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _refused(error: ErrorInfo) -> CallOutcome:
    """Return the outcome of a call that has no recorded result."""
    text = f"{error.message} {error.hint}" if error.hint else error.message
    return CallOutcome(
        "cancelled" if error.code == "aborted" else "error",
        ToolEnvelope(ok=False, kind="none", data=None, error=error),
        (TextPart(text=text),),
    )
