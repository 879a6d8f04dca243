"""The tool that makes several read calls in one.

Registered by ``host`` (``tools.tool_factories``). Runs the steps of a plan
(``tools.planning.plan``) in waves, each with ``tools.planning.step_runner``, and reports.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.planning import plan
from jupyter_ai_shoulders.tools.planning.plan import Memory, PlanStep
from jupyter_ai_shoulders.tools.planning.step_runner import (
    PlanLimits,
    StepOutcome,
    StepRunner,
    describe_halted_step,
    is_plannable,
    result_text,
)
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.tools.truncation import fits_limits
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent
from jupyter_ai_shoulders.wire.results import ResultMeta, SeenVersion, ToolEnvelope

PlanStatus = Literal["done", "stopped", "halted", "replan", "failed"]
_SHOWN = 300
"""Characters of a title, value or reason shown for a step."""
_LOOP = "loop"


class RunPlanArguments(ToolArguments):
    """Arguments of ``run_plan``."""

    steps: tuple[PlanStep, ...] = Field(min_length=1, max_length=plan.STEPS)
    stop_when: tuple[str, ...] = Field(
        default=(), description="Names of remembered values that make further steps needless."
    )


class RunPlan(BaseTool[RunPlanArguments]):
    """Runs read calls in dependency order."""

    name = plan.RUN_PLAN
    category = "planning"
    risk = "read"
    arguments = RunPlanArguments

    def __init__(
        self, tools: ToolRegistry, rules: PermissionStore, limits: PlanLimits | None = None
    ) -> None:
        """``tools`` are those that steps may call."""
        self._tools = tools
        self._rules = rules
        self._runner = StepRunner(tools, rules, limits or PlanLimits())

    async def subject(self, args: RunPlanArguments, context: CallContext) -> CallSubject:
        count = len(args.steps)
        title = "Run a plan of 1 step" if count == 1 else f"Run a plan of {count} steps"
        return CallSubject(title=title, target_label=None, target=Target())

    async def run(
        self, args: RunPlanArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Run the plan, or say why it cannot start."""
        memory, left = plan.restore_state(context.plan)
        problem = plan.plan_problem(args.steps, args.stop_when, memory, left)
        problem = problem or self._step_problem(args.steps, context)
        if problem is not None:
            yield refusal(f"The plan was not begun. {problem}", "Correct the plan.")
            return
        work = _PlanRun(args.steps, args.stop_when, memory, left, context)
        work.first_change = self._first_change(work)
        while wave := work.next_wave():
            async for progress in self._wave(work, wave):
                yield progress
        yield work.report()

    def _step_problem(self, steps: tuple[PlanStep, ...], context: CallContext) -> str | None:
        """Return the problem of a step that can be detected before anything runs."""
        disabled = self._rules.disabled
        names = [name for name in self._tools.names(context.toolset) if name not in disabled]
        for number, step in enumerate(steps, start=1):
            tool = self._tools.get(step.tool)
            if step.tool in disabled and tool is not None:
                return f"Step {number}: {step.tool} is switched off in the permissions."
            if tool is not None and tool.category == _LOOP:
                return f"Step {number}: {step.tool} is called by itself, not in a plan."
            args = cast("JsonObject", step.args)
            known = tool is not None and step.tool in names
            if known and any(plan.references(args)):
                continue
            checked = self._tools.validate(step.tool, args, names)
            if isinstance(checked, InvalidCall):
                return f"Step {number}: {checked.error.message} {checked.error.hint}"
        return None

    def _first_change(self, work: _PlanRun) -> int | None:
        """Return the first step in execution order that a plan does not execute."""
        for position in plan.execution_order(work.steps):
            tool = self._tools.get(work.steps[position].tool)
            if tool is None or not is_plannable(tool):
                return position
        return None

    async def _wave(self, work: _PlanRun, wave: tuple[int, ...]) -> AsyncIterator[Progress]:
        """Run steps concurrently; results are recorded in plan order."""
        running: list[asyncio.Task[StepOutcome]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for position in wave:
                    step = work.steps[position]
                    one = self._runner.run(step, work.memory, work.context)
                    running.append(group.create_task(one))
        except ExceptionGroup as failures:  # a bug of one tool
            raise failures.exceptions[0] from None
        for position, task in zip(wave, running, strict=True):
            work.record(position, task.result())
            yield Progress("status", work.line(position) + "\n")


@dataclass(slots=True)
class _PlanRun:
    """A running plan."""

    steps: tuple[PlanStep, ...]
    stop_when: tuple[str, ...]
    memory: Memory
    left: int
    context: CallContext
    outcomes: dict[int, StepOutcome] = field(default_factory=dict[int, StepOutcome])
    saved: dict[int, str] = field(default_factory=dict[int, str])
    first_change: int | None = None

    def next_wave(self) -> tuple[int, ...]:
        """Return the steps to run now; none when the plan is over.

        A step that a plan does not execute is only described, once all steps before it have run.
        """
        if self.broken is not None or plan.is_satisfied(self.stop_when, self.memory):
            return ()
        run = plan.execution_order(self.steps)
        before = run if self.first_change is None else run[: run.index(self.first_change)]
        wave = plan.next_wave(self.steps, before, self.outcomes)
        if wave or self.first_change is None or self.first_change in self.outcomes:
            return wave
        return (self.first_change,)

    @property
    def broken(self) -> int | None:
        """Return the first step whose status is not ``ok``."""
        bad = (n for n, outcome in self.outcomes.items() if outcome.status != "ok")
        return min(bad, default=None)

    def record(self, position: int, outcome: StepOutcome) -> None:
        """Record a step's values and the versions it read."""
        step, result = self.steps[position], outcome.result
        if outcome.status == "ok" and result is not None:
            seen = {(item.path, item.cell_id): item.version for item in result.seen}
            self.context = replace(self.context, seen={**self.context.seen, **seen})
            if step.save_as is not None:
                outcome = self._save(position, step.save_as, result, outcome)
        self.outcomes[position] = outcome
        if outcome.reason is not None and outcome.status != "halted":
            name = f"errors.step_{position + 1}"
            self.memory = plan.with_value(self.memory, name, outcome.reason.message)

    def _save(self, position: int, name: str, result: Result, outcome: StepOutcome) -> StepOutcome:
        values = plan.extract_value(name, result.envelope, result_text(result))
        if not values:
            message = f"The result has nothing to save as {name}."
            reason = ErrorInfo(code="not_found", message=message)
            return replace(outcome, status="missing", reason=reason)
        self.memory = plan.with_value(self.memory, name, values[0])
        self.saved[position] = name
        return outcome

    @property
    def status(self) -> PlanStatus:
        """Return how the plan ended."""
        broken = self.broken
        if len(self.outcomes) == len(self.steps) and broken is None:
            return "done"
        if broken is None or plan.is_satisfied(self.stop_when, self.memory):
            return "stopped"
        if self.outcomes[broken].status == "halted":
            return "halted"
        again = self.context.plan is None and self.steps_left > 0
        return "replan" if again else "failed"

    @property
    def steps_left(self) -> int:
        """Return how many steps the next plan may have."""
        return self.left - sum(outcome.executed for outcome in self.outcomes.values())

    def line(self, position: int) -> str:
        """Return one line about a step."""
        step, outcome = self.steps[position], self.outcomes.get(position)
        if outcome is None:
            return f"{position + 1}. {step.tool}: not run"
        what = " · ".join(filter(None, (outcome.title, outcome.target)))
        said = [outcome.status]
        if outcome.reason is not None:
            said.append(_short(outcome.reason.message))
        if position in self.saved:
            said.append(self._saved(self.saved[position]))
        return f"{position + 1}. {step.tool} ({_short(what)}): {'; '.join(said)}"

    def _saved(self, name: str) -> str:
        (value,) = plan.resolve_reference(name, self.memory)
        if isinstance(value, list):
            return f"{name} has {len(value)} entries"
        return f"{name} = {_short(json.dumps(value, ensure_ascii=False))}"

    def report(self) -> Result:
        """Return the result: a line per step, their content, and the next action."""
        content, seen = self._content()
        status, broken = self.status, self.broken
        reason = self.outcomes[broken].reason if broken is not None else None
        failed = status in {"replan", "failed"}
        return Result(
            envelope=ToolEnvelope(
                ok=not failed,
                kind="text",
                data=self._data(),
                error=_error(reason, self._advice) if failed else None,
                meta=ResultMeta(total=len(self.steps)),
            ),
            content=content,
            seen=seen,
        )

    def _next(self) -> str:
        """Return the closing note for the model."""
        match self.status:
            case "done":
                return "All steps are done."
            case "stopped":
                return "The plan stopped: everything in stop_when is there."
            case "halted":
                assert self.broken is not None, "a step halted"
                text = describe_halted_step(self.broken + 1, self.outcomes[self.broken])
                return f"{text}\nMake this call yourself if it is wanted; it asks where it must."
            case "replan":
                return f"{self._advice} Memory is kept: {plan.memory_preview(self.memory)}"
            case "failed":
                return f"{self._advice} Memory was: {plan.memory_preview(self.memory)}"

    @property
    def _advice(self) -> str:
        """Return the advice after a failed plan."""
        if self.status == "failed":
            return "Go on with single calls."
        return f"One new plan of at most {self.steps_left} steps may follow."

    def _data(self) -> JsonObject:
        steps: list[Json] = [self._row(position) for position in range(len(self.steps))]
        return {
            "status": self.status,
            "steps": steps,
            "memory": cast("JsonObject", self.memory),
            "left": self.steps_left,
        }

    def _row(self, position: int) -> JsonObject:
        step, outcome = self.steps[position], self.outcomes.get(position)
        return {
            "tool": step.tool,
            "title": outcome.title if outcome else None,
            "target": outcome.target if outcome else None,
            "arguments": outcome.arguments if outcome else cast("JsonObject", step.args),
            "status": outcome.status if outcome else "not run",
            "message": outcome.reason.message if outcome and outcome.reason else None,
            "saved_as": self.saved.get(position),
            "preview": outcome.preview if outcome else None,
        }

    def _content(self) -> tuple[tuple[ResultContent, ...], tuple[SeenVersion, ...]]:
        """Return the content for the model and the versions it reads thereby.

        Content that does not fit is omitted whole, so that no truncated text counts as read.
        """
        lines = [self.line(position) for position in range(len(self.steps))]
        text = "\n".join([*lines, self._next()])
        images: list[ImagePart] = []
        seen: list[SeenVersion] = []
        for position in sorted(self.outcomes):
            result = self.outcomes[position].result
            if result is None:
                continue
            head = f"\n--- step {position + 1} · {self.steps[position].tool}\n"
            longer = f"{text}{head}{result_text(result)}"
            if fits_limits(longer):
                text = longer
                seen += result.seen
                images += [part for part in result.content if isinstance(part, ImagePart)]
            else:
                text += f"{head}[too long to be shown with the others: make this call by itself]"
        return (*text_content(text), *images), tuple(seen)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _error(reason: ErrorInfo | None, hint: str) -> ErrorInfo:
    if reason is None:
        return ErrorInfo(code="not_found", message="The plan did not succeed.", hint=hint)
    return ErrorInfo(code=reason.code, message=f"The plan ended early: {reason.message}", hint=hint)
