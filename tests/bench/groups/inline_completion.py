"""From asking for suggestions to the first of them: what we add to the provider's own time.

The floor asks the simulated provider for the same answer and waits for its first piece. Ours:
``POST completions`` to the first ``completion-suggestion`` of the event stream, with everything in
between (the current notebook, the context from its other cells, the request, decoding the streamed
answer). No two requests are about the same text, so none is answered from the cache. "Same text"
measures the cache. CPU is the server process's time until the first suggestion.

A key in a cell counts until the frame that shows it is painted; it comes while suggestions are
awaited, by the lab's own completer or with our dots, and ends their request. Its floor is a key in
the same cell, in turn, while none are.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.bench.figures import Figure, Goal, timed
from tests.bench.groups import inline_completion_keys
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.simulator_process import KEY, MODEL, calls, notebook

ROUNDS = 40
SIZES = (10, 200, 2_000)
ADDED_MS = 4.0
ANSWER = {
    "prefix_end": "= ",
    "suffix_start": "EMPTY",
    "suggestions": ["part_1.dropna()", "part_1.describe()", "part_1.head()"],
}
SCRIPT = {"default": calls("answer", ANSWER)}
VENDOR_PIECE = b"input_json_delta"
OUR_PIECE = b"event: completion-suggestion"


def measure() -> list[Figure]:
    """Measure a file, notebooks of each size, and keys in a page."""
    return [*asyncio.run(_measure()), *inline_completion_keys.measure()]


async def _measure() -> list[Figure]:
    async with serving(SCRIPT) as (server, provider):
        for size in SIZES:
            cells = [_cell(number) for number in range(size)]
            (server.lab.root / _path(size)).write_text(notebook(*cells), encoding="utf-8")
        case = _Case(server, provider)
        ways: dict[str, Way] = {"direct": case.direct, "file": case.asking("work.py")}
        ways |= {str(size): case.asking(_path(size), "c5") for size in SIZES}
        ways["same"] = case.asking("work.py", again=True)
        taken = await interleaved(ROUNDS, ways, warm=5)
    goal = Goal("added", ADDED_MS)
    names = {"file": "in a file", "same": "in a file, same text"}
    names |= {str(size): f"in a notebook of {size} cells" for size in SIZES}
    return [timed(name, taken[way], taken["direct"], goal) for way, name in names.items()]


def _path(size: int) -> str:
    return f"cells{size}.ipynb"


def _cell(number: int) -> tuple[str, str]:
    if number == 0:
        return "c0", "import numpy as np\nimport polars as pl\n\npart_0 = pl.read_csv('a.csv')"
    source = f"part_{number} = part_{number - 1}.dropna()\nprint(len(part_{number}))"
    return f"c{number}", source


@dataclass(frozen=True, slots=True)
class _Case:
    server: Server
    provider: Provider
    numbers: count[int] = field(default_factory=count)

    async def direct(self) -> Sample:
        """Ask the provider itself."""
        tool = {"name": "answer", "description": "d", "input_schema": {"type": "object"}}
        body = {
            "model": MODEL,
            "max_tokens": 1_024,
            "stream": True,
            "thinking": {"type": "disabled"},
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": "answer"},
            "messages": [{"role": "user", "content": "x" * 2_000}],
        }
        headers = {"x-api-key": KEY, "anthropic-version": "2026-10-21"}
        url = f"{self.provider.url}/v1/messages"
        return await self._first(url, body, headers, VENDOR_PIECE)

    def asking(self, path: str, cell_id: str | None = None, *, again: bool = False) -> Way:
        """Return the way of a request of ours."""

        async def ask() -> Sample:
            number = 0 if again else next(self.numbers)
            body = {
                "request_id": f"r{next(self.numbers)}",
                "path": path,
                "cell_id": cell_id,
                "language": "python",
                "prefix": f"total_{number} = part_3 + ",
                "suffix": "\n",
                "trigger": "plus",
            }
            url = f"{self.server.url}/completions"
            piece = b"event: completion-end" if again else OUR_PIECE
            return await self._first(url, body, {"Accept": "text/event-stream"}, piece)

        return ask

    async def _first(
        self, url: str, body: dict[str, Any], headers: dict[str, str], piece: bytes
    ) -> Sample:
        """Return when the first piece came; the rest is read untimed."""
        http = self.server.http if url.startswith(self.server.url) else self.provider.http
        watch = Stopwatch(self.server.lab.pid)
        taken: Sample | None = None
        async with http.post(url, data=json.dumps(body), headers={**_JSON, **headers}) as answer:
            assert answer.status == 200, await answer.text()
            async for got in answer.content.iter_any():
                if taken is None and piece in got:
                    taken = watch.sample()
        assert taken is not None
        return taken


_JSON = {"Content-Type": "application/json"}
