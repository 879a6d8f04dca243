"""A model played by the simulator in a thread, for clients that run beside a browser test.

The synchronous Playwright keeps the main thread's event loop. Used by ``real_clients``.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.simulator.script import Entry, Reasoning, Reply, SimRequest, ToolUse, reply
from tests.simulator.server import Simulator

Call = tuple[str, Mapping[str, Any]]
"""A tool of our MCP server, and its arguments."""
DONE = "All is done."


@contextmanager
def simulated_model() -> Generator[Simulator]:
    """Run a simulator in a thread of its own."""
    simulator = Simulator()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="simulator")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(simulator.start(), loop).result(20)
        yield simulator
    finally:
        asyncio.run_coroutine_threadsafe(simulator.stop(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


def make_calls(calls: Sequence[Call], *, thinks: bool = False) -> Entry:
    """Return an entry that makes these calls one after another, thinking before each if asked.

    Each client gives the tools of a server names of its own, which end in ours. Requests without
    them are for titles and the like, and get a text.
    """
    left = list(calls)

    def answer(request: SimRequest) -> Reply:
        names = list(_names(request.body))
        if not any(name.endswith("read_notebook") for name in names):
            return reply("A title")
        if not left:
            return reply(DONE)
        tool, arguments = left.pop(0)
        name = next(name for name in names if name.endswith(tool))
        thoughts = [Reasoning(text="I think.")] if thinks else []
        return reply(*thoughts, ToolUse(name=name, arguments=dict(arguments)))

    return answer


def refusals(simulator: Simulator) -> list[str]:
    """What the simulator refused, as reasons for a failure."""
    return [record.refusal for record in simulator.requests if record.refusal]


def sent(simulator: Simulator) -> str:
    """All that the client has sent to its model, results of tools included."""
    return "\n".join(json.dumps(record.body, ensure_ascii=False) for record in simulator.requests)


def _names(found: Mapping[str, Any]) -> Iterator[str]:
    """The names of tools in a request of any format, also in groups."""
    tools: list[dict[str, Any]] = found.get("tools") or []
    for tool in tools:
        alone: list[dict[str, Any]] = [tool.get("function", tool)]
        group: list[dict[str, Any]] = tool.get("tools") or tool.get("functionDeclarations") or alone
        yield from (each["name"] for each in group if "name" in each)
