"""Measures what a log of 60 MB costs the context: ``python -m tests.host.delegation.measurement``.

Once it is delegated, once the parent reads as much of it as its window holds, page by page. The
model is scripted: the figures are sizes of requests, not of answers.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from jupyter_ai_shoulders.core.token_estimates import estimate_request
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptedTurn, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.host.delegation.delegating_host import (
    PARENT,
    Scripts,
    delegating,
    delegating_host,
    first_words,
)

LINES = 840_000
WINDOW = 200_000
TASK = "Find every ERROR in the log and say how often each occurs."
LINE = "2026-11-29 12:00:00 INFO request {} served in 12 ms by worker seven of nine\n"
PAGE = 1_900
"""Lines that one page shows."""


def tokens(request: ModelRequest) -> int:
    """Return the estimated size of a request."""
    return estimate_request(request.system, request.messages, request.tools, "other")


def write_log(folder: Path) -> int:
    """Write the log; return its bytes."""
    path = folder / "workspace" / "big.log"
    with path.open("w") as file:
        for number in range(LINES):
            file.write("ERROR disk full\n" if number % 100_000 == 7 else LINE.format(number))
    return path.stat().st_size


def pages() -> Iterator[ScriptedTurn]:
    """Yield calls that read the log from its beginning."""
    for start in range(1, 20 * PAGE, PAGE):
        arguments = {"path": "big.log", "start_line": start, "end_line": start + PAGE - 1}
        yield turn(Call("read_file", dict(arguments)), usage=TokenUsage())


async def delegated() -> str:
    """Measure the delegation."""
    read: list[int] = []

    def note(request: ModelRequest) -> ScriptedTurn:
        words = first_words(request)
        at.model.requests.remove(request)  # else the recording holds the log
        read.append(tokens(request))
        found = re.findall(r"(?m)^(\d+): ERROR disk full", words)
        notes = [f"disk full, lines {', '.join(found)}"] if found else []
        return turn(Call("answer", {"notes": list(notes)}), usage=TokenUsage())

    scripts: Scripts = {
        "<part of=": [note],
        PARENT: [turn(delegating(TASK, documents=["big.log"])), "Done."],
        "^Find": ["Disk full, nine times [big.log:8]."],
    }
    with tempfile.TemporaryDirectory() as name:
        async with delegating_host(Path(name), scripts, window=WINDOW) as at:
            size = write_log(Path(name))
            tracemalloc.start()
            began = time.monotonic()
            await at.send()
            seconds = time.monotonic() - began
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            before, after = map(tokens, at.model.of(PARENT))
            (child,) = at.model.of("^Find")
            return (
                f"delegated: {size / 1e6:.0f} MB in {len(read)} parts; the parent's request grew "
                f"from {before} to {after} tokens; the child's had {tokens(child)}; the parts had "
                f"{sum(read)} tokens together; {seconds:.0f} s, {peak / 1e6:.0f} MB of memory at "
                f"most; result: {at.result().status}"
            )


async def read_by_itself() -> str:
    """Measure the parent that reads by itself."""
    with tempfile.TemporaryDirectory() as name:
        scripts: Scripts = {PARENT: [*pages(), "Done."]}
        async with delegating_host(Path(name), scripts, window=WINDOW, compaction="off") as at:
            write_log(Path(name))
            await at.send()
            sizes = [tokens(each) for each in at.model.of(PARENT)]
            results = at.events(ev.ToolResult)
            last = at.events(ev.TurnEnd)[-1].exit
            return (
                f"by itself: {len(results)} pages of {PAGE} lines, {len(results) * PAGE} of "
                f"{LINES} lines; the parent's request grew from {sizes[0]} to {sizes[-1]} tokens; "
                f"the turn ended with {last}"
            )


async def main() -> None:
    """Measure both and print the figures."""
    for line in (await delegated(), await read_by_itself()):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    asyncio.run(main())
