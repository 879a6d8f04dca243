"""The services that all sessions of an engine share.

Made by ``engine.engine``.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from random import Random

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.environment.snapshot import EmptyEnvironment
from jupyter_ai_shoulders.engine.null_ports import NullBudgets, NullInputReceiver
from jupyter_ai_shoulders.engine.ports import (
    Budgets,
    Environment,
    InputReceiver,
    Models,
    Summarizer,
)
from jupyter_ai_shoulders.engine.request.builder import ToolEncodingCache
from jupyter_ai_shoulders.engine.request.compaction import NoSummarizer
from jupyter_ai_shoulders.storage.base import Blobs, EventLog, Sessions
from jupyter_ai_shoulders.tools.permissions.grants import PlannedGrants, no_planned_grants
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId, SessionId

REMEMBERED = 1000


class MessageSenders:
    """The pages that recent messages were sent from, so that calls change documents there.

    Kept in memory only: after a restart, documents are changed in the page focused last.
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[SessionId, MessageId], ClientId] = OrderedDict()

    def record_sender(
        self, session_id: SessionId, message_id: MessageId, client: ClientId | None
    ) -> None:
        """Record the page a message was sent from."""
        if client is not None:
            self._pages[session_id, message_id] = client
            if len(self._pages) > REMEMBERED:
                self._pages.popitem(last=False)

    def page_of(self, session_id: SessionId, message_id: MessageId | None) -> ClientId | None:
        """Return the page a message was sent from, None when unknown."""
        return None if message_id is None else self._pages.get((session_id, message_id))


@dataclass(frozen=True, slots=True)
class EngineServices:
    """The ports of the engine, shared by all sessions."""

    log: EventLog
    sessions: Sessions
    blobs: Blobs
    models: Models
    tools: ToolRegistry
    rules: PermissionStore
    clock: Clock
    ids: IdSource
    settings: EngineSettings
    background_tasks: BackgroundTasks
    inputs: InputReceiver = field(default_factory=NullInputReceiver)
    environment: Environment = field(default_factory=EmptyEnvironment)
    senders: MessageSenders = field(default_factory=MessageSenders)
    budgets: Budgets = field(default_factory=NullBudgets)
    summarizer: Summarizer = field(default_factory=NoSummarizer)
    planned_grants: PlannedGrants = no_planned_grants
    """Returns what a plan that leads a turn was allowed by the person who made it."""
    encoded: ToolEncodingCache = field(default_factory=ToolEncodingCache)
    rng: Random = field(default_factory=Random)
    """Spreads retries."""
