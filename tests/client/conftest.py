"""One real server for the client's tests, with a provider that plays each test's replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from jupyter_ai_shoulders.client import Client
from tests.integration.shared_server import PRICED, add_priced_model
from tests.sdk_validation.request_validator import RequestValidator
from tests.simulator_process import SimulatorProcess, in_order
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab

__all__ = ["PRICED", "ClientServer"]


@dataclass
class ClientServer:
    """A server and the provider behind it."""

    lab: Lab
    upstream: SimulatorProcess

    @property
    def url(self) -> str:
        """The server's URL."""
        return f"http://127.0.0.1:{self.lab.port}{self.lab.base_url}"

    def plays(self, *replies: Mapping[str, Any]) -> None:
        """Queue replies of the model."""
        self.upstream.play(in_order(*replies))


@pytest.fixture(scope="package")
def place(
    tmp_path_factory: pytest.TempPathFactory, judge: RequestValidator
) -> Iterator[ClientServer]:
    """A server with a base URL, as on a hub."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(
        in_order(), tmp_path_factory.mktemp("upstream"), judge.validate_requests
    ).start()
    env = upstream.configure(root)
    add_priced_model(root)
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), env=env, base_url="/user/ada/")
    lab.start()
    yield ClientServer(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def client(place: ClientServer) -> Iterator[Client]:
    """A client with an explicit address."""
    with Client(place.url, place.lab.token, environ={}) as made:
        yield made
