"""Writes the summary that replaces the middle of a conversation (see
docs/design/engine.md#compaction).

Used by ``engine.session.effect_runner`` when a request does not fit. The summary is stored as a
blob; ``engine.loop.context_overflow`` records the event that puts it in place, so a crash or cancel
in between leaves the conversation unchanged.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.summaries import Summary, SummaryRequest
from jupyter_ai_shoulders.core.token_estimates import ASCII_PER_TOKEN, estimate_text
from jupyter_ai_shoulders.engine.loop.operations import (
    CompactContext,
    ContextCompacted,
    RequestOverflowed,
)
from jupyter_ai_shoulders.engine.loop.state import TurnState
from jupyter_ai_shoulders.engine.ports import Summarizer
from jupyter_ai_shoulders.engine.request.context import (
    RequestContent,
    SessionContext,
    prompt_budget,
)
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.request.size_breakdown import find_largest_parts
from jupyter_ai_shoulders.engine.request.summary_text import (
    extract_summary,
    format_summary,
    message_texts,
    shorten_text,
    summarise_without_model,
    todo_list,
)
from jupyter_ai_shoulders.engine.transcript.compaction_range import CompactionRecord
from jupyter_ai_shoulders.engine.transcript.messages import CompactableRange
from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import ContextRebase, Notice
from jupyter_ai_shoulders.wire.ids import SessionId

MOST_TOKENS = 3_000
"""Maximum of a summary; a longer one would not save enough."""
LEAST_TOKENS = 200
"""Minimum of a useful summary."""
FRAME_TOKENS = 20
"""The text around a summary."""
COUNTED_AT_ONCE = 500
"""Messages whose tokens are estimated between two iterations of the event loop."""
COMPACTED = "compacted"
"""Code of the notice that earlier messages were summarised."""

_log = logging.getLogger(__name__)


class NoSummarizer:
    """A ``Summarizer`` without a model: summaries are plain lists."""

    async def summarise(self, order: SummaryRequest) -> Summary | None:
        """Return None."""


@dataclass(frozen=True, slots=True)
class RequestFit:
    """Whether a conversation fits, and what a compaction would save; in estimated tokens."""

    built: RequestContent
    tokens: int
    budget: int
    window: int
    middle: CompactableRange | None
    kept: int
    """Tokens without the middle."""

    @property
    def compactable(self) -> bool:
        """Whether a compaction would make it fit."""
        return self.middle is not None and self.budget - self.kept >= LEAST_TOKENS + FRAME_TOKENS

    @property
    def summary_tokens(self) -> int:
        """The size allowed for a summary: half of the free tokens, and of those it replaces."""
        most = min(self.budget - self.kept, self.tokens - self.kept) // 2
        return min(max(most, LEAST_TOKENS), MOST_TOKENS)


async def measure_request(
    context: SessionContext,
    spec: ModelSpec,
    correction: float,
    notices: tuple[str, ...] = (),
    *,
    refused: bool = False,
) -> RequestFit:
    """Measure the next request; used by the size check, the gauge, previews and compaction.

    ``refused``: the provider found it too long, whatever the estimate. Long conversations are
    counted in slices, and in a thread when everything is counted again.
    """
    while context.count(spec.family, COUNTED_AT_ONCE):  # noqa: ASYNC110 slices, not polling
        await asyncio.sleep(0)  # yield to other tasks
    built = context.built(notices)
    tokens = context.tokens(built, spec.family, correction)
    budget = prompt_budget(spec)
    middle = context.compactable_range() if refused or tokens > budget else None
    kept = tokens
    if middle is not None:
        kept = await asyncio.to_thread(
            context.tokens_without, middle, built, spec.family, correction
        )
    return RequestFit(built, tokens, budget, spec.window, middle, kept)


async def overflow_signal(
    measured: RequestFit, spec: ModelSpec, provider_error: ErrorInfo | None = None
) -> RequestOverflowed:
    """Return the signal that a request does not fit, with its largest parts."""
    built = measured.built
    return RequestOverflowed(
        tokens=measured.tokens,
        budget=measured.budget,
        window=measured.window,
        compactable=measured.compactable,
        largest=await asyncio.to_thread(
            find_largest_parts, built.system, built.messages, built.tools, spec.family
        ),
        provider_error=provider_error,
    )


@dataclass(frozen=True, slots=True)
class Compaction:
    """The dependencies of the compactions of one session."""

    session_id: SessionId
    context: SessionContext
    index: SessionIndex
    blobs: Blobs
    summarizer: Summarizer
    time_limit_s: float

    async def run(
        self, operation: CompactContext, turn: TurnState, spec: ModelSpec
    ) -> ContextCompacted | RequestOverflowed:
        """Return the replacement for earlier messages, or the overflow when there is none."""
        refused = operation.provider_error is not None or operation.wanted
        correction = self.index.correction
        measured = await measure_request(self.context, spec, correction, refused=refused)
        middle = measured.middle
        if middle is None or not (refused or measured.compactable):
            found = await overflow_signal(measured, spec, operation.provider_error)
            return replace(found, compactable=False)
        tokens = int(measured.summary_tokens / correction)
        limit = int(tokens * ASCII_PER_TOKEN[spec.family])
        text, summary = await self._summary(middle, turn, limit)
        text = _fitting(text, tokens, spec)
        crash_point("engine.compaction.summarised")
        model = summary.model if summary else None
        replaced = CompactionRecord(
            start=middle.start,
            end=middle.end,
            summary=self.blobs.put(text.encode("utf-8", "replace")),
            model=model,
        )
        crash_point("engine.compaction.stored")
        return ContextCompacted(
            ContextRebase(reason="compaction", replaced=replaced.model_dump(mode="json")),
            _notice(measured, replaced),
        )

    async def _summary(
        self, middle: CompactableRange, turn: TurnState, limit: int
    ) -> tuple[str, Summary | None]:
        """Return the text that replaces the middle, and the model's summary if it wrote one."""
        todo = todo_list(self.index.todo)
        facts = self.context.last_told_context()
        frame = len(format_summary("", facts, todo, None))
        if frame > limit // 2:
            todo, facts, frame = None, [], len(format_summary("", (), None, None))
        room = max(limit - frame, limit // 3)
        summary = await self._ask(middle, turn, room)
        if summary is None:
            text = await asyncio.to_thread(
                summarise_without_model, middle.messages, _previous(middle), room
            )
        else:
            text = shorten_text(summary.text, room)
        return format_summary(text, facts, todo, summary.model if summary else None), summary

    async def _ask(self, middle: CompactableRange, turn: TurnState, limit: int) -> Summary | None:
        """Return the model's summary; None when no model can, may or does write one in time."""
        order = SummaryRequest(
            pieces=await asyncio.to_thread(message_texts, middle.messages),
            previous=_previous(middle),
            turn_model=turn.model,
            account=UsageAccount("summary", self.session_id, turn.turn_id),
            limit=limit,
        )
        try:
            async with asyncio.timeout(self.time_limit_s):
                summary = await self.summarizer.summarise(order)
        except (ShouldersError, TimeoutError) as error:
            _log.warning("No model summarised %s: %s", self.session_id, error or "no time left")
            return None
        return summary if summary is not None and summary.text.strip() else None


def _previous(middle: CompactableRange) -> str | None:
    return extract_summary(middle.previous) if middle.previous else None


def _fitting(text: str, tokens: int, spec: ModelSpec) -> str:
    """Return the text, shortened where its script needs more tokens than ASCII."""
    needed = estimate_text(text, spec.family)
    return text if needed <= tokens else shorten_text(text, len(text) * tokens // needed)


def _notice(measured: RequestFit, replaced: CompactionRecord) -> Notice:
    by = "" if replaced.model else " No model could write the summary, so it is a plain list."
    return Notice(
        level="info",
        code=COMPACTED,
        text="Earlier messages were summarised for the model to make room; you still see all of"
        f" them.{by}",
        details={
            "messages": replaced.end - replaced.start,
            "tokens": measured.tokens,
            "budget": measured.budget,
            "model": replaced.model,
        },
    )
