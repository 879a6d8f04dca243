"""Edits of files that are too large for the tests: 5 000 cells, and 200 MB of outputs.

``python -m tests.notebook_corpus.large_notebooks`` reads and edits them through the disk back end
in a separate process and prints its times and memory; every other byte is compared here.
"""

import asyncio
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellSource

BEFORE, AFTER = "in the middle", "in the midst"
SIZES = {"5 000 cells": (5_000, 0), "200 MB": (200, 1_000_000), "200 MB in one": (3, 66_000_000)}
MIDDLE, NEW = CellId("middle"), CellId("new")
STAGES: dict[str, list[tuple[str, list[CellEdit]]]] = {
    AFTER: [("cold read", []), ("edit", [CellSource(cell_id=MIDDLE, source=AFTER)])],
    BEFORE: [
        ("cold read", []),
        ("edit back", [CellSource(cell_id=MIDDLE, source=BEFORE)]),
        (
            "insert and sign",
            [CellInsert(cell_id=NEW, cell_type="raw", source="x", metadata={}, after=MIDDLE)],
        ),
        ("delete and sign", [CellDelete(cell_id=NEW)]),
    ],
}
"""The edits of a file, by the text of its middle cell at that stage."""


def pieces(cells: int, output: int) -> Iterator[str]:
    """The text of a notebook, piece by piece."""
    yield '{"metadata": {}, "nbformat": 4, "nbformat_minor": 5, "cells": [\n'
    printed = "0123456789abcde\\n" * (output // 17)
    stream = f'{{"output_type": "stream", "name": "stdout", "text": "{printed}"}}'
    for number in range(cells):
        is_middle = number == cells // 2
        name, source = (MIDDLE, BEFORE) if is_middle else (f"c{number}", f"x = {number}")
        yield (
            f'{{"cell_type": "code", "id": "{name}", "execution_count": {number}, '
            f'"metadata": {{}}, "outputs": [{stream}], "source": ["{source}"]}}'
        )
        yield ",\n" if number < cells - 1 else "\n]}\n"


def digest(file: Path, text: str) -> str:
    """The hash of a file without the middle cell's text."""
    content = file.read_bytes()
    before, _, after = content.partition(text.encode())
    return hashlib.sha256(before + b"|" + after).hexdigest()


def peak_mb() -> float:
    """Return this program's peak memory (Linux): getrusage would include its parent's."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


async def measure(file: Path, text: str) -> None:
    """Perform a stage; print the time of each part."""
    workspace = Workspace(file.parent)
    notebooks = DiskNotebooks(workspace)
    notebook = notebooks.open(workspace.path(file.name))
    base = peak_mb()
    for name, edits in STAGES[text]:
        began = time.perf_counter()
        if edits:
            assert isinstance(await notebook.apply(edits, {}), Applied)
        else:
            await notebook.read()
        sys.stdout.write(f"{name} {(time.perf_counter() - began) * 1e3:.0f} ms, ")
    await notebooks.close()
    sys.stdout.write(f"memory +{peak_mb() - base:.0f} MB at its peak\n")


def main() -> None:
    """Write each file, have it edited and edited back, and compare."""
    if len(sys.argv) > 1:
        asyncio.run(measure(Path(sys.argv[1]), sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            file = Path(folder, "large.ipynb")
            with file.open("w", encoding="utf-8") as writer:
                writer.writelines(pieces(*size))
            expected = digest(file, BEFORE)
            sys.stdout.write(f"{name}, {file.stat().st_size / 1e6:.1f} MB\n")
            for text in STAGES:
                sys.stdout.flush()
                command = [
                    sys.executable,
                    "-m",
                    "tests.notebook_corpus.large_notebooks",
                    str(file),
                    text,
                ]
                subprocess.run(command, check=True, env={**os.environ, "JUPYTER_DATA_DIR": folder})
                assert digest(file, text) == expected


if __name__ == "__main__":
    main()
