"""The tool that checks that a notebook runs from top to bottom."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from pydantic import Field

from jupyter_ai_shoulders.notebook.execution.verification import (
    CheckedCell,
    VerificationPlan,
    Verifier,
)
from jupyter_ai_shoulders.notebook.outputs.comparison import OutputDifference
from jupyter_ai_shoulders.notebook.outputs.text import output_text, truncate_middle
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    NEVER_RUN,
    NotebookAccess,
    file_name,
    has_tag,
    notebook_language,
)
from jupyter_ai_shoulders.tools.notebook.output_limits import bounded_outputs
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

PREVIEW_LIMIT = 100_000
"""Most characters of code shown in the approval."""
SHOWN_CHANGES = 5
"""Most changed outputs per cell that are described."""


class VerifyNotebookArguments(ToolArguments):
    """Arguments of ``verify_notebook``."""

    path: str = Field(description="Workspace-relative path of the notebook.")


class VerifyNotebook(BaseTool[VerifyNotebookArguments]):
    """Runs a copy of the notebook in a fresh kernel and reports the results."""

    name = "verify_notebook"
    category = "notebook"
    risk = "execute"
    arguments = VerifyNotebookArguments

    def __init__(self, access: NotebookAccess, verifier: Verifier) -> None:
        self._access = access
        self._verifier = verifier

    async def subject(self, args: VerifyNotebookArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with all the code that would run."""
        plan = await self._plan(args.path)
        path = plan.snapshot.path
        return CallSubject(
            title="Run a copy from top to bottom",
            target_label=file_name(path),
            target=Target(path=path),
            preview=_preview(plan.cells),
            language=notebook_language(plan.snapshot),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: VerifyNotebookArguments, context: CallContext
    ) -> AsyncIterator[ToolOutput]:
        """Run it; it may continue in the background."""
        plan = await self._plan(args.path)
        report = VerifyReport(plan)
        yield BackgroundCall(report.result)
        async with aclosing(self._verifier.verify(plan)) as items:
            async for item in items:
                if isinstance(item, CheckedCell):
                    report.add(item)
                else:
                    yield Progress(item.channel, item.text)
        report.is_over = True
        yield report.result()

    async def _plan(self, path: str) -> VerificationPlan:
        return await self._verifier.plan((await self._access.open(path)).path, is_never_run)


def is_never_run(cell: NotebookCell) -> bool:
    """Return whether the user forbids the agent to run the cell."""
    return has_tag(cell, NEVER_RUN)


class VerifyReport:
    """Collects the result of each cell."""

    def __init__(self, plan: VerificationPlan) -> None:
        self._plan = plan
        self._ran: list[CheckedCell] = []
        self.is_over = False

    def add(self, checked: CheckedCell) -> None:
        """Record the outcome of a cell."""
        self._ran.append(checked)

    @property
    def failure(self) -> CheckedCell | None:
        """The cell that ended it, if one failed."""
        last = self._ran[-1] if self._ran else None
        return last if last is not None and not last.is_ok else None

    def result(self) -> Result:
        """Return the tool's result, partial while the verification runs."""
        failure = self.failure
        error = None if failure is None or not self.is_over else _failed(failure)
        return Result(
            envelope=ToolEnvelope(
                ok=error is None,
                kind="outputs",
                data=self._data(),
                warning=self._skipped(),
                error=error,
                meta=ResultMeta(total=len(self._plan.cells), duration_ms=self._duration_ms()),
            ),
            content=text_content("\n".join(self._lines())),
        )

    def _duration_ms(self) -> int:
        return sum(checked.run.duration_ms for checked in self._ran)

    def _lines(self) -> list[str]:
        lines = [self._verdict()]
        if (skipped := self._skipped()) is not None:
            lines.append(skipped)
        for checked in self._ran:
            lines += _cell_lines(checked)
        failure = self.failure
        if failure is not None:
            lines += ["--- last output", *(output_text(out) for out in failure.run.outputs[-1:])]
        return lines

    def _verdict(self) -> str:
        path, total, ran = self._plan.snapshot.path, len(self._plan.cells), len(self._ran)
        took = f"{self._duration_ms() / 1000:.1f} s"
        if not self.is_over:
            return f"Verifying {path} in a fresh kernel: {ran} of {total} code cells ran so far."
        failure = self.failure
        if failure is None:
            changed = sum(bool(checked.changed) for checked in self._ran)
            outputs = f"{changed} with other outputs" if changed else "outputs as stored"
            return (
                f"Verified {path}: all {total} code cells run in a fresh kernel, {outputs} · {took}"
            )
        rest = total - ran
        return (
            f"{path} does not run in a fresh kernel: cell {failure.number} "
            f"(id={failure.cell_id}) fails after {ran - 1} of {total} code cells; "
            f"{rest} were not run · {took}"
        )

    def _skipped(self) -> str | None:
        notes = [
            f"Cell {number} (id={cell.id}) is marked {NEVER_RUN} and was skipped."
            for number, cell in self._plan.skipped
        ]
        return " ".join(notes) or None

    def _data(self) -> JsonObject:
        failure = self.failure
        skipped: list[Json] = [
            {"cell_id": cell.id, "index": number - 1} for number, cell in self._plan.skipped
        ]
        return {
            "path": self._plan.snapshot.path,
            "verified": True,
            "cells": [_row(checked) for checked in self._ran],
            "skipped": skipped,
            "stopped_at": failure.cell_id if failure else None,
            "outputs": bounded_outputs(failure.run.outputs) if failure else [],
        }


def _preview(cells: Sequence[tuple[int, NotebookCell]]) -> str:
    text = "\n\n".join(f"# cell {number}\n{cell.source}" for number, cell in cells)
    return truncate_middle(text, PREVIEW_LIMIT)


def _failed(failure: CheckedCell) -> ErrorInfo:
    return ErrorInfo(
        code="kernel_died" if failure.run.status == "died" else "cell_error",
        message=(
            f"Cell {failure.number} (id={failure.cell_id}) fails in a fresh kernel: "
            f"{failure.run.failure or failure.run.status}"
        ),
        hint="The user's own kernel was not touched. Correct the cell or one before it.",
    )


def _cell_lines(checked: CheckedCell) -> list[str]:
    run = checked.run
    outcome = "ok" if run.status == "ok" else f"failed: {run.failure or run.status}"
    if checked.is_ok and run.status != "ok":
        outcome += " (it is meant to)"
    lines = [
        f"Cell {checked.number} (id={checked.cell_id}) {outcome} · {run.duration_ms / 1000:.1f} s"
    ]
    for change in checked.changed[:SHOWN_CHANGES]:
        before, after = (repr(text) if text is not None else "none" for text in _sides(change))
        lines.append(f"    {change.kind} was {before}, now {after}")
    if len(checked.changed) > SHOWN_CHANGES:
        lines.append(f"    … {len(checked.changed) - SHOWN_CHANGES} more outputs differ")
    return lines


def _sides(change: OutputDifference) -> tuple[str | None, str | None]:
    return change.before, change.after


def _row(checked: CheckedCell) -> JsonObject:
    changed: list[Json] = [
        {"kind": change.kind, "before": change.before, "after": change.after}
        for change in checked.changed
    ]
    return {
        "cell_id": checked.cell_id,
        "index": checked.number - 1,
        "status": checked.run.status,
        "execution_count": checked.run.execution_count,
        "duration_ms": checked.run.duration_ms,
        "failure": checked.run.failure,
        "changed": changed,
    }
