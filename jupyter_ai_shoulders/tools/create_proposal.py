"""The tool that proposes a change and leaves it to the user (chapters 05 and 07).

It changes nothing: the proposal is recorded with the result, and applied by ``engine.proposals``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.redaction import MASK
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.file_access import Absent, FileAccess, is_notebook
from jupyter_ai_shoulders.tools.file_diff import bounded_diff
from jupyter_ai_shoulders.tools.file_edit import no_replacement, no_such_file
from jupyter_ai_shoulders.tools.file_write import HIDDEN_SECRET, written_text
from jupyter_ai_shoulders.tools.notebook_access import (
    NOTEBOOK_TOOLSETS,
    NotebookAccess,
    failed,
    file_name,
)
from jupyter_ai_shoulders.tools.text_replace import Ambiguous, Missing, Replaced, replace_once
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, Version
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset

REASON_LIMIT = 500
"""Characters of a reason that the user reads."""
LISTED_LINES = 20


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


@dataclass(frozen=True, slots=True)
class _Subject:
    """The text a change is proposed for, as it stands."""

    path: str
    label: str
    title: str
    text: str
    version: Version


class CreateProposal:
    """Records what the agent would change."""

    name: ClassVar[str] = "create_proposal"
    category: ClassVar[Category] = "feedback"
    risk: ClassVar[Risk] = "read"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = NOTEBOOK_TOOLSETS
    arguments = CreateProposalArguments

    def __init__(self, cells: NotebookAccess, files: FileAccess, ids: IdSource) -> None:
        self._cells = cells
        self._files = files
        self._ids = ids

    async def subject(self, args: CreateProposalArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with what it proposes."""
        del context
        found = await self._find(args)
        after = await asyncio.to_thread(_replaced, args, found.text)
        diff = None
        if isinstance(after, Replaced):
            diff = await asyncio.to_thread(bounded_diff, found.text, after.text)
        return CallSubject(
            title=found.title,
            target_label=file_name(found.path),
            target=Target(path=found.path, cell_id=args.cell_id),
            preview=diff,
            language="diff",
        )

    async def run(
        self, args: CreateProposalArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Propose, or say why not."""
        found = await self._find(args)
        after = await asyncio.to_thread(_replaced, args, found.text)
        if isinstance(after, Ambiguous):
            yield failed(_ambiguous(found, after))
        elif isinstance(after, Missing):
            yield no_replacement(found.label, after)
        elif after.text.count(MASK) > found.text.count(MASK):
            yield failed(HIDDEN_SECRET)
        elif after.text == found.text:
            yield failed(
                ErrorInfo(
                    code="invalid_arguments",
                    message=f"{found.label} reads so already; there is nothing to propose.",
                )
            )
        else:
            yield self._proposed(args, found, after.text, context)

    def _proposed(
        self, args: CreateProposalArguments, found: _Subject, text: str, context: CallContext
    ) -> Result:
        proposal = Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=found.path,
            cell_id=args.cell_id,
            old=found.text,
            new=text,
            current=found.text,
            current_version=found.version,
            reason=args.reason or "",
            state="proposed",
        )
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data={"path": found.path, "cell_id": args.cell_id, "proposal_id": proposal.id},
            ),
            content=text_content(
                f"The change of {found.label} is proposed; it waits for the user, and nothing was "
                "changed."
            ),
            proposal=proposal,
        )

    async def _find(self, args: CreateProposalArguments) -> _Subject:
        if args.cell_id is None:
            there = await self._files.writable(args.path)
            if isinstance(there, Absent):
                raise await no_such_file(self._files, there.path)
            snapshot = there.snapshot
            title = f"Propose a change of {file_name(snapshot.path)}"
            return _Subject(snapshot.path, snapshot.path, title, snapshot.text, snapshot.version)
        place = await self._cells.find_cell(args.path, args.cell_id)
        title = f"Propose a change of cell {place.number}"
        cell = place.cell
        return _Subject(place.snapshot.path, place.label, title, cell.source, cell.version)


def _ambiguous(found: _Subject, outcome: Ambiguous) -> ErrorInfo:
    lines = ", ".join(map(str, outcome.lines[:LISTED_LINES]))
    return ErrorInfo(
        code="ambiguous",
        message=f"old_string occurs {len(outcome.lines)} times in {found.label}, beginning on "
        f"lines {lines}; nothing was proposed.",
        hint="Give more of the text around the place you mean.",
    )


def _replaced(args: CreateProposalArguments, text: str) -> Replaced | Missing | Ambiguous:
    if args.cell_id is not None:
        return replace_once(text, args.old_string, args.new_string)
    return replace_once(text, written_text(args.old_string), written_text(args.new_string))
