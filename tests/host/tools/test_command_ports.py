"""Commands with network access cannot reach Jupyter servers, or ask every time."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.undo.shell_commands import UnsupportedCommand
from jupyter_ai_shoulders.files.undo.shell_undo import RunningLine
from jupyter_ai_shoulders.guard.sandbox.capabilities import Detect, SandboxCapabilities
from jupyter_ai_shoulders.host.settings.preferences import Preferences
from jupyter_ai_shoulders.host.tools.command_execution import CommandExecution
from jupyter_ai_shoulders.wire.api.settings import CommandMode, CommandSettings
from tests.tools.direct_calls import call, subject_of, text_of


class Settings:
    """The settings of commands."""

    def __init__(self, mode: CommandMode, *, network: bool) -> None:
        self._found = CommandSettings(mode=mode, network=network)

    def commands(self) -> tuple[CommandSettings, bool]:
        return self._found, False


class NoUndo:
    """An undo that does nothing."""

    async def inspect(self, line: str) -> UnsupportedCommand:
        return UnsupportedCommand("it has a pipe")

    async def begin(self, line: str, origin: ChangeOrigin) -> RunningLine:
        return RunningLine(line, origin)

    async def end(self, begun: RunningLine, *, succeeded: bool) -> str | None:
        return None


@asynccontextmanager
async def commands(
    folder: Path,
    own_ports: Collection[int] = (),
    detected: Detect | None = None,
    *,
    mode: CommandMode = "sandbox",
    network: bool = True,
) -> AsyncGenerator[CommandExecution]:
    made = CommandExecution(
        workspace=folder,
        state_dir=folder / ".shoulders",
        runtime_dir=folder.parent / "runtime",
        environ={"PATH": os.environ["PATH"], "HOME": str(folder.parent / "home")},
        redact=lambda text: text,
        preferences=cast("Preferences", Settings(mode, network=network)),
        undo=NoUndo(),
        detected=detected,
        own_ports=lambda: own_ports,
    )
    try:
        yield made
    finally:
        await made.aclose()


def connecting(port: int) -> str:
    return f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"


async def test_no_jupyter_server_is_reached(tmp_path: Path) -> None:
    """Neither our own, nor one named in the runtime directory; everything else is reachable."""
    (tmp_path / "runtime").mkdir()
    folder = tmp_path / "workspace"
    folder.mkdir()
    with (
        socket.create_server(("", 0)) as own,
        socket.create_server(("", 0)) as other,
        socket.create_server(("", 0)) as free,
    ):
        ports = [server.getsockname()[1] for server in (own, other, free)]
        (tmp_path / "runtime/jpserver-1.json").write_text(json.dumps({"port": ports[1]}))
        async with commands(folder, ports[:1]) as made:
            if not (await made.facts()).closes_ports:
                assert "Jupyter servers" in str(
                    (await subject_of(made.tool, command="ls")).always_ask_reason
                )
                return
            shown = await subject_of(made.tool, command="ls")
            found = [text_of(await call(made.tool, command=connecting(port))) for port in ports]

    assert shown.always_ask_reason is None
    assert ["--- output\nconnected" in text for text in found] == [False, False, True]


@pytest.mark.parametrize(
    ("facts", "network", "asks"),
    [
        (SandboxCapabilities("landlock", covers=True), True, True),
        (SandboxCapabilities("bubblewrap", covers=True), True, True),
        (SandboxCapabilities("landlock", covers=True, closes_ports=True), True, False),
        (SandboxCapabilities("landlock", covers=True), False, False),
    ],
    ids=["old landlock", "bubblewrap", "landlock", "no network"],
)
async def test_where_ports_cannot_be_closed_it_asks(
    tmp_path: Path, facts: SandboxCapabilities, network: bool, asks: bool
) -> None:
    async def detected() -> SandboxCapabilities:
        return facts

    async with commands(tmp_path, (8888,), detected, network=network) as made:
        shown = await subject_of(made.tool, command="ls")

    assert ("cannot close their ports" in str(shown.always_ask_reason)) == asks
