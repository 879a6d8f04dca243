"""Port of the commands to an engine, in a server or in this process.

Implemented by ``remote`` and ``in_process``; ``backend_selection`` chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryChange, MemoryView, PostMemory
from jupyter_ai_shoulders.wire.api.folder_trust import FolderTrustView, PutTrust
from jupyter_ai_shoulders.wire.api.responses import (
    ModelList,
    ProviderHealth,
    ProviderTest,
    SessionList,
)
from jupyter_ai_shoulders.wire.api.search import SearchQuery, SearchResults
from jupyter_ai_shoulders.wire.api.settings import SettingsProblem
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.sessions import Mode, SessionKind, Toolset
from jupyter_ai_shoulders.wire.usage import Usage, UsageBy

if TYPE_CHECKING:
    from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend

ExportFormat = Literal["md", "jsonl", "ipynb"]
EventSink = Callable[[ev.Event], None]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Arguments of ``run``."""

    prompt: str
    document: str | None = None
    """The notebook or file of the prompt; its path in the workspace."""
    model: str | None = None
    mode: Mode | None = None
    toolset: Toolset | None = None
    session: str | None = None
    """A conversation to continue."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended."""

    answer: Answer
    waits_for: ev.Event | None = None


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """Facts about an engine for the doctor."""

    workspace: Path
    server_url: str | None
    """None for an engine in this process."""
    server_version: str | None
    state_error: ErrorInfo | None
    usage_error: ErrorInfo | None
    package_errors: tuple[ErrorInfo, ...]
    models: ModelList
    settings_problems: tuple[SettingsProblem, ...]
    permission_problems: tuple[str, ...]
    sandbox: str


class Backend(Protocol):
    """An engine for commands. Raises ``ClientError`` or ``ShouldersError``."""

    @property
    def workspace(self) -> Path:
        """The engine's workspace."""
        ...

    def close(self) -> None:
        """Close the engine's connection."""
        ...

    def run(self, request: RunRequest, sink: EventSink) -> RunOutcome:
        """Run a turn; an interrupt cancels it."""
        ...

    def chat(self) -> ChatBackend:
        """Open a chat; close it before this back end."""
        ...

    def search(self, query: SearchQuery) -> SearchResults:
        """Return places of the workspace."""
        ...

    def sessions(self, kind: SessionKind | None, text: str | None, limit: int) -> SessionList:
        """Return conversations, newest first."""
        ...

    def export(self, session: str, form: ExportFormat) -> str:
        """Return a conversation as text."""
        ...

    def usage(self, by: UsageBy, first_day: date | None = None) -> Usage:
        """Return the usage from a day on; this month's by default."""
        ...

    def models(self) -> ModelList:
        """Return the models and providers."""
        ...

    def facts(self) -> BackendFacts:
        """Return the engine's facts for the doctor."""
        ...

    def trust(self) -> FolderTrustView:
        """Return the settings that came with the folder, and whether they are trusted."""
        ...

    def answer_trust(self, command: PutTrust) -> FolderTrustView:
        """Trust or decline some of these settings."""
        ...

    def memory(self) -> MemoryView:
        """Return what is remembered."""
        ...

    def remember(self, command: PostMemory) -> MemoryChange:
        """Add a statement."""
        ...

    def forget(self, statement: str) -> MemoryChange:
        """Remove a statement."""
        ...

    def test(self, provider: str) -> ProviderTest:
        """Make one real call to a provider."""
        ...

    def set_key(self, provider: str, key: str) -> ProviderHealth:
        """Store a provider's key."""
        ...

    def remove_key(self, provider: str) -> ProviderHealth:
        """Remove a provider's stored key."""
        ...
