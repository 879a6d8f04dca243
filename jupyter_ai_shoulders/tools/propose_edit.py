"""The tool of task threads that proposes a change of the text they are about (chapter 09).

It changes nothing: the card in the thread applies, edits or dismisses it. Where the text to replace
occurs several times, the occurrence at the thread's place is meant.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import ClassVar, Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.anchors import Units, locate
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Progress,
    Result,
    ToolArguments,
)
from jupyter_ai_shoulders.tools.file_access import FileAccess, is_notebook
from jupyter_ai_shoulders.tools.file_write import written_text
from jupyter_ai_shoulders.tools.merged_edit import Change, MergedEdit
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.proposing import Proposing, Subject
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts
from jupyter_ai_shoulders.tools.text_replace import Ambiguous, Missing, Replaced, replace_near
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor, Toolset

PROPOSE_EDIT = "propose_edit"
_NO_PLACE = (
    "This conversation is not pinned to a place, so there is nothing to propose a change of."
)


class Anchors(Protocol):
    """Knows what threads are about; implemented by ``host.threads``."""

    def anchor(self, session_id: SessionId) -> Anchor | None:
        """Return the place of a thread as it was logged last; None of other conversations."""
        ...


class ProposeEditArguments(ToolArguments):
    """Arguments of ``propose_edit``."""

    old_string: str = Field(min_length=1, description="The exact text to replace.")
    new_string: str = Field(description="What takes its place.")
    cell_id: CellId | None = Field(
        default=None, description="Another cell of the notebook; none: the one this is about."
    )


class ProposeEdit:
    """Records what the agent would change at the thread's place."""

    name: ClassVar[str] = PROPOSE_EDIT
    category: ClassVar[Category] = "threads"
    risk: ClassVar[Risk] = "read"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = frozenset(
        {"document", "notebook", "workspace", "full"}
    )
    arguments = ProposeEditArguments

    def __init__(
        self,
        cells: NotebookAccess,
        files: FileAccess,
        ids: IdSource,
        anchors: Anchors,
        texts: SeenTexts | None = None,
    ) -> None:
        self._proposing = Proposing(cells, files, ids, texts)
        self._anchors = anchors

    async def subject(self, args: ProposeEditArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. Raises ``InvalidRequest`` outside of threads."""
        found, edit = await self._found(args, context)
        return await self._proposing.shown(found, edit)

    async def run(
        self, args: ProposeEditArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Propose, or say why not."""
        found, edit = await self._found(args, context)
        yield self._proposing.result(found, edit, "", context)

    async def _found(
        self, args: ProposeEditArguments, context: CallContext
    ) -> tuple[Subject, MergedEdit]:
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

        def applied_to(text: str) -> Replaced | Missing | Ambiguous:
            return _replaced(args, anchor, replace(found, text=text))

        return found, await asyncio.to_thread(
            self._proposing.merged, found, Change(applied_to), context
        )


def _replaced(
    args: ProposeEditArguments, anchor: Anchor, found: Subject
) -> Replaced | Missing | Ambiguous:
    old, new = args.old_string, args.new_string
    if found.cell_id is None:
        old, new = written_text(old), written_text(new)
    return replace_near(found.text, old, new, _place(anchor, found))


def _place(anchor: Anchor, found: Subject) -> tuple[int, int] | None:
    """Return the characters the thread is about; None in another cell, or when it is unsure."""
    if found.cell_id != anchor.cell_id:
        return None
    place = locate(found.text, anchor)
    if place.range is None or place.certainty != "exact":
        return None
    units = Units(found.text)
    return units.character(place.range.from_), units.character(place.range.to)
