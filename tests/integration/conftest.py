"""Servers, simulators and workspaces for whole turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from jupyter_ai_shoulders.testing.simulator import Simulator
from tests.integration.client import Api
from tests.lab import Lab


class StartServer(Protocol):
    """Starts a Jupyter server on a directory."""

    def __call__(self, root: Path, env: Mapping[str, str] | None = None) -> Api: ...


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[StartServer]:
    """A factory of servers in processes of their own."""
    started: list[Lab] = []

    def start(root: Path, env: Mapping[str, str] | None = None) -> Api:
        lab = Lab(root, tmp_path / f"lab{len(started)}", env=env or {})
        started.append(lab)
        lab.start()
        return Api(lab)

    yield start
    for lab in started:
        lab.stop()


@pytest.fixture
def simulator(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    """A simulator in this process."""
    made = Simulator()
    jp_asyncio_loop.run_until_complete(made.start())
    yield made
    jp_asyncio_loop.run_until_complete(made.stop())
