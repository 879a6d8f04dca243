"""The tool that runs code in a notebook's kernel without a cell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from pydantic import Field

from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    CellRunner,
    RunInput,
    RunInputEnd,
    RunStarted,
)
from jupyter_ai_shoulders.notebook.execution.scratch_runner import ScratchRunner
from jupyter_ai_shoulders.notebook.outputs.text import output_text
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    NotebookAccess,
    file_name,
    notebook_language,
)
from jupyter_ai_shoulders.tools.notebook.output_limits import bounded_outputs
from jupyter_ai_shoulders.tools.notebook.run_report import run_error
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

LABEL = "The code"


class RunCodeArguments(ToolArguments):
    """Arguments of ``run_code``."""

    path: str = Field(description="Workspace-relative path of the notebook whose kernel runs it.")
    code: str = Field(min_length=1, description="Code in the notebook's language.")


class RunCode(BaseTool[RunCodeArguments]):
    """Runs code in the kernel without adding a cell or an output to the notebook."""

    name = "run_code"
    category = "notebook"
    risk = "execute"
    arguments = RunCodeArguments

    def __init__(self, access: NotebookAccess, scratch: ScratchRunner, runner: CellRunner) -> None:
        self._access = access
        self._scratch = scratch
        self._runner = runner

    async def subject(self, args: RunCodeArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the code; an approval covers only this code."""
        snapshot = await (await self._access.open(args.path)).read()
        path = snapshot.path
        return CallSubject(
            title="Run code without a cell",
            target_label=file_name(path),
            target=Target(path=path),
            preview=args.code,
            language=notebook_language(snapshot),
            in_page=self._access.in_page(path),
            effect=Effect(kernel_id=await self._runner.kernel_of(path)),
        )

    async def run(self, args: RunCodeArguments, context: CallContext) -> AsyncIterator[ToolOutput]:
        """Run it and wait for its end, or continue it in the background."""
        path = (await self._access.open(args.path)).path
        async with aclosing(self._scratch.run_code(path, args.code)) as items:
            async for item in items:
                match item:
                    case CellRun():
                        yield code_result(path, item)
                    case RunStarted(look=look):
                        yield BackgroundCall(lambda look=look: code_result(path, look()))
                    case RunInput() | RunInputEnd():
                        pass  # the kernel refuses input requests, which nobody would see
                    case _:
                        yield Progress(item.channel, item.text)


def code_result(path: str, run: CellRun) -> Result:
    """Return the result of scratch code, final or so far."""
    error = None if run.status == "running" else run_error(LABEL, run)
    notes = [run.warning, error.hint if error else None]
    lines = [_outcome(run), *_outputs(run), *(note for note in notes if note)]
    return Result(
        envelope=ToolEnvelope(
            ok=error is None,
            kind="outputs",
            data={
                "path": path,
                "scratch": True,
                "status": run.status,
                "duration_ms": run.duration_ms,
                "failure": run.failure,
                "outputs": bounded_outputs(run.outputs),
            },
            warning=run.warning,
            error=error,
            meta=ResultMeta(duration_ms=run.duration_ms),
        ),
        content=text_content("\n".join(lines)),
    )


def _outcome(run: CellRun) -> str:
    took = f"{run.duration_ms / 1000:.1f} s"
    if run.status == "running":
        return f"The code is still running · {took}"
    if run.status == "ok":
        return f"The code finished: ok · {took}" + ("" if run.outputs else " · no output")
    return f"The code failed: {run.failure or run.status} · {took}"


def _outputs(run: CellRun) -> list[str]:
    return [line for output in run.outputs for line in (_header(output), output_text(output))]


def _header(output: JsonObject) -> str:
    stderr = " · stderr" if output.get("name") == "stderr" else ""
    return f"--- output · {output.get('output_type')}{stderr}"
