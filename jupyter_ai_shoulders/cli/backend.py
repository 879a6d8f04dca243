"""What the commands need of an engine, wherever it is: in a server, or in this process.

``attached`` and ``alone`` are the two; ``place`` chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.folder_trust import FolderTrustView, PutTrust
from jupyter_ai_shoulders.wire.api.responses import (
    ModelList,
    ProviderHealth,
    ProviderTest,
    SessionList,
)
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
    """What ``run`` asks for."""

    prompt: str
    document: str | None = None
    """The notebook or file it is about; its path in the workspace."""
    model: str | None = None
    mode: Mode | None = None
    toolset: Toolset | None = None
    session: str | None = None
    """A conversation that goes on."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended."""

    answer: Answer
    waits_for: ev.Event | None = None


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """What the doctor asks an engine."""

    workspace: Path
    server_url: str | None
    """None where the engine is this process's own."""
    server_version: str | None
    state_error: ErrorInfo | None
    usage_error: ErrorInfo | None
    package_errors: tuple[ErrorInfo, ...]
    models: ModelList
    settings_problems: tuple[SettingsProblem, ...]
    permission_problems: tuple[str, ...]
    sandbox: str


class Backend(Protocol):
    """The engine as commands see it. Raises ``ClientError`` or ``ShouldersError``."""

    @property
    def workspace(self) -> Path:
        """The folder whose files it works on."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...

    def run(self, request: RunRequest, sink: EventSink) -> RunOutcome:
        """Do a turn; an interrupt cancels it."""
        ...

    def chat(self) -> ChatBackend:
        """Open it for a chat; close what is returned first."""
        ...

    def sessions(self, kind: SessionKind | None, text: str | None, limit: int) -> SessionList:
        """Return conversations, the newest first."""
        ...

    def export(self, session: str, form: ExportFormat) -> str:
        """Return a conversation as text."""
        ...

    def usage(self, by: UsageBy) -> Usage:
        """Return what was used this month."""
        ...

    def models(self) -> ModelList:
        """Return the models and providers."""
        ...

    def facts(self) -> BackendFacts:
        """Return what is known of the engine's own health."""
        ...

    def trust(self) -> FolderTrustView:
        """Return the settings that came with the folder, and whether they are trusted."""
        ...

    def answer_trust(self, command: PutTrust) -> FolderTrustView:
        """Trust or decline some of them."""
        ...

    def test(self, provider: str) -> ProviderTest:
        """Make one real call to a provider."""
        ...

    def set_key(self, provider: str, key: str) -> ProviderHealth:
        """Store a provider's key."""
        ...

    def remove_key(self, provider: str) -> ProviderHealth:
        """Forget a provider's stored key."""
        ...
