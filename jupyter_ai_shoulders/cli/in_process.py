"""An engine in this process, if no server serves the workspace. Made by ``backend_selection``.

Jupyter's configuration applies here too: an administrator's limits and rules are the same.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import date
from pathlib import Path
from typing import TypeVar

from jupyter_core.application import JupyterApp
from jupyter_core.paths import jupyter_config_path
from traitlets.config import Application

from jupyter_ai_shoulders.cli.backend import (
    BackendFacts,
    EventSink,
    ExportFormat,
    RunOutcome,
    RunRequest,
)
from jupyter_ai_shoulders.cli.chat.in_process_chat import InProcessChat
from jupyter_ai_shoulders.cli.remote import message_context
from jupyter_ai_shoulders.client.turn_reader import TurnReader
from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import BY_USER
from jupyter_ai_shoulders.host.build import Host, HostPorts, build_host
from jupyter_ai_shoulders.host.config import Shoulders
from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
from jupyter_ai_shoulders.host.ports import HostSettings
from jupyter_ai_shoulders.host.settings_from_traits import host_settings
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryChange, MemoryView, PostMemory
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.api.folder_trust import FolderTrustView, PutTrust
from jupyter_ai_shoulders.wire.api.responses import (
    ModelList,
    ProviderHealth,
    ProviderTest,
    SessionList,
)
from jupyter_ai_shoulders.wire.api.search import SearchQuery, SearchResults
from jupyter_ai_shoulders.wire.api.settings import SettingsProblem
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId, ModelId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session, SessionKind
from jupyter_ai_shoulders.wire.usage import Usage, UsageBy, UsageQuery

_CONFIG_FILES = ("jupyter_config", "jupyter_server_config", "jupyter_jupyter_ai_shoulders_config")
"""Names of the configuration files in which a server finds ``c.Shoulders``."""

ResultT = TypeVar("ResultT")


class InProcessPages:
    """A ``host.ports.PagePort`` without browser pages; editors may take their part."""

    def __init__(self) -> None:
        self.receivers: dict[ClientId, Callable[[ServerFrame], None]] = {}
        """What gets the frames of connected editors."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Pass a frame to an editor."""
        receive = self.receivers.get(client_id)
        if receive is not None:
            receive(frame)

    def deleted(self, session: Session) -> None:
        """Do nothing."""

    def tools_changed(self) -> None:
        """Do nothing."""

    def settings_changed(self, part: SettingsPart) -> None:
        """Do nothing."""


class TurnEventQueue:
    """The events of one turn for the terminal; an ``EventListener``."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[LoggedEvent | None] = asyncio.Queue()

    def on_event(self, logged: LoggedEvent) -> None:
        """Queue a committed event."""
        self.queue.put_nowait(logged)

    def ended(self) -> None:
        """Mark the end of the events."""
        self.queue.put_nowait(None)


class InProcessBackend:
    """See ``Backend``."""

    def __init__(self, workspace: Path, config: Shoulders) -> None:
        self.workspace = workspace
        self._settings = host_settings(config, workspace)
        self._keys = KeyEnvironment(os.environ) if config.removes_keys(os.environ) else None

    def close(self) -> None:
        """See ``Backend.close``: each command starts and ends an engine."""

    def run(self, request: RunRequest, sink: EventSink) -> RunOutcome:
        """See ``Backend.run``."""
        return asyncio.run(_use(self._settings, self._keys, lambda host: _run(host, request, sink)))

    def use(self, work: Callable[[Host], Awaitable[None]]) -> None:
        """Run ``work`` with an engine. Raises ``StateUnavailable``."""
        self._with_conversations(work)

    def chat(self) -> InProcessChat:
        """See ``Backend.chat``."""
        pages = InProcessPages()
        return InProcessChat(
            lambda work: _use(self._settings, self._keys, work, pages=pages), pages.receivers
        )

    def search(self, query: SearchQuery) -> SearchResults:
        """See ``Backend.search``."""
        return self._without_conversations(lambda host: host.search.search(query))

    def sessions(self, kind: SessionKind | None, text: str | None, limit: int) -> SessionList:
        """See ``Backend.sessions``."""

        async def listed(host: Host) -> SessionList:
            return host.sessions.page(SessionFilter(kind=kind, text=text), None, limit)

        return self._with_conversations(listed)

    def export(self, session: str, form: ExportFormat) -> str:
        """See ``Backend.export``."""

        async def exported(host: Host) -> str:
            session_id = SessionId(session)
            host.sessions.header(session_id)
            return "".join([piece async for piece in host.exporter.export(session_id, form)])

        return self._with_conversations(exported)

    def usage(self, by: UsageBy, first_day: date | None = None) -> Usage:
        """See ``Backend.usage``."""
        query = UsageQuery.model_validate({"by": by, "from": first_day})
        return self._without_conversations(lambda host: host.usage.of(None).usage(query))

    def models(self) -> ModelList:
        """See ``Backend.models``."""

        async def listed(host: Host) -> ModelList:
            await host.models.discover()
            return host.models.listing()

        return self._without_conversations(listed)

    def facts(self) -> BackendFacts:
        """See ``Backend.facts``."""

        async def looked(host: Host) -> BackendFacts:
            await host.ready()
            await host.models.discover(remote=False)
            return BackendFacts(
                workspace=self.workspace,
                server_url=None,
                server_version=None,
                state_error=host.state_notice(),
                usage_error=host.budgets.problem(),
                package_errors=host.installed.errors(),
                models=host.models.listing(),
                settings_problems=_settings_problems(host),
                permission_problems=_permission_problems(host),
                sandbox=(await host.commands.facts()).kind,
            )

        return self._without_conversations(looked)

    def trust(self) -> FolderTrustView:
        """See ``Backend.trust``."""
        return self._without_conversations(lambda host: host.trust.view())

    def answer_trust(self, command: PutTrust) -> FolderTrustView:
        """See ``Backend.answer_trust``."""
        return self._without_conversations(lambda host: host.trust.answer(command))

    def test(self, provider: str) -> ProviderTest:
        """See ``Backend.test``."""
        return self._without_conversations(lambda host: host.models.test(ProviderId(provider)))

    def memory(self) -> MemoryView:
        """See ``Backend.memory``."""
        return self._without_conversations(lambda host: host.memory.view(None))

    def remember(self, command: PostMemory) -> MemoryChange:
        """See ``Backend.remember``."""
        return self._with_conversations(
            lambda host: host.memory.remember(command.text, command.scope, BY_USER, owner=None)
        )

    def forget(self, statement: str) -> MemoryChange:
        """See ``Backend.forget``."""
        return self._with_conversations(
            lambda host: host.memory.forget(statement, BY_USER, owner=None)
        )

    def set_key(self, provider: str, key: str) -> ProviderHealth:
        """See ``Backend.set_key``."""
        return self._without_conversations(
            lambda host: host.models.providers.set_key(ProviderId(provider), key)
        )

    def remove_key(self, provider: str) -> ProviderHealth:
        """See ``Backend.remove_key``."""
        return self._without_conversations(
            lambda host: host.models.providers.remove_key(ProviderId(provider))
        )

    def _with_conversations(self, work: Callable[[Host], Awaitable[ResultT]]) -> ResultT:
        """Run ``work`` with recovered conversations. Raises ``StateUnavailable``."""
        return asyncio.run(_use(self._settings, self._keys, work))

    def _without_conversations(self, work: Callable[[Host], Awaitable[ResultT]]) -> ResultT:
        """Run ``work`` that needs no conversations."""
        return asyncio.run(_use(self._settings, self._keys, work, recover=False))


def load_configuration() -> Shoulders:
    """Return Jupyter's configuration as a server started here would read it."""
    app = JupyterApp()
    paths = list(reversed(jupyter_config_path()))
    for name in _CONFIG_FILES:
        Application.load_config_file(app, name, path=paths)
    return Shoulders(config=app.config)


def _settings_problems(host: Host) -> tuple[SettingsProblem, ...]:
    try:
        return host.preferences.settings().problems
    except StateUnavailable:  # reported as the reason why conversations are unavailable
        return ()


def _permission_problems(host: Host) -> tuple[str, ...]:
    try:
        return host.rules.permissions.problems
    except StateUnavailable:
        return ()


async def _use(
    settings: HostSettings,
    keys: KeyEnvironment | None,
    work: Callable[[Host], Awaitable[ResultT]],
    *,
    recover: bool = True,
    pages: InProcessPages | None = None,
) -> ResultT:
    async with _host(settings, keys, pages or InProcessPages()) as host:
        if recover:
            await host.ready()
            problem = host.state_error()
            if problem is not None:
                raise StateUnavailable(problem.message, code=problem.code, hint=problem.hint)
        return await work(host)


@asynccontextmanager
async def _host(
    settings: HostSettings, keys: KeyEnvironment | None, pages: InProcessPages
) -> AsyncGenerator[Host]:
    async with aclosing(LocalKernels(settings.workspace, quiet=True)) as kernels:
        ports = HostPorts(kernels=kernels, pages=pages, keys=keys)
        host = build_host(settings, ports)
        async with aclosing(host):
            yield host


async def _run(host: Host, request: RunRequest, sink: EventSink) -> RunOutcome:
    await host.models.discover(remote=False)
    session_id = SessionId(request.session) if request.session else _new(host, request)
    after = host.sessions.get(session_id).last_seq
    message = SendMessage(
        id=MessageId(RandomIds().new("msg")),
        text=request.prompt,
        context=message_context(request),
        model=None if request.model is None else ModelId(request.model),
        mode=request.mode,
    )
    news, reader = TurnEventQueue(), TurnReader(session_id, message.id)
    host.hub.follow(session_id, news, news.ended)
    try:
        await host.engine.send(session_id, message)
        await _follow(host, news, reader, sink, after)
    finally:
        host.hub.unfollow(session_id, news)
    return RunOutcome(reader.answer(), reader.waits_for)


async def _follow(
    host: Host, events: TurnEventQueue, reader: TurnReader, sink: EventSink, after: int
) -> None:
    """Pass events on until the turn ends; Ctrl+C cancels the turn."""
    while reader.ended is None and reader.waits_for is None:
        try:
            logged = await events.queue.get()
        except asyncio.CancelledError:
            await host.engine.cancel(reader.session_id)
            continue
        if logged is None:
            return
        if logged.event.seq > after and reader.take(logged.event):
            sink(logged.event)


def _new(host: Host, request: RunRequest) -> SessionId:
    command = CreateSession(
        kind="run",
        source="cli",
        model=None if request.model is None else ModelId(request.model),
        mode=request.mode,
        toolset=request.toolset,
    )
    return host.session_service.create(command, None).id
