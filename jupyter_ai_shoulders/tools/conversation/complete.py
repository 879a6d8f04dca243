"""The tool that ends a turn with a summary. Registered by ``host``."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.wire.results import ToolEnvelope

MEANINGFUL_CHARACTERS = 30
"""Minimum characters of a summary, without filler words."""

_FILLER_WORDS = """
a all and as be been complete completed correctly done everything fine finished good great has have
i is it job looks now of ok okay perfect ready requested should successful successfully task tasks
that the this user was well were work works you your
"""
_FILLER = frozenset(_FILLER_WORDS.split())
"""Words that form only a placeholder, not a summary ("done", "looks good")."""


class CompleteArguments(ToolArguments):
    """Arguments of ``complete``."""

    summary: str = Field(
        description="What was done and what came of it, for the user: cells and files by name, "
        "results, and what is left open."
    )


class Complete(BaseTool[CompleteArguments]):
    """Ends the turn if its summary is meaningful."""

    name = "complete"
    category = "loop"
    risk = "read"
    arguments = CompleteArguments

    async def subject(self, args: CompleteArguments, context: CallContext) -> CallSubject:
        return CallSubject(title="Complete", target_label=None, target=Target())

    async def run(
        self, args: CompleteArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """End the turn, or refuse an empty summary so that the model retries."""
        summary = args.summary.strip()
        yield _accepted(summary) if is_meaningful(summary) else _refused()


def is_meaningful(summary: str) -> bool:
    """Return whether enough of a summary remains without filler words."""
    words = re.findall(r"\w+", summary.lower())
    return sum(len(word) for word in words if word not in _FILLER) >= MEANINGFUL_CHARACTERS


def _accepted(summary: str) -> Result:
    return Result(
        envelope=ToolEnvelope(ok=True, kind="text", data={"summary": summary}),
        content=text_content("The turn ends with this summary."),
        ends_turn=True,
    )


def _refused() -> Result:
    return refusal(
        "The summary says too little to end the turn.",
        "Name what was changed or found, cell by cell or file by file, and the result.",
    )
