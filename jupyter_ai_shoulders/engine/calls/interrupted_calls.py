"""Settles calls that a crash interrupted (see docs/design/engine.md#recovery-after-a-kill).

Used by ``engine.session.effect_runner``. A change whose target still has the earlier version was
not applied; one whose target has the expected version was. All others stay unknown, and the user
decides. Nothing runs again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.engine.loop.state import CallState
from jupyter_ai_shoulders.engine.loop.synthetic_results import APPLIED, NOT_APPLIED, settled_result
from jupyter_ai_shoulders.guard.process.launcher import end_orphans
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Effect,
    Target,
    text_content,
)
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.events import ToolResult, ToolStart
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.versions import ABSENT

_log = logging.getLogger(__name__)


async def resolve_interrupted_calls(
    calls: Iterable[CallState], tools: ToolRegistry, context: CallContext
) -> tuple[ToolResult, ...]:
    """Return the results of the calls whose outcome can be determined."""
    found: list[ToolResult] = []
    for call in calls:
        start = call.start
        if call.settled or start is None or start.before_version is None:
            continue
        subject = await _subject(call, tools, replace(context, call_id=call.call_id))
        result = interrupted_outcome(call, start, subject) if subject else None
        if result is not None and _was_merged(start, result, context):
            result = result.model_copy(update={"seen": ()})
        if result is not None:
            found.append(result)
    return tuple(found)


def interrupted_outcome(call: CallState, start: ToolStart, now: CallSubject) -> ToolResult | None:
    """Return the outcome by comparing versions; None when they do not determine it.

    The file does not show whether a change in a page was made; there only the new version counts.
    """
    version = now.effect.before_version
    if version is None or start.expected_version in {None, start.before_version}:
        return None
    if version == start.expected_version:
        return ToolResult(
            call_id=call.call_id,
            tool=call.tool,
            status="ok",
            result=ToolEnvelope(ok=True, kind="text", data=None, warning=APPLIED),
            content=text_content(APPLIED),
            duration_ms=0,
            after_version=version,
            seen=_seen(now.target, version),
        )
    if version == start.before_version and now.in_page >= start.in_page:
        return settled_result(call.call_id, call.tool, "cancelled", NOT_APPLIED)
    return None


def _was_merged(start: ToolStart, result: ToolResult, context: CallContext) -> bool:
    """Return whether the edit was merged into a text the conversation had not read."""
    return any(
        context.seen.get((item.path, item.cell_id)) != start.before_version for item in result.seen
    )


def _seen(target: Target, version: Version) -> tuple[SeenVersion, ...]:
    """Return the version an applied change makes known: that of the cell it named."""
    if target.cell_id is None or version == ABSENT:
        return ()
    return (SeenVersion(path=target.path or "", cell_id=target.cell_id, version=version),)


async def _subject(
    call: CallState, tools: ToolRegistry, context: CallContext
) -> CallSubject | None:
    tool = tools.get(call.tool)
    args = tools.validate(call.tool, call.arguments or {})
    if tool is None or isinstance(args, InvalidCall):
        return None
    try:
        return await tool.subject(args, context)
    except NotFound as error:
        is_deleted = error.info.code == "cell_not_found"  # what a deletion was to bring about
        return (
            CallSubject(call.title, None, Target(), effect=Effect(ABSENT)) if is_deleted else None
        )
    except ShouldersError:
        return None  # its target is missing or not reachable: unknown


async def end_orphaned_processes(starts: Iterable[ToolStart | None]) -> None:
    """Kill the processes that interrupted calls left running.

    What watches a command ends it with the server; this covers a watcher that was killed too. Only
    processes that certainly belong to a call are killed, since process ids are reused.
    """
    for start in starts:
        if start is not None and start.pid is not None:
            found = await asyncio.to_thread(end_orphans, start.pid, start.process_start)
            if found:
                _log.warning("Ended %d processes that call %s had left.", found, start.call_id)
