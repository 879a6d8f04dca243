"""Agents of others as models: resolves their ids, and keeps one running agent per conversation.

Made by ``ProtocolServices``; the SDK is imported when the first agent starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jupyter_ai_shoulders.acp_client.values import PromptBlock, PromptText
from jupyter_ai_shoulders.core.catalogue.external_agents import AGENT_PREFIX
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import Conflict, ProviderError
from jupyter_ai_shoulders.guard.process.stdio_process import StdioCommand, StdioProcessStarter
from jupyter_ai_shoulders.host.external_agents.agent_catalogue import (
    PACKAGE_MISSING,
    Agent,
    AgentCatalogue,
    has_package,
)
from jupyter_ai_shoulders.host.external_agents.agent_choices import (
    apply,
    choices_at_start,
    with_choice,
)
from jupyter_ai_shoulders.host.external_agents.agent_conversation import AgentConversation
from jupyter_ai_shoulders.host.external_agents.agent_listener import ConversationListener
from jupyter_ai_shoulders.host.external_agents.agent_prompts import results_of, trailing_blocks
from jupyter_ai_shoulders.host.external_agents.notebook_server import (
    NotebookServer,
    NotebookServerAccess,
)
from jupyter_ai_shoulders.host.external_agents.proxy_access import ModelProxy, ProxyKey
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    ProviderEvent,
    RecordEvent,
    ResolvedModel,
    Stop,
    UsageReport,
)
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests
from jupyter_ai_shoulders.wire.api.agents import PatchAgent
from jupyter_ai_shoulders.wire.events import (
    AgentState,
    Event,
    MessageAdd,
    MessageUpdate,
    Notice,
    TurnEnd,
)
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.parts import AssistantMessage
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import TokenUsage

if TYPE_CHECKING:
    from jupyter_ai_shoulders.acp_client.connection import AgentConnection

PROVIDER = ProviderId("acp")
WINDOW = 100_000_000
"""An agent keeps its own memory, so ours is never summarised for it."""
CONTINUE = "Continue where you were interrupted."
MEMORY_LOST = (
    "The agent was started again and does not remember the conversation so far. Tell it what it "
    "needs to know."
)


class SessionEvents(Protocol):
    """The part of the event log that is used."""

    def find(self, types: tuple[str, ...], session_id: SessionId) -> list[LoggedEvent]:
        """Return the events of these types of a session, in order."""
        ...

    def append(self, session_id: SessionId, event: Event) -> LoggedEvent:
        """Record an event."""
        ...


@dataclass(frozen=True, slots=True)
class AgentPorts:
    """What the agents need of the host."""

    catalogue: AgentCatalogue
    starter: StdioProcessStarter
    requests: AgentRequests
    log: SessionEvents
    ids: IdSource
    workspace: Path
    notebook_server: NotebookServer
    session: Callable[[SessionId], Session]
    model_proxy: ModelProxy


@dataclass(eq=False, slots=True)
class _Running:
    """The agent of a conversation."""

    agent: Agent
    conversation: AgentConversation
    listener: ConversationListener
    access: NotebookServerAccess | None = None
    key: ProxyKey | None = None
    steering: list[PromptBlock] = field(default_factory=list["PromptBlock"])
    """Messages that the user sent while the agent works; its next prompt."""
    stopping: asyncio.Task[None] | None = None
    """Stops the work of a turn that has ended; the next prompt waits for it."""
    taken: tuple[int, list[PromptBlock]] = (-1, [])
    """The content that it was sent last, and how many answers of it came before."""

    def begin(self, blocks: list[PromptBlock]) -> None:
        """Send a message to the agent; what was allowed for the last one is over."""
        self.listener.forget_permissions()
        self.conversation.begin(blocks)


class AgentModels:
    """Implements ``ExternalAgents`` and listens to ends of turns; ``aclose`` it."""

    def __init__(self, ports: AgentPorts) -> None:
        self._ports = ports
        self._running: dict[SessionId, _Running] = {}
        self.ending: set[asyncio.Task[None]] = set()
        """What ends agents, or waits for their end."""

    def resolve(self, model_id: ModelId) -> ResolvedModel:
        """Return the agent as a model; starts nothing. Raises as ``AgentCatalogue.agent``."""
        agent = self._ports.catalogue.agent(model_id)
        spec = ModelSpec(
            id=model_id,
            name=agent.title,
            provider=PROVIDER,
            model=agent.name,
            images=True,
            context_window=WINDOW,
        )
        return ResolvedModel(spec, AgentProvider(self, agent))

    def on_event(self, logged: LoggedEvent) -> None:
        """Stop the agent's work at the end of a turn, as after a cancel between two steps."""
        if isinstance(logged.event, TurnEnd):
            running = self._running.get(logged.event.session_id)
            if running is not None and running.conversation.is_working:
                running.stopping = self._later(running.conversation.cancel())

    async def change(self, session_id: SessionId, command: PatchAgent) -> None:
        """Change the mode or an option of the conversation's agent, and record its new state.

        If it does not run, it gets them when it starts. Raises ``Conflict`` (the conversation is
        not with an agent), ``InvalidRequest`` (not offered), ``ProviderError`` (it refuses).
        """
        model = self._ports.session(session_id).model
        if model is None or not model.startswith(AGENT_PREFIX):
            raise Conflict(
                "This conversation is not with an agent; nothing was changed.",
                hint="Pick the agent from the list of models first.",
            )
        agent = self._ports.catalogue.agent(model)
        running = self._running.get(session_id)
        connection = running.conversation.connection if running is not None else None
        if running is None or connection is None or running.agent.name != agent.name:
            known = self._recorded(session_id, agent) or AgentState(agent=agent.name)
            self._ports.log.append(session_id, with_choice(known, command))
            return
        await apply(connection, command)
        state = running.conversation.state()
        if running.conversation.is_working:
            running.conversation.on_event(RecordEvent(state))
        else:
            self._ports.log.append(session_id, state)

    async def stream(self, agent: Agent, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Run a step of a turn with the agent."""
        account = request.account
        if account is None or account.session_id is None:
            raise ProviderError("An agent answers in conversations only.", code="disabled")
        running = self._of_session(account.session_id, agent)
        conversation = running.conversation
        if running.stopping is not None:
            await asyncio.wait({running.stopping})
        started = conversation.connection is None and not conversation.is_working
        if started:
            async for event in self._start(running, account.session_id):
                yield event
        blocks = self._unsent(running, account.session_id, request)
        if conversation.is_working:
            running.steering.extend(blocks)
        elif blocks or started:
            waiting, running.steering = running.steering, []  # of a prompt that was stopped
            running.begin([*waiting, *blocks] or [PromptText(CONTINUE)])
        else:  # a command ended after the agent's answer
            yield UsageReport(TokenUsage())
            yield Stop("end_turn")
            return
        conversation.answer(results_of(request))
        async with aclosing(_relay(running)) as events:
            async for event in events:
                yield event

    def _of_session(self, session_id: SessionId, agent: Agent) -> _Running:
        """Return the agent of a session; one of another kind ends."""
        running = self._running.get(session_id)
        if running is not None and running.agent.name == agent.name:
            return running
        if running is not None:
            self._end_later(running)
        ports = self._ports
        conversation = AgentConversation(session_id, agent.name, ports.requests, ports.ids)
        listener = ConversationListener(conversation, str(ports.workspace), ports.ids)
        running = self._running[session_id] = _Running(agent, conversation, listener)
        return running

    async def _start(
        self, running: _Running, session_id: SessionId
    ) -> AsyncIterator[ProviderEvent]:
        """Start the agent and continue its earlier session, if it can."""
        if not has_package():
            raise ProviderError(PACKAGE_MISSING, code="disabled", provider="acp")
        from jupyter_ai_shoulders.acp_client.connection import AgentConnection, start_agent

        agent, ports = running.agent, self._ports
        session, recorded = ports.session(session_id), self._recorded(session_id, agent)
        earlier = recorded.agent_session if recorded is not None else None
        await self._close_access(running)
        environ = self._environment(running, session)
        command = StdioCommand(agent.program, agent.arguments, environ, ports.workspace)
        connection = AgentConnection(agent.title, command, running.listener)
        running.access = ports.notebook_server.open(agent.title, session.owner)
        mcp = running.access.endpoint if running.access else None
        try:
            await start_agent(ports.starter, connection, agent.title, agent.install)
            continued = earlier is not None and await connection.continue_session(earlier, mcp)
            if not continued:
                await connection.new_session(mcp)
            asks = session.mode == "ask"
            for choice in choices_at_start(connection.facts, recorded, asks=asks):
                await apply(connection, choice)
        except BaseException:
            await asyncio.shield(asyncio.create_task(connection.aclose()))
            await asyncio.shield(asyncio.create_task(self._close_access(running)))
            raise
        running.conversation.connection = connection
        self._later(self._close_when_it_ends(running, connection))
        yield RecordEvent(running.conversation.state())
        if earlier is not None and not continued:
            yield RecordEvent(Notice(level="warning", code="agent_memory_lost", text=MEMORY_LOST))

    def _environment(self, running: _Running, session: Session) -> dict[str, str]:
        """Return the agent's variables; its entry wins over those of the model proxy."""
        agent, ports = running.agent, self._ports
        environ = ports.catalogue.environment(agent)
        if agent.proxy:
            running.key = ports.model_proxy.open(agent.title, session.id, session.owner)
            return {**running.key.variables(), **environ}
        return environ

    async def _close_when_it_ends(self, running: _Running, connection: AgentConnection) -> None:
        """Close an agent that ends between two messages, so that the next one starts it again.

        The end of an agent that works is the error of its prompt. Its access ends in any case.
        """
        conversation, opened = running.conversation, (running.access, running.key)
        await connection.wait_ended()
        is_idle = conversation.connection is connection and not conversation.is_working
        if is_idle:
            conversation.connection = None
            running.listener.stop_all()
        if (running.access, running.key) == opened:  # else that of its successor
            await self._close_access(running)
        if is_idle:
            await connection.aclose()

    def _recorded(self, session_id: SessionId, agent: Agent) -> AgentState | None:
        """Return the last state of this agent in the conversation."""
        for logged in reversed(self._ports.log.find(("agent-state",), session_id)):
            event = logged.event
            if isinstance(event, AgentState) and event.agent == agent.name:
                return event
        return None

    def _unsent(
        self, running: _Running, session_id: SessionId, request: ModelRequest
    ) -> list[PromptBlock]:
        """Return the content of the messages that the agent was not sent yet."""
        found = self._ports.log.find(("message-add", "message-update"), session_id)
        newest = max((logged.event.seq for logged in found if _is_sent(logged.event)), default=0)
        if newest <= running.conversation.prompted_seq:
            return []
        running.conversation.prompted_seq = newest
        blocks = trailing_blocks(request)
        answers = sum(isinstance(message, AssistantMessage) for message in request.messages)
        before, taken = running.taken
        running.taken = (answers, blocks)
        # An answer without text or calls is no message, so what it answered stands before this.
        is_longer = before == answers and blocks[: len(taken)] == taken
        return blocks[len(taken) :] if is_longer else blocks

    def _end_later(self, running: _Running) -> None:
        running.listener.stop_all()
        self._later(running.conversation.aclose())
        self._later(self._close_access(running))

    async def _close_access(self, running: _Running) -> None:
        access, running.access = running.access, None
        key, running.key = running.key, None
        if key is not None:
            self._ports.model_proxy.access.revoke(key.secret)
        if access is not None:
            await self._ports.notebook_server.close(access)

    def _later(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="agent-end")
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)
        return task

    async def aclose(self) -> None:
        """End all agents."""
        running, self._running = self._running, {}
        for item in running.values():
            item.listener.stop_all()
        await asyncio.gather(*(item.conversation.aclose() for item in running.values()))
        for item in running.values():
            await self._close_access(item)
        if self.ending:
            await asyncio.wait(self.ending)


class AgentProvider:
    """One agent as a ``Provider``."""

    def __init__(self, models: AgentModels, agent: Agent) -> None:
        self._models = models
        self._agent = agent

    def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Run a step; closing the iterator stops the agent. Raises ``ProviderError``."""
        return self._models.stream(self._agent, request)

    async def list_models(self) -> list[ListedModel]:
        """Return none: the agent offers its models as an option."""
        return []

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: the agent decides what its model is sent."""
        del request
        return None

    async def aclose(self) -> None:
        """Do nothing: ``AgentModels`` ends the agents."""


async def _relay(running: _Running) -> AsyncGenerator[ProviderEvent]:
    """Yield what the agent does in this step; its next prompt has the steering messages."""
    conversation, finished = running.conversation, False
    try:
        while not finished:
            async with aclosing(conversation.relay()) as events:
                async for event in events:
                    ended = isinstance(event, Stop) and not conversation.is_working
                    finished = isinstance(event, Stop) and not (ended and running.steering)
                    if finished or not isinstance(event, Stop):
                        yield event
            if not finished:
                waiting, running.steering = running.steering, []
                running.begin(waiting)
    except ProviderError:
        finished = True
        raise
    finally:
        if not finished:  # the user pressed stop
            await asyncio.shield(asyncio.create_task(conversation.cancel()))


def _is_sent(event: Event) -> bool:
    """Return whether a message is part of the conversation, not queued."""
    if isinstance(event, MessageAdd):
        return not event.queued and event.answers is None
    return isinstance(event, MessageUpdate) and event.status == "consumed"
