"""The simulator, for tests over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.simulator import Simulator


@pytest.fixture
def simulator(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    made = Simulator()
    jp_asyncio_loop.run_until_complete(made.start())
    yield made
    jp_asyncio_loop.run_until_complete(made.stop())
