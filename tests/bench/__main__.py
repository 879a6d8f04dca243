"""Measures, prints the tables, and writes ``docs/benchmarks.md`` when all groups were measured.

``python -m tests.bench`` measures everything in half an hour, ``python -m tests.bench agent_loop
event_log`` only these groups (then nothing is written).
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

import psutil

from tests.bench.figures import Figure, table

GROUPS = {
    "first_token": "First token",
    "concurrent_streams": "Fifty streams",
    "simultaneous_turns": "A hundred turns at once",
    "model_proxy": "Model proxy",
    "inline_completion": "Suggestions at the caret",
    "cell_execution": "Running a cell",
    "notebook_runs": "Running all cells",
    "cancellation": "Cancelling",
    "kernel_variables": "Variables of a kernel",
    "server_start": "Server start",
    "kernel_import": "Import in a kernel",
    "file_search": "Finding files by name",
    "workspace_search": "Search in the workspace",
    "vector_search": "Search by meaning",
    "bundle_size": "JavaScript",
    "event_log": "Event log",
    "metrics_overhead": "Metrics and traces",
    "notebook_cells": "One cell of a notebook on disk",
    "open_notebook": "One cell of a notebook open in a page",
    "agent_steps": "Agent steps from outside",
    "mcp_server": "Calls through the MCP server",
    "mcp_client": "Calls at MCP servers",
    "collaboration_cells": "One cell of a notebook in a room",
    "stale_cells": "Stale cells",
    "agent_loop": "Agent loop",
    "event_replay": "Catching up",
    "growth": "Growth",
    "chat_panel": "Chat panel",
    "task_threads": "Task threads",
}
"""Modules of this folder by name, in the order of the report; each has ``measure()``."""
BUSY_SECONDS = 2.0
"""How long it looks, before it begins, whether other programs use the machine."""
REPORT = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=", ".join(GROUPS))
    chosen: list[str] = parser.parse_args().groups or list(GROUPS)
    if unknown := set(chosen) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    busy = psutil.cpu_percent(BUSY_SECONDS)
    sections = [_section(name) for name in chosen]
    if len(chosen) == len(GROUPS):
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text("\n\n".join([_preface(busy), *sections]) + "\n")


def _section(name: str) -> str:
    module = import_module(f"tests.bench.groups.{name}")
    began = time.monotonic()
    figures: Sequence[Figure] = module.measure()
    section = f"## {GROUPS[name]}\n\n{_how(module.__doc__)}\n\n{table(figures)}"
    print(f"{section}\n\n({time.monotonic() - began:.0f} s)\n", flush=True)
    return section


def _how(docstring: str | None) -> str:
    """Return how a group measures: all of its docstring after the first line."""
    return cleandoc(docstring or "").partition("\n\n")[2].replace("``", "`")


def machine() -> str:
    """Describe the machine and the day, for the head of a report."""
    allowed = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if allowed else os.cpu_count()
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{cores} cores ({platform.machine()}), {memory:.0f} GB of memory, {platform.system()}, "
        f"Python {platform.python_version()}, {datetime.now(UTC):%d %B %Y}"
    )


def _preface(busy: float) -> str:
    return f"""\
# Benchmarks

Measured by `make bench` on {machine()}.
Other programs used {busy:.0f} % of the machine when it began.

Each figure stands beside its floor, measured in the same run and in turn with it: machines differ
and are noisy, so look at the ratio first. Values are medians; the quartiles stand in brackets.
Client, simulated provider and server share the cores. CPU times say what the work costs, also where
other programs make the clock on the wall lie. Goals in milliseconds were set on a machine whose
bare relay needs 50 ms of CPU for 1 000 tokens; under "Fifty streams" is what it needs here.

Software that others wrote, measured beside ours: [benchmarks-rivals.md](benchmarks-rivals.md)."""


if __name__ == "__main__":
    main()
