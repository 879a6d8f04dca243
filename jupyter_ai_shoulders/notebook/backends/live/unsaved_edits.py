"""The agent's edits that are in a page, or meant for one, but not yet on disk; as a value.

Pure. Used by ``notebook.backends.live.open_notebooks``: when a page vanishes they are replayed on
the file; when it returns, or another page opens the notebook, they are sent there. Each is checked
against the version it was made on. The user's text is never in here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version


class UnsavedEdit(WireModel):
    """One edit; ``before`` is the version it was made on, ``after`` the one it made.

    ``client`` is the page whose unsaved notebook holds it, null while no page has it. ``base`` is
    the text it was made on, where it changes one. ``stored`` says that the file has it although
    its page is away; ``disk`` is the version the file then has of the cell, also below later edits.
    """

    edit: CellEdit
    before: Version | None
    after: Version | None
    client: ClientId | None
    base: str | None = None
    stored: bool = False
    disk: Version | None = None


UnsavedEdits = tuple[UnsavedEdit, ...]


def add_applied_edits(
    journal: UnsavedEdits, edits: Sequence[CellEdit], applied: Applied, client: ClientId | None
) -> UnsavedEdits:
    """Return the journal with newly applied edits."""
    texts = {
        edit.cell_id: edit.source
        for edit in applied.inverse
        if isinstance(edit, CellSource | CellInsert)
    }
    for edit in edits:
        base, after = texts.get(edit.cell_id), None
        before = None if base is None else cell_version(base)
        if isinstance(edit, CellSource | CellInsert):
            texts[edit.cell_id] = edit.source
            after = cell_version(edit.source)
        kept = base if isinstance(edit, CellSource) else None
        entry = UnsavedEdit(edit=edit, before=before, after=after, client=client, base=kept)
        journal = _added(journal, entry)
    return journal


def remove_saved(journal: UnsavedEdits, client: ClientId) -> UnsavedEdits:
    """Return the journal after a page saved all it has."""
    return tuple(entry for entry in journal if entry.client != client)


def remove_undone(
    journal: UnsavedEdits, client: ClientId, cells: Sequence[AnnouncedCell]
) -> UnsavedEdits:
    """Return the journal without the edits that the user undid in the page."""
    versions = {cell.id: cell.version for cell in cells}
    return tuple(
        entry for entry in journal if entry.client != client or not _is_undone(entry, versions)
    )


def release_from_pages(journal: UnsavedEdits, clients: Iterable[ClientId]) -> UnsavedEdits:
    """Return the journal after pages were given up: no page has their edits now."""
    gone = set(clients)
    return tuple(
        entry.model_copy(update={"client": None}) if entry.client in gone else entry
        for entry in journal
    )


def mark_held(journal: UnsavedEdits, entry: UnsavedEdit, client: ClientId) -> UnsavedEdits:
    """Return the journal after a page reported a pending edit it already has, unsaved."""
    held = entry.model_copy(update={"client": client})
    return tuple(held if item is entry else item for item in journal)


def reconcile_with_page(
    journal: UnsavedEdits, client: ClientId, cells: Sequence[AnnouncedCell], *, dirty: bool
) -> UnsavedEdits:
    """Return the journal after a page reported pending edits it already has.

    Saved edits are removed; unsaved ones are marked as held by the page.
    """
    versions = {cell.id: cell.version for cell in cells}
    kept: list[UnsavedEdit] = []
    for entry in journal:
        if entry.client is not None or not is_applied(entry, versions):
            kept.append(entry)
        elif dirty:
            kept.append(entry.model_copy(update={"client": client}))
    return tuple(kept)


def mark_stored(journal: UnsavedEdits, entry: UnsavedEdit) -> UnsavedEdits:
    """Return the journal after an edit of an absent page was written to the file."""
    stored = entry.model_copy(update={"stored": True, "disk": entry.after})
    return tuple(stored if item is entry else item for item in journal)


def edits_without_page(journal: UnsavedEdits) -> UnsavedEdits:
    """Return the edits that no page has."""
    return tuple(entry for entry in journal if entry.client is None)


def prepare_replay(
    entry: UnsavedEdit,
    order: Sequence[CellId],
    known: Iterable[CellId],
    *,
    in_file: bool = False,
) -> tuple[CellEdit, Mapping[CellId, Version]]:
    """Return the edit and its expected versions, for a notebook that has the cells ``known``.

    ``in_file``: for the file, which may have earlier edits already. A cell whose predecessor is
    missing goes after the nearest known one before it in ``order``.
    """
    edit = entry.edit
    expected: dict[CellId, Version] = {}
    before = entry.disk if in_file and entry.disk is not None else entry.before
    if isinstance(edit, CellSource | CellDelete) and before is not None:
        expected[edit.cell_id] = before
    if isinstance(edit, CellInsert | CellMove):
        edit = edit.model_copy(update={"after": nearest_known_cell(edit.after, order, set(known))})
    return edit, expected


def is_applied(entry: UnsavedEdit, versions: Mapping[CellId, Version]) -> bool:
    """Return whether a notebook with these versions has the edit already."""
    cell_id = entry.edit.cell_id
    match entry.edit:
        case CellSource():
            return versions.get(cell_id) == entry.after
        case CellInsert():
            return cell_id in versions
        case CellDelete():
            return cell_id not in versions
        case CellMove() | CellOutputs():
            return False
        case _:
            assert_never(entry.edit)


def _added(journal: UnsavedEdits, entry: UnsavedEdit) -> UnsavedEdits:
    """Append an entry and drop the entries it supersedes."""
    match entry.edit:
        case CellOutputs(cell_id=cell_id):
            kept = tuple(
                item
                for item in journal
                if not (isinstance(item.edit, CellOutputs) and item.edit.cell_id == cell_id)
            )
            return (*kept, entry)
        case CellSource(cell_id=cell_id):
            return _with_source_edit(journal, entry, cell_id)
        case CellDelete(cell_id=cell_id):
            others = tuple(item for item in journal if item.edit.cell_id != cell_id)
            of_cell = [item for item in journal if item.edit.cell_id == cell_id]
            inserted = any(isinstance(item.edit, CellInsert) for item in of_cell)
            disk = next((item.disk for item in reversed(of_cell) if item.disk), None)
            first = _first_version(journal, cell_id) or entry.before
            deletion = entry.model_copy(update={"before": first, "disk": disk})
            return others if inserted and disk is None else (*others, deletion)
        case CellInsert() | CellMove():
            return (*journal, entry)
        case _:
            assert_never(entry.edit)


def _with_source_edit(journal: UnsavedEdits, entry: UnsavedEdit, cell_id: CellId) -> UnsavedEdits:
    """Combine successive edits of one source into one."""
    for position, item in enumerate(journal):
        if (
            isinstance(item.edit, CellSource)
            and item.edit.cell_id == cell_id
            and item.after == entry.before
            and item.client == entry.client
        ):
            earlier = {"before": item.before, "base": item.base, "disk": item.disk}
            merged = entry.model_copy(update=earlier)
            return (*journal[:position], merged, *journal[position + 1 :])
    return (*journal, entry)


def _first_version(journal: UnsavedEdits, cell_id: CellId) -> Version | None:
    versions = (item.before for item in journal if item.edit.cell_id == cell_id and item.before)
    return next(versions, None)


def _is_undone(entry: UnsavedEdit, versions: Mapping[CellId, Version]) -> bool:
    cell_id = entry.edit.cell_id
    match entry.edit:
        case CellSource():
            return cell_id not in versions or versions[cell_id] == entry.before != entry.after
        case CellInsert() | CellMove() | CellOutputs():
            return cell_id not in versions
        case CellDelete():
            return cell_id in versions
        case _:
            assert_never(entry.edit)


def nearest_known_cell(
    after: CellId | None, order: Sequence[CellId], known: set[CellId]
) -> CellId | None:
    """Return ``after``, or the nearest known cell before it in ``order``."""
    if after is None or after in known:
        return after
    before = list(order[: order.index(after)]) if after in order else []
    return next((cell_id for cell_id in reversed(before) if cell_id in known), None)
