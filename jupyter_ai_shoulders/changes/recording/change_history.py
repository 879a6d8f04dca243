"""What was done to documents since a point of a session's log: a fold of its record. Pure.

Used by ``changes.restore.restores`` and for what kernels hold. Events that a branch hides count:
the conversation was hidden, what had been done to documents was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.changes.recording.snapshots import outputs_hash, title_of
from jupyter_ai_shoulders.changes.remaining_hunks import remove_agent_changes
from jupyter_ai_shoulders.wire.event_types.restore import RestoreOrder
from jupyter_ai_shoulders.wire.events import CellDeed, CellsChange, Checkpoint, Event
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version


@dataclass(slots=True)
class CellHistory:
    """What became of one cell by our hand."""

    created: bool = False
    deleted: bool = False
    moved: bool = False
    version: Version | None = None
    """Of the last text we gave it, None when we gave it none."""
    source: str | None = None
    texts: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    """Each text we gave it, behind the one it stood on where that was not our last."""
    foreign_version: Version | None = None
    """Of the text it had when we deleted it last, if that was not ours."""
    outputs_touched: bool = False
    outputs: str | None = None
    """Hash of the outputs we left last; None also when we cannot tell."""
    execution_count: int | None = None
    runs: list[CellDeed] = field(default_factory=list[CellDeed])
    first: BlobHash | None = None
    """The whole cell before we touched its outputs, or it, first."""
    last: BlobHash | None = None
    """The whole cell as it was before we deleted it last."""

    def add(self, action: CellDeed) -> None:
        """Take the next deed."""
        match action.what:
            case "made" | "edited":
                self.created = self.created or action.what == "made"
                self.deleted = self.deleted and action.what == "edited"
                self._add_text(action)
            case "deleted":
                self.deleted = True
                self.foreign_version = None if action.version == self.version else action.version
            case "moved":
                self.moved = True
            case "outputs" | "ran":
                self.outputs_touched = True
                self.outputs, self.execution_count = action.outputs, action.execution_count
            case "scratch":
                pass
        if action.what in {"ran", "scratch"}:
            self._add_run(action)

    def _add_text(self, action: CellDeed) -> None:
        """Note a text as ours, unless it is one that came back with a cell we had deleted."""
        ours = action.version != self.foreign_version
        self.version, self.source = (action.version, action.source) if ours else (None, None)
        if action.source is not None and ours:
            self.texts.append((action.base, action.source))

    def without_agent_changes(self, before: str | None) -> str | None:
        """Return the text of before with what others wrote in it between our changes."""
        baseline, left = before, before
        for base, source in self.texts:
            if base is not None and left is not None:
                baseline = remove_agent_changes(baseline, left, base).baseline
            left = source
        return baseline

    def _add_run(self, action: CellDeed) -> None:
        """The end of a run takes the place of its beginning."""
        if self.runs and self.runs[-1].outputs is None and self.runs[-1].version == action.version:
            self.runs.pop()
        self.runs.append(action)


@dataclass(slots=True)
class DocumentHistory:
    """What became of one document."""

    document: str
    text: BlobHash | None = None
    """Its cells before the first change."""
    cells: dict[CellId, CellHistory] = field(default_factory=dict[CellId, CellHistory])

    @property
    def changed(self) -> bool:
        """Whether its cells are others than before, as far as we know."""
        return any(
            cell.created or cell.deleted or cell.moved or cell.version or cell.outputs_touched
            for cell in self.cells.values()
        )

    @property
    def runs(self) -> list[CellDeed]:
        """What ran in its kernel."""
        return [action for cell in self.cells.values() for action in cell.runs]

    def cell(self, cell_id: CellId) -> CellHistory:
        """Return the story of a cell, begun when there is none."""
        return self.cells.setdefault(cell_id, CellHistory())


@dataclass(frozen=True, slots=True)
class HistoryRange:
    """Which of a session's deeds are meant: all behind an event, or those of a turn alone.

    What a restore did counts as a turn of its own, named by the restore.
    """

    after: int
    turn_id: TurnId | None = None

    def includes(self, event: Event) -> bool:
        """Return whether the event tells of one of them."""
        if event.seq <= self.after:
            return False
        return self.turn_id is None or self.turn_id == _turn_of(event)


def _turn_of(event: Event) -> TurnId | None:
    match event:
        case CellsChange(restore_id=str(restore_id)):
            return TurnId(restore_id)
        case Checkpoint(order=RestoreOrder(restore_id=restore_id)):
            return TurnId(restore_id)
        case _:
            return event.turn_id


def document_histories(events: Iterable[Event], part: HistoryRange) -> dict[str, DocumentHistory]:
    """Return what was done to each document by the events of a part."""
    found: dict[str, DocumentHistory] = {}

    def history_of(document: str) -> DocumentHistory:
        return found.setdefault(document, DocumentHistory(document))

    for event in events:
        if not part.includes(event):
            continue
        match event:
            case Checkpoint():
                for kept in event.documents:
                    history = history_of(kept.document)
                    history.text = history.text or kept.blob
                for whole in event.cells:
                    cell = history_of(whole.document).cell(whole.cell_id)
                    cell.first, cell.last = cell.first or whole.blob, whole.blob
            case CellsChange():
                for action in event.cells:
                    history_of(event.document).cell(action.cell_id).add(action)
            case _:
                pass
    return {name: history for name, history in found.items() if history.changed or history.runs}


def document_changed_within_turn(events: Iterable[Event], seq: int) -> str | None:
    """Return a document whose checkpoint is before ``seq`` and whose turn changed it after.

    There is no snapshot then of how it was at ``seq``.
    """
    before: set[tuple[str, str | None]] = set()
    fresh: set[tuple[str, str | None]] = set()
    for event in events:
        match event:
            case Checkpoint():
                group = before if event.seq < seq else fresh
                group |= {(kept.document, event.turn_id) for kept in event.documents}
            case CellsChange() if event.seq > seq and event.turn_id is not None:
                key = (event.document, event.turn_id)
                if key in before and key not in fresh:
                    return event.document
            case _:
                pass
    return None


def cell_actions(edits: Sequence[CellEdit], inverse: Sequence[CellEdit]) -> list[CellDeed]:
    """Return what edits that were applied did; their inverse has the texts of what is gone."""
    texts_before = {
        edit.cell_id: edit.source for edit in inverse if isinstance(edit, CellInsert | CellSource)
    }
    return [_action(edit, texts_before.get(edit.cell_id)) for edit in edits]


def _action(edit: CellEdit, texts_before: str | None) -> CellDeed:
    match edit:
        case CellSource() | CellInsert():
            edited = isinstance(edit, CellSource)
            return CellDeed(
                cell_id=edit.cell_id,
                what="edited" if edited else "made",
                title=title_of(edit.source),
                source=edit.source,
                base=texts_before if edited else None,
                version=cell_version(edit.source),
            )
        case CellOutputs():
            return CellDeed(
                cell_id=edit.cell_id,
                what="outputs",
                title="",
                outputs=outputs_hash(edit.outputs),
                execution_count=edit.execution_count,
            )
        case CellDelete():
            version = None if texts_before is None else cell_version(texts_before)
            title = "" if texts_before is None else title_of(texts_before)
            return CellDeed(cell_id=edit.cell_id, what="deleted", title=title, version=version)
        case CellMove():
            return CellDeed(cell_id=edit.cell_id, what="moved", title="")


def text_changes(
    edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
) -> Iterator[tuple[CellId, str | None, str | None]]:
    """Return cells with their texts before and after edits that were applied.

    None is a cell that was not there. ``inverse`` takes the edits back, the last one first.
    """
    before = _texts(inverse)
    for cell_id, after in _texts(edits).items():
        if cell_id in before and before[cell_id] != after:
            yield cell_id, before[cell_id], after


def _texts(edits: Sequence[CellEdit]) -> dict[CellId, str | None]:
    """Return what edits make of texts."""
    texts: dict[CellId, str | None] = {}
    for edit in edits:
        match edit:
            case CellSource() | CellInsert():
                texts[edit.cell_id] = edit.source
            case CellDelete():
                texts[edit.cell_id] = None
            case _:
                pass
    return texts
