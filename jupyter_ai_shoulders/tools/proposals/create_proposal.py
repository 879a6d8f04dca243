"""The tool that proposes a change and leaves it to the user.

It changes nothing: the proposal is recorded with the result and applied by
``changes.proposals.service``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.editing.text_replacement import (
    AmbiguousMatch,
    NoMatch,
    Replacement,
    replace_once,
)
from jupyter_ai_shoulders.tools.editing.three_way_merge import RequestedEdit
from jupyter_ai_shoulders.tools.files.access import FileAccess, is_notebook
from jupyter_ai_shoulders.tools.files.write import normalized_text
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.proposals.builder import ProposalBuilder
from jupyter_ai_shoulders.wire.ids import CellId

REASON_LIMIT = 500
"""Most characters of the reason shown to the user."""


class CreateProposalArguments(ToolArguments):
    """Arguments of ``create_proposal``."""

    path: str = Field(min_length=1, description="Workspace-relative path of the notebook or file.")
    cell_id: CellId | None = Field(
        default=None, description="Id of the cell, as read_notebook shows it; for notebooks only."
    )
    old_string: str = Field(
        min_length=1, description="The exact text to replace; must occur exactly once."
    )
    new_string: str = Field(description="What takes its place.")
    reason: str | None = Field(
        default=None, max_length=REASON_LIMIT, description="Why, in one sentence for the user."
    )

    @model_validator(mode="after")
    def _names_one_text(self) -> CreateProposalArguments:
        if is_notebook(self.path) != (self.cell_id is not None):
            raise ValueError("give cell_id for a notebook, and for nothing else")
        return self


class CreateProposal(BaseTool[CreateProposalArguments]):
    """Records a proposed change."""

    name = "create_proposal"
    category = "feedback"
    risk = "read"
    idempotent = False
    arguments = CreateProposalArguments

    def __init__(
        self,
        cells: NotebookAccess,
        files: FileAccess,
        ids: IdSource,
        texts: ReadTextCache | None = None,
    ) -> None:
        self._proposing = ProposalBuilder(cells, files, ids, texts)

    async def subject(self, args: CreateProposalArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the proposed change."""
        found = await self._proposing.find(args.path, args.cell_id)
        edit = await asyncio.to_thread(self._proposing.merge, found, _change(args), context)
        return await self._proposing.subject(found, edit)

    async def run(
        self, args: CreateProposalArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        found = await self._proposing.find(args.path, args.cell_id)
        edit = await asyncio.to_thread(self._proposing.merge, found, _change(args), context)
        yield self._proposing.result(found, edit, args.reason or "", context)


def _change(args: CreateProposalArguments) -> RequestedEdit:
    return RequestedEdit(lambda text: _replaced(args, text))


def _replaced(args: CreateProposalArguments, text: str) -> Replacement | NoMatch | AmbiguousMatch:
    if args.cell_id is not None:
        return replace_once(text, args.old_string, args.new_string)
    return replace_once(text, normalized_text(args.old_string), normalized_text(args.new_string))
