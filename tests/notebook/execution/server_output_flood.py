"""Growth of a whole Jupyter server's memory during floods of output.

``python -m tests.notebook.execution.output_flood --server`` runs them: in a conversation on a real
server a simulated model runs the cell on a real kernel. Memory is the server process's own resident
memory, as the operating system counts it (Linux only).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient

from tests.bench.server_and_provider import Server, serving
from tests.simulator_process import calls, says

SETTLED_SECONDS = 1.0
"""Seconds after the kernel's reply until the server has read all output."""
CELLS = ("warm", "flood", "next")
UNLIMITED = aiohttp.ClientTimeout(total=None)


@dataclass(frozen=True)
class ServerFlooded:
    """The measurements of one flood."""

    name: str
    seconds: float
    before_mb: float
    """Resident memory of the server once the kernel is warm."""
    peak_grown_mb: float
    """The highest resident memory during the flood (VmHWM) minus that."""
    floor_grown_mb: float
    """The same peak when another client runs the code: the cost of Jupyter's own observation of
    kernels (their last activity).
    """
    left_grown_mb: float
    """Growth after the end (Rss of smaps_rollup)."""
    next_ok: bool
    """Whether the next cell runs normally."""


async def flood_server(named: Sequence[tuple[str, str]]) -> AsyncGenerator[ServerFlooded]:
    """Run floods, each on a separate server and kernel."""
    for name, source in named:
        async with serving(_script()) as (server, _):
            try:
                yield await _run(server, name, source)
            except AssertionError as error:
                raise AssertionError(server.lab.log[-4000:]) from error


def _script() -> dict[str, Any]:
    """A model that runs the requested cell."""
    rules = [
        {
            "when": {"user": f"^{cell}", "has_results": False},
            "reply": calls("run_cell", {"path": "n.ipynb", "cell_id": cell}),
        }
        for cell in CELLS
    ]
    return {"rules": rules, "default": says("Done.")}


async def _run(server: Server, name: str, source: str) -> ServerFlooded:
    file = server.lab.root / "n.ipynb"
    sources = dict(zip(CELLS, ("print(1)", source, "6 * 7"), strict=True))
    cells = [nbformat.v4.new_code_cell(code, id=cell) for cell, code in sources.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    session, _ = await server.session(mode="bypass")
    await _turn(server, session, "warm")
    memory = Memory(server.lab.pid)
    floor = await _floor(server, memory, source)
    before = memory.resident_mb()
    memory.forget_peak()
    began = time.monotonic()
    await _turn(server, session, "flood")
    seconds = time.monotonic() - began
    peak, left = memory.peak_mb(), memory.resident_mb()
    await _turn(server, session, "next")
    last = json.loads(file.read_text(encoding="utf-8"))["cells"][-1]
    return ServerFlooded(
        name=name,
        seconds=round(seconds, 1),
        before_mb=round(before, 1),
        peak_grown_mb=round(peak - before, 1),
        floor_grown_mb=round(floor, 1),
        left_grown_mb=round(left - before, 1),
        next_ok="42" in json.dumps(last["outputs"]),
    )


async def _floor(server: Server, memory: Memory, source: str) -> float:
    """Run the code in a kernel of the server, through a client of our own."""
    async with server.http.post(f"http://127.0.0.1:{server.lab.port}/api/kernels") as answer:
        assert answer.status == 201, await answer.text()
        kernel_id = (await answer.json())["id"]
    client = AsyncKernelClient()
    runtime = server.lab.state / "runtime"
    client.load_connection_file(str(runtime / f"kernel-{kernel_id}.json"))
    client.start_channels(iopub=False, hb=False)
    try:
        await _replied(client, client.kernel_info())
        before = memory.resident_mb()
        memory.forget_peak()
        await _replied(client, client.execute(source, store_history=False))
        await asyncio.sleep(SETTLED_SECONDS)
    finally:
        client.stop_channels()
    return memory.peak_mb() - before


async def _replied(client: AsyncKernelClient, request: str) -> None:
    while True:
        message = await client.get_shell_msg()
        if message["parent_header"].get("msg_id") == request:
            return


async def _turn(server: Server, session: str, text: str) -> None:
    """Send a message and return when its turn has ended."""
    async with server.http.get(f"{server.url}/sessions/{session}") as answer:
        after = (await answer.json())["last_seq"]
    await server.send(session, text, ["n.ipynb"])
    url = f"{server.url}/sessions/{session}/events?after={after}"
    headers = {"Accept": "text/event-stream"}
    async with server.http.get(url, headers=headers, timeout=UNLIMITED) as events:
        async for line in events.content:
            if line.startswith(b"data:") and b'"type":"turn-end"' in line.replace(b": ", b":"):
                assert b"final_response" in line, line
                return
    raise AssertionError("the stream of events ended before the turn did")


class Memory:
    """The resident memory of a process, in MB of a million bytes."""

    def __init__(self, pid: int) -> None:
        self._process = Path(f"/proc/{pid}")

    def forget_peak(self) -> None:
        """Reset the peak (proc(5), clear_refs)."""
        (self._process / "clear_refs").write_text("5")

    def peak_mb(self) -> float:
        """Return the peak since the reset."""
        return _field(self._process / "status", "VmHWM")

    def resident_mb(self) -> float:
        """Return the current value."""
        return _field(self._process / "smaps_rollup", "Rss")


def _field(file: Path, name: str) -> float:
    line = next(line for line in file.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024 / 1e6


def run(named: Sequence[tuple[str, str]], say: Callable[[ServerFlooded], None]) -> None:
    """Run all floods, and report the measurements."""

    async def each() -> None:
        async for flooded in flood_server(named):
            say(flooded)

    asyncio.run(each())
