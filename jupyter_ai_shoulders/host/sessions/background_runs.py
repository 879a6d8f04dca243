"""Background runs: an external prompt becomes a turn of a session of kind ``run``.

Called by the handler of ``POST runs``.
"""

from __future__ import annotations

import hashlib
import itertools

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage, StartRun
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session


class BackgroundRuns:
    """Starts and continues runs."""

    def __init__(
        self, conversations: SessionService, sessions: SqliteSessions, engine: Engine, ids: IdSource
    ) -> None:
        self._conversations = conversations
        self._sessions = sessions
        self._engine = engine
        self._ids = ids

    async def start(self, command: StartRun, owner: str | None) -> tuple[Session, bool]:
        """Send the prompt; return the session and whether it is new.

        The same ``external_key`` (or, without one, the same ``id``) means the same session, per
        owner; after its deletion the key starts another one. A prompt whose ``id`` was accepted
        before starts nothing. Raises ``InvalidRequest`` (blank, unknown model), ``ShouldersError``
        (model), ``StateUnavailable``.
        """
        if not command.prompt.strip() and not command.attachments:
            raise InvalidRequest("prompt: a run needs text or an attachment.")
        session, is_new = self._session(command, owner)
        crash_point("runs.session.found")
        message = SendMessage(
            id=command.id or MessageId(self._ids.new("msg")),
            text=command.prompt,
            attachments=command.attachments,
            model=command.model,
            mode=command.mode,
        )
        await self._engine.send(session.id, message)
        return self._sessions.get(session.id), is_new

    def _session(self, command: StartRun, owner: str | None) -> tuple[Session, bool]:
        created = CreateSession(
            kind="run",
            model=command.model,
            mode=command.mode,
            toolset=command.toolset,
            interactive=command.interactive,
        )
        key = command.external_key or command.id
        if key is None:
            return self._conversations.create(created, owner), True
        for number in itertools.count(1):
            session_id = _session_id(key, owner, number)
            try:
                return self._sessions.get(session_id), False
            except NotFound:
                if not self._sessions.was_deleted(session_id):
                    return self._conversations.create(created, owner, session_id), True
        raise AssertionError("there is always another number")


def _session_id(key: str, owner: str | None, number: int) -> SessionId:
    """Return the session id of a key; it is derived, so nothing has to store it."""
    named = f"{owner or ''}\0{key}\0{number}".encode("utf-8", "surrogatepass")
    return SessionId(f"run_{hashlib.sha256(named).hexdigest()[:24]}")
