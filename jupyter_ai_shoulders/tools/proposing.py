"""What the tools that propose changes share: finding the text, and recording what would change.

Used by ``create_proposal`` and ``propose_edit``; proposals are applied by ``engine.proposals``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.redaction import MASK
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result, Target, text_content
from jupyter_ai_shoulders.tools.file_access import Absent, FileAccess
from jupyter_ai_shoulders.tools.file_diff import bounded_diff
from jupyter_ai_shoulders.tools.file_edit import no_replacement, no_such_file
from jupyter_ai_shoulders.tools.file_write import HIDDEN_SECRET
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess, failed, file_name
from jupyter_ai_shoulders.tools.text_replace import Ambiguous, Missing, Replaced
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, Version
from jupyter_ai_shoulders.wire.results import ToolEnvelope

LISTED_LINES = 20


@dataclass(frozen=True, slots=True)
class Subject:
    """The text a change is proposed for, as it stands."""

    path: str
    cell_id: CellId | None
    label: str
    title: str
    text: str
    version: Version


class Proposing:
    """Finds texts and makes proposals of them."""

    def __init__(self, cells: NotebookAccess, files: FileAccess, ids: IdSource) -> None:
        self._cells = cells
        self._files = files
        self._ids = ids

    async def find(self, path: str, cell_id: CellId | None) -> Subject:
        """Return the text of a cell or a file. Raises ``ShouldersError``."""
        if cell_id is None:
            there = await self._files.writable(path)
            if isinstance(there, Absent):
                raise await no_such_file(self._files, there.path)
            snapshot = there.snapshot
            title = f"Propose a change of {file_name(snapshot.path)}"
            return Subject(
                snapshot.path, None, snapshot.path, title, snapshot.text, snapshot.version
            )
        place = await self._cells.find_cell(path, cell_id)
        title = f"Propose a change of cell {place.number}"
        cell = place.cell
        return Subject(place.snapshot.path, cell_id, place.label, title, cell.source, cell.version)

    async def shown(self, found: Subject, after: Replaced | Missing | Ambiguous) -> CallSubject:
        """Return how the call is shown, with what it proposes."""
        diff = None
        if isinstance(after, Replaced):
            diff = await asyncio.to_thread(bounded_diff, found.text, after.text)
        return CallSubject(
            title=found.title,
            target_label=file_name(found.path),
            target=Target(path=found.path, cell_id=found.cell_id),
            preview=diff,
            language="diff",
        )

    def result(
        self,
        found: Subject,
        after: Replaced | Missing | Ambiguous,
        reason: str,
        context: CallContext,
    ) -> Result:
        """Return the proposal, or why there is none."""
        if isinstance(after, Ambiguous):
            return failed(_ambiguous(found, after))
        if isinstance(after, Missing):
            return no_replacement(found.label, after)
        if after.text.count(MASK) > found.text.count(MASK):
            return failed(HIDDEN_SECRET)
        if after.text == found.text:
            return failed(
                ErrorInfo(
                    code="invalid_arguments",
                    message=f"{found.label} reads so already; there is nothing to propose.",
                )
            )
        return self._proposed(found, after.text, reason, context)

    def _proposed(self, found: Subject, text: str, reason: str, context: CallContext) -> Result:
        proposal = Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=found.path,
            cell_id=found.cell_id,
            old=found.text,
            new=text,
            current=found.text,
            current_version=found.version,
            reason=reason,
            state="proposed",
        )
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data={"path": found.path, "cell_id": found.cell_id, "proposal_id": proposal.id},
            ),
            content=text_content(
                f"The change of {found.label} is proposed; it waits for the user, and nothing was "
                "changed."
            ),
            proposal=proposal,
        )


def _ambiguous(found: Subject, outcome: Ambiguous) -> ErrorInfo:
    lines = ", ".join(map(str, outcome.lines[:LISTED_LINES]))
    return ErrorInfo(
        code="ambiguous",
        message=f"old_string occurs {len(outcome.lines)} times in {found.label}, beginning on "
        f"lines {lines}; nothing was proposed.",
        hint="Give more of the text around the place you mean.",
    )
