"""An edit step of jupyter-mcp-server beside one of ours.

A client edits one cell of a notebook of 10 cells, 20 times in a row; a step runs from the result of
one edit to that of the next. Ours is a step of the agent loop: the model is asked (a simulated
provider), the call is allowed, recorded and checkpointed, and the file is written with syncs; what
the provider needs when asked directly is given, too. jupyter-mcp-server is asked by plain HTTP
with ``tools/call`` of ``overwrite_cell_source``, without a model, record or checkpoint: as an
extension of the Jupyter server, where it writes the file, and as a server of its own, where it
changes the document in jupyter-collaboration's room, which is written to the file later. Ours is
asked in the same way, too, with ``edit_cell`` through our own MCP server. CPU is that of all server
processes that take part, without the provider.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from tests.bench.figures import Spread, single, spread
from tests.bench.groups.agent_steps import (
    PAUSE_SECONDS,
    ROUNDS,
    STEPS,
    ask_directly,
    edit_call,
    replies,
    turn,
)
from tests.bench.notebook_files import PASS, write_notebook
from tests.bench.rivals.comparison import Comparison, Row
from tests.bench.rivals.environments import NotMeasured, Rival
from tests.bench.rivals.processes import started
from tests.bench.server_and_provider import Provider, client, serving
from tests.bench.timing import Sample, Stopwatch, cpu_ms
from tests.simulator_process import SimulatorProcess, in_order
from tests.support.lab_server import Lab, free_port

MCP = Rival("jupyter-mcp-server", "jupyter-mcp-server", ("jupyter-mcp-server", "ipykernel"))
CELLS = 10
WRITE_SECONDS = 20
"""For jupyter-collaboration to write a changed document."""
MCP_TOKEN = "bench-mcp-token"
COLUMNS = ("step, ms", "step without the model, ms", "CPU per step, ms")

MODEL_ALONE = "simulated model, asked directly"
OURS = "ours, with the simulated model"
OURS_AS_SERVER = "ours, as MCP server"

Turn = Callable[[], Awaitable[list[Sample]]]
"""Makes all edits of a turn; returns what each took."""


@dataclass
class McpClient:
    """Calls tools of an MCP server by streamable HTTP."""

    http: aiohttp.ClientSession
    url: str
    pids: Sequence[int]
    """The processes whose CPU counts."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    notebook: str = ""
    """The notebook, for tools that take its path; empty: it is chosen once."""
    numbers: count[int] = field(default_factory=count)

    async def connect(self, notebook: str) -> None:
        """Begin a session and use a notebook."""
        about = {"name": "bench", "version": "1"}
        version = "2025-03-26"
        self.headers["Accept"] = "application/json, text/event-stream"
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
        await self._request("initialize", hello)
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        if self.notebook:
            await self.call("read_notebook", path=notebook)
        else:
            await self.call("use_notebook", notebook_name="bench", notebook_path=notebook)

    async def edit(self) -> Sample:
        """Edit the cell once."""
        clocks, watch = sum(map(cpu_ms, self.pids)), Stopwatch()
        text = f"x = {next(self.numbers)}"
        if self.notebook:
            await self.call("edit_cell", path=self.notebook, cell_id=PASS, source=text)
        else:
            await self.call("overwrite_cell_source", cell_id=PASS, cell_source=text)
        return Sample(watch.ms, sum(map(cpu_ms, self.pids)) - clocks)

    async def turn(self) -> list[Sample]:
        """Edit it as often as a turn of ours does."""
        await asyncio.sleep(PAUSE_SECONDS)
        return [await self.edit() for _ in range(STEPS)]

    async def call(self, tool: str, **arguments: Any) -> None:
        """Call a tool. Raises ``NotMeasured``."""
        result = await self._request("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in result or result["result"].get("isError"):
            raise NotMeasured(f"{tool} failed: {json.dumps(result)[:300]}")

    async def _request(self, method: str, params: Any) -> Any:
        number = next(self.numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        text = await self._post(message)
        if not text.lstrip().startswith("{"):  # an event stream
            data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
            text = next(line for line in data if json.loads(line).get("id") == number)
        return json.loads(text)

    async def _post(self, message: Any) -> str:
        async with self.http.post(self.url, json=message, headers=self.headers) as answer:
            if answer.status >= 400:
                raise NotMeasured(f"it answered {answer.status}: {(await answer.text())[:300]}")
            if session := answer.headers.get("Mcp-Session-Id"):
                self.headers["Mcp-Session-Id"] = session
            return await answer.text()


Way = Callable[[], AbstractAsyncContextManager[McpClient]]
"""Starts servers; yields the client of one that uses the notebook."""


def measure() -> Comparison:
    """Play turns of ours and of each way to jupyter-mcp-server, one after the other."""
    ways = {"as extension": _as_extension, "as own server": _as_server}
    try:
        MCP.install()
    except NotMeasured as error:
        return asyncio.run(_measure({}, [f"{MCP.name}: {error}."]))
    return asyncio.run(_measure({f"{MCP.titled()}, {name}": ways[name] for name in ways}, []))


async def _measure(ways: Mapping[str, Way], missing: list[str]) -> Comparison:
    async with AsyncExitStack() as stack:
        script = {**in_order(*replies(CELLS)), "default": edit_call(CELLS, 0)}
        server, _ = await stack.enter_async_context(serving(script))
        notebook = write_notebook(server.lab.root, CELLS)
        await turn(server, notebook)  # imports, and the first write of the folder
        model = await stack.enter_async_context(_model())
        turns: dict[str, Turn] = {
            MODEL_ALONE: lambda: _asked(model),
            OURS: lambda: turn(server, notebook),
        }
        own = await stack.enter_async_context(_own_server())
        await own.turn()
        turns[OURS_AS_SERVER] = own.turn
        for name, way in ways.items():
            try:
                other = await stack.enter_async_context(way())
                await other.turn()
            except NotMeasured as error:
                missing.append(f"{name}: {error}.")
            else:
                turns[name] = other.turn
        taken: dict[str, list[Sample]] = {name: [] for name in turns}
        for _ in range(ROUNDS):
            for name, play in turns.items():
                taken[name] += await play()
    asked = median(sample.ms for sample in taken[MODEL_ALONE])
    rows = [Row(name, _values(name, samples, asked)) for name, samples in taken.items()]
    return Comparison(COLUMNS, rows, missing)


def _values(name: str, samples: Sequence[Sample], model: float) -> tuple[Spread | None, ...]:
    step = spread([sample.ms for sample in samples])
    if name == MODEL_ALONE:
        return step, None, None
    alone = single(step.middle - model) if name == OURS else step
    return step, alone, spread([sample.cpu for sample in samples])


@asynccontextmanager
async def _model() -> AsyncGenerator[Provider]:
    """Start a simulated provider of its own: a question would take a reply of the script."""
    with tempfile.TemporaryDirectory() as folder:
        upstream = SimulatorProcess({"default": edit_call(CELLS, 0)}, Path(folder)).start()
        try:
            async with client() as http:
                yield Provider(upstream.url, http)
        finally:
            upstream.stop()


async def _asked(model: Provider) -> list[Sample]:
    return [await ask_directly(model) for _ in range(STEPS)]


@asynccontextmanager
async def _own_server() -> AsyncGenerator[McpClient]:
    """Start a lab of ours whose rules allow the edits."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "root")
        (root / ".shoulders").mkdir(parents=True)
        notebook = write_notebook(root, CELLS)
        rule = {"action": "allow", "tool": "edit_cell", "match": {"path": notebook}}
        permissions = {"version": 1, "rules": [rule]}
        (root / ".shoulders" / "tools.json").write_text(json.dumps(permissions))
        lab = Lab(root, Path(name, "state"))
        try:
            _start(lab)
            async with client(lab) as http:
                url = f"http://127.0.0.1:{lab.port}/shoulders/mcp"
                mcp = McpClient(http, url, [lab.pid], notebook=notebook)
                await _check(mcp, lab, notebook)
                yield mcp
        finally:
            lab.stop()


@asynccontextmanager
async def _as_extension() -> AsyncGenerator[McpClient]:
    with _lab() as (lab, notebook):
        async with client(lab) as http:
            mcp = McpClient(http, f"http://127.0.0.1:{lab.port}/mcp", [lab.pid])
            await _check(mcp, lab, notebook)
            yield mcp


@asynccontextmanager
async def _as_server() -> AsyncGenerator[McpClient]:
    with _lab() as (lab, notebook):
        port = free_port()
        command = [
            *(str(MCP.bin / "jupyter-mcp-server"), "start", "--transport", "streamable-http"),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--jupyter-url", f"http://127.0.0.1:{lab.port}", "--jupyter-token", lab.token),
            *("--mcp-token", MCP_TOKEN, "--start-new-code-sandbox", "False"),
        ]
        with started(command, MCP.variables, lab.state) as process:
            process.wait_for(f"http://127.0.0.1:{port}/api/healthz")
            async with client() as http:
                mcp = McpClient(http, f"http://127.0.0.1:{port}/mcp", [lab.pid, process.pid])
                mcp.headers["Authorization"] = f"Bearer {MCP_TOKEN}"
                await _check(mcp, lab, notebook)
                yield mcp


@contextmanager
def _lab() -> Generator[tuple[Lab, str]]:
    """Start a lab of the rival's environment on a new notebook."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "root")
        root.mkdir()
        notebook = write_notebook(root, CELLS)
        lab = Lab(root, Path(name, "state"), python=str(MCP.python), env={"PYTHONPATH": ""})
        try:
            _start(lab)
            yield lab, notebook
        finally:
            lab.stop()


def _start(lab: Lab) -> None:
    try:
        lab.start()
    except RuntimeError as error:
        raise NotMeasured("its lab did not start") from error


async def _check(mcp: McpClient, lab: Lab, notebook: str) -> None:
    """Edit once and wait until the edit is in the file. Raises ``NotMeasured``."""
    await mcp.connect(notebook)
    await mcp.edit()
    for _ in range(WRITE_SECONDS * 10):
        if '"x = ' in await asyncio.to_thread((lab.root / notebook).read_text):
            return
        await asyncio.sleep(0.1)
    raise NotMeasured(f"an edit was not in the file {WRITE_SECONDS} seconds later")
