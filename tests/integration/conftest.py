"""Servers, simulators and workspaces for whole turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from jupyter_ai_shoulders.testing.simulator import Simulator
from tests import loop_probe
from tests.integration.client import Api
from tests.integration.place import Place, add_priced_model
from tests.integration.run_desk import PATIENCE, RunDesk
from tests.lab import Lab
from tests.upstream import Upstream, in_order
from tests.vendor_judge import Judge


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


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory, judge: Judge) -> Iterator[Place]:
    """One server; each test has conversations of its own."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = Upstream(in_order(), tmp_path_factory.mktemp("upstream"), judge.saw_all).start()
    env = {**upstream.configure(root), **loop_probe.environment()}
    add_priced_model(root)
    lab = Lab(root, tmp_path_factory.mktemp("lab"), loop_probe.ARGUMENTS, env)
    lab.start()
    Api(lab).get("sessions")
    yield Place(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture(scope="package")
def impatient(tmp_path_factory: pytest.TempPathFactory, judge: Judge) -> Iterator[Place]:
    """One server whose steps wait for cells a moment only."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = Upstream(in_order(), tmp_path_factory.mktemp("upstream"), judge.saw_all).start()
    patience = f"--Shoulders.run_patience={PATIENCE}"
    lab = Lab(root, tmp_path_factory.mktemp("lab"), [patience], upstream.configure(root))
    lab.start()
    yield Place(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def desk(impatient: Place, request: pytest.FixtureRequest) -> RunDesk:
    """A notebook named after the test, and a conversation."""
    return RunDesk(impatient.lab, impatient.upstream, request.node.name.removeprefix("test_"))


@pytest.fixture
def probed(place: Place) -> Iterator[None]:
    """Fail the test when the server's event loop stood still."""
    loop_probe.look(place.lab)
    yield
    loop_probe.assert_no_stall(place.lab)
