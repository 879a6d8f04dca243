"""The tool with which a sub-agent runs code in a kernel of its own, which ends with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.notebook.base import CellRun, RunProgress
from jupyter_ai_shoulders.tools.agent.withheld_tools import RUN_IN_OWN_KERNEL
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    NotebookAccess,
    file_name,
    notebook_language,
)
from jupyter_ai_shoulders.tools.notebook.run_code import code_result
from jupyter_ai_shoulders.wire.ids import SessionId


class OwnKernels(Protocol):
    """Throw-away kernels; implemented by ``notebook.execution.own_kernels``."""

    def run_code(
        self, owner: SessionId, path: str, code: str
    ) -> AsyncGenerator[RunProgress | CellRun]:
        """Run code in the owner's kernel for a notebook, started if needed; end with a ``CellRun``.

        Cancelling it ends the kernel. Raises ``NotFound`` (kernelspec), ``Conflict``.
        """
        ...


class RunInOwnKernelArguments(ToolArguments):
    """Arguments of ``run_in_own_kernel``."""

    path: str = Field(
        description="Workspace-relative path of the notebook whose language and folder it uses."
    )
    code: str = Field(min_length=1, description="Code in the notebook's language.")


class RunInOwnKernel(BaseTool[RunInOwnKernelArguments]):
    """Runs code beside the user's kernel, which it does not touch."""

    name = RUN_IN_OWN_KERNEL
    category = "notebook"
    risk = "execute"
    arguments = RunInOwnKernelArguments

    def __init__(self, access: NotebookAccess, kernels: OwnKernels) -> None:
        self._access = access
        self._kernels = kernels

    async def subject(self, args: RunInOwnKernelArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the code; an approval covers only this code."""
        snapshot = await (await self._access.open(args.path)).read()
        return CallSubject(
            title="Run code in a throw-away kernel",
            target_label=file_name(snapshot.path),
            target=Target(path=snapshot.path),
            preview=args.code,
            language=notebook_language(snapshot),
        )

    async def run(
        self, args: RunInOwnKernelArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Run it and wait for its end."""
        path = (await self._access.open(args.path)).path
        async with aclosing(self._kernels.run_code(context.session_id, path, args.code)) as items:
            async for item in items:
                if isinstance(item, CellRun):
                    yield code_result(path, item)
                else:
                    yield Progress(item.channel, item.text)
