"""The tool that gives a task to a sub-agent: a conversation with a context of its own.

Only its summary enters this conversation. ``host.delegation`` implements the port ``SubAgents``;
see docs/design/sub-agents.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field

from jupyter_ai_shoulders.tools.agent.withheld_tools import DELEGATE
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

SubAgentToolset = Literal["read", "notebook", "workspace"]
Outcome = Literal["done", "stopped", "cancelled", "failed"]
"""``stopped``: at a limit of its own, with what it found so far."""

MAX_DOCUMENTS = 50
SUMMARY_LIMIT = 6_000
"""Characters of a summary that enter the parent's conversation."""
_LABEL = 80


class DelegateArguments(ToolArguments):
    """Arguments of ``delegate``."""

    task: str = Field(
        min_length=10,
        max_length=8_000,
        description="All that it needs to know: it sees nothing of this conversation. Say what "
        "the summary must contain.",
    )
    toolset: SubAgentToolset = Field(
        default="read",
        description="read: only reading; notebook: also edits and runs cells, and code in a "
        "throw-away kernel; workspace: also files and commands. Never more than you have.",
    )
    documents: tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...] = Field(
        default=(),
        max_length=MAX_DOCUMENTS,
        description="Paths of files, or handles of outputs, that the task is about. Those too "
        "long for one context are read in parts.",
    )


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that a summary names, and whether the host found it."""

    path: str
    found: bool
    first_line: int | None = None
    last_line: int | None = None
    cell_id: CellId | None = None


@dataclass(frozen=True, slots=True)
class SubAgentReport:
    """What a sub-agent brought back."""

    session_id: SessionId
    outcome: Outcome
    summary: str
    """Bounded, with citations that were not found marked."""
    citations: Sequence[Citation] = ()
    sources: Sequence[TaintSource] = ()
    """Text it read that the user did not write."""
    notes: Sequence[str] = ()
    """What the host has to add, such as parts of a document that were not read."""
    steps: int = 0
    tokens: int = 0
    cost_micro_usd: int | None = None
    error: ErrorInfo | None = None


class SubAgents(Protocol):
    """Runs sub-agents; implemented by ``host.delegation.service``."""

    def work(
        self, order: DelegateArguments, context: CallContext
    ) -> AsyncGenerator[Progress | SubAgentReport]:
        """Yield progress, then one report. Cancelling it cancels the sub-agent.

        Raises ``ShouldersError`` when it could not begin.
        """
        ...


class Delegate(BaseTool[DelegateArguments]):
    """Has a sub-agent do one task."""

    name = DELEGATE
    category = "agent"
    risk = "read"
    arguments = DelegateArguments

    def __init__(self, sub_agents: SubAgents) -> None:
        self._sub_agents = sub_agents

    async def subject(self, args: DelegateArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        return CallSubject(title="Sub-agent", target_label=task_label(args.task), target=Target())

    async def run(
        self, args: DelegateArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Wait for its summary."""
        async with aclosing(self._sub_agents.work(args, context)) as items:
            async for item in items:
                yield item if isinstance(item, Progress) else report_result(item)


def task_label(task: str) -> str:
    """Return the beginning of a task on one line."""
    flat = " ".join(task.split())
    return flat if len(flat) <= _LABEL else f"{flat[: _LABEL - 1]}…"


def report_result(report: SubAgentReport) -> Result:
    """Return the tool's result."""
    ok = report.outcome in {"done", "stopped"}
    warning = " ".join(report.notes) or None
    return Result(
        envelope=ToolEnvelope(
            ok=ok,
            kind="text",
            data=_data(report),
            warning=warning,
            error=None if ok else report.error,
            meta=ResultMeta(total=report.steps),
        ),
        content=text_content("\n\n".join(_paragraphs(report))),
        is_cancelled=report.outcome == "cancelled",
    )


def _paragraphs(report: SubAgentReport) -> list[str]:
    said = report.summary.strip()
    head = {
        "done": f"The sub-agent finished in {report.steps} steps. Its summary:",
        "stopped": f"The sub-agent was stopped at a limit after {report.steps} steps. So far:",
        "cancelled": "The user stopped this sub-agent. What it had done is done.",
        "failed": "The sub-agent failed.",
    }[report.outcome]
    if report.error is not None:
        hint = f" {report.error.hint}" if report.error.hint else ""
        head = f"{head} {report.error.message}{hint}"
    missing = [citation for citation in report.citations if not citation.found]
    notes = list(report.notes)
    if missing:
        notes.append(
            f"{len(missing)} of {len(report.citations)} places that it cites do not exist; they "
            "are marked. Check what rests on them."
        )
    elif said and not report.citations and report.outcome == "done":
        notes.append("It cites no place; check what matters.")
    return [part for part in (head, said, *notes) if part]


def _data(report: SubAgentReport) -> JsonObject:
    citations: list[Json] = [
        {
            "path": citation.path,
            "first_line": citation.first_line,
            "last_line": citation.last_line,
            "cell_id": citation.cell_id,
            "found": citation.found,
        }
        for citation in report.citations
    ]
    sources: list[Json] = [
        {"label": source.label, "path": source.path} for source in report.sources
    ]
    return {
        "conversation": report.session_id,
        "outcome": report.outcome,
        "summary": report.summary,
        "citations": citations,
        "sources": sources,
        "steps": report.steps,
        "tokens": report.tokens,
        "cost_micro_usd": report.cost_micro_usd,
    }
