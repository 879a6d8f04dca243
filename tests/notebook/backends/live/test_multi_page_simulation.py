"""Random simulations of a notebook in several pages: no line of the user or the agent is lost."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.notebook.backends.live.multi_page_simulation import (
    ACTIONS,
    CELLS,
    PAGES,
    Step,
    live_through,
)

STEPS = st.lists(
    st.tuples(st.sampled_from(ACTIONS), st.integers(0, PAGES - 1), st.sampled_from(CELLS)),
    min_size=5,
    max_size=30,
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_no_line_is_lost_whatever_pages_do(
    jp_asyncio_loop: asyncio.AbstractEventLoop, steps: list[Step]
) -> None:
    jp_asyncio_loop.run_until_complete(live_through(steps))
