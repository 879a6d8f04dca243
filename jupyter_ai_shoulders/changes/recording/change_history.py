"""The changes of documents since a point in a session's log, folded from its events. Pure.

Used by ``changes.restore.restorer`` and for kernel drift. Events on a hidden branch count: hiding
the conversation does not undo its changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.changes.recording.snapshots import outputs_hash, title_of
from jupyter_ai_shoulders.changes.remaining_hunks import remove_agent_changes
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import CellOperation, CellsChange, Checkpoint, Event
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
    """What the agent did to one cell."""

    created: bool = False
    deleted: bool = False
    moved: bool = False
    version: Version | None = None
    """The version of the agent's last text, None when it wrote none."""
    source: str | None = None
    texts: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    """The agent's texts, each after the text it replaced, None where that was the agent's own."""
    foreign_version: Version | None = None
    """The version of the text at the last deletion, unless it was the agent's."""
    outputs_touched: bool = False
    outputs: str | None = None
    """Hash of the outputs the agent left last; None also when unknown."""
    execution_count: int | None = None
    runs: list[CellOperation] = field(default_factory=list[CellOperation])
    first: BlobHash | None = None
    """The whole cell before the agent first changed its outputs or deleted it."""
    last: BlobHash | None = None
    """The whole cell before the agent last deleted it."""

    def add(self, action: CellOperation) -> None:
        """Add the next action."""
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

    def _add_text(self, action: CellOperation) -> None:
        """Add a text as the agent's, unless it came back with a deleted cell."""
        ours = action.version != self.foreign_version
        self.version, self.source = (action.version, action.source) if ours else (None, None)
        if action.source is not None and ours:
            self.texts.append((action.base, action.source))

    def without_agent_changes(self, before: str | None) -> str | None:
        """Return ``before`` with the changes others made between the agent's."""
        baseline, left = before, before
        for base, source in self.texts:
            if base is not None and left is not None:
                baseline = remove_agent_changes(baseline, left, base).baseline
            left = source
        return baseline

    def _add_run(self, action: CellOperation) -> None:
        """Add a run; its end replaces its start."""
        if self.runs and self.runs[-1].outputs is None and self.runs[-1].version == action.version:
            self.runs.pop()
        self.runs.append(action)


@dataclass(slots=True)
class DocumentHistory:
    """What the agent did to one document."""

    document: str
    text: BlobHash | None = None
    """The cells before the first change."""
    cells: dict[CellId, CellHistory] = field(default_factory=dict[CellId, CellHistory])

    @property
    def changed(self) -> bool:
        """Whether its cells are known to have changed."""
        return any(
            cell.created or cell.deleted or cell.moved or cell.version or cell.outputs_touched
            for cell in self.cells.values()
        )

    @property
    def runs(self) -> list[CellOperation]:
        """The runs in its kernel."""
        return [action for cell in self.cells.values() for action in cell.runs]

    def cell(self, cell_id: CellId) -> CellHistory:
        """Return the history of a cell, created on demand."""
        return self.cells.setdefault(cell_id, CellHistory())


@dataclass(frozen=True, slots=True)
class HistoryRange:
    """The actions of a session to consider: all after an event, or those of one turn.

    A restore counts as a turn named by the restore's id.
    """

    after: int
    turn_id: TurnId | None = None

    def includes(self, event: Event) -> bool:
        """Return whether the event's actions are in the range."""
        if event.seq <= self.after:
            return False
        return self.turn_id is None or self.turn_id == _turn_of(event)


def _turn_of(event: Event) -> TurnId | None:
    match event:
        case CellsChange(restore_id=str(restore_id)):
            return TurnId(restore_id)
        case Checkpoint(order=RestoreRequest(restore_id=restore_id)):
            return TurnId(restore_id)
        case _:
            return event.turn_id


def document_histories(events: Iterable[Event], part: HistoryRange) -> dict[str, DocumentHistory]:
    """Return the history of each document within the range."""
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
    """Return a document that was checkpointed before ``seq`` and changed by the same turn after it.

    No snapshot of its text at ``seq`` exists then.
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


def cell_actions(edits: Sequence[CellEdit], inverse: Sequence[CellEdit]) -> list[CellOperation]:
    """Return the actions of applied edits; their inverse holds the replaced texts."""
    texts_before = {
        edit.cell_id: edit.source for edit in inverse if isinstance(edit, CellInsert | CellSource)
    }
    return [_action(edit, texts_before.get(edit.cell_id)) for edit in edits]


def _action(edit: CellEdit, texts_before: str | None) -> CellOperation:
    match edit:
        case CellSource() | CellInsert():
            edited = isinstance(edit, CellSource)
            return CellOperation(
                cell_id=edit.cell_id,
                what="edited" if edited else "made",
                title=title_of(edit.source),
                source=edit.source,
                base=texts_before if edited else None,
                version=cell_version(edit.source),
            )
        case CellOutputs():
            return CellOperation(
                cell_id=edit.cell_id,
                what="outputs",
                title="",
                outputs=outputs_hash(edit.outputs),
                execution_count=edit.execution_count,
            )
        case CellDelete():
            version = None if texts_before is None else cell_version(texts_before)
            title = "" if texts_before is None else title_of(texts_before)
            return CellOperation(cell_id=edit.cell_id, what="deleted", title=title, version=version)
        case CellMove():
            return CellOperation(cell_id=edit.cell_id, what="moved", title="")


def text_changes(
    edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
) -> Iterator[tuple[CellId, str | None, str | None]]:
    """Yield each changed cell with its text before and after applied edits.

    None means that the cell does not exist. ``inverse`` undoes the edits, last one first.
    """
    before = _texts(inverse)
    for cell_id, after in _texts(edits).items():
        if cell_id in before and before[cell_id] != after:
            yield cell_id, before[cell_id], after


def _texts(edits: Sequence[CellEdit]) -> dict[CellId, str | None]:
    """Return the texts that result from the edits."""
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
