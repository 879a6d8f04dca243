"""One conversation with an agent of others: its process, what it asks for, and its answers.

Made by ``agent_models`` for each session. Requests of the agent become calls of internal tools: the
engine judges, records and runs them, and the next step hands their results to the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.external_agents.relay_queue import (
    RelayedEnd,
    RelayedText,
    RelayQueue,
)
from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    RecordEvent,
    Stop,
    ToolCallReady,
    UsageReport,
)
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests, Answer
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import AgentState, Notice
from jupyter_ai_shoulders.wire.ids import CallId, PartId, SessionId
from jupyter_ai_shoulders.wire.usage import TokenUsage

if TYPE_CHECKING:
    from jupyter_ai_shoulders.acp_client.connection import AgentConnection
    from jupyter_ai_shoulders.acp_client.values import PromptBlock

_log = logging.getLogger(__name__)
CANCEL_SECONDS = 10.0
"""How long an agent may take to end a cancelled prompt before its process is ended."""
MOST_OPEN = 50
"""Requests that an agent may have open at once."""


class AgentRequestFailed(Exception):
    """A request of the agent was not carried out; the text says why."""


class AgentRequestCancelled(Exception):
    """The turn was cancelled before the request was carried out."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A request that waits for the engine."""

    request_id: str
    answered: asyncio.Future[Answer]


class AgentConversation:
    """The state of a running agent, between and during the steps of its turns."""

    def __init__(
        self, session_id: SessionId, name: str, requests: AgentRequests, ids: IdSource
    ) -> None:
        self.connection: AgentConnection | None = None
        self.prompted_seq = 0
        """The newest message of the log that the agent was sent."""
        self._session_id = session_id
        self._name = name
        self._requests = requests
        self._ids = ids
        self._queue = RelayQueue()
        self._open: dict[CallId, _Open] = {}
        self._prompt: asyncio.Task[None] | None = None
        self._usage = TokenUsage()

    @property
    def is_working(self) -> bool:
        """Return whether the agent works on a prompt, or its end is not shown yet."""
        return self._prompt is not None

    def begin(self, blocks: Sequence[PromptBlock]) -> None:
        """Send a message to the agent."""
        self._queue.begin()
        self._usage = TokenUsage()
        self._prompt = asyncio.create_task(self._run_prompt(blocks), name="agent-prompt")

    async def relay(self) -> AsyncGenerator[ProviderEvent]:
        """Yield what the agent does until it asks for something or its prompt ends.

        Raises ``ProviderError`` if the prompt failed.
        """
        part: PartId | None = None
        kind: str | None = None
        while True:
            item = await self._queue.take()
            if part is not None and not (isinstance(item, RelayedText) and item.kind == kind):
                yield PartEnd(part)
                part = kind = None
            match item:
                case RelayedText():
                    if part is None:
                        part, kind = PartId(self._ids.new("part")), item.kind
                        yield PartStart(item.kind, part)
                    yield PartDelta(part, item.text)
                case ToolCallReady():
                    yield item
                    while (more := self._queue.take_request()) is not None:
                        yield more
                    yield Stop("tool_use")
                    return
                case RelayedEnd():
                    self._prompt = None
                    if item.error is not None:
                        raise item.error
                    yield UsageReport(self._usage)
                    yield Stop("end_turn")
                    return
                case _:
                    yield RecordEvent(item)

    def answer(self, errors: Mapping[CallId, str]) -> None:
        """Hand the results of the last step to the agent; ``errors`` has those that failed."""
        for call_id, waiting in list(self._open.items()):
            has_answer = self._requests.has_answer(self._session_id, waiting.request_id)
            if not has_answer and call_id not in errors:
                continue  # not shown yet
            answer = self._requests.take(self._session_id, waiting.request_id)
            del self._open[call_id]
            if waiting.answered.done():
                continue
            if answer is None:
                waiting.answered.set_exception(AgentRequestFailed(errors[call_id]))
            else:
                waiting.answered.set_result(answer)

    async def request(
        self, tool: str, arguments: JsonObject, call_id: CallId, *, replaced: str | None = None
    ) -> Answer:
        """Have the engine carry out a request; ``replaced`` as in ``AgentRequests.add``.

        Raises ``AgentRequestFailed``, ``AgentRequestCancelled``.
        """
        if self._prompt is None:
            raise AgentRequestFailed("Nothing is done outside a turn. Wait for a message.")
        if len(self._open) >= MOST_OPEN:
            raise AgentRequestFailed("Too many requests are open. Wait for their answers.")
        request_id = self._ids.new("request")
        self._requests.add(self._session_id, request_id, replaced=replaced)
        given: JsonObject = {"request": request_id, **arguments}
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[call_id] = _Open(request_id, answered)
        raw = json.dumps(given, ensure_ascii=False)
        self._queue.add(ToolCallReady(call_id, tool, given, raw))
        return await answered

    def on_text(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Queue text of the agent."""
        if self._prompt is not None:
            self._queue.add_text(kind, text)

    def on_event(self, event: RecordEvent) -> None:
        """Queue an event of the agent."""
        if self._prompt is not None:
            self._queue.add_event(event.event)

    def state(self) -> AgentState:
        """Return what the agent offers now."""
        assert self.connection is not None
        facts = self.connection.facts
        return AgentState(
            agent=self._name,
            agent_session=facts.session or None,
            can_resume=facts.can_load or facts.can_resume,
            mode=facts.mode,
            modes=facts.modes,
            options=facts.options,
            commands=facts.commands,
            context_used=facts.context_used,
            context_size=facts.context_size,
        )

    def notice(self, code: str, text: str) -> None:
        """Queue a notice of ours."""
        self._queue.add_event(Notice(level="warning", code=code, text=text))

    async def cancel(self) -> None:
        """Stop the prompt, cancel open requests, and end the agent if it does not stop."""
        self._cancel_open()
        prompt = self._prompt
        if prompt is None:
            return
        if self.connection is not None and not prompt.done():
            with contextlib.suppress(ProviderError):
                await self.connection.cancel()
            await asyncio.wait({prompt}, timeout=CANCEL_SECONDS)
        if not prompt.done():
            _log.warning("The agent %s did not stop in time and was ended.", self._name)
            await self.aclose()
        self._prompt = None
        self._queue.clear()

    async def aclose(self) -> None:
        """End the agent and everything it waits for."""
        self._cancel_open()
        self._requests.close(self._session_id)
        prompt, connection = self._prompt, self.connection
        self.connection = None
        if prompt is not None:
            prompt.cancel()
            await asyncio.wait({prompt})
        if connection is not None:
            await connection.aclose()

    def _cancel_open(self) -> None:
        waiting, self._open = self._open, {}
        for item in waiting.values():
            self._requests.take(self._session_id, item.request_id)
            if not item.answered.done():
                item.answered.set_exception(AgentRequestCancelled())

    async def _run_prompt(self, blocks: Sequence[PromptBlock]) -> None:
        assert self.connection is not None
        connection = self.connection
        try:
            end = await connection.prompt(blocks)
        except ProviderError as error:
            if error.info.code == "stream_truncated":  # its process has ended
                self.connection = None
                await connection.aclose()
            self._cancel_open()
            self._queue.add(RelayedEnd(error))
            return
        except Exception as error:  # noqa: BLE001 else the turn would wait for ever
            _log.exception("The prompt of the agent %s failed", self._name)
            self._cancel_open()
            text = f"The connection to the agent failed: {type(error).__name__}."
            failed = ProviderError(text, hint="Send the message again.", provider="acp")
            self._queue.add(RelayedEnd(failed))
            return
        self._usage = TokenUsage(input_tokens=end.input_tokens, output_tokens=end.output_tokens)
        if end.reason in {"max_tokens", "max_turn_requests", "refusal"}:
            self.notice("agent_stopped", f"The agent stopped early: {end.reason}.")
        self._cancel_open()
        self._queue.add(RelayedEnd())
