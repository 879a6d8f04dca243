"""The content of a request, as a pure function of the log and its blobs.

``SessionContext`` takes events as they are logged; ``build_request_content`` replays a whole log
and must return the same bytes. System prompt, tools and time zone enter the log as ``context-add``
when first used. Used by ``engine.request.builder`` and to inspect requests. See
docs/design/context-and-prompts.md#what-a-request-holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, TokenFamily
from jupyter_ai_shoulders.core.token_estimates import estimate_message, estimate_text, estimate_tool
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentRecord, SkillRecord
from jupyter_ai_shoulders.engine.environment.instructions import INSTRUCTIONS_FILE, SYSTEM_FILE
from jupyter_ai_shoulders.engine.environment.workspace_facts import FactRecord, MetaRecord
from jupyter_ai_shoulders.engine.guardrails.untrusted_text import READ_SOURCE, UNREVIEWED_SOURCE
from jupyter_ai_shoulders.engine.transcript.compaction_range import (
    CompactionRecord,
    replace_compacted_range,
)
from jupyter_ai_shoulders.engine.transcript.messages import CompactableRange, Transcript
from jupyter_ai_shoulders.engine.transcript.user_message_rendering import CapturedContext
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.wire.conversation.branches import visible_events
from jupyter_ai_shoulders.wire.events import ContextAdd, ContextRebase, Event, MessageAdd
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.parts import ModelMessage, ReasoningPart, ToolDefinition

Entry = tuple[str, str]
"""Role and source of a ``context-add``; the last event of each counts."""

SYSTEM: Entry = ("system", "prompts")
TOOLS: Entry = ("tools", "tool definitions")
SKILLS: Entry = ("skill", "manifest")
ZONE: Entry = ("meta", "time zone")
SECRET: Entry = ("meta", "mark of data")
WORKSPACE: Entry = ("meta", "workspace")

OUTPUT_RESERVE = 16_384
THINKING_RESERVE = 32_768
WINDOW_SHARE = 0.85
"""Shares of the context window."""

_CORRECTION = (0.5, 2.0)
"""Limits of the correction of estimates by reported usage."""


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Tool definitions shared by many sessions, parsed and counted once."""

    definitions: tuple[ToolDefinition, ...] = ()
    counted: dict[TokenFamily, int] = field(default_factory=dict[TokenFamily, int])

    def tokens(self, family: TokenFamily) -> int:
        """Return the estimated tokens."""
        if family not in self.counted:
            self.counted[family] = sum(estimate_tool(tool, family) for tool in self.definitions)
        return self.counted[family]


@dataclass(frozen=True, slots=True)
class RequestContent:
    """The parts of a request that come from the log."""

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...]


def build_request_content(
    events: Iterable[Event], blobs: Blobs, notices: Sequence[str] = ()
) -> RequestContent:
    """Return the content that was, or would be, sent after these events."""
    context = SessionContext(blobs)
    for event in visible_events(list(events)):
        context.add(event)
    return context.built(notices)


class SessionContext:
    """The growing context of one session."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._transcript = Transcript()
        self._entries: dict[Entry, BlobHash] = {}
        self._prompt_texts: dict[Entry, str] = {}
        """The texts of the system prompt."""
        self._system = ""
        self._tools = ToolSet()
        self._counted: tuple[TokenFamily, int, int] = ("other", 0, 0)
        """Family, number and estimated tokens of the closed messages counted so far."""
        self._frame: tuple[TokenFamily, str, tuple[ToolDefinition, ...], int] = ("other", "", (), 0)
        """Family, system prompt and tools counted last, and their estimated tokens."""
        self._expected: tuple[BlobHash, bytes] | None = None

    def expect(self, blob: BlobHash, content: bytes) -> None:
        """Take this content for the next event that refers to the blob, instead of reading it."""
        self._expected = (blob, content)

    def add(self, event: Event) -> None:
        """Add the next event of the log."""
        if isinstance(event, ContextAdd):
            self._enter(event)
        if isinstance(event, ContextRebase):
            self._counted = ("other", 0, 0)
            if event.reason == "compaction":
                self._compact(CompactionRecord.model_validate(event.replaced))
        self._transcript.add(event)

    def entered(self, entry: Entry) -> BlobHash | None:
        """Return the blob in the log for this role and source."""
        return self._entries.get(entry)

    def instructions(self) -> dict[Entry, BlobHash]:
        """Return the instruction files and skills in the log."""
        entries = {entry: self._entries[entry] for entry in self._prompt_texts}
        entries.pop(SYSTEM, None)
        return entries

    def unsettled(self) -> list[tuple[MessageAdd, CapturedContext]]:
        """Return the messages that were never sent, with their captured context."""
        return self._transcript.user.unsettled()

    def superseded(self) -> list[str]:
        """Return the attachments that are in the conversation more than once."""
        return self._transcript.user.superseded()

    def last_told_context(self) -> list[str]:
        """Return the page context the model was last told."""
        return self._transcript.user.last_told_context()

    @property
    def facts(self) -> tuple[FactRecord, ...]:
        """The workspace facts that were logged last."""
        return self._transcript.user.facts

    def compactable_range(self) -> CompactableRange | None:
        """Return the range a compaction may replace now; None when all is protected."""
        return self._transcript.compactable_range()

    def tokens_without(
        self,
        middle: CompactableRange,
        built: RequestContent,
        family: TokenFamily,
        correction: float,
    ) -> int:
        """Return the estimated tokens of ``built`` without the middle."""
        before = map(_without_reasoning, built.messages[: middle.open])
        whole = (*before, *built.messages[middle.open :])
        kept = replace_compacted_range(whole, middle.start, middle.end, "")
        total = sum(estimate_message(message, family) for message in kept)
        return round((total + self._frame_tokens(built, family)) * correction)

    def built(self, notices: Sequence[str] = ()) -> RequestContent:
        """Return the current system prompt, messages and tools."""
        return RequestContent(
            system=self._system,
            messages=tuple(self._transcript.messages(notices)),
            tools=self._tools.definitions,
        )

    def tokens(self, built: RequestContent, family: TokenFamily, correction: float) -> int:
        """Return the estimated tokens; closed messages are counted once."""
        closed = self._transcript.closed
        self.count(family, len(closed))
        total = self._counted[2]
        rest = sum(estimate_message(message, family) for message in built.messages[len(closed) :])
        return round((total + rest + self._frame_tokens(built, family)) * correction)

    def count(self, family: TokenFamily, most: int) -> bool:
        """Count up to ``most`` further closed messages; return whether any are left."""
        counted_family, number, total = self._counted
        if counted_family != family:
            number, total = 0, 0
        closed = self._transcript.closed
        end = min(number + most, len(closed))
        total += sum(estimate_message(message, family) for message in closed[number:end])
        self._counted = (family, end, total)
        return end < len(closed)

    def _frame_tokens(self, built: RequestContent, family: TokenFamily) -> int:
        """Return the tokens before the messages; most steps share them."""
        counted_family, system, tools, total = self._frame
        if counted_family != family or system is not built.system or tools is not built.tools:
            total = estimate_text(built.system, family) + self._tools_tokens(built.tools, family)
            self._frame = (family, built.system, built.tools, total)
        return total

    def _tools_tokens(self, tools: tuple[ToolDefinition, ...], family: TokenFamily) -> int:
        """Return the tokens of the tools; sets built before others entered are counted again."""
        known = self._tools if tools is self._tools.definitions else ToolSet(tools)
        return known.tokens(family)

    def _compact(self, replaced: CompactionRecord) -> None:
        summary = self._blobs.get(replaced.summary).decode()
        self._transcript.compact(replaced.start, replaced.end, summary)

    def _enter(self, event: ContextAdd) -> None:
        expected, self._expected = self._expected, None
        if expected is not None and expected[0] == event.blob:
            content = expected[1]
        else:
            content = self._blobs.get(event.blob)
        match event.role:
            case "attachment":
                self._transcript.user.enclose(AttachmentRecord.model_validate_json(content))
            case "skill" if (event.role, event.source) != SKILLS:
                self._transcript.user.enclose(SkillRecord.model_validate_json(content))
            case _:
                self._entries[_entry(event)] = event.blob
                self._set_entry(_entry(event), content)

    def _set_entry(self, entry: Entry, content: bytes) -> None:
        """Set the content of an entry."""
        match entry:
            case ("system" | "instructions" | "skill", _):
                self._prompt_texts[entry] = content.decode()
                texts = (self._prompt_texts[key] for key in sorted(self._prompt_texts, key=_place))
                self._system = "\n\n".join(filter(None, texts))
            case ("tools", _):
                self._tools = tool_set(content)
            case ("meta", "time zone"):
                self._transcript.user.set_zone(read_zone(content))
            case ("meta", "mark of data"):
                self._transcript.user.set_secret(content.decode())
            case ("meta", "workspace"):
                self._transcript.user.set_facts(MetaRecord.model_validate_json(content).facts)
            case _:
                pass  # from a newer version, which put it somewhere this version does not look


def _without_reasoning(message: ModelMessage) -> ModelMessage:
    """Return a message without what a rebase removes."""
    if not any(isinstance(part, ReasoningPart) for part in message.parts):
        return message
    kept = tuple(part for part in message.parts if not isinstance(part, ReasoningPart))
    return message.model_copy(update={"parts": kept})


def _entry(event: ContextAdd) -> Entry:
    """Return the entry; system prompt and tool set have one each, whatever their source."""
    match event.role:
        case "system":
            return SYSTEM
        case "tools":
            return TOOLS
        case _:
            return (event.role, event.source)


def _place(entry: Entry) -> tuple[int, str]:
    """Return the position of a text in the system prompt."""
    order = [SYSTEM, SKILLS, ("instructions", SYSTEM_FILE), ("instructions", INSTRUCTIONS_FILE)]
    return (order.index(entry) if entry in order else len(order), entry[1])


def unreviewed_entry(source: str) -> Entry:
    """Return the entry that records an untrusted instruction read by the conversation."""
    return ("meta", f"{UNREVIEWED_SOURCE}{source}")


def read_entry(path: str) -> Entry:
    """Return the entry that records that a request holds data from a document."""
    return ("meta", f"{READ_SOURCE}{path}")


def corrected(factor: float, estimated: int, reported: int) -> float:
    """Return the correction factor after a provider reported the actual size of an estimate."""
    if estimated <= 0 or reported <= 0:
        return factor
    low, high = _CORRECTION
    return min(max(factor * reported / estimated, low), high)


# budget


def output_reserve(spec: ModelSpec) -> int:
    """Return the tokens reserved for the answer, which is also its maximum."""
    thinks = spec.reasoning and spec.thinking != "none"
    reserve = THINKING_RESERVE if thinks else OUTPUT_RESERVE
    return min(reserve, spec.max_output or reserve, max(spec.window // 4, 1))


def prompt_budget(spec: ModelSpec) -> int:
    """Return the maximum tokens of a request."""
    return int(spec.window * WINDOW_SHARE) - output_reserve(spec)


# encoding


def tools_blob(tools: Iterable[ToolDefinition]) -> bytes:
    """Return the definitions as canonical JSON."""
    values = [tool.model_dump(mode="json") for tool in tools]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def read_tools(blob: bytes) -> tuple[ToolDefinition, ...]:
    """Return what ``tools_blob`` wrote."""
    return tool_set(blob).definitions


@lru_cache(maxsize=16)
def tool_set(blob: bytes) -> ToolSet:
    """Return a ``ToolSet`` from what ``tools_blob`` wrote."""
    return ToolSet(tuple(ToolDefinition.model_validate(value) for value in json.loads(blob)))


def zone_blob(now: datetime) -> bytes:
    """Return the machine's current offset from UTC as text."""
    offset = now.astimezone().utcoffset() or timedelta()
    return f"{round(offset.total_seconds() / 60):+d}".encode()


def read_zone(blob: bytes) -> timezone:
    """Return what ``zone_blob`` wrote."""
    minutes = int(blob)
    return timezone(timedelta(minutes=minutes)) if minutes else UTC
