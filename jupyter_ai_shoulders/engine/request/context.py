"""What a model is sent: a pure function of the log and its blobs (chapter 04, context).

``SessionContext`` takes events as they are logged; ``build_request_content`` replays a whole log
and must give the same bytes. System prompt, tools and time zone enter the log as ``context-add``
when first used. Used by ``engine.request.builder`` and by whoever shows a request.
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
from jupyter_ai_shoulders.engine.environment.workspace_facts import MetaRecord
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
"""Role and source of a ``context-add`` of which the last one counts."""

SYSTEM: Entry = ("system", "prompts")
TOOLS: Entry = ("tools", "tool definitions")
SKILLS: Entry = ("skill", "manifest")
ZONE: Entry = ("meta", "time zone")
SECRET: Entry = ("meta", "mark of data")
WORKSPACE: Entry = ("meta", "workspace")

OUTPUT_RESERVE = 16_384
THINKING_RESERVE = 32_768
WINDOW_SHARE = 0.85
"""Shares of the window, chapter 04 (budget)."""

_CORRECTION = (0.5, 2.0)
"""How far a reported usage may correct the estimate."""


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Definitions that many sessions offer: read and counted once for all of them."""

    definitions: tuple[ToolDefinition, ...] = ()
    counted: dict[TokenFamily, int] = field(default_factory=dict[TokenFamily, int])

    def tokens(self, family: TokenFamily) -> int:
        """Return about how many tokens they are."""
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
    """Return what the model was, or would be, sent after these events."""
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
        """The texts the system prompt is made of."""
        self._system = ""
        self._tools = ToolSet()
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
            if event.reason == "compaction":
                self._compact(CompactionRecord.model_validate(event.replaced))
        self._transcript.add(event)

    def entered(self, entry: Entry) -> BlobHash | None:
        """Return what stands in the log for this role and source."""
        return self._entries.get(entry)

    def instructions(self) -> dict[Entry, BlobHash]:
        """Return the files of instructions, and the skills, that stand in the log."""
        entries = {entry: self._entries[entry] for entry in self._prompt_texts}
        entries.pop(SYSTEM, None)
        return entries

    def unsettled(self) -> list[tuple[MessageAdd, CapturedContext]]:
        """Return the messages that were never sent, with what was captured for them."""
        return self._transcript.user.unsettled()

    def superseded(self) -> list[str]:
        """Return the attachments that stand in the conversation more than once."""
        return self._transcript.user.superseded()

    def last_told_context(self) -> list[str]:
        """Return what the model was told last of what is in front of the user."""
        return self._transcript.user.last_told_context()

    def compactable_range(self) -> CompactableRange | None:
        """Return what a compaction may replace now; None when all of it is protected."""
        return self._transcript.compactable_range()

    def tokens_without(
        self,
        middle: CompactableRange,
        built: RequestContent,
        family: TokenFamily,
        correction: float,
    ) -> int:
        """Return about how many tokens what was built would be without the middle."""
        before = map(_without_reasoning, built.messages[: middle.open])
        whole = (*before, *built.messages[middle.open :])
        kept = replace_compacted_range(whole, middle.start, middle.end, "")
        total = sum(estimate_message(message, family) for message in kept)
        return round((total + self._frame_tokens(built, family)) * correction)

    def built(self, notices: Sequence[str] = ()) -> RequestContent:
        """Return system prompt, messages and tools as they stand."""
        return RequestContent(
            system=self._system,
            messages=tuple(self._transcript.messages(notices)),
            tools=self._tools.definitions,
        )

    def tokens(self, built: RequestContent, family: TokenFamily, correction: float) -> int:
        """Return about how many tokens it is; closed messages are counted once."""
        closed = self._transcript.closed
        self.count(family, len(closed))
        total = self._counted[2]
        rest = sum(estimate_message(message, family) for message in built.messages[len(closed) :])
        return round((total + rest + self._frame_tokens(built, family)) * correction)

    def count(self, family: TokenFamily, most: int) -> bool:
        """Count that many closed messages that were not yet; return whether any are left."""
        counted_family, number, total = self._counted
        if counted_family != family:
            number, total = 0, 0
        closed = self._transcript.closed
        end = min(number + most, len(closed))
        total += sum(estimate_message(message, family) for message in closed[number:end])
        self._counted = (family, end, total)
        return end < len(closed)

    def _frame_tokens(self, built: RequestContent, family: TokenFamily) -> int:
        """Return the tokens of what is before the messages; most steps have the same."""
        counted_family, system, tools, total = self._frame
        if counted_family != family or system is not built.system or tools is not built.tools:
            total = estimate_text(built.system, family) + self._tools_tokens(built.tools, family)
            self._frame = (family, built.system, built.tools, total)
        return total

    def _tools_tokens(self, tools: tuple[ToolDefinition, ...], family: TokenFamily) -> int:
        """Return the tokens of the tools; those built before others entered are counted anew."""
        known = self._tools if tools is self._tools.definitions else ToolSet(tools)
        return known.tokens(family)

    def _compact(self, replaced: CompactionRecord) -> None:
        summary = self._blobs.get(replaced.summary).decode()
        self._transcript.compact(replaced.start, replaced.end, summary)

    def _enter(self, event: ContextAdd) -> None:
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
        """Take what counts from now on."""
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
                pass  # of a newer version, which put it where this one does not look


def _without_reasoning(message: ModelMessage) -> ModelMessage:
    """Return what a rebase leaves of a message."""
    if not any(isinstance(part, ReasoningPart) for part in message.parts):
        return message
    kept = tuple(part for part in message.parts if not isinstance(part, ReasoningPart))
    return message.model_copy(update={"parts": kept})


def _entry(event: ContextAdd) -> Entry:
    """Return the entry; there is one system prompt and one set of tools, whatever their source."""
    match event.role:
        case "system":
            return SYSTEM
        case "tools":
            return TOOLS
        case _:
            return (event.role, event.source)


def _place(entry: Entry) -> tuple[int, str]:
    """Return where a text stands in the system prompt (chapter 11)."""
    order = [SYSTEM, SKILLS, ("instructions", SYSTEM_FILE), ("instructions", INSTRUCTIONS_FILE)]
    return (order.index(entry) if entry in order else len(order), entry[1])


def unreviewed_entry(source: str) -> Entry:
    """Return the entry that records that the conversation has read an untrusted instruction."""
    return ("meta", f"{UNREVIEWED_SOURCE}{source}")


def read_entry(path: str) -> Entry:
    """Return the entry that records that a request holds what came out of a document."""
    return ("meta", f"{READ_SOURCE}{path}")


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


def tools_blob(tools: Iterable[ToolDefinition]) -> bytes:
    """Return the definitions as canonical JSON."""
    values = [tool.model_dump(mode="json") for tool in tools]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def read_tools(blob: bytes) -> tuple[ToolDefinition, ...]:
    """Return what ``tools_blob`` wrote."""
    return tool_set(blob).definitions


@lru_cache(maxsize=16)
def tool_set(blob: bytes) -> ToolSet:
    """Return what ``tools_blob`` wrote, with a place for its size."""
    return ToolSet(tuple(ToolDefinition.model_validate(value) for value in json.loads(blob)))


def zone_blob(now: datetime) -> bytes:
    """Return the machine's offset from UTC now, as text."""
    offset = now.astimezone().utcoffset() or timedelta()
    return f"{round(offset.total_seconds() / 60):+d}".encode()


def read_zone(blob: bytes) -> timezone:
    """Return what ``zone_blob`` wrote."""
    minutes = int(blob)
    return timezone(timedelta(minutes=minutes)) if minutes else UTC
