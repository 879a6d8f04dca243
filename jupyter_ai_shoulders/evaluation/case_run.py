"""Runs one case: creates a host with its own workspace, simulates the user, returns the record.

Called by ``runner``. The host is the production one (``host.build``) with a real event log,
notebooks on the disk and kernel processes; only the model may be scripted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_ai_shoulders.evaluation.case import Case, Message
from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.evaluation.kernel_pool import CaseKernels
from jupyter_ai_shoulders.evaluation.recorded_models import SCRIPTED, Adapters, catalogue
from jupyter_ai_shoulders.evaluation.simulated_user import SimulatedUser
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId, ModelId
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Session

STATE = ".shoulders"


class NoOpPages:
    """Stand-in for pages: none is open, and notifications are ignored."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Do nothing."""

    def deleted(self, session: Session) -> None:
        """Do nothing."""

    def tools_changed(self) -> None:
        """Do nothing."""

    def settings_changed(self, part: SettingsPart) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case."""

    case: Case
    root: Path
    """An empty folder for the workspace."""
    home: Path
    kernels: CaseKernels
    model: ModelId = SCRIPTED
    nudges: bool = True
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    async def run(self) -> CaseRecord:
        """Run the case to its end. Raises ``TimeoutError``."""
        case = self.case
        case.fixture.write(self.root)
        before = _files(self.root)
        adapters = Adapters(case, self._meanwhile)
        seconds = case.seconds * (1 if self.model == SCRIPTED else 10)
        async with asyncio.timeout(seconds), self._host(adapters) as host:
            created = CreateSession(
                kind=case.kind, mode=case.mode, model=self.model, tools=case.tools
            )
            session = host.session_service.create(created, None)
            person = SimulatedUser(case.user, host, session.id)
            for number, ask in enumerate(case.messages, start=1):
                await person.send(_message(ask, number, case.notebook))
            kernel = await self.kernels.values(case.notebook, case.inspects)
            return CaseRecord(
                root=self.root,
                before=before,
                session=host.sessions.get(session.id),
                events=[logged.event for logged in host.log.read(session.id)],
                requests=adapters.requests,
                risks={tool.name: tool.risk for tool in host.tools.infos({})},
                kernel=kernel if case.inspects else {},
            )

    @asynccontextmanager
    async def _host(self, adapters: Adapters) -> AsyncGenerator[Host]:
        scripted = self.model == SCRIPTED
        settings = HostSettings(
            workspace=self.root,
            state_dir=self.root / STATE,
            home=self.home,
            models=catalogue(self.case) if scripted else {},
            folder_trust="always",
            step_limit=self.case.step_limit,
            nudges=self.nudges,
        )
        ports = HostPorts(
            kernels=self.kernels,
            pages=NoOpPages(),
            environ={} if scripted else self.environ,
            adapter=adapters,
        )
        async with aclosing(build_host(settings, ports)) as host:
            await host.ready()
            if scripted and self.case.limits.any:
                await host.budgets.of(None).set_limits(self.case.limits)
            yield host

    def _meanwhile(self, request: int) -> None:
        act = self.case.user.actions_before_request.get(request)
        if act is not None:
            act(self.root)


def _message(ask: str | Message, number: int, notebook: str) -> SendMessage:
    """Return a message from a page with the notebook open."""
    message = Message(ask) if isinstance(ask, str) else ask
    return SendMessage(
        id=MessageId(f"ask{number}"),
        text=message.text,
        attachments=message.attachments,
        context=MessageContext(open_documents=(notebook,)),
    )


def _files(root: Path) -> dict[str, bytes]:
    files = [file for file in root.rglob("*") if file.is_file()]
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
