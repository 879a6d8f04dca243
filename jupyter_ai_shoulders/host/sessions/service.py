"""Creates, changes and deletes conversations, the same for every surface.

Called by the server's handlers; the engine runs the turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.engine.session.driver import bypass_forbidden_error
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.api.commands import CreateSession, PatchSession
from jupyter_ai_shoulders.wire.events import Opener
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import (
    Mode,
    ParentCall,
    Session,
    SessionKind,
    SessionSource,
    Toolset,
    ToolsMode,
)

_SOURCES: dict[SessionKind, SessionSource] = {
    "chat": "chat",
    "task": "task",
    "run": "http",
    "scheduled": "schedule",
    "kernel": "kernel",
    "agent": "mcp",
}
_INTERACTIVE: frozenset[SessionKind] = frozenset({"chat", "task", "kernel", "agent"})


class Turns(Protocol):
    """The part of the engine that is needed here."""

    def is_running(self, session_id: SessionId) -> bool:
        """Return whether a turn of the session is open and not interrupted."""
        ...

    async def cancel(self, session_id: SessionId) -> None:
        """Stop the running turn."""
        ...

    async def settled(self, session_id: SessionId) -> None:
        """Return once nothing runs."""
        ...


class ModelLookup(Protocol):
    """The part of the catalogue that is needed here."""

    def resolve(self, model_id: ModelId | None) -> object:
        """Raise ``ShouldersError``; code ``unknown_model`` if the catalogue lacks the model."""
        ...


class DeletionListener(Protocol):
    """Receives deletions, which no event records."""

    def deleted(self, session: Session) -> None:
        """Notify everyone who may see the session."""
        ...


@dataclass(frozen=True, slots=True)
class SessionDefaults:
    """Defaults for values that the creator of a session left open."""

    mode: Mode = "ask"
    toolset: Toolset = "full"
    allow_bypass: bool = True
    """Whether a session may be in the mode ``bypass``; it is never a default."""


class SessionService:
    """The life cycle of a conversation outside its turns."""

    def __init__(
        self,
        *,
        sessions: SqliteSessions,
        turns: Turns,
        models: ModelLookup,
        pages: DeletionListener,
        ids: IdSource,
        defaults: SessionDefaults,
    ) -> None:
        self._sessions = sessions
        self._turns = turns
        self._models = models
        self._pages = pages
        self._ids = ids
        self._defaults = defaults

    def create(
        self,
        command: CreateSession,
        owner: str | None,
        session_id: SessionId | None = None,
        *,
        opener: Opener | None = None,
        parent: ParentCall | None = None,
    ) -> Session:
        """Store a new session; ``opener`` is the conversation whose agent requested it.

        ``parent`` makes it the conversation of a sub-agent.

        Raises ``InvalidRequest`` (unknown model), ``PolicyRefusal`` (mode), ``StateUnavailable``.
        """
        self._check(command.model)
        self._check_mode(command.mode)
        return self._sessions.add(
            Session(
                id=session_id or SessionId(self._ids.new("ses")),
                kind=command.kind,
                source=command.source or _SOURCES[command.kind],
                title=command.title or "",
                model=command.model,
                mode=command.mode or self._defaults.mode,
                tools=_tools(command.toolset, command.tools or "enabled"),
                toolset=command.toolset or self._defaults.toolset,
                interactive=_interactive(command),
                status="idle",
                anchor=command.anchor,
                owner=owner,
                parent=parent,
                message_count=0,
                last_seq=0,
                tokens_used=0,
                window=None,
                cost_micro_usd=None,
                created_at="",
                updated_at="",
            ),
            opener,
        )

    def change(self, session: Session, command: PatchSession) -> Session:
        """Change the fields that the command names.

        Raises ``Conflict`` when the running or interrupted turn depends on it, ``InvalidRequest``
        (unknown model), ``PolicyRefusal`` (mode, or a sub-agent).
        """
        changes = command.model_dump(exclude_none=True)
        if session.parent is not None and changes.keys() & {"model", "mode", "tools"}:
            raise PolicyRefusal(
                "A sub-agent works with the model, mode and tools that it was given.",
                hint="Change those of the conversation it belongs to.",
            )
        if self._turns.is_running(session.id) and changes.keys() & {"model", "mode", "status"}:
            raise Conflict(
                "The conversation's turn is running; model, mode and status cannot change now.",
                code="turn_running",
                hint="Wait for the turn to end, or stop it.",
                retryable=True,
            )
        if session.status in {"interrupted", "waiting"} and "status" in changes:
            raise Conflict(
                "The conversation's turn was interrupted or paused and is still open.",
                hint="Resume or discard the turn first.",
            )
        self._check(command.model)
        self._check_mode(command.mode)
        changes["tools"] = _tools(session.toolset, command.tools or session.tools)
        changed = session.model_copy(update=changes)
        return session if changed == session else self._sessions.update(changed)

    async def delete(self, session: Session) -> None:
        """Stop the running turn and hide the session and its sub-agents; for 30 days it can be
        restored.
        """
        try:
            await self._turns.cancel(session.id)
        except StateUnavailable as error:
            if error.info.code != "quarantined":  # nothing runs for a log that cannot be read
                raise
        await self._turns.settled(session.id)  # its last updates would bring it back into lists
        self._sessions.delete(session.id)
        self._pages.deleted(session)
        for child in self._sessions.children(session.id):
            await self.delete(child)

    def undelete(self, session_id: SessionId, owner: str | None) -> Session:
        """Restore a deleted session and its sub-agents.

        Raises ``NotFound``, also for another owner's.
        """
        session = self._sessions.undelete(session_id, owner)
        for child in self._sessions.children(session_id, deleted=True):
            self.undelete(child.id, owner)
        if session.mode != "bypass":
            return session
        return self._sessions.update(session.model_copy(update={"mode": "ask"}))

    def _check_mode(self, mode: Mode | None) -> None:
        if mode == "bypass" and not self._defaults.allow_bypass:
            raise bypass_forbidden_error()

    def _check(self, model: ModelId | None) -> None:
        """Refuse an unknown model; a model without a key may be chosen."""
        if model is None:
            return
        try:
            self._models.resolve(model)
        except ShouldersError as error:
            if error.info.code != "no_key":
                raise


def _tools(toolset: Toolset | None, tools: ToolsMode) -> ToolsMode:
    """Return whether tools may be called; never if the answer goes into the user's text."""
    return "disabled" if toolset == "inline" else tools


def _interactive(command: CreateSession) -> bool:
    """Return whether a user can be asked: by kind, unless the creator says."""
    if command.interactive is not None:
        return command.interactive
    return command.kind in _INTERACTIVE
