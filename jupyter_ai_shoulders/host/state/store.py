"""The state directory of one process: log, sessions and blobs over one database.

Part of the composition root: ``host.build`` makes it and closes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.operation_journal import SqliteOperationJournal
from jupyter_ai_shoulders.storage.purge import Purge
from jupyter_ai_shoulders.storage.sessions.conversation_texts import ConversationTexts
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.forks import SqliteForks
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.storage.sessions.text_index import TextIndex
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_origin import StateOrigin
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import SessionId


class StateStore:
    """The stored state; creates nothing before the first write."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        ids: IdSource,
        redact: Callable[[str], str],
        home: Path,
        *,
        redact_streamed: Callable[[str], str] | None = None,
    ) -> None:
        """``home`` is ``~/.shoulders``. For the two functions see ``SqliteEventLog``."""
        self.directory = StateDirectory(path)
        self.origin = StateOrigin(self.directory, home)
        self.hub = EventBus()
        self.blobs = FileBlobs(self.directory)
        self._database = Database(self.directory, clock, begin=self.origin.claim)
        self.log = SqliteEventLog(
            self._database,
            self.hub,
            clock,
            self.blobs.flush,
            redact,
            redact_streamed=redact_streamed,
        )
        self.index = TextIndex(self._database)
        self.conversation_texts = ConversationTexts(self._database)
        self.sessions = SqliteSessions(self._database, self.log, clock, self.index)
        self.operations = SqliteOperationJournal(self._database, self.log, clock, ids)
        self.schedules = SqliteSchedules(self._database, self.log)
        self._purge = Purge(self._database, clock)
        self.forks = SqliteForks(self._database, self.log, self.hub, clock)

    async def open(self) -> None:
        """Open existing files, repaired if need be, and purge old deleted sessions.

        Raises ``StateUnavailable``.
        """
        for session_id in await asyncio.to_thread(self._opened):
            self.log.forget(session_id)

    def _opened(self) -> list[SessionId]:
        self._database.existing()
        return self._purge.run()

    def problem(self) -> ErrorInfo | None:
        """Return why nothing can be stored now, None when it can."""
        try:
            self.directory.check()
            self._database.existing()
        except StateUnavailable as error:
            return error.info
        return self._database.full()

    def on_disk_full(self, notify: Callable[[], None]) -> None:
        """Call ``notify`` when a write finds the disk full, and when one finds space again."""
        self._database.fullness_changed = notify

    def damage(self) -> ErrorInfo | None:
        """Return the damage of a database that is kept for repair, None without one."""
        report = self.directory.damage_report()
        if report is None:
            return None
        return ErrorInfo(
            code="state_unavailable",
            message=report,
            hint="Check the disk, and look for what is missing in a backup. Delete the kept file "
            "when you no longer need it; this message goes with it.",
            retryable=False,
        )

    async def aclose(self) -> None:
        """Write everything to the disk and release the directory for another process."""
        async with AsyncExitStack() as stack:
            stack.callback(self._database.close)
            stack.callback(self.index.close)
            await self.log.aclose()
