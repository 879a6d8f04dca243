"""The engine of a running server, over HTTP: commands share conversations with the server's pages.

Made by ``backend_selection``.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from urllib.parse import quote

from jupyter_ai_shoulders.cli.backend import (
    BackendFacts,
    EventSink,
    ExportFormat,
    RunOutcome,
    RunRequest,
)
from jupyter_ai_shoulders.cli.chat.remote_chat import RemoteChat
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.interrupts import defer_interrupt
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryChange, MemoryView, PostMemory
from jupyter_ai_shoulders.wire.api.commands import SetKey
from jupyter_ai_shoulders.wire.api.folder_trust import FolderTrustView, PutTrust
from jupyter_ai_shoulders.wire.api.responses import (
    ModelList,
    ProviderHealth,
    ProviderTest,
    SessionList,
    ToolList,
)
from jupyter_ai_shoulders.wire.api.search import SearchQuery, SearchResults
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import SessionKind
from jupyter_ai_shoulders.wire.usage import Usage, UsageBy


class RemoteBackend:
    """See ``Backend``."""

    def __init__(self, client: Client, workspace: Path) -> None:
        self._client = client
        self.workspace = workspace

    def close(self) -> None:
        """See ``Backend.close``."""
        self._client.close()

    def run(self, request: RunRequest, sink: EventSink) -> RunOutcome:
        """See ``Backend.run``."""
        turn, interrupted, cancelled = None, False, False
        while True:
            try:
                if turn is None:
                    with defer_interrupt() as held:
                        turn = self._begin(request)
                    interrupted = held.received
                if interrupted and not cancelled:
                    cancelled = True
                    turn.cancel()
                for event in turn:
                    sink(event)
            except KeyboardInterrupt:
                if turn is None or cancelled:  # and its end takes too long
                    raise
                interrupted = True
                continue  # to the end of the turn
            return RunOutcome(turn.so_far(), turn.waits_for)

    def _begin(self, request: RunRequest) -> Turn:
        session = request.session or (
            self._client.new_session(
                kind="run",
                source="cli",
                model=request.model,
                mode=request.mode,
                toolset=request.toolset,
            ).id
        )
        return self._client.stream(
            request.prompt,
            session,
            model=request.model,
            mode=request.mode,
            context=message_context(request),
        )

    def chat(self) -> RemoteChat:
        """See ``Backend.chat``."""
        return RemoteChat(self._client)

    def search(self, query: SearchQuery) -> SearchResults:
        """See ``Backend.search``."""
        return self._client.search(
            query.q, path=query.path, kind=query.kind, limit=query.limit, wait=query.wait_s
        )

    def sessions(self, kind: SessionKind | None, text: str | None, limit: int) -> SessionList:
        """See ``Backend.sessions``."""
        found = self._client.list(kind=kind, text=text, limit=limit)
        return SessionList(sessions=found, next_cursor=None)

    def export(self, session: str, form: ExportFormat) -> str:
        """See ``Backend.export``."""
        return self._client.export(session, form)

    def usage(self, by: UsageBy, first_day: date | None = None) -> Usage:
        """See ``Backend.usage``."""
        return self._client.usage(by, first_day)

    def models(self) -> ModelList:
        """See ``Backend.models``."""
        return self._client.models()

    def facts(self) -> BackendFacts:
        """See ``Backend.facts``."""
        status = self._client.status()
        return BackendFacts(
            workspace=self.workspace,
            server_url=self._client.connection.address.url,
            server_version=status.version,
            state_error=status.state_directory_error,
            usage_error=status.usage_error,
            package_errors=status.package_errors,
            models=self._client.models(),
            settings_problems=self._client.settings().problems,
            permission_problems=self._client.connection.get("tools", ToolList).problems,
            sandbox=status.sandbox,
        )

    def trust(self) -> FolderTrustView:
        """See ``Backend.trust``."""
        return self._client.connection.get("trust", FolderTrustView)

    def answer_trust(self, command: PutTrust) -> FolderTrustView:
        """See ``Backend.answer_trust``."""
        stored = self._client.connection.send("PUT", "trust", command)
        return FolderTrustView.model_validate_json(stored.content)

    def test(self, provider: str) -> ProviderTest:
        """See ``Backend.test``."""
        path = f"providers/{quote(provider, safe='')}/test"
        return self._client.connection.post(path, None, ProviderTest)

    def memory(self) -> MemoryView:
        """See ``Backend.memory``."""
        found = self._client.connection.send("GET", "memory")
        return MemoryView.model_validate_json(found.content)

    def remember(self, command: PostMemory) -> MemoryChange:
        """See ``Backend.remember``."""
        stored = self._client.connection.send("POST", "memory", command)
        return MemoryChange.model_validate_json(stored.content)

    def forget(self, statement: str) -> MemoryChange:
        """See ``Backend.forget``."""
        path = f"memory/{quote(statement, safe='')}"
        removed = self._client.connection.send("DELETE", path)
        return MemoryChange.model_validate_json(removed.content)

    def set_key(self, provider: str, key: str) -> ProviderHealth:
        """See ``Backend.set_key``."""
        path = f"providers/{quote(provider, safe='')}/key"
        stored = self._client.connection.send("PUT", path, SetKey(key=key))
        return ProviderHealth.model_validate_json(stored.content)

    def remove_key(self, provider: str) -> ProviderHealth:
        """See ``Backend.remove_key``."""
        path = f"providers/{quote(provider, safe='')}/key"
        removed = self._client.connection.send("DELETE", path)
        return ProviderHealth.model_validate_json(removed.content)


def message_context(request: RunRequest) -> MessageContext | None:
    """Return the context of a message: the document that the command names."""
    if request.document is None:
        return None
    return MessageContext(active_document=request.document, open_documents=(request.document,))
