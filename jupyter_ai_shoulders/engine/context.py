"""What a model is sent: a pure function of the log and its blobs (chapter 04, context).

``Context`` takes events as they are logged; ``build`` replays a whole log and must give the same
bytes. System prompt, tools and time zone enter the log as ``context-add`` when first used.
Used by ``engine.prepare`` and by whoever shows a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from importlib import resources
from typing import Literal

from jupyter_ai_shoulders.core.catalogue import ModelSpec, TokenFamily
from jupyter_ai_shoulders.core.tokens import estimate_message, estimate_request
from jupyter_ai_shoulders.engine.transcript import Transcript
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.wire.events import ContextAdd, ContextRebase, Event
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition

Role = Literal["system", "tools", "meta"]

ZONE_SOURCE = "time zone"
OUTPUT_RESERVE = 16_384
THINKING_RESERVE = 32_768
WINDOW_SHARE = 0.85
"""Shares of the window, chapter 04 (budget)."""

_CORRECTION = (0.5, 2.0)
"""How far a reported usage may correct the estimate."""


@dataclass(frozen=True, slots=True)
class Built:
    """The parts of a request that come from the log."""

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...]


def build(events: Iterable[Event], blobs: Blobs, notices: Sequence[str] = ()) -> Built:
    """Return what the model was, or would be, sent after these events."""
    context = Context(blobs)
    for event in events:
        context.add(event)
    return context.built(notices)


class Context:
    """The growing context of one session."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._transcript = Transcript()
        self._entries: dict[Role, BlobHash] = {}
        self._system = ""
        self._tools: tuple[ToolDefinition, ...] = ()
        self._counted: tuple[TokenFamily, int, int] = ("other", 0, 0)
        """Family, number and estimated tokens of the closed messages counted so far."""
        self._frame: tuple[TokenFamily, str, tuple[ToolDefinition, ...], int] = ("other", "", (), 0)
        """Family, system prompt and tools counted last, and their estimated tokens."""

    def add(self, event: Event) -> None:
        """Take the next event of the log."""
        if isinstance(event, ContextAdd):
            self._enter(event)
        if isinstance(event, ContextRebase):
            self._counted = ("other", 0, 0)
        self._transcript.add(event)

    def entered(self, role: Role) -> BlobHash | None:
        """Return what stands in the log for this role."""
        return self._entries.get(role)

    def built(self, notices: Sequence[str] = ()) -> Built:
        """Return system prompt, messages and tools as they stand."""
        return Built(
            system=self._system,
            messages=tuple(self._transcript.messages(notices)),
            tools=self._tools,
        )

    def tokens(self, built: Built, family: TokenFamily, correction: float) -> int:
        """Return about how many tokens it is; closed messages are counted once."""
        counted_family, number, total = self._counted
        if counted_family != family:
            number, total = 0, 0
        closed = self._transcript.closed
        total += sum(estimate_message(message, family) for message in closed[number:])
        self._counted = (family, len(closed), total)
        rest = sum(estimate_message(message, family) for message in built.messages[len(closed) :])
        return round((total + rest + self._frame_tokens(built, family)) * correction)

    def _frame_tokens(self, built: Built, family: TokenFamily) -> int:
        """Return the tokens of what is before the messages; most steps have the same."""
        counted_family, system, tools, total = self._frame
        if counted_family != family or system is not built.system or tools is not built.tools:
            total = estimate_request(built.system, (), built.tools, family)
            self._frame = (family, built.system, built.tools, total)
        return total

    def _enter(self, event: ContextAdd) -> None:
        if event.role == "system":
            self._system = self._blobs.get(event.blob).decode()
        if event.role == "tools":
            self._tools = read_tools(self._blobs.get(event.blob))
        if event.role == "meta" and event.source == ZONE_SOURCE:
            self._transcript.zone = read_zone(self._blobs.get(event.blob))
        if event.role in {"system", "tools"} or event.source == ZONE_SOURCE:
            self._entries[event.role] = event.blob  # pyright: ignore[reportArgumentType]: narrowed above


def corrected(factor: float, estimated: int, reported: int) -> float:
    """Return the factor for estimates after a provider reported what an estimate really was."""
    if estimated <= 0 or reported <= 0:
        return factor
    low, high = _CORRECTION
    return min(max(factor * reported / estimated, low), high)


# budget


def output_reserve(spec: ModelSpec) -> int:
    """Return the tokens kept free for the answer; also the most a call may produce."""
    thinks = spec.reasoning and spec.thinking != "none"
    reserve = THINKING_RESERVE if thinks else OUTPUT_RESERVE
    return min(reserve, spec.max_output or reserve, max(spec.window // 4, 1))


def prompt_budget(spec: ModelSpec) -> int:
    """Return the tokens a request may have."""
    return int(spec.window * WINDOW_SHARE) - output_reserve(spec)


# what enters the log


def system_prompt(started_at: str, workspace: str) -> str:
    """Return the system prompt of a conversation; it keeps its start date."""
    text = (resources.files("jupyter_ai_shoulders.engine") / "prompts" / "system.md").read_text(
        "utf-8"
    )
    return (
        text.strip()
        .replace("{{start_date}}", started_at[:10])
        .replace("{{workspace}}", workspace or "(the root of the Jupyter server)")
    )


def tools_blob(tools: Iterable[ToolDefinition]) -> bytes:
    """Return the definitions as canonical JSON."""
    values = [tool.model_dump(mode="json") for tool in tools]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def read_tools(blob: bytes) -> tuple[ToolDefinition, ...]:
    """Return what ``tools_blob`` wrote."""
    return tuple(ToolDefinition.model_validate(value) for value in json.loads(blob))


def zone_blob(now: datetime) -> bytes:
    """Return the machine's offset from UTC now, as text."""
    offset = now.astimezone().utcoffset() or timedelta()
    return f"{round(offset.total_seconds() / 60):+d}".encode()


def read_zone(blob: bytes) -> timezone:
    """Return what ``zone_blob`` wrote."""
    minutes = int(blob)
    return timezone(timedelta(minutes=minutes)) if minutes else UTC
