"""Runs one step of a plan: binds its arguments, checks permissions, calls its tool.

Used by ``tools.planning.run_plan``. Only reads are executed; other steps are described.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Progress,
    Result,
    Tool,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.permissions.rules import Ask, Deny, PermissionRequest, decide
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.planning.plan import (
    Memory,
    PlanStep,
    bind_arguments,
    missing_references,
    unmet_expectation,
)
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import TextPart

StepStatus = Literal["ok", "missing", "empty", "failed", "denied", "halted", "not run"]

_PREVIEW = 4_000
"""Most characters of a described change."""


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """Bounds of one step."""

    timeout_s: float = 30.0
    attempts: int = 2
    """Attempts for a step with a transient failure."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The outcome of a step; ``reason`` says why it is not ok."""

    status: StepStatus
    title: str
    arguments: JsonObject
    target: str | None = None
    result: Result | None = None
    reason: ErrorInfo | None = None
    preview: str | None = None
    """The change that the step would make."""

    @property
    def executed(self) -> bool:
        """Return whether the step's tool was called."""
        if self.status == "missing":
            return self.result is not None
        return self.status in {"ok", "empty", "failed"}


def result_text(result: Result) -> str:
    """Return the text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


def is_plannable(tool: Tool[Any]) -> bool:
    """Return whether a plan may call a tool: it only reads, locally, and is idempotent."""
    return tool.risk == "read" and not tool.external and tool.idempotent


@dataclass(frozen=True, slots=True)
class StepRunner:
    """Runs the steps of one plan."""

    tools: ToolRegistry
    rules: PermissionStore
    limits: PlanLimits

    async def run(self, step: PlanStep, memory: Memory, context: CallContext) -> StepOutcome:
        """Return the outcome of a step. Raises only for bugs in the tool."""
        args = cast("JsonObject", step.args)
        absent = missing_references(args, memory)
        if absent:
            return _ended("missing", step, args, f"{', '.join(absent)} is not in memory.")
        args = bind_arguments(args, memory)
        tool, checked = self.tools.get(step.tool), self.tools.validate(step.tool, args)
        if tool is None or isinstance(checked, InvalidCall):
            assert isinstance(checked, InvalidCall), "an unknown tool is a problem"
            return StepOutcome("failed", step.tool, args, reason=checked.error)
        try:
            subject = await tool.subject(checked, context)
        except ShouldersError as error:
            return StepOutcome("failed", step.tool, args, reason=error.info)
        shown = StepOutcome(
            "ok", subject.title, args, target=subject.target_label, preview=subject.preview
        )
        stopped = self._permission_refusal(tool, subject, shown, context)
        return stopped or await self._called(step, tool, checked, shown, context)

    def _permission_refusal(
        self, tool: Tool[Any], subject: CallSubject, shown: StepOutcome, context: CallContext
    ) -> StepOutcome | None:
        """Return why the step may not run, else None."""
        question = PermissionRequest(tool.name, tool.risk, tool.external, subject)
        decision = decide(question, self.rules.rules, (), mode=context.mode, interactive=True)
        if isinstance(decision, Deny):
            reason = ErrorInfo(code=decision.code, message=decision.text)
            return replace(shown, status="denied", reason=reason)
        if is_plannable(tool) and not isinstance(decision, Ask):
            return None
        reason = ErrorInfo(
            code="approval_required",
            message=f"{tool.name} does more than read or needs approval; it was not executed.",
            hint="Make this call yourself if it is still needed.",
        )
        return replace(shown, status="halted", reason=reason)

    async def _called(
        self,
        step: PlanStep,
        tool: Tool[Any],
        checked: ToolArguments,
        shown: StepOutcome,
        context: CallContext,
    ) -> StepOutcome:
        result, reason = await self._attempts(tool, checked, context)
        if result is None or reason is not None:
            return replace(shown, status="failed", reason=reason, result=result)
        lacks = unmet_expectation(step.expect, result.envelope, result_text(result))
        if lacks is not None:
            reason = ErrorInfo(code="not_found", message=lacks)
            return replace(shown, status="empty", reason=reason, result=result)
        return replace(shown, result=result)

    async def _attempts(
        self, tool: Tool[Any], args: ToolArguments, context: CallContext
    ) -> tuple[Result | None, ErrorInfo | None]:
        """Call the tool until it succeeds, fails permanently or the attempts are used up."""
        result: Result | None = None
        reason: ErrorInfo | None = None
        for _ in range(self.limits.attempts):
            result, reason = await self._attempt(tool, args, context)
            if reason is None or not reason.retryable:
                break
        return result, reason

    async def _attempt(
        self, tool: Tool[Any], args: ToolArguments, context: CallContext
    ) -> tuple[Result | None, ErrorInfo | None]:
        limit = asyncio.timeout(self.limits.timeout_s)
        try:
            async with limit:
                result = await _drained(tool, args, context)
        except ShouldersError as error:
            return None, error.info
        except TimeoutError:
            if not limit.expired():
                raise
            seconds = f"{self.limits.timeout_s:g} s"
            message = f"{tool.name} took longer than the {seconds} a step may."
            return None, ErrorInfo(code="timeout", message=message, hint="Call it by itself.")
        if result.ok:
            return result, None
        unsaid = ErrorInfo(code="not_found", message="The call failed.")
        return result, result.envelope.error or unsaid


def describe_halted_step(number: int, outcome: StepOutcome) -> str:
    """Return the exact effect of a halted step, for the model and the user."""
    preview = outcome.preview or ""
    cut = preview if len(preview) <= _PREVIEW else f"{preview[:_PREVIEW]}\n[… shortened …]"
    lines = [
        f"Step {number} was not executed: {outcome.title}"
        + (f" · {outcome.target}" if outcome.target else ""),
        f"Arguments: {json.dumps(outcome.arguments, ensure_ascii=False)}",
        cut,
    ]
    return "\n".join(filter(None, lines))


async def _drained(tool: Tool[Any], args: ToolArguments, context: CallContext) -> Result:
    result: Result | None = None
    stream = cast("AsyncGenerator[Progress | Result, None]", tool.run(args, context))
    async with aclosing(stream) as items:
        async for item in items:
            if isinstance(item, Result):
                result = item
    if result is None:
        raise RuntimeError(f"the tool {tool.name} ended without a result")
    return result


def _ended(status: StepStatus, step: PlanStep, args: JsonObject, message: str) -> StepOutcome:
    reason = ErrorInfo(code="not_found", message=message)
    return StepOutcome(status, step.tool, args, reason=reason)
