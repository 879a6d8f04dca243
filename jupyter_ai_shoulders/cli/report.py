"""``report``: how well turns and tools worked in this workspace, and what failed most."""

from __future__ import annotations

import argparse
from datetime import date, timedelta

from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.list_commands import print_json, print_table
from jupyter_ai_shoulders.cli.output import write_error, write_out
from jupyter_ai_shoulders.wire.usage import ToolUsage, Usage

MOST_ROWS = 5
"""Rows of each list but that of failures."""


def report(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Show the same as *AI Settings → Usage*, with the most frequent failures."""
    first = date.today() - timedelta(days=options.days - 1)  # noqa: DTZ011 the user's days
    found = backend.usage("tool", first)
    if options.json:
        return print_json(found)
    write_out(f"{found.first_day} to {found.last_day}\n")
    _turns(found)
    slow = [
        (tool.tool, tool.calls, _time(tool.median_ms), _time(tool.p95_ms))
        for tool in slowest_tools(found)
    ]
    _tools("Slowest tools", ("tool", "calls", "median", "slowest 5 %"), [*slow])
    refused = [(tool.tool, tool.denied, tool.calls) for tool in most_refused_tools(found)]
    _tools("Most refused tools", ("tool", "refused", "calls that ran"), [*refused])
    write_out("\nMost frequent failures\n")
    rows = [(each.count, each.code, each.tool or "(turn)") for each in found.failures]
    print_table(("count", "error", "tool"), rows, "No failures.")
    if found.error is not None:
        write_error(f"{found.error.message}\n")
        return ExitCode.ERROR
    return ExitCode.OK


def slowest_tools(usage: Usage) -> list[ToolUsage]:
    """Return the tools whose slow calls take longest."""
    ran = [tool for tool in usage.tools if tool.p95_ms is not None]
    return sorted(ran, key=lambda tool: -(tool.p95_ms or 0.0))[:MOST_ROWS]


def most_refused_tools(usage: Usage) -> list[ToolUsage]:
    """Return the tools whose calls were denied most often."""
    denied = [tool for tool in usage.tools if tool.denied]
    return sorted(denied, key=lambda tool: -tool.denied)[:MOST_ROWS]


def _turns(found: Usage) -> None:
    turns, steps, first = found.turns, found.steps, found.first_output
    if turns is not None:
        exits = ", ".join(f"{each.turns} {each.exit}" for each in turns.exits)
        write_out(f"turns: {turns.turns}" + (f" ({exits})\n" if exits else "\n"))
        rate = turns.success_rate
        write_out(f"success rate: {'-' if rate is None else f'{rate:.0%}'}\n")
    if steps is not None:
        per_turn = "-" if steps.per_turn is None else f"{steps.per_turn:.1f}"
        write_out(f"steps per task: {per_turn}\n")
    if first is not None:
        times = f"{_time(first.p50_ms)} median, {_time(first.p95_ms)} slowest 5 %"
        write_out(f"first output: {times}\n")


def _tools(title: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    if rows:
        write_out(f"\n{title}\n")
        print_table(head, rows, "")


def _time(ms: float | None) -> str:
    if ms is None:
        return "-"
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
