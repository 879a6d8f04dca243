"""The schema of a kernel that holds a frame of 10 000 000 rows and six columns (410 MB).

Ours is a whole look of ``inspect_variables``, from the question to the parsed answer; the floor is
an empty request on the same kernel. "In the kernel" is how long the kernel does nothing else, by
its own clock: the longest a cell of the user's is held up. The first look also connects.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from tests.bench.figures import Figure, Goal, single, spread, timed
from tests.bench.notebook_files import opened, private_home
from tests.bench.timing import Sample, Stopwatch, interleaved

PATH = "large.ipynb"
ROUNDS = 15
LIMIT_MS = 1_000
FRAME = """
import numpy as np, pandas as pd
rows = 10_000_000
frame = pd.DataFrame({
    "number": np.random.rand(rows),
    "count": np.arange(rows),
    "text": pd.Series(["x", "y", None, "z"] * (rows // 4)),
    "mixed": pd.Series([1, "a", None, 2.0] * (rows // 4), dtype=object),
    "day": pd.date_range("2020", periods=rows, freq="s"),
    "kind": pd.Categorical(["u", "v"] * (rows // 2)),
})
"""


def measure() -> list[Figure]:
    """Measure a first look and later ones."""
    with private_home(), tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(root: Path) -> list[Figure]:
    kernels = LocalKernels(root)
    client: Any = (await kernels.start(PATH, "python3")).client()
    client.start_channels(hb=False)
    in_kernel: list[float] = []
    try:
        await client.wait_for_ready()
        made = await client.execute(FRAME, reply=True, timeout=300)
        assert made["content"]["status"] == "ok", made
        async with opened(root, kernels) as documents:
            first = await _look(documents, in_kernel)
            ways = {"raw": lambda: _raw(client), "look": lambda: _look(documents, in_kernel)}
            taken = await interleaved(ROUNDS, ways)
    finally:
        client.stop_channels()
        await kernels.aclose()
    goal = Goal("at most", LIMIT_MS)
    return [
        timed("schema of 10 M rows", taken["look"], taken["raw"], goal),
        Figure("of it in the kernel", "ms", spread(in_kernel), goal=goal),
        Figure("longest in the kernel", "ms", single(max(in_kernel)), goal=goal),
        Figure("first look, with the connection", "ms", single(first.ms), goal=goal),
    ]


async def _raw(client: Any) -> Sample:
    watch = Stopwatch()
    await client.execute("", silent=True, reply=True)
    return watch.sample()


async def _look(documents: NotebookServices, in_kernel: list[float]) -> Sample:
    watch = Stopwatch()
    look = await documents.variables.describe(PATH, "schema_only")
    taken = watch.sample()
    assert look.why_old is None
    [frame] = [each for each in look.namespace.variables if each.name == "frame"]
    assert len(frame.columns) == 6
    in_kernel.append(look.namespace.seconds * 1e3)
    return taken
