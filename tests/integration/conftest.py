"""Servers, simulators and workspaces for whole turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from tests.integration.client import Api
from tests.integration.notebook_session import STEP_WAIT_SECONDS, NotebookSession
from tests.integration.shared_server import SharedServer, add_priced_model
from tests.sdk_validation.request_validator import RequestValidator
from tests.simulator import Simulator
from tests.simulator_process import SimulatorProcess, in_order
from tests.support import event_loop_probe
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab


class StartServer(Protocol):
    """Starts a Jupyter server on a directory."""

    def __call__(self, root: Path, env: Mapping[str, str] | None = None) -> Api: ...


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[StartServer]:
    """A factory of servers in separate processes."""
    started: list[Lab] = []

    def start(root: Path, env: Mapping[str, str] | None = None) -> Api:
        lab = ForkedLab(root, tmp_path / f"lab{len(started)}", env=env or {})
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


@pytest.fixture(scope="package")
def place(
    tmp_path_factory: pytest.TempPathFactory, judge: RequestValidator
) -> Iterator[SharedServer]:
    """One server; each test has its own conversations."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(
        in_order(), tmp_path_factory.mktemp("upstream"), judge.validate_requests
    ).start()
    env = {**upstream.configure(root), **event_loop_probe.environment()}
    add_priced_model(root)
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), event_loop_probe.ARGUMENTS, env)
    lab.start()
    Api(lab).get("sessions")
    yield SharedServer(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture(scope="package")
def impatient(
    tmp_path_factory: pytest.TempPathFactory, judge: RequestValidator
) -> Iterator[SharedServer]:
    """A server whose steps wait only briefly for cells."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(
        in_order(), tmp_path_factory.mktemp("upstream"), judge.validate_requests
    ).start()
    patience = f"--Shoulders.run_patience={STEP_WAIT_SECONDS}"
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), [patience], upstream.configure(root))
    lab.start()
    yield SharedServer(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def session(impatient: SharedServer, request: pytest.FixtureRequest) -> NotebookSession:
    """A notebook named after the test, and a conversation."""
    return NotebookSession(
        impatient.lab, impatient.upstream, request.node.name.removeprefix("test_")
    )


@pytest.fixture
def probed(place: SharedServer) -> Iterator[None]:
    """Fail the test if the server's event loop was blocked."""
    event_loop_probe.read_probe(place.lab)
    yield
    event_loop_probe.assert_no_stall(place.lab)
