"""The tool of task threads that proposes a change of the text at their anchor.

It changes nothing: the user applies, edits or dismisses the proposal on the thread's card. If the
text to replace occurs several times, the occurrence at the anchor is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.anchors.text import Utf16Text, locate_anchor
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import InvalidRequest
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
    replace_near,
)
from jupyter_ai_shoulders.tools.editing.three_way_merge import MergeOutcome, RequestedEdit
from jupyter_ai_shoulders.tools.files.access import FileAccess, is_notebook
from jupyter_ai_shoulders.tools.files.write import normalized_text
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.proposals.builder import EditableText, ProposalBuilder
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor

PROPOSE_EDIT = "propose_edit"
_NO_PLACE = (
    "This conversation is not pinned to a place, so there is nothing to propose a change of."
)


class ThreadAnchorSource(Protocol):
    """Returns the anchors of threads; implemented by ``host.threads.service``."""

    def anchor(self, session_id: SessionId) -> Anchor | None:
        """Return a thread's last logged anchor; None for other conversations."""
        ...


class ProposeEditArguments(ToolArguments):
    """Arguments of ``propose_edit``."""

    old_string: str = Field(min_length=1, description="The exact text to replace.")
    new_string: str = Field(description="What takes its place.")
    cell_id: CellId | None = Field(
        default=None, description="Another cell of the notebook; none: the one this is about."
    )


class ProposeEdit(BaseTool[ProposeEditArguments]):
    """Records a proposed change at the thread's anchor."""

    name = PROPOSE_EDIT
    category = "threads"
    risk = "read"
    idempotent = False
    toolsets = frozenset({"document", "notebook", "workspace", "full"})
    arguments = ProposeEditArguments

    def __init__(
        self,
        cells: NotebookAccess,
        files: FileAccess,
        ids: IdSource,
        anchors: ThreadAnchorSource,
        texts: ReadTextCache | None = None,
    ) -> None:
        self._proposing = ProposalBuilder(cells, files, ids, texts)
        self._anchors = anchors

    async def subject(self, args: ProposeEditArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. Raises ``InvalidRequest`` outside of threads."""
        found, edit = await self._found(args, context)
        return await self._proposing.subject(found, edit)

    async def run(
        self, args: ProposeEditArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        found, edit = await self._found(args, context)
        yield self._proposing.result(found, edit, "", context)

    async def _found(
        self, args: ProposeEditArguments, context: CallContext
    ) -> tuple[EditableText, MergeOutcome]:
        anchor = self._anchors.anchor(context.session_id)
        if anchor is None:
            raise InvalidRequest(_NO_PLACE, hint="Edit with edit_cell or edit_file.")
        cell_id = args.cell_id or anchor.cell_id
        if is_notebook(anchor.document) != (cell_id is not None):
            raise InvalidRequest(
                f"{anchor.document} has no cells; leave cell_id out."
                if cell_id
                else f"{anchor.document} is a notebook; say which cell by cell_id."
            )
        found = await self._proposing.find(anchor.document, cell_id)

        def applied_to(text: str) -> Replacement | NoMatch | AmbiguousMatch:
            return _replaced(args, anchor, replace(found, text=text))

        return found, await asyncio.to_thread(
            self._proposing.merge, found, RequestedEdit(applied_to), context
        )


def _replaced(
    args: ProposeEditArguments, anchor: Anchor, found: EditableText
) -> Replacement | NoMatch | AmbiguousMatch:
    old, new = args.old_string, args.new_string
    if found.cell_id is None:
        old, new = normalized_text(old), normalized_text(new)
    return replace_near(found.text, old, new, _anchor_span(anchor, found))


def _anchor_span(anchor: Anchor, found: EditableText) -> tuple[int, int] | None:
    """Return the characters of the anchor; None in another cell, or if they are uncertain."""
    if found.cell_id != anchor.cell_id:
        return None
    place = locate_anchor(found.text, anchor)
    if place.range is None or place.certainty != "exact":
        return None
    units = Utf16Text(found.text)
    return units.character_at(place.range.from_), units.character_at(place.range.to)
