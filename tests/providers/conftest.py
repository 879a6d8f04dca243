"""The simulator, for tests over a real socket, and a workspace for a registry."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.registry_workspace import RegistryWorkspace
from tests.simulator import Simulator


@pytest.fixture
def simulator(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    made = Simulator()
    jp_asyncio_loop.run_until_complete(made.start())
    yield made
    jp_asyncio_loop.run_until_complete(made.stop())


@pytest.fixture
def place(tmp_path: Path) -> RegistryWorkspace:
    return RegistryWorkspace(tmp_path / "home", tmp_path / "work" / ".shoulders")
