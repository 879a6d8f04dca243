"""Memory and speed of the server's notebook code during floods of output.

``python -m tests.notebook.execution.output_flood --gb 1 --updates 1000000 --single 200`` is the
full form (twenty minutes); ``test_output_floods`` runs a short one. Each flood is a cell that the
tool ``run_cell`` runs on a real kernel, in a separate process, so that the peak of its memory is
the flood's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nbformat

from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.notebook.run import RunCellArguments
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.bench.notebook_files import CALL, opened, private_home, tools_of
from tests.notebook.execution import server_output_flood

PRINTS = """
line = "x" * 99
for _ in range({count}): print(line)
"""
ERRORS = """
import sys
line = "y" * 99
for _ in range({count}): print(line, file=sys.stderr if _ % 2 else sys.stdout)
"""
UPDATES = """
from IPython.display import display
handle = display(0, display_id=True)
for i in range(1, {count} + 1): handle.update(i)
"""
DISPLAYS = """
from IPython.display import display
for i in range({count}): display({{"text/plain": str(i) * 200}}, raw=True)
"""
SINGLE = """
from IPython.display import display
display({{"text/plain": "one", "text/html": "z" * {count}}}, raw=True)
"""
BUFFERS = """
from comm import create_comm
comm = create_comm(target_name="nobody", data={{}})
for _ in range({count}): comm.send({{"n": _}}, buffers=[bytes(50_000_000)])
"""


@dataclass(frozen=True)
class Flooded:
    """The measurements of one flood."""

    name: str
    ok: bool
    seconds: float
    grown_mb: float
    """Growth of the process's memory to its peak."""
    model_characters: int
    file_mb: float
    turn_of_loop_ms: float
    """The longest block of the event loop."""
    next_ok: bool
    """Whether the next cell runs normally."""


def flood(*named: tuple[str, str]) -> list[Flooded]:
    """Run floods in sequence in a separate process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return [Flooded(**values) for values in pool.apply(_flood, named)]


def _flood(*named: tuple[str, str]) -> list[dict[str, Any]]:
    with private_home(), tempfile.TemporaryDirectory() as folder:
        return [asdict(flooded) for flooded in asyncio.run(_run_all(named, Path(folder)))]


async def _run_all(named: Sequence[tuple[str, str]], root: Path) -> list[Flooded]:
    kernels = LocalKernels(root)
    try:
        async with opened(root, kernels) as documents:
            tool: Any = tools_of(documents)["run_cell"]
            return [await _run(tool, root, name, source) for name, source in named]
    finally:
        await kernels.aclose()


async def _run(tool: Any, root: Path, name: str, source: str) -> Flooded:
    cells = [
        nbformat.v4.new_code_cell(code, id=cell_id)
        for cell_id, code in (("warm", "print(1)"), ("flood", source), ("next", "6 * 7"))
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "n.ipynb")
    await _call(tool, "warm")
    before = _peak_mb()
    _longest[0] = 0.0
    began, loop = time.monotonic(), asyncio.create_task(_longest_wait())
    result = await _call(tool, "flood")
    seconds = time.monotonic() - began
    loop.cancel()
    after = await _call(tool, "next")
    return Flooded(
        name=name,
        ok=result.ok,
        seconds=round(seconds, 1),
        grown_mb=round(_peak_mb() - before, 1),
        model_characters=len(_text(result)),
        file_mb=round((root / "n.ipynb").stat().st_size / 1e6, 1),
        turn_of_loop_ms=round(1000 * await _caught(loop)),
        next_ok=after.ok and "42" in _text(after),
    )


async def _call(tool: Any, cell_id: str) -> Result:
    args = RunCellArguments(path="n.ipynb", cell_id=CellId(cell_id))
    async with aclosing(tool.run(args, CALL)) as items:
        async for item in items:
            if isinstance(item, Result):
                return item
    raise AssertionError("no result")


_longest: list[float] = [0.0]


async def _longest_wait() -> None:
    while True:
        asked = time.monotonic()
        await asyncio.sleep(0.01)
        _longest[0] = max(_longest[0], time.monotonic() - asked - 0.01)


async def _caught(loop: asyncio.Task[None]) -> float:
    await asyncio.wait([loop])
    return _longest[0]


def _text(result: Result) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextPart))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def floods(gigabytes: float, updates: int, single_mb: int) -> Sequence[tuple[str, str]]:
    """Return the floods by name."""
    lines = round(gigabytes * 1e9 / 100)
    buffers = max(1, single_mb // 50)
    return (
        (f"{gigabytes:g} GB printed", PRINTS.format(count=lines)),
        (f"{gigabytes / 10:g} GB, both streams in turn", ERRORS.format(count=lines // 10)),
        (f"{updates:,} updates of a display", UPDATES.format(count=updates)),
        (f"{updates // 10:,} displays", DISPLAYS.format(count=updates // 10)),
        (f"one output of {single_mb} MB", SINGLE.format(count=single_mb * 1_000_000)),
        (f"{buffers} buffers of 50 MB", BUFFERS.format(count=buffers)),
    )


def main() -> None:
    """Run all floods and print the measurements."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.notebook.execution.output_flood", description=__doc__
    )
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--updates", type=int, default=1_000_000)
    parser.add_argument("--single", type=int, default=200, help="MB")
    parser.add_argument("--only", help="a part of the names of the floods to run")
    parser.add_argument(
        "--server", action="store_true", help="measure the process of a whole Jupyter server"
    )
    asked = parser.parse_args()
    named = [
        each
        for each in floods(asked.gb, asked.updates, asked.single)
        if asked.only is None or asked.only in each[0]
    ]
    if asked.server:
        server_output_flood.run(named, _say)
        return
    for each in named:
        [flooded] = flood(each)
        _say(flooded)


def _say(flooded: Flooded | server_output_flood.ServerFlooded) -> None:
    sys.stdout.write(json.dumps(asdict(flooded)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
