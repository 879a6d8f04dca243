"""Detects failed installations in successful cells: ``%pip`` prints its errors without raising.

Pure. Used by ``notebook.execution.cell_runner`` and ``notebook.execution.scratch_runner`` on
finished runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.notebook.outputs.text import join_text, plain_text
from jupyter_ai_shoulders.wire.base import JsonObject

_COMMAND = re.compile(
    r"^\s*(?:%%?|!+)\s*(?:\S+\s+-m\s+|sudo\s+)?(pip3?|uv|conda|mamba|micromamba)\b", re.MULTILINE
)
_ERROR = re.compile(
    r"^(?:ERROR: (?!pip's dependency resolver)|error: |\s*× No solution found"
    r"|PackagesNotFoundError: |LibMambaUnsatisfiableError: |CondaError: |ResolvePackageNotFound: )"
)
"""Start of the line in which pip, uv and conda report a failure. pip's remark about its resolver
also occurs in successful runs.
"""


def mark_failed_install(run: CellRun, source: str) -> CellRun:
    """Return the run, marked as failed if a command of its source failed to install packages."""
    if run.status != "ok" or (command := _COMMAND.search(source)) is None:
        return run
    errors = [line.strip() for line in _lines(run.outputs) if _ERROR.match(line)]
    if not errors:
        return run
    return replace(run, status="error", failure=f"{command[1]} failed: {errors[-1]}")


def _lines(outputs: Sequence[JsonObject]) -> Iterator[str]:
    for output in outputs:
        if output.get("output_type") == "stream":
            yield from plain_text(join_text(output.get("text"))).splitlines()
