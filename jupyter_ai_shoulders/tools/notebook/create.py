"""The tool that creates a notebook."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.notebook.backends.disk.creation import empty_notebook
from jupyter_ai_shoulders.notebook.base import KernelSpecs, NewNotebooks
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import file_name
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import well_formed


class CreateNotebookArguments(ToolArguments):
    """Arguments of ``create_notebook``."""

    path: str = Field(description="Workspace-relative path of the new notebook, ending in .ipynb.")
    kernel_name: str | None = Field(
        default=None, description="Name of its kernel, as list_kernels gives it; none: the default."
    )


class CreateNotebook(BaseTool[CreateNotebookArguments]):
    """Creates an empty notebook with a kernel, at a path that does not exist yet."""

    name = "create_notebook"
    category = "notebook"
    risk = "write"
    arguments = CreateNotebookArguments

    def __init__(self, notebooks: NewNotebooks, specs: KernelSpecs) -> None:
        self._notebooks = notebooks
        self._specs = specs

    async def subject(self, args: CreateNotebookArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. Raises ``InvalidRequest`` for a name that is not text."""
        if well_formed(args.path) != args.path:
            raise InvalidRequest(
                f"The name {args.path!r} is not text; no notebook was created.",
                hint="Choose a name without undecodable characters.",
            )
        return CallSubject(
            title=f"Create {file_name(args.path)}",
            target_label=file_name(args.path),
            target=Target(path=args.path),
            undoable=True,
        )

    async def run(
        self, args: CreateNotebookArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        spec = await self._specs.spec(args.kernel_name)
        path = await self._notebooks.create(args.path, empty_notebook(spec))
        yield Result(
            envelope=ToolEnvelope(
                ok=True, kind="text", data={"path": path, "kernel_name": spec.name}
            ),
            content=text_content(
                f"Created {path} with the kernel {spec.name} ({spec.language}). It has no cells "
                "yet: add them with add_cell. Its kernel starts with the first run."
            ),
        )
