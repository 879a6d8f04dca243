"""Notebooks of three sizes on disk, and the plain ``json`` way to read and change them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.storage.recovery_copies import RecoveryCopyFiles
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.tools.base import CallContext, Tool
from jupyter_ai_shoulders.tools.tool_factories import notebook_tools
from jupyter_ai_shoulders.wire.frames import ServerFrame
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, SessionId, TurnId

SIZES = (10, 200, 2000)
"""Cells; 2 000 of them make about 1 MB."""
PASS = "pass-cell"
"""Id of the cell in the middle whose source is ``pass``."""
CALL = CallContext(
    session_id=SessionId("s"),
    turn_id=TurnId("t"),
    call_id=CallId("c"),
    seen={},
    active_document=None,
)
"""The context of a tool call; the benchmarks use none of its values."""
_CODE = """\
frame = pandas.read_csv("measurements.csv", parse_dates=["taken_at"])
daily = frame.groupby(frame.taken_at.dt.date).agg({"value": "mean", "sensor": "nunique"})
daily.tail(12)"""


def write_notebook(root: Path, cells: int) -> str:
    """Write a notebook as JupyterLab would; return its name."""
    listed = [_cell(number) for number in range(cells)]
    listed[cells // 2] = _code(PASS, "pass", [])
    return _write(root, listed)


def write_cells(root: Path, sources: Sequence[str]) -> str:
    """Write a notebook of code cells that never ran; return its name."""
    return _write(root, [_code(f"c-{number}", text, []) for number, text in enumerate(sources)])


def _write(root: Path, cells: Sequence[Any]) -> str:
    name = f"cells-{len(cells)}.ipynb"
    content = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (root / name).write_text(dumped(content))
    return name


def dumped(content: Any) -> str:
    """Return notebook JSON as Jupyter writes it."""
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def edit_with_json(path: Path, source: str) -> None:
    """The floor of an edit: read, change the cell, write beside, rename; no sync."""
    content = json.loads(path.read_bytes())
    cell = next(cell for cell in content["cells"] if cell["id"] == PASS)
    cell["source"] = source.splitlines(keepends=True)
    beside = path.with_suffix(".new")
    beside.write_text(dumped(content))
    beside.replace(path)


def _cell(number: int) -> dict[str, Any]:
    if number % 4 == 0:
        source = [f"## Part {number}\n", "\n", "What the sensors said, day by day."]
        return {"cell_type": "markdown", "id": f"m-{number}", "metadata": {}, "source": source}
    rows = [f"2026-11-{day:02} {number * day / 7:.4f}\n" for day in range(1, 7)]
    return _code(f"c-{number}", _CODE, [{"name": "stdout", "output_type": "stream", "text": rows}])


def _code(cell_id: str, source: str, outputs: list[Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {},
        "outputs": outputs,
        "source": source.splitlines(keepends=True),
    }


class NoPages:
    """No page has anything open."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """See ``PageTransport.send``."""


@asynccontextmanager
async def opened(
    root: Path, kernels: KernelDirectory | None = None
) -> AsyncGenerator[NotebookServices]:
    """The notebooks of a folder as the server has them, with kernels of this process."""
    own = LocalKernels(root)
    documents = NotebookServices(
        root=root,
        recovery=RecoveryCopyFiles(StateDirectory(root / ".shoulders")),
        kernels=kernels or own,
        pages=NoPages(),
        clock=SystemClock(),
        ids=RandomIds(),
    )
    try:
        yield documents
    finally:
        await documents.aclose()
        await own.aclose()


def tools_of(documents: NotebookServices) -> dict[str, Tool[Any]]:
    """Return the notebook tools over these notebooks, by name."""
    tools = notebook_tools(documents.notebooks, documents.runner, RandomIds(), documents.names)
    return {tool.name: tool for tool in tools}


@contextmanager
def private_home() -> Generator[None]:
    """Keep signatures and the kernels' history out of the user's home, and the kernels silent."""
    with tempfile.TemporaryDirectory() as home:
        profile = Path(home, "profile_default")
        profile.mkdir()
        (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n")
        with patch.dict(os.environ, IPYTHONDIR=home, JUPYTER_DATA_DIR=home):
            yield
