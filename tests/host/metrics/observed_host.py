"""A host over a scripted model, observed in a registry of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.metrics.service import Observability, ObservabilityOptions
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider, ScriptEntry
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, CreateSession, SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, SessionId
from tests.host.test_build import NoKernels, NoPages

MODEL = ModelId("claude-sonnet-5-5")
_numbers = itertools.count(1)


def busy() -> ProviderError:
    """Return an error after which the call is repeated at once."""
    return ProviderError("Too busy.", code="overloaded", retryable=True, retry_after_ms=1)


@dataclass
class Observed:
    """A host, its model, and what was measured."""

    host: Host
    model: ScriptedProvider
    registry: CollectorRegistry
    observability: Observability

    def session(self, model: ModelId = MODEL, owner: str | None = None) -> SessionId:
        """Create a conversation."""
        return self.host.session_service.create(CreateSession(model=model), owner).id

    async def send(self, session: SessionId, text: str = "Do it.") -> None:
        """Send a message; return when the turn ends or waits."""
        message = SendMessage(id=MessageId(f"m{next(_numbers)}"), text=text)
        await self.host.engine.send(session, message)
        await self.host.engine.settled(session)

    async def ask(self, *entries: ScriptEntry, session: SessionId | None = None) -> SessionId:
        """Play these replies to a message of a new conversation."""
        self.model.extend(*entries)
        session = session or self.session()
        await self.send(session)
        return session

    async def answer(self, session: SessionId, decision: Any) -> None:
        """Answer the pending approval."""
        asked = [
            logged.event.call_id
            for logged in self.host.log.read(session)
            if isinstance(logged.event, ev.ApprovalRequest)
        ]
        await self.host.engine.responses.answer_approval(
            session, asked[-1], AnswerApproval(decision=decision)
        )
        await self.host.engine.settled(session)

    def scraped(self) -> str:
        """Return what a scrape of the registry gets."""
        return generate_latest(self.registry).decode()

    def families(self) -> Mapping[str, Metric]:
        """Return the scraped metrics by name."""
        return {each.name: each for each in text_string_to_metric_families(self.scraped())}

    def values(self, sample: str) -> dict[tuple[str, ...], float]:
        """Return the values of a sample, by label values in the order of their names."""
        return {
            tuple(each.labels.values()): each.value
            for family in self.families().values()
            for each in family.samples
            if each.name == sample
        }

    def rows(self, event_type: str) -> list[dict[str, Any]]:
        """Return the bodies of the logged events of a type, read with SQL only."""
        with closing(sqlite3.connect(self.host.database)) as connection:
            found = connection.execute(
                "SELECT body FROM events WHERE type = ? ORDER BY id", (event_type,)
            ).fetchall()
        return [json.loads(body) for (body,) in found]


@asynccontextmanager
async def observed(
    root: Path,
    home: Path,
    *,
    registry: CollectorRegistry | None = None,
    options: ObservabilityOptions | None = None,
    models: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    observe: Callable[..., Observability] = Observability,
) -> AsyncGenerator[Observed]:
    """Open a host on ``root``."""
    model = ScriptedProvider()
    built = build_host(
        HostSettings(
            workspace=root,
            state_dir=root / ".shoulders",
            home=home,
            models=models or {},
            folder_trust="always",
            **(settings or {}),
        ),
        HostPorts(
            kernels=NoKernels(),
            pages=NoPages(),
            environ={"ANTHROPIC_API_KEY": "sk-ant-none"},
            adapter=lambda _: model,
        ),
    )
    registry = registry or CollectorRegistry()
    observability = observe(built, options or ObservabilityOptions(), registry)
    try:
        await built.ready()
        yield Observed(built, model, registry, observability)
    finally:
        async with asyncio.timeout(10):
            await built.aclose()
        observability.close()
