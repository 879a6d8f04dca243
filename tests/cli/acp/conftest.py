"""The agent in a workspace with a server and without one."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Terminal


@pytest.fixture
def untitled(alone: Terminal) -> Terminal:
    """A workspace that no server serves, whose conversations take no reply for a title."""
    alone.configure({"titles": False})
    return alone


@pytest.fixture(params=["untitled", "attached"])
def terminal(request: pytest.FixtureRequest) -> Terminal:
    """Both kinds of engine."""
    return request.getfixturevalue(request.param)
