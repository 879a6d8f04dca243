"""Copies of unsaved notebooks outside the browser, so that a crash does not lose typed text.

The last announced state of every dirty notebook, with the agent's edits that are not on disk, is
stored in the state directory. Written by ``notebook.backends.live.open_notebooks`` at each
announcement, off the event loop, only the newest; loaded when the server starts again. A copy
marked ``left`` waits for the user (``notebook.backends.live.recovery_offers``).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.unsaved_edits import UnsavedEdit, UnsavedEdits
from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId, ClientId

log = logging.getLogger(__name__)


class RecoveryStore(Protocol):
    """Small files of the state directory by name. All methods block and may run in any thread."""

    def put(self, name: str, text: str) -> None:
        """Store a text, all or nothing. Raises ``StateUnavailable``."""
        ...

    def remove(self, name: str) -> None:
        """Remove a text that may not exist. Raises ``StateUnavailable``."""
        ...

    def read_all(self) -> Mapping[str, str]:
        """Return all texts by name. Raises ``StateUnavailable``."""
        ...


class RecoveryCopy(WireModel):
    """An unsaved notebook as a page last announced it.

    ``journal`` are the agent's edits that are not on the disk. ``left`` says that nobody waits for
    the page any more: what is in here waits for the user. ``base`` are the texts that unsaved ones
    were made of, null for new cells; None altogether when they are not known. A copy without cells
    is of edits of the agent that found another cell than the one they were made for.
    """

    version: int = 1
    at: Timestamp
    path: str
    page_path: str
    client: ClientId
    epoch: int
    saved_at: str | None
    cells: tuple[AnnouncedCell, ...]
    journal: tuple[UnsavedEdit, ...]
    left: bool = False
    base: dict[CellId, str | None] | None = None

    @property
    def is_agents(self) -> bool:
        """Whether this holds edits of the agent, not text of the user."""
        return not self.cells

    def claim(self, path: WorkspacePath) -> NotebookClaim:
        """Return the claim of the copy's page."""
        return NotebookClaim(
            client=self.client,
            path=path,
            page_path=self.page_path,
            epoch=self.epoch,
            cells=self.cells,
            dirty=True,
            saved_at=self.saved_at,
            focus=0,
            present=False,
            base=self._whole_base(),
        )

    def _whole_base(self) -> dict[CellId, str] | None:
        if self.base is None:
            return None
        texts = {cell.id: self.base.get(cell.id, cell.source) for cell in self.cells}
        return {cell_id: text for cell_id, text in texts.items() if text is not None}


class KnownRenames(WireModel):
    """The notebooks that were renamed: the new path by the old one."""

    version: int = 1
    moves: dict[str, str]


RETRY_SECONDS = 5.0
"""Seconds until a copy that could not be written, on a full disk, is tried again."""
_RENAMES = "moves"
"""The name the renames are stored under; copies are named by hashes."""


class NotebookRecoveryCopies:
    """Writes the newest copy of each page and notebook, one at a time."""

    def __init__(self, store: RecoveryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._queued: dict[str, WireModel | None] = {}
        self.renames: dict[str, str] = {}
        """Renames of a former process; loaded with the copies."""
        self._stored: set[str] = set()
        self._for_user: dict[str, RecoveryCopy] = {}
        self._task: asyncio.Task[None] | None = None
        self._failed: dict[str, WireModel | None] = {}
        self._retry_timer: asyncio.TimerHandle | None = None

    def keep(self, claim: NotebookClaim, journal: UnsavedEdits, *, left: bool = False) -> None:
        """Store a page's unsaved notebook."""
        name = copy_name(claim.path, claim.client)
        self._stored.add(name)
        self._for_user.pop(name, None)
        copy = self._copy(claim, journal).model_copy(update={"left": left})
        if left:
            self._for_user[name] = copy
        self._write(name, copy)

    def keep_rejected(self, claim: NotebookClaim, entries: Sequence[UnsavedEdit]) -> None:
        """Store edits of the agent whose cell was changed since they were made."""
        if not entries:
            return
        log.warning("%d edits of the agent to %s came too late", len(entries), claim.path)
        update = {"cells": (), "base": None, "left": True}
        copy = self._copy(claim, tuple(entries)).model_copy(update=update)
        edits = (entry.model_dump_json() for entry in entries)
        name = _name(claim.path, claim.client, copy.at, *edits)
        self._for_user[name] = copy
        self._write(name, copy)

    def drop(self, claim: NotebookClaim) -> None:
        """Remove a page's copy: everything is saved, or the user discarded it."""
        name = copy_name(claim.path, claim.client)
        if name in self._stored:
            self.forget(name)

    def waiting_for_user(self, path: WorkspacePath) -> Mapping[str, RecoveryCopy]:
        """Return the copies of a notebook that wait for the user, by name, oldest first."""
        found = [(name, copy) for name, copy in self._for_user.items() if copy.path == path]
        return dict(sorted(found, key=lambda item: item[1].at))

    @property
    def paths(self) -> set[WorkspacePath]:
        """The notebooks with copies that wait for the user."""
        return {WorkspacePath(copy.path) for copy in self._for_user.values()}

    def forget(self, name: str) -> None:
        """Remove a copy: the user decided on it, or a notebook contains all of it."""
        self._stored.discard(name)
        self._for_user.pop(name, None)
        self._write(name, None)

    def keep_renames(self, renames: Mapping[str, str]) -> None:
        """Store the known renames."""
        self._write(_RENAMES, KnownRenames(moves=dict(renames)))

    def renamed(self, old: WorkspacePath, new: WorkspacePath) -> None:
        """Move the copies that wait for the user with their notebook."""
        for name, copy in self.waiting_for_user(old).items():
            self._for_user[name] = copy.model_copy(update={"path": new, "page_path": new})
            self._write(name, self._for_user[name])

    async def load(self) -> list[RecoveryCopy]:
        """Return the copies of a former process; skip those that cannot be read."""
        try:
            texts = await asyncio.to_thread(self._store.read_all)
        except ShouldersError as error:
            log.warning("Unsaved notebooks of the last session cannot be read: %s", error)
            return []
        copies: list[RecoveryCopy] = []
        for name, text in texts.items():
            try:
                if name == _RENAMES:
                    self.renames = KnownRenames.model_validate(json.loads(text)).moves
                    continue
                copy = RecoveryCopy.model_validate(json.loads(text))
            except ValueError:
                log.warning("The recovery copy %s cannot be read; it is left alone", name)
                continue
            self._stored.add(name)
            if copy.left:
                self._for_user[name] = copy
            else:
                copies.append(copy)
        return copies

    async def settle(self) -> None:
        """Wait until everything is written."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def aclose(self) -> None:
        """Wait until everything that can be written is."""
        await self.settle()
        if self._retry_timer is not None:
            self._retry_timer.cancel()

    def _copy(self, claim: NotebookClaim, journal: UnsavedEdits) -> RecoveryCopy:
        return RecoveryCopy(
            at=timestamp(self._clock.now()),
            path=claim.path,
            page_path=claim.page_path,
            client=claim.client,
            epoch=claim.epoch,
            saved_at=claim.saved_at,
            cells=claim.cells,
            journal=journal,
            base=changed_texts(claim),
        )

    def _write(self, name: str, copy: WireModel | None) -> None:
        self._queued[name] = copy
        self._failed.pop(name, None)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_queued())

    async def _write_queued(self) -> None:
        while self._queued:
            name = next(iter(self._queued))
            copy = self._queued.pop(name)
            try:
                await asyncio.to_thread(self._store_one, name, copy)
            except ShouldersError as error:
                log.warning("An unsaved notebook has no recovery copy now: %s", error)
                self._retry_later(name, copy)

    def _retry_later(self, name: str, copy: WireModel | None) -> None:
        """Schedule another attempt, unless a newer copy is written first."""
        if name in self._queued:
            return
        self._failed[name] = copy
        if self._retry_timer is None:
            self._retry_timer = asyncio.get_running_loop().call_later(
                RETRY_SECONDS, self._retry_failed
            )

    def _retry_failed(self) -> None:
        self._retry_timer = None
        for name, copy in [*self._failed.items()]:
            self._write(name, copy)

    def _store_one(self, name: str, copy: WireModel | None) -> None:
        if copy is None:
            self._store.remove(name)
            crash_point("live.copy.removed")
        else:
            self._store.put(name, json.dumps(copy.model_dump(mode="json")))
            crash_point("live.journal.written")


def changed_texts(claim: NotebookClaim) -> dict[CellId, str | None] | None:
    """Return the bases of a page's unsaved texts: null for new cells; None if unknown."""
    if claim.base is None:
        return None
    return {
        cell.id: claim.base.get(cell.id)
        for cell in claim.cells
        if cell.source != claim.base.get(cell.id)
    }


def copy_name(path: WorkspacePath, client: ClientId) -> str:
    """Return the name of the copy of a page's unsaved notebook."""
    return _name(path, client)


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]
