"""The memory of the user and of the workspace: reads, changes and undoes statements.

Made by ``host.shared_services``; used by the tools, the handlers of ``memory`` and, for requests,
by ``host.context.environment``. Each change is one row of the operation log, so that it is undone
alone, with its turn, or by a restore.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection
from dataclasses import replace

from pydantic import TypeAdapter

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import (
    NotFound,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.memory.memory_text import PREFERENCES, MemoryText, Statement
from jupyter_ai_shoulders.core.memory.statement_change import StatementChange
from jupyter_ai_shoulders.engine.environment.snapshot import MemorySnapshot, RememberedStatement
from jupyter_ai_shoulders.files.base import ByteStore, ChangeOrigin, LoggedChange, OperationJournal
from jupyter_ai_shoulders.host.memory.memory_places import SHOWN, MemoryPlaces
from jupyter_ai_shoulders.host.memory.planned_changes import (
    PREFIX,
    DoneChange,
    id_in_scope,
    no_statement,
    shown_statement,
    split_id,
    statement_change,
    with_replacement,
    with_statement,
)
from jupyter_ai_shoulders.host.memory.statement_checks import checked_statement
from jupyter_ai_shoulders.tools.agent.memory import MEMORY_TOOLS
from jupyter_ai_shoulders.wire.api.agent_data.memory import (
    MemoryChange,
    MemoryFileView,
    MemoryScope,
    MemoryStatement,
    MemoryView,
)
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId
from jupyter_ai_shoulders.wire.versions import well_formed


class MemoryService:
    """The memory; asynchronous methods do their work in threads."""

    def __init__(
        self,
        places: MemoryPlaces,
        journal: OperationJournal,
        blobs: ByteStore,
        clock: Clock,
        ids: IdSource,
        *,
        enabled: Callable[[], bool],
        redact: Callable[[str], str],
        changed: Callable[[], None],
        owner_of: Callable[[SessionId], str | None],
    ) -> None:
        """``changed`` tells the pages; ``owner_of`` returns the owner of a conversation."""
        self.places = places
        self.owner_of = owner_of
        self._journal = journal
        self._blobs = blobs
        self._clock = clock
        self._ids = ids
        self._enabled = enabled
        self._redact = redact
        self._changed = changed
        self._cached: dict[str | None, tuple[object, MemorySnapshot]] = {}

    @property
    def enabled(self) -> bool:
        """Whether there is a memory. Raises ``StateUnavailable``."""
        return self._enabled()

    def disabled_tools(self) -> Collection[str]:
        """Return the names of the tools that the settings switch off."""
        try:
            return () if self._enabled() else MEMORY_TOOLS
        except StateUnavailable:
            return MEMORY_TOOLS

    # reading

    async def view(self, owner: str | None) -> MemoryView:
        """Return what a user may see of the memory."""
        if not self._enabled():
            return MemoryView(enabled=False, files=())
        files = await asyncio.to_thread(
            lambda: tuple(self._file_view(scope, owner) for scope in self.places.scopes(owner))
        )
        return MemoryView(enabled=True, files=files)

    async def snapshot(self, owner: str | None) -> MemorySnapshot:
        """Return the statements for the requests of a user's conversations, redacted."""
        if not self._enabled():
            return MemorySnapshot()
        signature = self.places.signature()
        cached = self._cached.get(owner)
        if cached is None or cached[0] != signature:
            found = await asyncio.to_thread(self._read_all, owner)
            cached = self._cached[owner] = (signature, found)
        return self._redacted(cached[1])

    async def find(self, statement_id: str, owner: str | None) -> MemoryStatement:
        """Return a statement. Raises ``NotFound``, ``PolicyRefusal`` and as a file's ``read``."""
        self._check_enabled()
        scope, own_id = split_id(statement_id)
        file = self.places.file(scope, owner)
        text = await asyncio.to_thread(file.read)
        found = None if text is None else text.get(own_id)
        if found is None:
            raise no_statement(statement_id)
        return shown_statement(scope, found)

    def is_of(self, document: str, owner: str | None) -> bool:
        """Return whether an operation's document is a statement that this user may change."""
        path = document.partition("#")[0]
        return any(SHOWN[scope] == path for scope in self.places.scopes(owner))

    # changes

    async def remember(
        self,
        text: str,
        scope: MemoryScope,
        origin: ChangeOrigin,
        *,
        owner: str | None,
        replaces: str | None = None,
        preference: bool = False,
    ) -> MemoryChange:
        """Store a statement, in the place of one that it repeats or contradicts.

        Raises ``InvalidRequest``, ``TooLarge``, ``PolicyRefusal`` (a secret, switched off),
        ``NotFound`` (``replaces``), and as ``MemoryFile.change``.
        """
        self._check_enabled()
        statement = Statement(
            hashlib.sha256(self._ids.new("memory").encode()).hexdigest()[:8],
            checked_statement(text, self._redact),
            self._clock.now().date().isoformat(),
            origin.session_id or "",
            PREFERENCES if preference else "",
        )
        wanted = None if replaces is None else id_in_scope(replaces, scope)

        def plan(before: MemoryText) -> tuple[MemoryText, DoneChange]:
            return with_statement(before, statement, scope, wanted)

        return await self._change(scope, owner, origin, plan)

    async def edit(
        self, statement_id: str, text: str, origin: ChangeOrigin, *, owner: str | None
    ) -> MemoryChange:
        """Give a statement another text. Raises as ``remember``."""
        self._check_enabled()
        scope, own_id = split_id(statement_id)
        checked = checked_statement(text, self._redact)
        today = self._clock.now().date().isoformat()

        def plan(before: MemoryText) -> tuple[MemoryText, DoneChange]:
            known = before.get(own_id)
            if known is None:
                raise no_statement(statement_id)
            return with_replacement(
                before, replace(known, text=checked, date=today), scope, "edited"
            )

        return await self._change(scope, owner, origin, plan)

    async def forget(
        self, statement_id: str, origin: ChangeOrigin, *, owner: str | None
    ) -> MemoryChange:
        """Remove a statement. Raises ``NotFound``, ``PolicyRefusal``, ``StateUnavailable``."""
        self._check_enabled()
        scope, own_id = split_id(statement_id)

        def plan(before: MemoryText) -> tuple[MemoryText, DoneChange]:
            known = before.get(own_id)
            if known is None:
                raise no_statement(statement_id)
            after = before.removed(own_id)
            change = statement_change(scope, known, before, after)
            return after, DoneChange("forgot", known, None, change)

        return await self._change(scope, owner, origin, plan)

    async def undo(self, operation_id: OperationId, origin: ChangeOrigin) -> OperationId:
        """See ``files.undo.file_undo.RecordedUndo``.

        Raises ``Conflict`` if the statement was changed since, and as ``MemoryFile.change``.
        """
        change = self._journal.change(operation_id)
        if change.before is None:
            raise NotFound("What the change did is no longer stored.")
        recorded = await asyncio.to_thread(self._blobs.get, change.before)
        made = _codec().validate_json(recorded)
        undone = made.inverse()
        file = self.places.person if undone.scope == "person" else self.places.workspace
        if file is None:
            raise NotFound("The memory of this workspace is no longer there.")

        def work() -> None:
            def undo(before: MemoryText) -> MemoryText:
                after = undone.applied(before)
                restored = after.get(undone.id)
                own = [restored.text] if restored is not None and made.was_own else []
                self.places.note_own(undone.scope, after, own)
                return after

            file.change(undo)

        await asyncio.to_thread(work)
        self._changed()
        return await self._log(undone, origin)

    async def _change(
        self,
        scope: MemoryScope,
        owner: str | None,
        origin: ChangeOrigin,
        plan: Callable[[MemoryText], tuple[MemoryText, DoneChange]],
    ) -> MemoryChange:
        file = self.places.file(scope, owner)

        def work() -> DoneChange:
            found: list[DoneChange] = []

            def change(before: MemoryText) -> MemoryText:
                after, done = plan(before)
                states = self.places.states(scope, before)
                was_own = states.get(done.statement.id, "trusted") == "trusted"
                written = [] if done.kind == "forgot" else [done.statement.text]
                self.places.note_own(scope, after, written)
                found[:] = [replace(done, change=replace(done.change, was_own=was_own))]
                return after

            file.change(change)
            return found[0]

        done = await asyncio.to_thread(work)
        operation_id = await self._log(done.change, origin)
        self._changed()
        return MemoryChange(
            kind=done.kind,
            statement=shown_statement(scope, done.statement),
            previous=done.previous,
            operation_id=operation_id,
            near=tuple(shown_statement(scope, each) for each in done.near),
        )

    async def _log(self, change: StatementChange, origin: ChangeOrigin) -> OperationId:
        """Record a change that was made: a crash before leaves the statement, to be seen."""
        blob = await asyncio.to_thread(self._blobs.put, _codec().dump_json(change))
        name = f"{SHOWN[change.scope]}#{change.id}"
        operation_id = self._journal.begin(LoggedChange("memory", name, origin, before=blob))
        self._journal.end(operation_id, "done")
        return operation_id

    def _check_enabled(self) -> None:
        if not self._enabled():
            raise PolicyRefusal(
                "The memory is switched off.",
                code="disabled",
                hint="It can be switched on in AI Settings, Memory.",
            )

    # threads

    def _file_view(self, scope: MemoryScope, owner: str | None) -> MemoryFileView:
        try:
            text = self.places.file(scope, owner).read()
            states = self.places.states(scope, text or MemoryText(b""))
        except ShouldersError as error:
            return MemoryFileView(
                scope=scope, path=SHOWN[scope], text=None, statements=(), error=error.info
            )
        found = () if text is None else text.statements
        raw = None if text is None else text.content.decode("utf-8", "replace")
        return MemoryFileView(
            scope=scope,
            path=SHOWN[scope],
            text=raw,
            statements=tuple(
                shown_statement(scope, each).model_copy(update={"state": states[each.id]})
                for each in found
            ),
            error=None,
        )

    def _read_all(self, owner: str | None) -> MemorySnapshot:
        found: list[RememberedStatement] = []
        problems: list[str] = []
        unread: list[str] = []
        for scope in self.places.scopes(owner):
            try:
                text = self.places.file(scope, owner).read()
                states = self.places.states(scope, text or MemoryText(b""))
            except ShouldersError as error:
                problems.append(f"{SHOWN[scope]}: {error.info.message}")
                unread.append(PREFIX[scope])
                continue
            for each in () if text is None else text.statements:
                if states[each.id] != "declined":
                    known = replace(each, id=PREFIX[scope] + each.id, text=well_formed(each.text))
                    found.append(RememberedStatement(scope, known, states[each.id] == "trusted"))
        return MemorySnapshot(tuple(found), tuple(problems), tuple(unread))

    def _redacted(self, found: MemorySnapshot) -> MemorySnapshot:
        whole = "\n".join(each.statement.text for each in found.statements)
        if self._redact(whole) == whole:
            return found
        clean = (
            replace(each, statement=replace(each.statement, text=self._redact(each.statement.text)))
            for each in found.statements
        )
        return replace(found, statements=tuple(clean))


def _codec() -> TypeAdapter[StatementChange]:
    return TypeAdapter(StatementChange)
