"""Targets of proposals: cells of notebooks and text files.

Used by ``changes.proposals.service``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextDocuments, TextEditConflict
from jupyter_ai_shoulders.notebook.base import Conflicted, Notebook
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellSource


@dataclass(frozen=True, slots=True)
class CurrentText:
    """The current text of a target."""

    text: str
    version: Version


class ProposalTarget(Protocol):
    """The text that a proposal changes."""

    async def write(self, text: str, expected: Version) -> bool:
        """Replace the text; return False when it no longer matches ``expected``."""
        ...

    async def current(self) -> CurrentText | None:
        """Return the current text, None when the target no longer exists."""
        ...


class CellTarget:
    def __init__(self, notebook: Notebook, cell_id: CellId, actor: ProposalActor) -> None:
        self._notebook = notebook
        self._cell_id = cell_id
        self._actor = actor

    async def write(self, text: str, expected: Version) -> bool:
        """Change the cell. Raises ``Conflict`` (protected) and as changing a notebook."""
        edit = CellSource(cell_id=self._cell_id, source=text)
        with self._actor.acting_for(text):
            outcome = await self._notebook.apply([edit], {self._cell_id: expected})
        if not isinstance(outcome, Conflicted):
            return True
        if outcome.conflicts[0].reason == "protected":
            raise Conflict(
                "The cell is protected: its metadata does not allow edits.",
                code="cell_protected",
                hint="Remove the protection in the cell's properties, then apply again.",
            )
        return False

    async def current(self) -> CurrentText | None:
        """Return the cell. Raises the errors of reading a notebook."""
        cell = (await self._notebook.read()).cell(self._cell_id)
        return None if cell is None else CurrentText(cell.source, cell.version)


class FileTarget:
    def __init__(self, texts: TextDocuments, path: str, actor: ProposalActor) -> None:
        self._texts = texts
        self._path = path
        self._actor = actor

    async def write(self, text: str, expected: Version) -> bool:
        """Change the file. Raises the errors of changing a file."""
        review = self._actor.review and self._actor.is_agent_text(text)
        origin = ChangeOrigin(self._actor.proposal.session_id, by="user", review=review)
        try:
            outcome = await self._texts.replace(self._path, text, expected, origin)
        except NotFound:
            return False
        return not isinstance(outcome, TextEditConflict)

    async def current(self) -> CurrentText | None:
        """Return the file. Raises the errors of reading a file."""
        try:
            snapshot = await self._texts.read(self._path)
        except NotFound:
            return None
        return CurrentText(snapshot.text, snapshot.version)


@dataclass(frozen=True, slots=True)
class ProposalActor:
    """Records a change that is written as the agent proposed it; other text is the user's."""

    recorder: ChangeRecorder | None
    proposal: Proposal
    review: bool = False
    """Whether the applied change is reviewed."""
    rewritten: bool = False
    """Whether the user replaced the proposed text."""

    def is_agent_text(self, text: str) -> bool:
        """Return whether the text is the agent's, possibly merged with the user's changes."""
        return text == self.proposal.new or not self.rewritten

    @contextmanager
    def acting_for(self, text: str) -> Generator[None]:
        """Record changes as the proposal's while its own text is written."""
        if self.recorder is None or not self.is_agent_text(text):
            yield
            return
        session_id = self.proposal.session_id
        actor = Actor(session_id, self.proposal.id, by="user", review=self.review)
        self.recorder.set_actor(actor)
        try:
            yield
        finally:
            self.recorder.set_actor(None)
