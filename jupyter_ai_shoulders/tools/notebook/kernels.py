"""The tools that list, interrupt and restart kernels."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from jupyter_ai_shoulders.notebook.kernels.control import (
    KernelControls,
    KernelList,
    KernelUse,
    ListedKernel,
)
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    Tool,
    ToolArguments,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    NotebookAccess,
    failure_result,
    file_name,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

RUN_OWNERS = {"user": "the user's code", "agent": "the agent's code"}


def kernel_tools(access: NotebookAccess, controls: KernelControls) -> list[Tool[Any]]:
    return [
        ListKernels(controls),
        InterruptKernel(access, controls),
        RestartKernel(access, controls),
    ]


class ListKernelsArguments(ToolArguments):
    """``list_kernels`` takes no arguments."""


class ListKernels(BaseTool[ListKernelsArguments]):
    """Lists the running kernels with their notebooks, and the kernels that can be started."""

    name = "list_kernels"
    category = "notebook"
    risk = "read"
    arguments = ListKernelsArguments

    def __init__(self, controls: KernelControls) -> None:
        self._controls = controls

    async def subject(self, args: ListKernelsArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="List kernels", target_label=None, target=Target())

    async def run(
        self, args: ListKernelsArguments, context: CallContext
    ) -> AsyncIterator[ToolOutput]:
        found = await self._controls.list()
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="listing",
                data={
                    "kernels": [_row(listed) for listed in found.running],
                    "installed": [
                        {
                            "name": spec.name,
                            "display_name": spec.display_name,
                            "language": spec.language,
                        }
                        for spec in found.installed
                    ],
                },
                meta=ResultMeta(total=len(found.running)),
            ),
            content=text_content("\n".join(_lines(found))),
        )


class KernelArguments(ToolArguments):
    """Arguments of ``interrupt_kernel`` and ``restart_kernel``."""

    path: str = Field(description="Workspace-relative path of the notebook whose kernel it is.")


class InterruptKernel(BaseTool[KernelArguments]):
    """Interrupts the notebook's kernel, including runs of the user; variables are kept."""

    name = "interrupt_kernel"
    category = "notebook"
    risk = "execute"
    arguments = KernelArguments

    def __init__(self, access: NotebookAccess, controls: KernelControls) -> None:
        self._access = access
        self._controls = controls

    async def subject(self, args: KernelArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the author of the code it would interrupt."""
        path = (await self._access.open(args.path)).path
        use = await self._controls.use(path)
        stops = _running_code(use) or "It runs nothing."
        return _subject(self._access, path, use, "Interrupt the kernel", stops)

    async def run(self, args: KernelArguments, context: CallContext) -> AsyncIterator[ToolOutput]:
        """Interrupt, and wait briefly for the kernel to become idle."""
        path = (await self._access.open(args.path)).path
        use = await self._controls.use(path)
        if use.busy is False:
            yield _done(path, use, f"The kernel of {path} runs nothing: it was not interrupted.")
            return
        whose = RUN_OWNERS[use.runs] if use.runs else "what it may have run"
        if await self._controls.interrupt(path):
            said = f"The kernel of {path} was interrupted: {whose} ended. Its variables are kept."
            yield _done(path, use, said)
            return
        yield failure_result(
            ErrorInfo(
                code="kernel_busy",
                message=f"The kernel of {path} was interrupted, but it is still busy.",
                hint="It runs code that ignores interrupts, or the next cell of its queue. "
                "Wait, or offer the user to restart it: then all its variables are lost.",
                retryable=True,
            )
        )


class RestartKernel(BaseTool[KernelArguments]):
    """Restarts the notebook's kernel; all variables are lost."""

    name = "restart_kernel"
    category = "notebook"
    risk = "execute"
    arguments = KernelArguments

    def __init__(self, access: NotebookAccess, controls: KernelControls) -> None:
        self._access = access
        self._controls = controls

    async def subject(self, args: KernelArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with what would be lost."""
        path = (await self._access.open(args.path)).path
        use = await self._controls.use(path)
        lost = "Lost: all variables of the kernel. Kept: the notebook's cells and outputs."
        running = _running_code(use)
        return _subject(
            self._access,
            path,
            use,
            "Restart the kernel",
            f"{lost}\nLost, too, what runs now: {running}" if running else lost,
        )

    async def run(self, args: KernelArguments, context: CallContext) -> AsyncIterator[ToolOutput]:
        """Restart it and wait until it responds."""
        path = (await self._access.open(args.path)).path
        use = await self._controls.use(path)
        yield Progress("status", "Restarting the kernel.")
        await self._controls.restart(path)
        said = (
            f"The kernel of {path} was restarted: all variables are gone. The outputs in the "
            "notebook are from before; run the cells again whose results you need."
        )
        yield _done(path, use, said)


def _subject(
    access: NotebookAccess, path: str, use: KernelUse, title: str, preview: str
) -> CallSubject:
    return CallSubject(
        title=title,
        target_label=file_name(path),
        target=Target(path=path),
        preview=preview,
        in_page=access.in_page(path),
        effect=Effect(kernel_id=use.kernel_id),
    )


def _running_code(use: KernelUse) -> str | None:
    if use.runs is None:
        return None if use.busy is False else "Whether it runs anything is not known."
    since = f", since {_time(use.since)}" if use.since else ""
    code = f":\n\n{use.code}" if use.code else "."
    return f"{RUN_OWNERS[use.runs]}{since}{code}"


def _done(path: str, use: KernelUse, said: str) -> Result:
    data: JsonObject = {
        "path": path,
        "kernel_id": use.kernel_id,
        "kernel_name": use.kernel_name,
        "ran": use.runs,
    }
    return Result(
        envelope=ToolEnvelope(ok=True, kind="none", data=data), content=text_content(said)
    )


def _row(listed: ListedKernel) -> JsonObject:
    kernel = listed.kernel
    return {
        "path": kernel.path,
        "kernel_id": kernel.kernel_id,
        "kernel_name": kernel.kernel_name,
        "language": kernel.language,
        "state": kernel.state,
        "runs": listed.runs,
        "since": _iso(listed.since),
        "last_activity": _iso(kernel.last_activity),
    }


def _lines(found: KernelList) -> list[str]:
    count = len(found.running)
    installed = ", ".join(f"{spec.name} ({spec.language})" for spec in found.installed) or "none"
    return [
        f"{count} kernel{'s' * (count != 1)} running{':' if count else '.'}",
        *(_line(listed) for listed in found.running),
        f"Installed: {installed}",
    ]


def _line(listed: ListedKernel) -> str:
    kernel = listed.kernel
    place = kernel.path or "(of no notebook)"
    return f"{place}: {kernel.kernel_name} ({kernel.language}), {_doing(listed)}"


def _doing(listed: ListedKernel) -> str:
    kernel = listed.kernel
    if listed.runs is not None:
        since = f" since {_time(listed.since)}" if listed.since else ""
        return f"busy with {RUN_OWNERS[listed.runs]}{since}"
    last = f", last active {_time(kernel.last_activity)}" if kernel.last_activity else ""
    return (kernel.state or "state unknown") + last


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def _iso(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else None
