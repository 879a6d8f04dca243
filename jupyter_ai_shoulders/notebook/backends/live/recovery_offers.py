"""Offers recovered text that is in no notebook to the pages that open the notebook.

Used by ``notebook.backends.live.open_notebooks``. Text typed in a page that did not return, and
edits of the agent whose cell the user changed, stay in recovery copies. A copy ends only when the
user answers, or when a notebook contains all of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import (
    NotebookRecoveryCopies,
    RecoveryCopy,
)
from jupyter_ai_shoulders.wire.frames import (
    AnnouncedCell,
    DocumentRecovered,
    DocumentRecovery,
    DocumentRecoveryAnswer,
    RecoveredCell,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellInsert, CellSource
from jupyter_ai_shoulders.wire.versions import cell_version

log = logging.getLogger(__name__)


class RecoveryOffers:
    """Sends the copies of a notebook that wait for the user, and handles the user's decisions."""

    def __init__(self, copies: NotebookRecoveryCopies, transport: PageTransport) -> None:
        self._copies = copies
        self._transport = transport

    def show(self, page: NotebookClaim) -> None:
        """Offer a page all texts that its notebook lacks; remove the copies it contains.

        An edit of the agent that a page has unsaved is removed once it is saved.
        """
        missing = {
            name: (copy, missing_cells(copy, page.cells))
            for name, copy in self._copies.waiting_for_user(page.path).items()
        }
        typed = {
            (cell.id, cell.source)
            for copy, cells in missing.values()
            if not copy.is_agents
            for cell in cells
        }
        for name, (copy, cells) in missing.items():
            if not cells and not (page.dirty and copy.is_agents):
                # The agent's text must survive a page that closes without saving.
                self._copies.forget(name)
            # The agent's changes to unsaved text are part of that text.
            shown = [c for c in cells if not copy.is_agents or (c.id, c.source) not in typed]
            if shown:
                self._offer(page, name, copy, shown)

    def saved(self, page: NotebookClaim) -> None:
        """Remove the copies that a notebook contains, now that it is saved."""
        for name, copy in self._copies.waiting_for_user(page.path).items():
            if not missing_cells(copy, page.cells):
                self._copies.forget(name)
                self._withdraw(page, name)

    def answered(
        self, page: NotebookClaim, others: Iterable[NotebookClaim], answer: DocumentRecoveryAnswer
    ) -> None:
        """Remove a copy that the user restored or discarded, and its notice in all pages."""
        log.info("A recovery copy of %s was %s", page.path, answer.action)
        if answer.recovery_id in self._copies.waiting_for_user(page.path):
            self._copies.forget(answer.recovery_id)
        for claim in (page, *others):
            self._withdraw(claim, answer.recovery_id)
        self.show(page)

    def withdraw(self, name: str, pages: Iterable[NotebookClaim]) -> None:
        """Remove the notices about a page that returned."""
        for page in pages:
            self._withdraw(page, name)

    def _withdraw(self, page: NotebookClaim, name: str) -> None:
        frame = DocumentRecovered(path=page.page_path, recovery_id=name)
        self._transport.send(page.client, frame)

    def _offer(
        self, page: NotebookClaim, name: str, copy: RecoveryCopy, cells: Sequence[RecoveredCell]
    ) -> None:
        frame = DocumentRecovery(
            path=page.page_path,
            recovery_id=name,
            at=copy.at,
            author="agent" if copy.is_agents else "user",
            cells=tuple(cells),
        )
        self._transport.send(page.client, frame)


def missing_cells(copy: RecoveryCopy, there: Sequence[AnnouncedCell]) -> list[RecoveredCell]:
    """Return the unsaved texts of a copy that a notebook with these cells lacks."""
    versions = {cell.id: cell.version for cell in there}
    types = {cell.id: cell for cell in there}
    made = _of_agent(copy, types) if copy.is_agents else _of_user(copy)
    return [
        cell
        for cell in made
        if versions.get(cell.id) != cell_version(cell.source)
        and (cell.base is not None or cell.source.strip())
    ]


def _of_user(copy: RecoveryCopy) -> Iterator[RecoveredCell]:
    after: CellId | None = None
    for cell in copy.cells:
        if cell.source is not None and (copy.base is None or cell.id in copy.base):
            yield RecoveredCell(
                id=cell.id,
                cell_type=cell.cell_type,
                after=after,
                base=None if copy.base is None else copy.base[cell.id],
                source=cell.source,
            )
        after = cell.id


def _of_agent(copy: RecoveryCopy, there: dict[CellId, AnnouncedCell]) -> Iterable[RecoveredCell]:
    """Return the agent's texts, one per cell."""
    wanted: dict[CellId, RecoveredCell] = {}
    for entry in copy.journal:
        edit = entry.edit
        earlier = wanted.get(edit.cell_id)
        if isinstance(edit, CellSource):
            known = there.get(edit.cell_id)
            wanted[edit.cell_id] = RecoveredCell(
                id=edit.cell_id,
                cell_type=known.cell_type if known else "code",
                after=earlier.after if earlier else None,
                base=earlier.base if earlier else entry.base,
                source=edit.source,
            )
        elif isinstance(edit, CellInsert):
            wanted[edit.cell_id] = RecoveredCell(
                id=edit.cell_id,
                cell_type=edit.cell_type,
                after=edit.after,
                base=None,
                source=edit.source,
            )
    return wanted.values()
