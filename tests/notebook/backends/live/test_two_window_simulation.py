"""Short simulations of a notebook in two windows.

``tests.notebook.backends.live.two_window_simulation`` runs long ones.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.notebook.backends.live.two_window_simulation import LIFE, play

SEEDS = range(1, 11)


@pytest.mark.parametrize("seed", SEEDS)
def test_only_text_of_the_agent_is_marked_and_nothing_of_the_users_is_taken(
    jp_asyncio_loop: asyncio.AbstractEventLoop, seed: int
) -> None:
    done = jp_asyncio_loop.run_until_complete(play(seed, LIFE))
    assert done["agent"]
    assert done["type"]
