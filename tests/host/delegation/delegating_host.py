"""A real host whose scripted model answers each conversation by its first message."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.providers.base import ModelRequest, Provider
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Say,
    ScriptedProvider,
    ScriptedTurn,
    ScriptEntry,
    turn,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import CreateSession, SendMessage
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Mode, Session, Toolset
from tests.host.test_build import NoKernels, NoPages

Scripts = Mapping[str, Sequence[ScriptEntry]]
"""Replies by a pattern in the first message of a conversation; a single one repeats."""
EventT = TypeVar("EventT", bound=ev.EventBase)
MODEL = ModelId("scripted")
PARENT = "Please survey."
LOG = "".join(f"line {number}\n" for number in range(1, 21))


def first_words(request: ModelRequest) -> str:
    """Return the text of the first message of a request."""
    parts = request.messages[0].parts
    return " ".join(part.text for part in parts if isinstance(part, TextPart))


class RoutedProvider(ScriptedProvider):
    """Plays one script per conversation, chosen by a pattern in its first message."""

    def __init__(self, scripts: Scripts) -> None:
        super().__init__()
        self.scripts = {pattern: list(entries) for pattern, entries in scripts.items()}

    def _next_turn(self, request: ModelRequest) -> ScriptedTurn:
        words = first_words(request)
        for pattern, entries in self.scripts.items():
            if re.search(pattern, words):
                entry = entries[0] if len(entries) == 1 else entries.pop(0)
                reply = entry if isinstance(entry, (ScriptedTurn, str)) else entry(request)
                return turn(Say(reply)) if isinstance(reply, str) else reply
        raise AssertionError(f"no script for {words[:200]!r}")

    def of(self, pattern: str) -> list[ModelRequest]:
        """Return the requests of one conversation."""
        return [each for each in self.requests if re.search(pattern, first_words(each))]


def delegating(task: str, call_id: str = "d1", **more: Any) -> Call:
    """A call of ``delegate``."""
    return Call("delegate", {"task": task, **more}, call_id)


@dataclass(frozen=True, slots=True)
class Delegating:
    """A host, its model, and one conversation."""

    host: Host
    model: RoutedProvider
    parent: Session

    async def send(self, text: str = PARENT) -> None:
        """Send a message and wait until nothing runs."""
        await self.begin(text)
        await self.host.engine.settled(self.parent.id)

    async def begin(self, text: str = PARENT) -> None:
        """Send a message."""
        number = len(self.events(ev.MessageAdd))
        message = SendMessage(id=MessageId(f"m{number}"), text=text)
        await self.host.engine.send(self.parent.id, message)

    def events(self, kind: type[EventT], session: Session | None = None) -> list[EventT]:
        """Return the events of a conversation."""
        found = self.host.log.read((session or self.parent).id)
        return [each.event for each in found if isinstance(each.event, kind)]

    def children(self) -> Sequence[Session]:
        """Return the sub-agents, oldest first."""
        return self.host.sessions.children(self.parent.id)

    def result(self, call_id: str = "d1") -> ev.ToolResult:
        """Return the result of a call of the parent."""
        (found,) = [each for each in self.events(ev.ToolResult) if each.call_id == CallId(call_id)]
        return found

    def told(self, call_id: str = "d1") -> str:
        """Return what the parent's model gets of a result."""
        parts = self.result(call_id).content
        return " ".join(part.text for part in parts if isinstance(part, TextPart))

    def listed(self) -> Sequence[Session]:
        """Return the list of conversations."""
        return self.host.sessions.page(SessionFilter(), None, 50).sessions


def models(window: int = 100_000) -> dict[str, Any]:
    """The models of the host."""
    return {
        "default": "scripted",
        "providers": {"scripted": {"kind": "openai_chat", "url": "https://models.example/v1"}},
        "models": [
            {
                "id": "scripted",
                "provider": "scripted",
                "model": "scripted",
                "context_window": window,
                "prices": {"input": 1_000_000, "output": 1_000_000},
            }
        ],
    }


@asynccontextmanager
async def delegating_host(
    folder: Path,
    scripts: Scripts,
    *,
    mode: Mode = "ask",
    toolset: Toolset = "full",
    interactive: bool = True,
    window: int = 100_000,
    kernels: Any = None,
    **settings: Any,
) -> AsyncGenerator[Delegating]:
    """Open a host on a workspace with a log of 20 lines and one conversation."""
    root = folder / "workspace"
    root.mkdir(exist_ok=True)
    (root / "app.log").write_text(LOG)
    provider = RoutedProvider(scripts)
    host = build_host(
        HostSettings(
            workspace=root,
            state_dir=root / ".shoulders",
            home=folder / "home",
            models=models(window),
            titles=False,
            nudges=False,
            budget=settings.pop("budget", SpendingLimits()),
            **settings,
        ),
        HostPorts(
            kernels=kernels or NoKernels(),
            pages=NoPages(),
            environ={},
            adapter=lambda _target: cast("Provider", provider),
        ),
    )
    try:
        await host.ready()
        parent = host.session_service.create(
            CreateSession(model=MODEL, mode=mode, toolset=toolset, interactive=interactive),
            owner=None,
        )
        yield Delegating(host, provider, parent)
    finally:
        await host.aclose()
