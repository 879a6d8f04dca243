"""The host without a server, as another surface or a script uses it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId
from jupyter_ai_shoulders.wire.sessions import Session


class NoKernels:
    async def find(self, path: str) -> KernelHandle | None:
        return None

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        raise AssertionError("No test here starts a kernel.")

    async def spec(self, name: str | None) -> KernelSpec:
        raise AssertionError

    async def interrupt(self, kernel_id: str) -> None: ...

    async def restart(self, kernel_id: str) -> None:
        raise AssertionError

    async def running(self) -> Sequence[RunningKernel]:
        return ()

    async def installed(self) -> Sequence[KernelSpec]:
        return ()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        raise AssertionError("No test here starts a kernel.")


class NoPages:
    def send(self, client_id: ClientId, frame: ServerFrame) -> None: ...

    def deleted(self, session: Session) -> None: ...

    def tools_changed(self) -> None: ...

    def settings_changed(self, part: SettingsPart) -> None: ...


class Listener:
    """Records events, and signals the end of a turn."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.ended = asyncio.Event()

    def on_event(self, logged: LoggedEvent) -> None:
        self.types.append(logged.event.type)
        if logged.event.type == "turn-end":
            self.ended.set()


@asynccontextmanager
async def opened(root: Path, home: Path) -> AsyncGenerator[Host]:
    settings = HostSettings(workspace=root, state_dir=root / ".shoulders", home=home)
    host = build_host(settings, HostPorts(kernels=NoKernels(), pages=NoPages(), environ={}))
    try:
        await host.ready()
        yield host
    finally:
        await host.aclose()


async def test_the_demo_answers_without_a_server(tmp_path: Path, isolated_home: Path) -> None:
    listener = Listener()
    async with opened(tmp_path, isolated_home) as host:
        host.hub.add(listener)
        session = host.session_service.create(CreateSession(kind="run"), owner=None)
        await host.engine.send(session.id, SendMessage(id=MessageId("m"), text="Hello"))
        async with asyncio.timeout(20):
            await listener.ended.wait()
        await host.engine.settled(session.id)
        first = host.sessions.get(session.id)

    async with opened(tmp_path, isolated_home) as host:
        assert host.sessions.get(session.id) == first
        assert host.models.default_model() == first.model or first.model is None
    assert listener.types[:2] == ["session-create", "message-add"]


async def test_a_host_that_is_built_and_closed_leaves_no_trace(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with opened(tmp_path, isolated_home) as host:
        assert host.state_error() is None
        assert host.models.listing().models

    assert not (tmp_path / ".shoulders").exists()


async def test_two_hosts_on_one_directory_cannot_both_write(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with opened(tmp_path, isolated_home) as first:
        first.session_service.create(CreateSession(), owner=None)
        async with opened(tmp_path, isolated_home) as second:
            with pytest.raises(StateUnavailable, match="Another Jupyter server"):
                second.session_service.create(CreateSession(), owner=None)
            error = second.state_error()
            assert error is not None
            assert "Another Jupyter server" in error.message
        first.session_service.create(CreateSession(), owner=None)


async def test_a_host_recovers_once_the_directory_can_be_used(
    tmp_path: Path, isolated_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    blocker = root / ".shoulders"
    blocker.write_text("in the way")
    async with opened(root, isolated_home) as host:
        await host.ready()
        error = host.state_error()
        assert error is not None
        with pytest.raises(StateUnavailable):
            host.session_service.create(CreateSession(), owner=None)

        blocker.unlink()
        await host.ready()
        assert host.state_error() is None
        host.session_service.create(CreateSession(), owner=None)
