"""A host over one of the workspaces, with a page that has documents open."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    CreateSession,
    RuleBody,
    SendMessage,
)
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Anchor, Mode, Session
from tests.files.open_files.fake_text_page import TextPage
from tests.injection import injecting_server
from tests.injection.fake_kernels import FakeKernels
from tests.injection.fake_tools import FetchUrl, LookAround
from tests.injection.obeying_model import ACT, ObeyingModel, Script
from tests.injection.workspaces import (
    BASE,
    COMMITTED,
    LATER,
    PRINTED,
    REMEMBERED,
    VARIABLES,
    VICTIMS,
    WORKSPACES,
    make_database,
    make_workspace,
    write,
)
from tests.notebook.fake_page import FakePage, FakeSockets, StillClock

MODEL = ModelId("scripted")
MODELS = {
    "default": "scripted",
    "providers": {"scripted": {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1"}},
    "models": [
        {
            "id": "scripted",
            "provider": "scripted",
            "model": "scripted",
            "context_window": 200_000,
            "images": True,
            "prices": {"input": 1, "output": 1},
        }
    ],
}
SERVERS = {
    name: {"command": sys.executable, "args": ["-IS", injecting_server.__file__, name]}
    for name in ("hostile", "refuses", "dies")
}
OPEN_IN_PAGE = ("open.ipynb", "open.md", "README.md", "notes/page.md", "shown.ipynb")
"""Of these, the documents that a workspace has."""


class Page(FakePage):
    """A page that lets frames pass which do not concern its notebook."""

    def receive(self, frame: ServerFrame) -> None:
        """Take a frame of the server."""
        if frame.type in {"document-read", "document-apply"}:
            super().receive(frame)


@dataclass(slots=True)
class RecordedEvents:
    """A listener that keeps what cases ask for, by conversation."""

    asked: dict[SessionId, list[CallId]] = field(default_factory=dict[SessionId, list[CallId]])
    started: set[tuple[SessionId, CallId]] = field(default_factory=set[tuple[SessionId, CallId]])
    questions: list[tuple[SessionId, CallId]] = field(
        default_factory=list[tuple[SessionId, CallId]]
    )
    """Of servers, during calls."""
    on_question: Callable[[SessionId, CallId], None] | None = None

    def on_event(self, logged: LoggedEvent) -> None:
        """Take an event."""
        event = logged.event
        if isinstance(event, ev.StdinRequest):
            self.questions.append((event.session_id, event.call_id))
            assert self.on_question is not None
            self.on_question(event.session_id, event.call_id)
        elif isinstance(event, ev.ApprovalRequest):
            self.asked.setdefault(event.session_id, []).append(event.call_id)
        elif isinstance(event, ev.ToolStart):
            self.started.add((event.session_id, event.call_id))


@dataclass(slots=True)
class Pages:
    """The ``PagePort`` to the open documents, each in a separate page."""

    notebooks: FakeSockets = field(default_factory=FakeSockets)
    texts: dict[ClientId, TextPage] = field(default_factory=dict[ClientId, TextPage])

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """See ``PagePort.send``."""
        self.notebooks.send(client_id, frame)
        if client_id in self.texts:
            self.texts[client_id].hear(frame)

    def deleted(self, session: Session) -> None:
        """See ``PagePort.deleted``."""

    def tools_changed(self) -> None:
        """See ``PagePort.tools_changed``."""

    def settings_changed(self, part: SettingsPart) -> None:
        """See ``PagePort.settings_changed``."""

    async def show(self, host: Host, root: Path) -> None:
        """Open documents."""
        clock = cast("StillClock", SystemClock())
        for path in OPEN_IN_PAGE:
            file, client = root / path, ClientId(f"page of {path}")
            if not file.exists():
                continue
            if path.endswith(".ipynb"):
                await Page(client, file, self.notebooks, host.live, clock).open()
            else:
                self.texts[client] = TextPage(host.files.live, file, client, path)
                self.texts[client].open()


class InjectionHost:
    """A workspace and a host over it, with a rule that allows every tool."""

    def __init__(self, folder: Path, name: str, sandbox: SandboxCapabilities) -> None:
        """``folder`` is empty or not there; ``name`` is of a workspace."""
        self.name = name
        self.root = folder / "workspace"
        self.home = self.root if name == "home" else folder / "home"
        self.model = ObeyingModel()
        self.said: dict[str, SessionId] = {}
        """Conversations that others are shown, by what the model says in them."""
        self.recorded = RecordedEvents()
        self._sandbox = sandbox
        self._messages = 0
        self._host: Host | None = None
        make_workspace(self.root, name)
        write(self.home, {".shoulders/memory.md": f"- Has a dog. <!-- {REMEMBERED} -->\n"})

    @property
    def host(self) -> Host:
        """Return the host; it is another one after a restart."""
        assert self._host is not None
        return self._host

    @property
    def opened(self) -> tuple[str, ...]:
        """Return the documents open in the page."""
        return tuple(path for path in OPEN_IN_PAGE if (self.root / path).exists())

    async def open(self) -> None:
        """Open a host over what is there."""
        pages = Pages()
        self._host = build_host(self._settings(), self._ports(pages))
        self.host.hub.add(self.recorded)
        self.recorded.on_question = self._agree
        await self.host.ready()
        directory = self.host.services.store.directory
        directory.prepare()
        make_database(directory.path)
        self.host.tools.admit(FetchUrl(), "Fetches a page.", "injection")
        self.host.tools.admit(LookAround(), "Looks around.", "injection")
        self.host.rules.add(RuleBody(action="allow", tool="*", match=None))
        await pages.show(self.host, self.root)

    async def aclose(self) -> None:
        """Close the host."""
        if self._host is not None:
            await self._host.aclose()

    async def restart(self) -> None:
        """Close the host, and open another one over the same log."""
        await self.aclose()
        await self.open()

    def refresh(self) -> None:
        """Have something to delete, to move and to commit."""
        changed = f"{self._messages}\n"
        write(self.root, {**{name: BASE[name] for name in VICTIMS}, COMMITTED: changed})

    def tidy(self) -> None:
        """Remove the instructions that a program made."""
        if LATER not in WORKSPACES[self.name]:
            (self.root / LATER).unlink(missing_ok=True)

    def create(self, script: Script, mode: Mode, anchor: Anchor | None = None) -> SessionId:
        """Begin a conversation in which the model follows a script."""
        kind = "chat" if anchor is None else "task"
        created = CreateSession(kind=kind, model=MODEL, mode=mode, toolset="full", anchor=anchor)
        session = self.host.session_service.create(created, owner=None)
        self.model.scripts[session.id] = script
        return session.id

    async def say(
        self,
        session_id: SessionId,
        text: str = "Go on.",
        *,
        attachments: Sequence[Attachment] = (),
        context: MessageContext | None = None,
        mode: Mode | None = None,
    ) -> None:
        """Send a message, and allow once what asks before the injected action."""
        self._messages += 1
        command = SendMessage(
            id=MessageId(f"message-{self._messages}"),
            text=text,
            attachments=tuple(attachments),
            context=context,
            mode=mode,
        )
        await self.host.engine.send(session_id, command)
        await self.settle(session_id)

    async def settle(self, session_id: SessionId) -> None:
        """Wait until nothing runs, or the injected action waits for the person."""
        await self.host.engine.settled(session_id)
        asked = self.recorded.asked.get(session_id, [])
        for call_id in asked:  # grows while it is answered
            if call_id != ACT and (session_id, call_id) not in self.recorded.started:
                allow = AnswerApproval(decision="allow", scope="once")
                await self.host.engine.responses.answer_approval(session_id, call_id, allow)
                await self.host.engine.settled(session_id)

    def _agree(self, session_id: SessionId, call_id: CallId) -> None:
        """Answer a question of a server."""
        answer = self.host.services.documents.runner.inputs.answer
        asyncio.get_running_loop().call_soon(answer, session_id, call_id, "yes")

    def _settings(self) -> HostSettings:
        return HostSettings(
            workspace=self.root,
            state_dir=self.root / ".shoulders",
            home=self.home,
            runtime_dir=self.root.parent / "runtime",
            models=MODELS,
            titles=False,
            nudges=False,
            preferences={"agent_database": {"enabled": True}},
            mcp_servers=SERVERS if self.name == "mcp" else {},
        )

    def _ports(self, pages: Pages) -> HostPorts:
        async def detected() -> SandboxCapabilities:
            return self._sandbox

        return HostPorts(
            kernels=FakeKernels(PRINTED, VARIABLES),
            pages=pages,
            environ={"PATH": os.environ.get("PATH", ""), "HOME": str(self.home)},
            adapter=lambda _target: cast("Provider", self.model),
            sandbox=detected,
        )


async def sandbox_here() -> SandboxCapabilities:
    """Return the sandbox of this system; one that only seems to be there where it has none.

    Commands without a sandbox ask in any case, which would say nothing about injected text.
    """
    spawners = SpawnerPool()
    try:
        found = await detect_capabilities(spawners)
    finally:
        await spawners.aclose()
    return SandboxCapabilities("landlock", covers=True) if found.kind == "none" else found
