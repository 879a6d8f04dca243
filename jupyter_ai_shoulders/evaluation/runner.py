"""Runs cases and reports. Called by ``__main__`` and by tests."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.evaluation.case import Case, Check
from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.evaluation.case_run import CaseRun
from jupyter_ai_shoulders.evaluation.invariants import INVARIANTS
from jupyter_ai_shoulders.evaluation.kernel_pool import KernelPool
from jupyter_ai_shoulders.evaluation.recorded_models import SCRIPTED
from jupyter_ai_shoulders.evaluation.report import CaseReport, Report
from jupyter_ai_shoulders.wire.ids import ModelId

BOTH = (True, False)
JOBS = 4
"""Cases run at a time; they mostly wait for the disk."""


class Runner:
    """Runs cases with one model in temporary folders."""

    def __init__(self, folder: Path, model: ModelId, kernels: KernelPool) -> None:
        self._folder = folder
        self._model = model
        self._kernels = kernels
        self._count = 0

    async def run(self, case: Case, *, nudges: bool = True) -> CaseReport:
        """Run a case and its checks."""
        self._count += 1
        root = self._folder / f"{self._count}" / "workspace"
        root.mkdir(parents=True)
        started = time.perf_counter()
        record, problem = None, ""
        try:
            async with self._kernels.borrow(root) as kernels:
                trial = CaseRun(case, root, self._home(root), kernels, self._model, nudges)
                record = await trial.run()
        except* (TimeoutError, ShouldersError) as errors:
            problem = f"It did not end: {_error_text(errors)}"
        seconds = time.perf_counter() - started
        if record is None:
            return CaseReport(case.name, nudges, (problem,), "-", 0, 0, seconds)
        return CaseReport(
            name=case.name,
            nudges=nudges,
            problems=self._problems(case, record, nudges=nudges),
            exit=record.exit(),
            steps=record.steps,
            tokens=record.tokens,
            seconds=seconds,
        )

    def _home(self, root: Path) -> Path:
        """Return the folder of keys and the ledger: the user's own for real models."""
        return root.parent / "home" if self._model == SCRIPTED else Path.home()

    def _problems(self, case: Case, record: CaseRecord, *, nudges: bool) -> tuple[str, ...]:
        scripted = self._model == SCRIPTED
        checks = (*INVARIANTS, *case.checks)
        found = [
            (check.says, _problem(check, record))
            for check in checks
            if check.applies(scripted=scripted, nudges=nudges)
        ]
        return tuple(f"{says}: {problem}" for says, problem in found if problem is not None)


def _problem(check: Check, record: CaseRecord) -> str | None:
    try:
        return check.problem(record)
    except (ValueError, LookupError, OSError) as error:  # e.g. an invalid notebook
        return f"it could not be looked at: {type(error).__name__}: {error}"


def _error_text(errors: BaseExceptionGroup[TimeoutError | ShouldersError]) -> str:
    """Return the text of the first error."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    hint = error.info.hint if isinstance(error, ShouldersError) else None
    return " ".join(filter(None, (f"{type(error).__name__}: {error}", hint)))


@asynccontextmanager
async def runner(model: ModelId = SCRIPTED) -> AsyncGenerator[Runner]:
    """Return a runner with its own kernels; scripted cases share one kernel."""
    with tempfile.TemporaryDirectory(prefix="shoulders-eval-") as name:
        folder = Path(name)
        async with aclosing(KernelPool(folder, shared=model == SCRIPTED)) as kernels:
            yield Runner(folder, model, kernels)


async def evaluate(
    cases: Sequence[Case],
    *,
    model: ModelId = SCRIPTED,
    nudges: Sequence[bool] = BOTH,
    jobs: int = JOBS,
    note: Callable[[CaseReport], None] | None = None,
) -> Report:
    """Run cases with a model, each once per entry of ``nudges``, ``jobs`` of them at a time.

    ``note`` is called with each result; the report has the results in the given order.
    """
    runs = [(case, told) for case in cases for told in nudges]
    places = asyncio.Semaphore(jobs)

    async def run(running: Runner, case: Case, told: bool) -> CaseReport:
        async with places:
            report = await running.run(case, nudges=told)
        if note is not None:
            note(report)
        return report

    async with runner(model) as running, asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(running, case, told)) for case, told in runs]
    return Report(model, tuple(task.result() for task in tasks))
