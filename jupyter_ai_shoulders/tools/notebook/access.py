"""Cell lookup, read tracking and refusals shared by the notebook tools."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import Notebook, Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import Rendering, render_notebook
from jupyter_ai_shoulders.tools.base import CallContext, Result, text_content
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache, known_text
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    NOW_READS,
    KnownText,
    MergedText,
    user_changes_diff,
    user_changes_text,
)
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultKind, SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.versions import cell_version

NEVER_RUN = "never-run"
"""Tag of cells that the agent may not run."""
ASK_BEFORE_RUN = "ask-before-run"
"""Tag of cells whose run always needs approval."""
_LISTED_IDS = 30


@dataclass(frozen=True, slots=True)
class LocatedCell:
    """A cell in its notebook; ``number`` counts from 1."""

    notebook: Notebook
    snapshot: NotebookSnapshot
    cell: NotebookCell
    number: int

    @property
    def is_live(self) -> bool:
        """Whether edits go to an open document rather than to the file."""
        return self.notebook.backend != "disk"

    def with_cell(self, changes: Mapping[str, object]) -> LocatedCell:
        """Return the location with a changed cell."""
        cell = self.cell.model_copy(update=changes)
        cells = tuple(cell if other.id == cell.id else other for other in self.snapshot.cells)
        return replace(self, snapshot=snapshot_with(self.snapshot, cells), cell=cell)

    @property
    def label(self) -> str:
        """The cell's label in sentences."""
        return f"Cell {self.number} (id={self.cell.id})"

    @property
    def language(self) -> str | None:
        """The cell's language, for syntax highlighting."""
        if self.cell.cell_type != "code":
            return "markdown" if self.cell.cell_type == "markdown" else None
        return notebook_language(self.snapshot)


class NotebookIndex(Protocol):
    """Lists the notebooks of the workspace."""

    async def near(self, path: str) -> Sequence[str]:
        """Return the notebooks similar to a wrong path, best first."""
        ...

    async def all(self) -> Sequence[str]:
        """Return all notebooks, those nearest to the root first."""
        ...


class NotebookAccess:
    """Opens notebooks for the tools; for a wrong path, the error lists similar ones."""

    def __init__(self, notebooks: Notebooks, names: NotebookIndex) -> None:
        self._notebooks = notebooks
        self._names = names

    async def open(self, path: str) -> Notebook:
        """Return the notebook. Raises ``NotFound``, ``InvalidRequest``."""
        try:
            return self._notebooks.open(path)
        except NotFound as error:
            near = await self._names.near(path)
            raise NotFound(
                f"There is no notebook {path}.",
                hint=f"Notebooks here: {', '.join(near)}" if near else "There are none yet.",
            ) from error

    async def find_cell(self, path: str, cell_id: CellId) -> LocatedCell:
        """Return a cell of a notebook. Raises like ``open`` and ``Notebook.read``."""
        notebook = await self.open(path)
        snapshot = await notebook.read()
        position = snapshot.position(cell_id)
        if position is None:
            raise no_such_cell(snapshot, cell_id)
        return LocatedCell(notebook, snapshot, snapshot.cells[position], position + 1)

    def in_page(self, path: str) -> bool:
        """Return whether a page has the notebook open."""
        return self._notebooks.in_page(path)


def snapshot_with(snapshot: NotebookSnapshot, cells: Sequence[NotebookCell]) -> NotebookSnapshot:
    """Return the snapshot with other cells."""
    return NotebookSnapshot(
        snapshot.path, snapshot.backend, cells, snapshot.metadata, dirty=snapshot.dirty
    )


def no_such_cell(snapshot: NotebookSnapshot, cell_id: str) -> NotFound:
    """Return the error for a missing cell, with the existing ones."""
    ids = [cell.id for cell in snapshot.cells]
    near = difflib.get_close_matches(cell_id, ids, n=1, cutoff=0.7)
    known = f"Did you mean {near[0]}? " if near else ""
    listed = ", ".join(ids[:_LISTED_IDS]) + (", …" if len(ids) > _LISTED_IDS else "")
    return NotFound(
        f"There is no cell with the id {cell_id!r} in {snapshot.path}.",
        code="cell_not_found",
        hint=f"{known}Cells are named by their ids, not by their numbers. It has: {listed or '-'}",
    )


def notebook_language(snapshot: NotebookSnapshot) -> str | None:
    """Return the language of the code cells, as the notebook's metadata says."""
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        section = snapshot.metadata.get(key)
        language = section.get(field) if isinstance(section, dict) else None
        if isinstance(language, str):
            return language
    return None


def has_tag(cell: NotebookCell, tag: str) -> bool:
    """Return whether the cell carries a tag."""
    tags = cell.metadata.get("tags")
    return isinstance(tags, list) and tag in tags


def file_name(path: str) -> str:
    """Return the last part of a path, for labels."""
    return path.rpartition("/")[2]


def fully_shown_cells(rendering: Rendering) -> frozenset[CellId]:
    """Return the cells shown in full even after truncation for the model; they count as read."""
    return rendering.whole if truncate(rendering.text) == rendering.text else frozenset()


def failure_result(
    error: ErrorInfo,
    content: str | None = None,
    *,
    kind: ResultKind = "none",
    data: Json = None,
    seen: tuple[SeenVersion, ...] = (),
    proposal: Proposal | None = None,
) -> Result:
    """Return a failure: the error for people; for the model also further content to read."""
    said = " ".join(filter(None, (error.message, error.hint)))
    return Result(
        envelope=ToolEnvelope(ok=False, kind=kind, data=data, error=error),
        content=text_content(f"{said}\n\n{content}" if content else said),
        seen=seen,
        proposal=proposal,
    )


class CellReadTracker:
    """Checks that a conversation has read the cells it changes, and records its reads."""

    def __init__(self, texts: ReadTextCache) -> None:
        self.texts = texts

    def note(self, path: str, cell: NotebookCell) -> SeenVersion:
        """Record that the conversation knows the cell's whole source."""
        return self.note_text(path, cell.id, cell.source)

    def note_text(self, path: str, cell_id: CellId, source: str) -> SeenVersion:
        """Record that the conversation knows (or wrote) this source."""
        version = cell_version(source)
        self.texts.add(version, source)
        return SeenVersion(path=path, cell_id=cell_id, version=version)

    def seen(self, place: LocatedCell, context: CallContext) -> Version | None:
        """Return the version that the conversation last read."""
        return context.seen.get((place.snapshot.path, place.cell.id))

    def known_text(self, place: LocatedCell, context: CallContext) -> KnownText:
        """Return the versions of the cell's text that the conversation knows."""
        cell = place.cell
        key = (place.snapshot.path, cell.id)
        return known_text(self.texts, context, key, cell.version, cell.source)

    def unread_result(self, place: LocatedCell) -> Result:
        """Refuse to change an unread cell; the result shows its text, so it counts as read then."""
        error = ErrorInfo(
            code="not_read",
            message=f"{place.label} was not read in this conversation yet; nothing was changed.",
            hint="Here it is; call again if the change is still right.",
        )
        return self.refused_result(place, error)

    def stale_result(self, place: LocatedCell, proposal: Proposal | None = None) -> Result:
        """Refuse to change a cell that the user has changed; the result shows its current text."""
        kept = "Your version was put to the user as a proposal. " if proposal else ""
        error = ErrorInfo(
            code="stale",
            message=f"{place.label} was changed since you read it; nothing was overwritten.",
            hint=f"{kept}It now reads as follows; if a change is still needed, make it to this.",
        )
        return self.refused_result(place, error, proposal)

    def describe_user_changes(
        self, place: LocatedCell, edit: MergedText, context: CallContext
    ) -> tuple[str, tuple[SeenVersion, ...]]:
        """Return the note on the user's other changes, and the versions known thereby."""
        path, cell_id = place.snapshot.path, place.cell.id
        if self.known_text(place, context).read is None:
            after = place.with_cell({"source": edit.text, "version": cell_version(edit.text)})
            rendering = render_notebook(after.snapshot, [cell_id])
            whole = cell_id in fully_shown_cells(rendering)
            seen = (self.note_text(path, cell_id, edit.text),) if whole else ()
            return f"\n{NOW_READS}\n\n{rendering.text}", seen
        if edit.expected == edit.text:
            return "", (self.note_text(path, cell_id, edit.text),)
        diff = user_changes_diff(edit.expected, edit.text)
        known = edit.expected if diff is None else edit.text
        return f"\n{user_changes_text(diff)}", (self.note_text(path, cell_id, known),)

    def refused_result(
        self, place: LocatedCell, error: ErrorInfo, proposal: Proposal | None = None
    ) -> Result:
        """Refuse and show the cell's current text, which counts as read from then on."""
        rendering = render_notebook(place.snapshot, [place.cell.id])
        whole = place.cell.id in fully_shown_cells(rendering)
        return failure_result(
            error,
            rendering.text,
            kind="proposal" if proposal else "none",
            data=None if proposal is None else {"proposal_id": proposal.id},
            seen=(self.note(place.snapshot.path, place.cell),) if whole else (),
            proposal=proposal,
        )


def conflict_error(place: LocatedCell, conflict: CellConflict) -> ErrorInfo:
    """Return why the notebook refused an edit, other than for a changed source."""
    match conflict.reason:
        case "protected":
            return ErrorInfo(
                code="cell_protected",
                message=f"{place.label} is protected: its metadata does not allow this change.",
                hint="Leave it as it is, or ask the user to lift the protection.",
            )
        case "deleted":
            return ErrorInfo(
                code="cell_not_found",
                message=f"{place.label} was deleted in the meantime; nothing was changed.",
                hint="Read the notebook again.",
            )
        case "changed" | "exists":
            return ErrorInfo(
                code="conflict",
                message=f"{place.label} changed while it was edited; nothing was overwritten.",
                hint="Read the notebook again.",
                retryable=True,
            )
